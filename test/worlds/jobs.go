package worlds

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

var jobs = schema.GroupVersionResource{Group: "batch", Version: "v1", Resource: "jobs"}

// What a kubelet does with a Pod of a Job.
const (
	succeed deed = "succeed"
	fail    deed = "fail"
)

// jobsOf is the workload of the Job controller as rules (examples/rules/job). In the end the kubelet has all Pods succeed, so each Job completes.
func jobsOf(files func(text string) *workload, rules string) *workload {
	out := files(rules)
	out.name = "jobs"
	out.resources = []schema.GroupVersionResource{jobs, pods}
	out.deeds = []deed{create, create, scale, remove, succeed, succeed, succeed, fail, kill}
	out.do, out.tend, out.look, out.judge = changeJobs, succeedAll, lookAtJobs, judgeJobs
	return out
}

func changeJobs(ctx context.Context, w *World, s step) error {
	own := w.user.Resource(jobs).Namespace("shop")
	switch s.deed {
	case create:
		_, err := own.Create(ctx, &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "batch/v1", "kind": "Job", "metadata": map[string]any{"name": s.name},
			"spec": map[string]any{
				"completions": int64(1 + s.value%3), "parallelism": int64(1 + s.value/3%3), "backoffLimit": int64(100),
				"template": map[string]any{
					"metadata": map[string]any{"labels": map[string]any{"job": s.name}},
					"spec":     map[string]any{"restartPolicy": "Never", "containers": []any{map[string]any{"name": "main", "image": "main"}}},
				},
			},
		}}, metav1.CreateOptions{FieldManager: "user"})
		return err //nolint:wrapcheck // See merge.
	case scale:
		return w.merge(ctx, jobs, s.name, `{"spec":{"parallelism":%d}}`, 1+s.value%3)
	case remove:
		background := metav1.DeletePropagationBackground
		return own.Delete(ctx, s.name, metav1.DeleteOptions{PropagationPolicy: &background}) //nolint:wrapcheck // See merge.
	default:
		running, err := w.running(ctx, "job="+s.name)
		if err != nil || len(running) == 0 {
			return err
		}
		one := running[s.value%len(running)]
		if s.deed == kill {
			return w.user.Resource(pods).Namespace("shop").Delete(ctx, one, metav1.DeleteOptions{}) //nolint:wrapcheck // See merge.
		}
		return w.tell(ctx, one, map[deed]string{succeed: `{"phase":"Succeeded"}`, fail: `{"phase":"Failed"}`}[s.deed])
	}
}

// running are the Pods with a label that have not ended, and are not being deleted.
func (w *World) running(ctx context.Context, label string) (names []string, err error) {
	list, err := w.user.Resource(pods).Namespace("shop").List(ctx, metav1.ListOptions{LabelSelector: label})
	if err != nil {
		return nil, err //nolint:wrapcheck // See merge.
	}
	for i := range list.Items {
		phase, _, _ := unstructured.NestedString(list.Items[i].Object, "status", "phase")
		if list.Items[i].GetDeletionTimestamp() == nil && phase != "Succeeded" && phase != "Failed" {
			names = append(names, list.Items[i].GetName())
		}
	}
	return names, nil
}

// tell has the kubelet patch the status of a Pod.
func (w *World) tell(ctx context.Context, pod, status string) error {
	patch := []byte(`{"status":` + status + `}`)
	_, err := w.user.Resource(pods).Namespace("shop").Patch(ctx, pod, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: "kubelet"}, "status")
	return err //nolint:wrapcheck // See merge.
}

func succeedAll(ctx context.Context, w *World) error {
	running, err := w.running(ctx, "job")
	for _, name := range running {
		err = cmp.Or(err, w.tell(ctx, name, `{"phase":"Succeeded"}`))
	}
	return err
}

// lookAtJobs leaves out the Pods, those that have failed, and when it was.
func lookAtJobs(seen map[string]any, resource string, object *unstructured.Unstructured, _ map[types.UID]string) {
	if resource != jobs.Resource {
		return
	}
	succeeded, _, _ := unstructured.NestedInt64(object.Object, "status", "succeeded")
	all, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions")
	var is []string
	for _, one := range all {
		condition, _ := one.(map[string]any)
		if kind, _ := condition["type"].(string); condition["status"] == "True" {
			is = append(is, kind)
		}
	}
	slices.Sort(is)
	seen["jobs/"+object.GetName()] = map[string]any{"spec": object.Object["spec"], "succeeded": succeeded, "is": is, "going": object.GetDeletionTimestamp() != nil}
}

