package tenants

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/client-go/rest"

	"github.com/dyncontroller/dyncontroller/test/controlplane"
)

// TestGreedyAccount has one account do its worst to a process with the settings of deploy/base: by objects, Secrets, selectors, rules, sets
// that are in effect and sets that are refused. The process stays below what its Pod may have, and a set of another account becomes ready.
func TestGreedyAccount(t *testing.T) {
	on := deployed(t)
	greedy, calm := on.Namespace(t), on.Namespace(t)
	for _, namespace := range []string{greedy, calm} {
		tenant(t, on, namespace)
		account(t, on, namespace, "rules", `{apiGroups: [""], resources: [configmaps, secrets, pods, services], verbs: [get, list, watch, patch]}`,
			`{apiGroups: [events.k8s.io], resources: [events], verbs: [create, get, update, patch]}`)
	}
	large := strings.Repeat("x", 512<<10)
	long := strings.Repeat("x", 240<<10) // A set may have 256 KiB.
	several(200, func(n int) {
		post(t, on, "/api/v1/namespaces/"+greedy+"/configmaps", `{"metadata": {"name": "c%d"}, "data": {"large": %q}}`, n, large)
		post(t, on, "/api/v1/namespaces/"+greedy+"/secrets", `{"metadata": {"name": "s%d"}, "stringData": {"large": %q}}`, n, large)
	})

	program := replicaOf(t, on, operator(t))
	sets := []string{ // The oldest come first.
		greedySet("data", []string{"configmaps: {version: v1, resource: configmaps}", "secrets: {version: v1, resource: secrets}"}, []string{
			"{name: configmaps, watch: configmaps, when: \"object.data?.large == 'y'\", actions: [{patch: {merge: {data: {seen: \"yes\"}}}}]}",
			"{name: secrets, watch: secrets, when: \"object.data?.large == 'y'\", actions: [{event: {type: Normal, reason: Seen, message: seen}}]}",
		}),
	}
	rules := func(n int) string {
		return greedySet("rules"+strconv.Itoa(n), []string{"services: {version: v1, resource: services}"},
			times(700, `{name: r%d, watch: services, when: object.metadata.name == 'a', actions: [{patch: {merge: {metadata: {labels: {a%[1]d: b}}}}}]}`))
	}
	selectors := func(n int) string {
		return greedySet("selectors"+strconv.Itoa(n), times(600, `r%d: {version: v1, resource: pods, labelSelector: n=%[1]d`+strconv.Itoa(n)+`}`),
			times(600, `{name: r%d, watch: r%[1]d, actions: [{patch: {merge: {metadata: {labels: {a: b}}}}}]}`))
	}
	sets = append(sets, rules(0), selectors(0)) // All caches are taken then.
	for n := range 7 {
		sets = append(sets, rules(n+1))
	}
	sets = append(sets, selectors(1))
	for _, set := range sets {
		apply(t, on, greedy, set)
	}
	several(100, func(n int) {
		apply(t, on, greedy, greedySet("refused"+strconv.Itoa(n), []string{"services: {version: v1, resource: services}"},
			[]string{fmt.Sprintf("{name: a, watch: services, when: %q, actions: [{patch: {merge: {metadata: {labels: {a: b}}}}}]}", "object.metadata.name == '"+long+"'")}))
	})

	within(t, 5*time.Minute, "the greedy sets are told of", func() bool {
		for _, name := range []string{"selectors1", "rules7", "refused99"} {
			if status, _, _ := condition(t, on, ruleSets, greedy, name, "Ready"); status != "False" {
				return false
			}
		}
		return true
	})
	apply(t, on, calm, greedySet("calm", []string{"configmaps: {version: v1, resource: configmaps}"},
		[]string{`{name: a, watch: configmaps, actions: [{patch: {merge: {metadata: {labels: {calm: "yes"}}}}}]}`}))
	begin := time.Now()
	within(t, 2*time.Minute, "the set of the other account is ready", func() bool {
		status, _, _ := condition(t, on, ruleSets, calm, "calm", "Ready")
		return status == "True"
	})
	took := time.Since(begin)
	most := memory(t, program)
	t.Logf("the set of the other account was ready after %v; the process took at most %d MiB", took.Round(time.Millisecond), most.Value()>>20)
	for _, name := range []string{"data", "selectors0", "rules0", "rules7", "refused99"} {
		_, reason, message := condition(t, on, ruleSets, greedy, name, "Stalled")
		t.Logf("%s: %s %.300s", name, reason, message)
	}
	if limit := resource.MustParse("400Mi"); most.Cmp(limit) > 0 {
		t.Errorf("the process took %s, want at most %s", most.String(), limit.String())
	}
}

// greedySet is a RuleSet of the account rules, of resources and rules in YAML flow style.
func greedySet(name string, resources, rules []string) string {
	return "apiVersion: dyncontroller.dev/v1alpha1\nkind: RuleSet\nmetadata: {name: " + name + ", namespace: NAMESPACE}\nspec:\n  serviceAccountName: rules\n" +
		"  resources:\n    " + strings.Join(resources, "\n    ") + "\n  rules:\n  - " + strings.Join(rules, "\n  - ") + "\n"
}

// times is a text for each of the numbers below n.
func times(n int, format string) (out []string) {
	for i := range n {
		out = append(out, fmt.Sprintf(format, i))
	}
	return out
}

// several does something for each of the numbers below n, some at a time.
func several(n int, do func(n int)) {
	numbers := make(chan int)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for number := range numbers {
				do(number)
			}
		})
	}
	for number := range n {
		numbers <- number
	}
	close(numbers)
	all.Wait()
}

// post makes an object of a JSON text. A client with the race detector would take minutes to read and write so much.
func post(t *testing.T, on *controlplane.ControlPlane, path, format string, args ...any) {
	t.Helper()
	through, err := rest.HTTPClientFor(on.RESTConfig())
	if err != nil {
		t.Fatal(err)
	}
	ask, err := http.NewRequestWithContext(t.Context(), http.MethodPost, on.RESTConfig().Host+path, strings.NewReader(fmt.Sprintf(format, args...)))
	if err != nil {
		t.Fatal(err)
	}
	ask.Header.Set("Content-Type", "application/json")
	answer, err := through.Do(ask)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusCreated {
		t.Fatalf("making an object: %s", answer.Status)
	}
}

// operator is the program of an image: without the race detector, which takes memory of its own, and with the garbage collector that users have.
func operator(t *testing.T) *exec.Cmd {
	t.Helper()
	path := filepath.Join(t.TempDir(), "dyncontroller-operator")
	build := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-tags", "operator", "-ldflags", "-s -w", "-o", path, "../../cmd/dyncontroller")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building the operator: %v\n%s", err, out)
	}
	out := exec.Command(path)
	out.Env = append(os.Environ(), "GOGC=")
	return out
}

// memory is the most that a process has had resident, as Linux tells it.
func memory(t *testing.T, p *process) resource.Quantity {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.command.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(status), "VmHWM:")
	fields := strings.Fields(rest)
	if !found || len(fields) < 2 {
		t.Fatalf("the process does not tell its memory:\n%s", status)
	}
	return resource.MustParse(fields[0] + "Ki")
}
