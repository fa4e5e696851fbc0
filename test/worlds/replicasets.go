package worlds

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

var (
	replicasets = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "replicasets"}
	pods        = schema.GroupVersionResource{Version: "v1", Resource: "pods"}
)

// What users of ReplicaSets do besides, and what a kubelet does.
const (
	bare    deed = "bare"    // a Pod is made that the ReplicaSet selects, and adopts
	kill    deed = "kill"    // one of its Pods is deleted
	release deed = "release" // one of its Pods is taken out of its selector
	ready   deed = "ready"   // one of its Pods becomes ready
)

// replicaSets is the workload of the ReplicaSet controller as rules (examples/rules/replicaset).
func replicaSets(files func(text string) *workload, rules string) *workload {
	out := files(rules)
	out.name = "replicasets"
	out.resources = []schema.GroupVersionResource{replicasets, pods}
	out.deeds = []deed{create, create, scale, scale, remove, bare, kill, release, ready}
	out.do, out.look, out.judge = changeReplicaSets, lookAtReplicaSets, judgeReplicaSets
	return out
}

func changeReplicaSets(ctx context.Context, w *World, s step) error {
	sets, all := w.user.Resource(replicasets).Namespace("shop"), w.user.Resource(pods).Namespace("shop")
	labels := map[string]any{"app": s.name}
	spec := map[string]any{"containers": []any{map[string]any{"name": "main", "image": "main"}}}
	switch s.deed {
	case create:
		_, err := sets.Create(ctx, &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": map[string]any{"name": s.name},
			"spec": map[string]any{
				"replicas": int64(s.value % 5), "selector": map[string]any{"matchLabels": labels},
				"template": map[string]any{"metadata": map[string]any{"labels": labels}, "spec": spec},
			},
		}}, metav1.CreateOptions{FieldManager: "user"})
		return err //nolint:wrapcheck // See merge.
	case scale:
		return w.merge(ctx, replicasets, s.name, `{"spec":{"replicas":%d}}`, s.value%5)
	case remove:
		return sets.Delete(ctx, s.name, metav1.DeleteOptions{}) //nolint:wrapcheck // See merge.
	case bare:
		_, err := all.Create(ctx, &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"name": fmt.Sprintf("bare-%s-%d", s.name, s.value), "labels": labels}, "spec": spec,
		}}, metav1.CreateOptions{FieldManager: "user"})
		return err //nolint:wrapcheck // See merge.
	default:
		return changePod(ctx, w, s)
	}
}

// changePod does something to a Pod, whichever it is.
func changePod(ctx context.Context, w *World, s step) error {
	all := w.user.Resource(pods).Namespace("shop")
	list, err := all.List(ctx, metav1.ListOptions{LabelSelector: "app=" + s.name})
	if err != nil || len(list.Items) == 0 {
		return err //nolint:wrapcheck // See merge.
	}
	one := list.Items[s.value%len(list.Items)].GetName()
	switch s.deed {
	case kill:
		return all.Delete(ctx, one, metav1.DeleteOptions{}) //nolint:wrapcheck // See merge.
	case release:
		return w.merge(ctx, pods, one, `{"metadata":{"labels":{"app":null}}}`)
	default: // ready
		return w.tell(ctx, one, `{"conditions":[{"type":"Ready","status":"True"}]}`)
	}
}

// lookAtReplicaSets counts the Pods that a ReplicaSet has. Those of one that is gone would be collected as garbage.
func lookAtReplicaSets(seen map[string]any, resource string, object *unstructured.Unstructured, names map[types.UID]string) {
	if resource == pods.Resource {
		if owner := metav1.GetControllerOf(object); owner != nil && names[owner.UID] != "" && object.GetLabels()["app"] != "" {
			n, _ := seen["pods of "+names[owner.UID]].(int)
			seen["pods of "+names[owner.UID]] = n + 1
		}
		return
	}
	replicas, _, _ := unstructured.NestedInt64(object.Object, "status", "replicas")
	seen[resource+"/"+object.GetName()] = map[string]any{"spec": object.Object["spec"], "status.replicas": replicas, "going": object.GetDeletionTimestamp() != nil}
}

