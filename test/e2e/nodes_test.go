package e2e

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
)

var (
	replicasets = apischema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "replicasets"}
	jobs        = apischema.GroupVersionResource{Group: "batch", Version: "v1", Resource: "jobs"}
	endpoints   = apischema.GroupVersionResource{Version: "v1", Resource: "endpoints"}
)

// workingPods is a template of Pods, of an app and with a restartPolicy.
const workingPods = `{metadata: {labels: {app: %s}}, spec: {automountServiceAccountToken: false, restartPolicy: %s,
	containers: [{name: main, image: main}]}}`

// nodes do with the Pods of a namespace what the scheduler and kubelets do: each Pod is bound, runs and is ready, and is
// removed once it is terminating. They keep the life of every Pod that ever was, from a watch.
type nodes struct {
	pods dynamic.ResourceInterface
	// ends says how a Pod ends by itself that runs: Succeeded, Failed, or not at all.
	ends func(pod *unstructured.Unstructured) string
	news chan struct{}

	mu    sync.Mutex
	lives map[types.UID]*life // guarded by mu
}

// life is what became of a Pod.
type life struct {
	pod   *unstructured.Unstructured // as it was last
	owner types.UID                  // its controller when it was made
	gone  bool
	ended string // the phase in which the nodes, or the test, have ended it
	said  string // what the nodes did last, so that they do it once
}

// active is a Pod that neither has ended nor is terminating.
func (l *life) active() bool { return !l.gone && l.ended == "" && l.pod.GetDeletionTimestamp() == nil }

// startNodes begins to run Pods, until the test ends.
func startNodes(t *testing.T, namespace string, ends func(*unstructured.Unstructured) string) *nodes {
	t.Helper()
	allowPods(t, namespace)
	n := &nodes{
		pods: client(t).Resource(pods).Namespace(namespace), ends: ends, news: make(chan struct{}, 1), lives: map[types.UID]*life{},
	}
	list, err := n.pods.List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var working sync.WaitGroup
	working.Go(func() { n.follow(ctx, t, list.GetResourceVersion()) })
	working.Go(func() { n.work(ctx, t) })
	t.Cleanup(working.Wait)
	t.Cleanup(cancel)
	return n
}

// follow notes every event. A watch that ends goes on where it was: no Pod lives so shortly that it is missed.
func (n *nodes) follow(ctx context.Context, t *testing.T, version string) {
	for ctx.Err() == nil {
		events, err := n.pods.Watch(ctx, metav1.ListOptions{ResourceVersion: version})
		if err != nil {
			if ctx.Err() == nil {
				t.Errorf("watching Pods: %v", err)
			}
			return
		}
		for event := range events.ResultChan() {
			pod, is := event.Object.(*unstructured.Unstructured)
			if !is || event.Type == watch.Error {
				if ctx.Err() == nil {
					t.Errorf("watching Pods: %v", event.Object)
				}
				events.Stop()
				return
			}
			version = pod.GetResourceVersion()
			n.note(event.Type, pod)
		}
	}
}

func (n *nodes) note(what watch.EventType, pod *unstructured.Unstructured) {
	n.mu.Lock()
	defer n.mu.Unlock()
	one := n.lives[pod.GetUID()]
	if one == nil {
		one = &life{}
		if controller := metav1.GetControllerOf(pod); controller != nil {
			one.owner = controller.UID
		}
		n.lives[pod.GetUID()] = one
	}
	one.pod, one.gone = pod, what == watch.Deleted
	select {
	case n.news <- struct{}{}:
	default:
	}
}

func (n *nodes) work(ctx context.Context, t *testing.T) {
	for {
		select {
		case <-n.news:
		case <-ctx.Done():
			return
		}
		for _, one := range n.some(func(l *life) bool { return !l.gone }) {
			if err := n.serve(ctx, one); err != nil && ctx.Err() == nil {
				t.Errorf("the nodes: Pod %s: %v", one.pod.GetName(), err)
			}
		}
	}
}

