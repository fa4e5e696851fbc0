package e2e

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
)

// deleteInForeground deletes an object that stays until the garbage collector has deleted what it owns. There is none here.
func deleteInForeground(t *testing.T, of *unstructured.Unstructured) {
	t.Helper()
	gvr := replicasets
	if of.GetKind() == "Job" {
		gvr = jobs
	}
	if err := client(t).Resource(gvr).Namespace(of.GetNamespace()).Delete(t.Context(), of.GetName(), metav1.DeleteOptions{
		PropagationPolicy: new(metav1.DeletePropagationForeground),
	}); err != nil {
		t.Fatal(err)
	}
}

// TestExamplesReplicaSet holds that a ReplicaSet adopts, makes, counts, releases and deletes Pods, and makes none while it
// is being deleted.
func TestExamplesReplicaSet(t *testing.T) {
	alongside(t)
	namespace := cluster(t).Namespace(t)
	n := startNodes(t, namespace, func(*unstructured.Unstructured) string { return "" })
	pod(t, namespace, "stray", "labels: {app: web}")
	pod(t, namespace, "other", "labels: {app: other}")
	args := append(apart(namespace), "--rules", example(t, namespace, "replicaset"))
	p := start(t, args...)
	web := create(t, replicasets, namespace, `{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: web}, spec: {replicas: 3,
		selector: {matchLabels: {app: web}}, template: `+fmt.Sprintf(workingPods, "web", "Always")+`}}`)
	counts := func(want int) func() bool {
		return func() bool {
			web = get(t, replicasets, namespace, "web")
			return number(web, "replicas") == want && number(web, "readyReplicas") == want &&
				number(web, "availableReplicas") == want && number(web, "observedGeneration") == int(web.GetGeneration())
		}
	}
	eventually(t, "three Pods are ready", counts(3))
	owner := func(name string) string {
		if controller := metav1.GetControllerOf(get(t, pods, namespace, name)); controller != nil {
			return controller.Kind + "/" + controller.Name
		}
		return ""
	}
	if made := len(n.of(web.GetUID())); made != 2 || owner("stray") != "ReplicaSet/web" || owner("other") != "" {
		t.Errorf("%d Pods were made beside the one that was there, which is owned by %q; another by %q", made, owner("stray"), owner("other"))
	}
	edit(t, pods, namespace, "stray", `{"metadata":{"labels":{"app":"mine"}}}`)
	eventually(t, "a Pod that is not selected any more is released", func() bool { return owner("stray") == "" })
	// The status still counts three, of before.
	eventually(t, "another is made", func() bool { return len(n.of(web.GetUID())) == 3 })
	eventually(t, "another takes its place", counts(3))
	edit(t, replicasets, namespace, "web", `{"spec":{"replicas":1}}`)
	eventually(t, "two Pods are deleted", counts(1))
	if made := len(n.of(web.GetUID())); made != 3 {
		t.Errorf("%d Pods were made, want 3", made)
	}
	if diff := cmp.Diff([]string{"other", "stray"}, names(t, pods, namespace, "app!=web")); diff != "" {
		t.Errorf("Pods of nobody (-want +got):\n%s", diff)
	}

	deleteInForeground(t, web)
	for _, one := range n.of(web.GetUID()) {
		if one.active() {
			n.remove(t, one.pod)
		}
	}
	eventually(t, "its last Pod goes", func() bool { return len(names(t, pods, namespace, "app=web")) == 0 })
	p.wait(t)
	once(t, args...) // It may have had something to count.
	settled(t, args...)
	if made := len(n.of(web.GetUID())); made != 3 {
		t.Errorf("a ReplicaSet that is being deleted has made a Pod: %d, want 3", made)
	}
}

// TestExamplesJob holds that a Job runs Pods until enough have succeeded, counts each of them once and lets it go, and is
// deleted after its time.
func TestExamplesJob(t *testing.T) {
	alongside(t)
	namespace := cluster(t).Namespace(t)
	var failures atomic.Int32
	n := startNodes(t, namespace, func(*unstructured.Unstructured) string {
		if failures.Add(1) == 1 {
			return "Failed"
		}
		return "Succeeded"
	})
	args := append(apart(namespace), "--rules", example(t, namespace, "job"))
	start(t, args...)
	work := create(t, jobs, namespace, `{apiVersion: batch/v1, kind: Job, metadata: {name: work}, spec: {completions: 3,
		parallelism: 2, suspend: true, ttlSecondsAfterFinished: 2, template: `+fmt.Sprintf(workingPods, "work", "Never")+`}}`)
	condition := func(name string) bool {
		work = get(t, jobs, namespace, "work")
		return strings.Contains(fmt.Sprint(field(work, "status", "conditions")), "status:True type:"+name)
	}
	eventually(t, "it is suspended", func() bool { return condition("Suspended") })
	if made := len(n.of(work.GetUID())); made > 0 {
		t.Errorf("%d Pods were made", made)
	}
	edit(t, jobs, namespace, "work", `{"spec":{"suspend":false}}`)
	eventually(t, "it is complete", func() bool { return condition("Complete") })
	counted := map[string]int{}
	for _, name := range []string{"succeeded", "failed", "active", "ready", "terminating"} {
		counted[name] = number(work, name)
	}
	if diff := cmp.Diff(map[string]int{"succeeded": 3, "failed": 1, "active": 0, "ready": 0, "terminating": 0}, counted); diff != "" {
		t.Errorf("what it has counted (-want +got):\n%s", diff)
	}
	for _, one := range n.of(work.GetUID()) {
		if held := get(t, pods, namespace, one.pod.GetName()).GetFinalizers(); len(held) > 0 {
			t.Errorf("Pod %s is held by %s", one.pod.GetName(), held)
		}
	}
	if made := len(n.of(work.GetUID())); made != 4 {
		t.Errorf("%d Pods were made, want 4", made)
	}
	completed, err := time.Parse(time.RFC3339, fmt.Sprint(field(work, "status", "completionTime")))
	if err != nil {
		t.Error(err)
	}
	var deleted *metav1.Time
	eventually(t, "it is deleted after its time, and waits for its Pods", func() bool {
		deleted = get(t, jobs, namespace, "work").GetDeletionTimestamp()
		return deleted != nil
	})
	if kept := deleted.Sub(completed); kept < 2*time.Second {
		t.Errorf("it was kept for %s, want 2s", kept)
	}
}

