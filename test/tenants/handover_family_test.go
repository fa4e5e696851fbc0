package tenants

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
)

var budgets = schema.GroupVersionResource{Group: "policy", Version: "v1", Resource: "poddisruptionbudgets"}

// chronicled has all that is done to parents, children and leases logged with the objects, whoever does it.
const chronicled = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
omitManagedFields: true
rules:
- {level: None, users: ["system:apiserver"]}
- level: RequestResponse
  verbs: [create, update, patch, delete, deletecollection]
  resources:
  - {group: "", resources: [configmaps, podtemplates]}
  - {group: policy, resources: [poddisruptionbudgets]}
  - {group: coordination.k8s.io, resources: [leases]}
- level: Metadata
  userGroups: ["system:serviceaccounts:crew"]
  verbs: [create, update, patch, delete, deletecollection]
`

// foremen may do all that the set family needs.
var foremen = append([]string{
	`{apiGroups: [""], resources: [podtemplates], verbs: ["*"]}`,
	`{apiGroups: [policy], resources: [poddisruptionbudgets], verbs: ["*"]}`,
}, janitor...)

// family makes one run of a parent that wants it, and a budget, and takes both away when it does not. Every second parent
// is held until it has no run.
const family = `apiVersion: dyncontroller.dev/v1alpha1
kind: RuleSet
metadata: {name: family, namespace: NAMESPACE}
spec:
  serviceAccountName: bot
  resources:
    parents: {version: v1, resource: configmaps, labelSelector: role=parent}
    runs: {version: v1, resource: podtemplates}
    budgets: {group: policy, version: v1, resource: poddisruptionbudgets}
  rules:
  - name: run
    watch: parents
    with: {mine: {resource: runs, matchLabels: {of: "${object.metadata.uid}"}}}
    when: object.data?.wanted == "yes" && len(mine) == 0
    actions:
    - create:
        in: mine
        owned: false
        manifest:
          metadata: {generateName: "${object.metadata.name}-", labels: {of: "${object.metadata.uid}", name: "${object.metadata.name}"}}
          template: {spec: {containers: [{name: main, image: main}]}}
  - name: halt
    watch: parents
    with: {mine: {resource: runs, matchLabels: {of: "${object.metadata.uid}"}}}
    when: object.data?.wanted != "yes"
    actions: [{delete: {target: mine}}]
  - name: budget
    watch: parents
    when: object.data?.wanted == "yes"
    actions:
    - apply:
        resource: budgets
        manifest: {metadata: {name: "${object.metadata.name}", labels: {of: "${object.metadata.uid}"}}, spec: {minAvailable: 1}}
        prune: true
  - name: hold
    watch: parents
    with: {mine: {resource: runs, matchLabels: {of: "${object.metadata.uid}"}}}
    when: object.data?.held == "yes"
    onDelete: {actions: [{delete: {target: mine}}], done: len(mine) == 0}