// some are copies of the lives of the Pods that a condition holds for, by name.
func (n *nodes) some(condition func(*life) bool) []life {
	n.mu.Lock()
	defer n.mu.Unlock()
	var out []life
	for _, one := range n.lives {
		if condition(one) {
			out = append(out, *one)
		}
	}
	slices.SortFunc(out, func(a, b life) int { return strings.Compare(a.pod.GetName(), b.pod.GetName()) })
	return out
}

// serve does what is next for a Pod. Somebody may have deleted it in the meantime.
func (n *nodes) serve(ctx context.Context, one life) error {
	next, phase := "", field(one.pod, "status", "phase")
	switch {
	case one.gone:
	case one.pod.GetDeletionTimestamp() != nil:
		next = "removed"
	case field(one.pod, "spec", "nodeName") == nil:
		next = "bound"
	case phase == "Pending":
		next = "Running"
	case phase == "Running" && one.ended == "":
		next = n.ends(one.pod)
	}
	if next == "" || next == one.said || one.said == "removed" {
		return nil
	}
	n.change(one.pod, func(l *life) { l.said = next })
	name := one.pod.GetName()
	switch next {
	case "removed":
		if one.ended == "" && phase == "Running" {
			if err := n.say(ctx, name, "Failed"); err != nil {
				return gone(err)
			}
		}
		uid := one.pod.GetUID()
		return gone(n.pods.Delete(ctx, name, metav1.DeleteOptions{
			GracePeriodSeconds: new(int64(0)), Preconditions: &metav1.Preconditions{UID: &uid},
		}))
	case "bound":
		_, err := n.pods.Create(ctx, &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "v1", "kind": "Binding", "metadata": map[string]any{"name": name},
			"target": map[string]any{"kind": "Node", "name": "node"},
		}}, metav1.CreateOptions{}, "binding")
		if apierrors.IsConflict(err) {
			return nil // It is terminating.
		}
		return gone(err)
	case "Running":
		return gone(n.say(ctx, name, next))
	default:
		n.change(one.pod, func(l *life) { l.ended = next })
		return gone(n.say(ctx, name, next))
	}
}

func (n *nodes) change(pod *unstructured.Unstructured, change func(*life)) {
	n.mu.Lock()
	defer n.mu.Unlock()
	change(n.lives[pod.GetUID()])
}

// say writes a status. A container that ends has done so long ago, for which no back-off waits.
func (n *nodes) say(ctx context.Context, name, phase string) error {
	now := time.Now().UTC()
	ready, state := "True", fmt.Sprintf(`{"running":{"startedAt":%q}}`, now.Format(time.RFC3339))
	if phase != "Running" {
		ready = "False"
		state = fmt.Sprintf(`{"terminated":{"exitCode":%d,"finishedAt":%q}}`,
			map[string]int{"Failed": 1}[phase], now.Add(-time.Hour).Format(time.RFC3339))
	}
	_, err := n.pods.Patch(ctx, name, types.MergePatchType, fmt.Appendf(nil, `{"status":{"phase":%q,
		"conditions":[{"type":"Ready","status":%q,"lastTransitionTime":%q}],
		"containerStatuses":[{"name":"main","image":"main","imageID":"","ready":%s,"restartCount":0,"state":%s}]}}`,
		phase, ready, now.Format(time.RFC3339), strings.ToLower(ready), state), metav1.PatchOptions{}, "status")
	return err
}

// remove deletes a Pod as somebody would.
func (n *nodes) remove(t *testing.T, pod *unstructured.Unstructured) {
	t.Helper()
	if err := n.pods.Delete(t.Context(), pod.GetName(), metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
}

// of are the Pods that were ever made for an owner.
func (n *nodes) of(owner types.UID) []life {
	return n.some(func(l *life) bool { return l.owner == owner })
}

// gone takes it for success that there is nothing left to do it to.
func gone(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// number is a number of the status, 0 where there is none.
func number(object *unstructured.Unstructured, name string) int {
	n, _ := field(object, "status", name).(int64)
	return int(n)
}