// job is what has become of one.
type job struct {
	name              string
	there             bool
	completions       int
	parallelism       []wanted
	active            map[string]bool // its Pods that have not ended, by name
	succeeded, failed int             // Pods that were tracked then; who is deleted before it has ended has failed
	told              jobCounts       // by the status
}

// jobCounts are Pods that have ended, as the status of a Job tells.
type jobCounts struct {
	Succeeded int `json:"succeeded"`
	Failed    int `json:"failed"`
	Uncounted struct {
		Succeeded []types.UID `json:"succeeded"`
		Failed    []types.UID `json:"failed"`
	} `json:"uncountedTerminatedPods"`
}

func (c *jobCounts) sums() (succeeded, failed int) {
	return c.Succeeded + len(c.Uncounted.Succeeded), c.Failed + len(c.Uncounted.Failed)
}

// jobPod is a Pod of a job that has not ended.
type jobPod struct {
	*job
	tracked bool // it has the finalizer by which it is counted
}

// judgeJobs holds that each Pod that ends is counted once and for ever, whatever comes between the three writes that count it. And no Pod is made
// too many, by what was so at some moment from [mostBehind] before the request was sent until the API server carried it out.
func judgeJobs(o *oracle) {
	all := registry{jobs: map[types.UID]*job{}, named: map[string]*job{}, pods: map[string]*jobPod{}}
	for _, r := range o.all {
		if !r.stored() {
			continue
		}
		if name, is := r.to(jobs); is {
			all.noteJob(o, r, name)
		}
		if name, is := r.to(pods); is {
			all.notePod(o, r, name)
		}
	}
	for _, j := range all.jobs {
		if succeeded, failed := j.told.sums(); j.there && (succeeded != j.succeeded || failed != j.failed) {
			o.accuse("of the Pods of the Job %s, %d have succeeded and %d failed; it tells of %d and %d", j.name, j.succeeded, j.failed, succeeded, failed)
		}
	}
}

// registry is what there is at some moment of a history.
type registry struct {
	jobs  map[types.UID]*job
	named map[string]*job
	pods  map[string]*jobPod
}

func (all *registry) noteJob(o *oracle, r *request, name string) {
	if name == "" {
		j := &job{name: r.written.Metadata.Name, there: true, completions: r.written.Spec.Completions, active: map[string]bool{}}
		j.parallelism = []wanted{{r.at, r.written.Spec.Parallelism}}
		all.jobs[r.written.Metadata.UID], all.named[j.name] = j, j
		return
	}
	name, _, status := strings.Cut(name, "/")
	j := all.named[name]
	switch {
	case r.method == http.MethodDelete:
		j.there, j.parallelism = false, append(j.parallelism, wanted{r.at, 0})
	case status:
		before := j.told
		j.told = r.written.Status.jobCounts
		succeeded, failed := j.told.sums()
		hadSucceeded, hadFailed := before.sums()
		if succeeded < hadSucceeded || failed < hadFailed || succeeded > j.succeeded || failed > j.failed {
			o.accuse("%d Pods have succeeded and %d failed; it tells of %d and %d, and told of %d and %d: %s", j.succeeded, j.failed, succeeded, failed, hadSucceeded, hadFailed, r)
		}
	default:
		j.parallelism = append(j.parallelism, wanted{r.at, r.written.Spec.Parallelism})
	}
}

func (all *registry) notePod(o *oracle, r *request, name string) {
	metadata := r.written.Metadata
	name, _, _ = strings.Cut(cmp.Or(name, metadata.Name), "/")
	pod := all.pods[name]
	if r.method == http.MethodPost {
		pod = &jobPod{job: &job{active: map[string]bool{}}} // Of none that there has been.
		for _, owner := range metadata.OwnerReferences {
			pod.job = cmp.Or(all.jobs[owner.UID], pod.job)
		}
		all.pods[name], pod.active[name] = pod, true
		_, most := bounds(pod.parallelism, r.sent.Add(-mostBehind), r.at)
		if most = min(most, pod.completions-pod.succeeded); len(pod.active) > most {
			o.accuse("one Pod too many, the Job has %d and was to have %d at most: %s", len(pod.active), most, r)
		}
	}
	if pod == nil {
		return
	}
	phase := r.written.Status.Phase
	if r.method == http.MethodDelete || phase == "Succeeded" || phase == "Failed" {
		switch {
		case !pod.tracked: // It was too many.
		case phase == "Succeeded":
			pod.succeeded++
		default:
			pod.failed++
		}
		delete(pod.active, name)
		delete(all.pods, name)
	}
	pod.tracked = slices.Contains(metadata.Finalizers, "batch.kubernetes.io/job-tracking")
}