`

const (
	parents = 100
	// deeds are done each second.
	deeds = 25
)

// families are parents and children that come, change and go.
type families struct {
	stop func() // not the chronicle

	mu   sync.Mutex
	runs map[types.UID]*runLife // guarded by mu
}

// runLife is from which resourceVersion until which one there was a run.
type runLife struct {
	name, of   string
	made, gone int // gone is 0 while it is there
}

// startFamilies begins to make, change and delete parents, and to delete children.
func startFamilies(t *testing.T, f *fleet) *families {
	t.Helper()
	in := client(t, f.on)
	list, err := in.Resource(podtemplates).Namespace(f.namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	out := &families{runs: map[types.UID]*runLife{}}
	ctx, cancel := context.WithCancel(t.Context())
	var working, changing sync.WaitGroup
	t.Cleanup(working.Wait)
	t.Cleanup(cancel)
	working.Go(func() {
		follow(ctx, t, in.Resource(podtemplates).Namespace(f.namespace), list.GetResourceVersion(), out.note)
	})
	doing, stop := context.WithCancel(ctx)
	changing.Go(func() {
		random := rand.New(rand.NewPCG(1, 2))
		tick := time.NewTicker(time.Second / deeds)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
			case <-doing.Done():
				return
			}
			// The last deed is not cut off: it may be done, and the audit log would not say so.
			if err := deed(ctx, in, f.namespace, random); err != nil && ctx.Err() == nil {
				t.Errorf("changing a family: %v", err)
				return
			}
		}
	})
	out.stop = func() {
		stop()
		changing.Wait()
	}
	t.Cleanup(out.stop)
	return out
}

// note keeps a chronicle of the runs, in the order of the store.
func (f *families) note(what watch.EventType, object *unstructured.Unstructured) {
	f.mu.Lock()
	defer f.mu.Unlock()
	version := number(object.GetResourceVersion())
	if is := f.runs[object.GetUID()]; is == nil {
		f.runs[object.GetUID()] = &runLife{name: object.GetName(), of: object.GetLabels()["of"], made: version}
	} else if what == watch.Deleted {
		is.gone = version
	}
}

// deed is done to one parent, or to a child of it.
func deed(ctx context.Context, in dynamic.Interface, namespace string, random *rand.Rand) error {
	if random.IntN(4*deeds) == 0 { // Another account for the set.
		who := []string{"bot", "bob"}[random.IntN(2)]
		_, err := in.Resource(ruleSets).Namespace(namespace).
			Patch(ctx, "family", types.MergePatchType, []byte(`{"spec":{"serviceAccountName":"`+who+`"}}`), metav1.PatchOptions{})
		return err
	}
	i, wanted := random.IntN(parents), "yes"
	name, all := fmt.Sprintf("parent-%02d", i), in.Resource(configmaps).Namespace(namespace)
	if random.IntN(3) == 0 {
		wanted = "no"
	}
	var err error
	switch n := random.IntN(100); {
	case n < 15:
		err = all.Delete(ctx, name, metav1.DeleteOptions{})
	case n < 65:
		_, err = all.Patch(ctx, name, types.MergePatchType, []byte(`{"data":{"wanted":"`+wanted+`"}}`), metav1.PatchOptions{})
	case n < 80:
		runs, err := in.Resource(podtemplates).Namespace(namespace).List(ctx, metav1.ListOptions{LabelSelector: "name=" + name})
		if err != nil || len(runs.Items) == 0 {
			return err
		}
		last := runs.Items[len(runs.Items)-1].GetName()
		return unlessNotFound(in.Resource(podtemplates).Namespace(namespace).Delete(ctx, last, metav1.DeleteOptions{}))
	default:
		return unlessNotFound(in.Resource(budgets).Namespace(namespace).Delete(ctx, name, metav1.DeleteOptions{}))
	}
	if !apierrors.IsNotFound(err) {
		return err
	}
	held := []string{"no", "yes"}[i%2]
	_, err = all.Create(ctx, &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": map[string]any{"name": name, "labels": map[string]any{"role": "parent"}},
		"data":     map[string]any{"wanted": wanted, "held": held},
	}}, metav1.CreateOptions{})
	return err
}

func unlessNotFound(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// unsettled says what is not as the rules want it, of one parent. Runs of parents that were not held stay.
func unsettled(t *testing.T, f *fleet) string {
	t.Helper()
	list := func(of schema.GroupVersionResource, selector string) []unstructured.Unstructured {
		found, err := client(t, f.on).Resource(of).Namespace(f.namespace).List(t.Context(), metav1.ListOptions{LabelSelector: selector})
		if err != nil {
			t.Fatal(err)
		}
		return found.Items
	}
	type having struct{ runs, budgets int }
	has := map[string]*having{}
	living := list(configmaps, "role=parent")
	for _, parent := range living {
		has[string(parent.GetUID())] = &having{}
	}
	for _, run := range list(podtemplates, "of") {
		if of := has[run.GetLabels()["of"]]; of != nil {
			of.runs++
		}
	}
	for _, budget := range list(budgets, "of") {
		of := has[budget.GetLabels()["of"]]
		if of == nil {
			return "the parent is gone of budget " + budget.GetName()
		}
		of.budgets++
	}
	for _, parent := range living {
		want := having{1, 1}
		if field(&parent, "data", "wanted") != "yes" {
			want = having{}
		}
		if got := *has[string(parent.GetUID())]; got != want || parent.GetDeletionTimestamp() != nil {
			return fmt.Sprintf("%s has %+v, want %+v; finalizers %s", parent.GetName(), got, want, strings.Join(parent.GetFinalizers(), ", "))
		}
	}
	return ""
}
