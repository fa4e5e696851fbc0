package e2e

import (
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// program builds the program.
func program(t *testing.T) (path string) {
	t.Helper()
	path, err := buildProgram()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// buildProgram is done once, into a directory that TestMain makes.
var buildProgram = sync.OnceValues(func() (string, error) {
	path := filepath.Join(programs, "dyncontroller")
	if out, err := exec.Command("go", "build", "-o", path, "../../cmd/dyncontroller").CombinedOutput(); err != nil {
		return "", fmt.Errorf("building the program: %w\n%s", err, out)
	}
	return path, nil
})

// child is a dyncontroller in a process of its own.
type child struct {
	command *exec.Cmd
	output  *buffer
	ended   chan struct{}
}

// launch runs the program on the test's cluster until it is killed, at the end of the test at the latest.
func launch(t *testing.T, path string, args ...string) *child {
	t.Helper()
	c := &child{output: &buffer{}, ended: make(chan struct{})}
	c.command = exec.CommandContext(t.Context(), path, append([]string{
		"run", "--kubeconfig", cluster(t).Kubeconfig(), "--metrics-bind-address", "0", "--health-probe-bind-address", "0", "--force",
	}, args...)...)
	c.command.Stdout, c.command.Stderr = c.output, c.output
	if err := c.command.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(c.ended)
		_ = c.command.Wait() // It is killed.
	}()
	t.Cleanup(func() {
		_ = c.command.Process.Kill() // It has ended, unless the test failed.
		<-c.ended
	})
	return c
}

// kill ends the process from one moment to the next.
func (c *child) kill(t *testing.T) {
	t.Helper()
	c.killAfter(0)
	c.killed(t)
}

// killAfter is kill in a while.
func (c *child) killAfter(moment time.Duration) {
	time.AfterFunc(moment, func() { _ = c.command.Process.Kill() }) // The only error is that it has ended, which killed sees.
}

// killed waits until the process has been killed.
func (c *child) killed(t *testing.T) {
	t.Helper()
	<-c.ended
	if status, is := c.command.ProcessState.Sys().(syscall.WaitStatus); !is || status.Signal() != syscall.SIGKILL {
		t.Fatalf("the process has ended by itself: %s\n%s", c.command.ProcessState, c.output)
	}
}

// scaled is a ReplicaSet or a Job whose size changes, and what must have become of its Pods since it was made.
type scaled struct {
	name string
	uid  types.UID
	size int
	// made and deleted are how many Pods its controller must have made and deleted.
	made, deleted int
	// succeeded and failed are how many Pods of a Job have ended so.
	succeeded, failed int
}

// scales says that the size becomes another one.
func (s *scaled) scales(size int) {
	s.made += max(0, size-s.size)
	s.deleted += max(0, s.size-size)
	s.size = size
}

// workload is what the rules of replicaset and job have to do while they are killed.
type workload struct {
	*rand.Rand
	*nodes
	namespace string
	sets      []*scaled // ReplicaSets
	jobs      []*scaled // Jobs that never end
	brief     *scaled   // a Job that completes, a new one each round; its size is its completions
	round     int
}

func startWorkload(t *testing.T, namespace string, random *rand.Rand) *workload {
	t.Helper()
	w := &workload{Rand: random, namespace: namespace}
	// Each Pod of a brief Job ends as soon as it runs, every fourth of them with a failure.
	coins := rand.New(rand.NewPCG(random.Uint64(), random.Uint64()))
	w.nodes = startNodes(t, namespace, func(pod *unstructured.Unstructured) string {
		switch {
		case !strings.HasPrefix(pod.GetName(), "brief-"):
			return ""
		case coins.IntN(4) == 0:
			return "Failed"
		default:
			return "Succeeded"
		}
	})
	for i := range 8 {
		name := fmt.Sprintf("set-%d", i)
		made := create(t, replicasets, namespace, fmt.Sprintf(`{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: %s},
			spec: {replicas: 0, selector: {matchLabels: {app: %[1]s}}, template: %s}}`, name, fmt.Sprintf(workingPods, name, "Always")))
		w.sets = append(w.sets, &scaled{name: name, uid: made.GetUID()})
	}
	for i := range 4 {
		name := fmt.Sprintf("job-%d", i)
		w.jobs = append(w.jobs, &scaled{name: name, uid: w.job(t, name, "completions: 1000000, parallelism: 0")})
	}
	return w
}

func (w *workload) job(t *testing.T, name, sizes string) types.UID {
	t.Helper()
	return create(t, jobs, w.namespace, fmt.Sprintf(`{apiVersion: batch/v1, kind: Job, metadata: {name: %s},
		spec: {%s, backoffLimit: 1000000, template: %s}}`, name, sizes, fmt.Sprintf(workingPods, name, "Never"))).GetUID()
}

// change gives every ReplicaSet and every Job one thing to do, of which it is certain how many Pods it makes and deletes.
func (w *workload) change(t *testing.T) {
	t.Helper()
	w.round++
	completions := 1 + w.IntN(6)
	name := fmt.Sprintf("brief-%d", w.round)
	w.brief = &scaled{name: name, size: completions}
	w.brief.uid = w.job(t, name, fmt.Sprintf("completions: %d, parallelism: %d", completions, 1+w.IntN(4)))
	for _, set := range w.sets {
		if active := w.active(set); len(active) == 0 || w.IntN(3) > 0 {
			set.scales(w.IntN(24))
			edit(t, replicasets, w.namespace, set.name, fmt.Sprintf(`{"spec":{"replicas":%d}}`, set.size))
		} else {
			for i, pod := range active[:1+w.IntN(len(active))] {
				set.made++
				if i%2 == 0 {
					w.remove(t, pod)
				} else {
					w.end(t, pod, "Failed")
				}
			}
		}
	}
	for _, job := range w.jobs {
		if active := w.active(job); len(active) == 0 || w.IntN(3) == 0 {
			job.scales(w.IntN(10))
			edit(t, jobs, w.namespace, job.name, fmt.Sprintf(`{"spec":{"parallelism":%d}}`, job.size))
		} else {
			for i, pod := range active[:1+w.IntN(len(active))] {
				job.made++
				switch i % 3 {
				case 0:
					job.succeeded++
					w.end(t, pod, "Succeeded")
				case 1:
					job.failed++
					w.end(t, pod, "Failed")
				default:
					job.failed++
					w.remove(t, pod)
				}
			}
		}
	}
}

// active are the Pods of one that run, in random order.
func (w *workload) active(s *scaled) []*unstructured.Unstructured {
	var out []*unstructured.Unstructured
	for _, one := range w.of(s.uid) {
		if one.active() {
			out = append(out, one.pod)
		}
	}
	w.Shuffle(len(out), func(i, k int) { out[i], out[k] = out[k], out[i] })
	return out
}

// unsettled says what is not yet as it must be, and whether that can still come.
func (w *workload) unsettled(t *testing.T) (missing []string, wrong bool) {
	t.Helper()
	if !w.upToDate(t) {
		return []string{"the nodes have not seen everything"}, false
	}
	expect := func(name, what string, have, want int) {
		if have != want {
			missing = append(missing, fmt.Sprintf("%s: %s: %d, want %d", name, what, have, want))
			wrong = wrong || have > want && (what == "made" || what == "deleted" || what == "succeeded" || what == "failed")
		}
	}
	pods := func(s *scaled, size int) {
		made, deleted, active, held := 0, 0, 0, 0
		for _, one := range w.of(s.uid) {
			made++
			switch {
			case one.active():
				active++
			case one.ended == "" && !one.removed:
				deleted++
			}
			if !one.gone && (one.ended != "" || one.removed) && slices.Contains(one.pod.GetFinalizers(), "batch.kubernetes.io/job-tracking") {
				held++
			}
		}
		expect(s.name, "made", made, s.made)
		expect(s.name, "deleted", deleted, s.deleted)
		expect(s.name, "active Pods", active, size)
		expect(s.name, "ended Pods with a finalizer", held, 0)
	}
	// The objects first: what they count has ended by then.
	objects := map[string]*unstructured.Unstructured{}
	for _, set := range w.sets {
		objects[set.name] = get(t, replicasets, w.namespace, set.name)
	}
	running := slices.Concat(w.jobs, []*scaled{w.brief})
	for _, job := range running {
		objects[job.name] = get(t, jobs, w.namespace, job.name)
	}
	for _, set := range w.sets {
		pods(set, set.size)
		object := objects[set.name]
		for _, name := range []string{"replicas", "readyReplicas", "availableReplicas"} {
			expect(set.name, name, number(object, name), set.size)
		}
		expect(set.name, "observedGeneration", number(object, "observedGeneration"), int(object.GetGeneration()))
	}
	w.brief.succeeded, w.brief.failed = 0, 0
	for _, one := range w.of(w.brief.uid) {
		switch one.ended {
		case "Succeeded":
			w.brief.succeeded++
		case "Failed":
			w.brief.failed++
		}
	}
	w.brief.made = w.brief.size + w.brief.failed
	for _, job := range running {
		object, size := objects[job.name], job.size
		if job == w.brief {
			size = 0
			expect(job.name, "Pods that have succeeded", job.succeeded, job.size)
			if ended := fmt.Sprint(field(object, "status", "conditions")); !strings.Contains(ended, "type:Complete") {
				missing = append(missing, job.name+": it is not complete")
			}
		}
		pods(job, size)
		for what, want := range map[string]int{
			"active": size, "ready": size, "terminating": 0, "succeeded": job.succeeded, "failed": job.failed,
		} {
			expect(job.name, what, number(object, what), want)
		}
		for _, what := range []string{"succeeded", "failed"} {
			uids, _, _ := unstructured.NestedSlice(object.Object, "status", "uncountedTerminatedPods", what)
			expect(job.name, "uncounted", len(uids), 0)
		}
	}
	slices.Sort(missing)
	return missing, wrong
}

// settle waits until everything is as it must be: no Pod too many was ever made, none is counted twice, none is lost.
func (w *workload) settle(t *testing.T) {
	t.Helper()
	var missing []string
	defer func() {
		for _, s := range slices.Concat(w.sets, w.jobs, []*scaled{w.brief}) {
			if strings.Contains("\n"+strings.Join(missing, "\n"), "\n"+s.name+": ") {
				t.Logf("the Pods of %s:\n%s", s.name, strings.Join(texts(w.of(s.uid)), "\n"))
			}
		}
	}()
	eventually(t, "everything settles", func() bool {
		var wrong bool
		if missing, wrong = w.unsettled(t); wrong {
			t.Fatalf("wrong in round %d, for ever:\n%s", w.round, strings.Join(missing, "\n"))
		}
		return len(missing) == 0
	})
}

// tidy removes what has ended, and is counted.
func (w *workload) tidy(t *testing.T) {
	t.Helper()
	if err := client(t).Resource(jobs).Namespace(w.namespace).Delete(t.Context(), w.brief.name, metav1.DeleteOptions{
		PropagationPolicy: new(metav1.DeletePropagationBackground),
	}); err != nil {
		t.Fatal(err)
	}
	for _, one := range w.some(func(l *life) bool { return !l.gone && l.ended != "" }) {
		w.remove(t, one.pod)
	}
	eventually(t, "what has ended is gone", func() bool {
		return w.upToDate(t) && len(w.some(func(l *life) bool { return !l.gone && !l.active() })) == 0
	})
}

// progress is how many Pods of those that the round has to make and to delete are made and deleted.
func (w *workload) progress() (done, all int) {
	for _, s := range slices.Concat(w.sets, w.jobs) {
		all += s.made + s.deleted
		for _, one := range w.of(s.uid) {
			done++
			if !one.active() && one.ended == "" && !one.removed {
				done++
			}
		}
	}
	return done, all
}

func texts[T fmt.Stringer](all []T) []string {
	out := make([]string, len(all))
	for i, one := range all {
		out[i] = one.String()
	}
	return out
}

// TestKills kills the program again and again, at random moments, while ReplicaSets and Jobs scale and their Pods end.
// Each time, once everything has settled again, the number of Pods that were ever made is exactly what was wanted, and
// each Job has counted exactly the Pods that have ended.
func TestKills(t *testing.T) {
	alongside(t)
	rounds := times(5, 100)
	seed := uint64(time.Now().UnixNano())
	t.Logf("the seed is %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	namespace := cluster(t).Namespace(t)
	path := program(t)
	args := append(apart(namespace), "--rules", example(t, namespace, "replicaset"), "--rules", example(t, namespace, "job"))
	w := startWorkload(t, namespace, random)

	var all []*child
	start := func() { all = append(all, launch(t, path, args...)) }
	t.Cleanup(func() {
		for i, p := range all[max(0, len(all)-3):] {
			if t.Failed() {
				t.Logf("process %d of the last ones:\n%s", i+1, p.output)
			}
		}
	})
	// How long the program makes and deletes Pods undisturbed, and a little longer, is how long it can be killed amid that.
	lasts := func(do func()) time.Duration {
		began := time.Now()
		do()
		eventually(t, "all Pods are made and deleted", func() bool {
			done, of := w.progress()
			return done >= of
		})
		out := time.Since(began)
		w.settle(t)
		w.tidy(t)
		return out * 5 / 4
	}
	start()
	lasts(func() { w.change(t) })
	working := lasts(func() { w.change(t) })
	all[0].killAfter(0)
	all[0].killed(t)
	w.change(t)
	starting := lasts(start)
	t.Logf("it is killed within %s of a change, and within %s of a start", working, starting)

	moment := func(within time.Duration) time.Duration {
		return time.Duration(random.Int64N(int64(within))).Round(time.Millisecond)
	}
	kills, amid := 0, 0
	for range rounds {
		before, _ := w.progress()
		killed := func() (done, of int) {
			all[len(all)-1].killed(t)
			kills++
			if done, of = w.progress(); before < done && done < of {
				amid++
			}
			return done - before, of - before
		}
		moments := []time.Duration{moment(working)}
		all[len(all)-1].killAfter(moments[0])
		w.change(t)
		done, of := killed()
		// As often as not, it is killed once more while it starts, or takes up its work.
		if start(); random.IntN(2) == 0 {
			moments = append(moments, moment(starting))
			all[len(all)-1].killAfter(moments[1])
			done, of = killed()
			start()
		}
		w.settle(t)
		w.tidy(t)
		t.Logf("round %d: killed after %s, with %d of %d Pods made or deleted", w.round, moments, done, of)
	}
	all[len(all)-1].killAfter(0)
	all[len(all)-1].killed(t)
	made, deleted, counted := 0, 0, 0
	for _, s := range slices.Concat(w.sets, w.jobs) {
		made += s.made
		deleted += s.deleted
		counted += s.succeeded + s.failed
	}
	t.Logf("%d kills, %d of them with some Pods made or deleted, and some not; %d Pods made, %d deleted, %d counted by Jobs",
		kills, amid, made, deleted, counted)
	if amid < kills/5 {
		t.Errorf("only %d of %d kills were in the midst of it: it proves little", amid, kills)
	}
	settled(t, args...)
}