// TestExamplesEndpoints holds that Endpoints have the addresses and ports of the Pods of a Service, and go with it, and
// that those of others stay.
func TestExamplesEndpoints(t *testing.T) {
	alongside(t)
	namespace := cluster(t).Namespace(t)
	allowPods(t, namespace)
	create(t, endpoints, namespace, `{apiVersion: v1, kind: Endpoints, metadata: {name: by-hand}}`)
	create(t, endpoints, namespace, `{apiVersion: v1, kind: Endpoints, metadata: {name: left, labels: {
		endpoints.kubernetes.io/managed-by: endpoint-controller}}}`)
	create(t, services, namespace, `{apiVersion: v1, kind: Service, metadata: {name: by-hand}, spec: {ports: [{port: 80}]}}`)
	create(t, services, namespace, `{apiVersion: v1, kind: Service, metadata: {name: web, labels: {team: shop}}, spec: {
		selector: {app: web}, ports: [{name: http, port: 80, targetPort: http}, {name: metrics, port: 9090}]}}`)
	for i, port := range map[int]int{1: 8080, 2: 8080, 3: 8081} {
		name := fmt.Sprintf("web-%d", i)
		create(t, pods, namespace, fmt.Sprintf(`{apiVersion: v1, kind: Pod, metadata: {name: %s, labels: {app: web}}, spec: {
			automountServiceAccountToken: false, containers: [{name: web, image: web, ports: [{name: http, containerPort: %d}]}]}}`, name, port))
		report(t, namespace, name, fmt.Sprintf(`{"phase":"Running","podIP":"10.0.0.%d","podIPs":[{"ip":"10.0.0.%[1]d"}],
			"conditions":[{"type":"Ready","status":%q}]}`, i, map[bool]string{true: "False", false: "True"}[i == 2]))
	}
	args := append(apart(namespace), "--rules", example(t, namespace, "endpoints"))
	p := start(t, args...)

	are := func(want ...string) func() bool {
		return func() bool { return cmp.Equal(want, subsets(endpointsOf(t, namespace, "web"))) }
	}
	eventually(t, "what is ready and what is not is told apart", are(
		"10.0.0.1 (10.0.0.2) http:8080", "10.0.0.1 10.0.0.3 (10.0.0.2) metrics:9090", "10.0.0.3 () http:8081"))
	report(t, namespace, "web-2", `{"conditions":[{"type":"Ready","status":"True"}]}`)
	eventually(t, "one more is ready", are(
		"10.0.0.1 10.0.0.2 () http:8080", "10.0.0.1 10.0.0.2 10.0.0.3 () metrics:9090", "10.0.0.3 () http:8081"))
	if team := endpointsOf(t, namespace, "web").GetLabels()["team"]; team != "shop" {
		t.Errorf("the label of the Service is %q", team)
	}
	deleteObject(t, pods, namespace, "web-3")
	eventually(t, "a Pod that is gone is left out", are("10.0.0.1 10.0.0.2 () http:8080,metrics:9090"))
	eventually(t, "Endpoints without a Service go", func() bool { return endpointsOf(t, namespace, "left") == nil })
	p.wait(t)
	settled(t, args...)

	start(t, args...)
	deleteObject(t, services, namespace, "web")
	eventually(t, "Endpoints go with their Service", func() bool { return endpointsOf(t, namespace, "web") == nil })
	if endpointsOf(t, namespace, "by-hand") == nil {
		t.Error("Endpoints of a Service that selects nothing are gone")
	}
}

// endpointsOf returns Endpoints, or nil, without a warning each time that they are deprecated.
func endpointsOf(t *testing.T, namespace, name string) *unstructured.Unstructured {
	t.Helper()
	config := cluster(t).RESTConfig()
	config.WarningHandler = rest.NoWarnings{}
	c, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	object, err := c.Resource(endpoints).Namespace(namespace).Get(t.Context(), name, metav1.GetOptions{})
	if gone(err) != nil {
		t.Fatal(err)
	}
	if err != nil {
		return nil
	}
	return object
}

// subsets are those of Endpoints in short: the addresses, those that are not ready, and the ports. Their order means nothing.
func subsets(of *unstructured.Unstructured) []string {
	if of == nil {
		return nil
	}
	var out []string
	all, _, _ := unstructured.NestedSlice(of.Object, "subsets")
	for _, one := range all {
		texts := func(list, format string, keys ...string) (out []string) {
			subset, _ := one.(map[string]any)
			elements, _ := subset[list].([]any)
			for _, element := range elements {
				fields, _ := element.(map[string]any)
				var values []any
				for _, key := range keys {
					values = append(values, fields[key])
				}
				out = append(out, fmt.Sprintf(format, values...))
			}
			return out
		}
		out = append(out, strings.TrimSpace(strings.Join(texts("addresses", "%v", "ip"), " ")+" ("+
			strings.Join(texts("notReadyAddresses", "%v", "ip"), " ")+") "+strings.Join(texts("ports", "%v:%v", "name", "port"), ",")))
	}
	slices.Sort(out)
	return out
}