// replicaSet is what has become of one.
type replicaSet struct {
	wanted []wanted
	pods   map[string]bool // that it controls and selects, by name
	users  []time.Time     // when users have made, deleted or relabelled a Pod of it
}

// wanted is how many Pods a controller is to have from a moment on.
type wanted struct {
	from time.Time
	n    int
}

// bounds are the fewest and the most Pods that were wanted at some moment of a time.
func bounds(all []wanted, from, to time.Time) (least, most int) {
	least = math.MaxInt
	for i, w := range all {
		if !w.from.After(to) && (i+1 == len(all) || !all[i+1].from.Before(from)) {
			least, most = min(least, w.n), max(most, w.n)
		}
	}
	return least, most
}

// bounds are the fewest and the most Pods that it was to have at some moment of a time, give or take what users have done meanwhile.
func (s *replicaSet) bounds(from, to time.Time) (least, most int) {
	least, most = bounds(s.wanted, from, to)
	for _, at := range s.users {
		if !at.Before(from) && !at.After(to) {
			least, most = least-1, most+1
		}
	}
	return least, most
}

// judgeReplicaSets holds that no Pod is made too many, and none deleted too many, by what was so at some moment from [mostBehind] before the request
// was sent until the API server carried it out.
func judgeReplicaSets(o *oracle) {
	all := ledger{sets: map[types.UID]*replicaSet{}, named: map[string]*replicaSet{}, owned: map[string]*replicaSet{}}
	for _, r := range o.all {
		if !r.stored() {
			continue
		}
		all.noteReplicaSet(r)
		before, after := all.notePod(r)
		if r.as == user {
			continue
		}
		from, to := r.sent.Add(-mostBehind), r.at
		switch {
		case r.method == http.MethodPost && after != nil:
			if _, most := after.bounds(from, to); len(after.pods) > most {
				o.accuse("one Pod too many, the ReplicaSet has %d and was to have %d at most: %s", len(after.pods), most, r)
			}
		case r.method == http.MethodDelete && before != nil:
			if least, _ := before.bounds(from, to); len(before.pods) < least {
				o.accuse("one Pod too few, the ReplicaSet has %d and was to have %d at least: %s", len(before.pods), least, r)
			}
		}
	}
}

// ledger is what there is at some moment of a history.
type ledger struct {
	sets  map[types.UID]*replicaSet
	named map[string]*replicaSet
	owned map[string]*replicaSet // by the names of their Pods
}

// noteReplicaSet notes what a user does to a ReplicaSet.
func (l *ledger) noteReplicaSet(r *request) {
	name, is := r.to(replicasets)
	if !is || r.as != user {
		return
	}
	name = cmp.Or(name, r.written.Metadata.Name)
	if r.method == http.MethodPost {
		l.named[name] = &replicaSet{pods: map[string]bool{}}
		l.sets[r.written.Metadata.UID] = l.named[name]
	}
	n := r.written.Spec.Replicas
	if r.method == http.MethodDelete {
		n = 0
	}
	l.named[name].wanted = append(l.named[name].wanted, wanted{r.at, n})
}

// notePod notes what becomes of a Pod, and returns the ReplicaSets that controlled and selected it before and do so now, nil for none.
func (l *ledger) notePod(r *request) (before, after *replicaSet) {
	name, is := r.to(pods)
	if !is {
		return nil, nil
	}
	metadata := r.written.Metadata
	name, _, _ = strings.Cut(cmp.Or(name, metadata.Name), "/")
	before = l.owned[name]
	if r.method != http.MethodDelete && metadata.Labels["app"] != "" {
		for _, owner := range metadata.OwnerReferences {
			after = cmp.Or(after, l.sets[owner.UID])
		}
	}
	if before != nil {
		delete(before.pods, name)
	}
	if l.owned[name] = after; after != nil {
		after.pods[name] = true
	}
	for _, s := range []*replicaSet{before, after, l.named[metadata.Labels["app"]]} {
		if s != nil && r.as == user && !slices.Contains(s.users, r.at) {
			s.users = append(s.users, r.at)
		}
	}
	return before, after
}
