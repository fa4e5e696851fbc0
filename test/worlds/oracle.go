package worlds

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/pkg/api/v1alpha1"
)

// look is what users see of a world.
func (w *World) look(ctx context.Context) (map[string]any, error) {
	out, names, found := map[string]any{}, map[types.UID]string{}, map[string][]unstructured.Unstructured{}
	for _, of := range w.workload.resources {
		list, err := w.user.Resource(of).List(ctx, metav1.ListOptions{})
		if err != nil {
			return nil, fmt.Errorf("looking at the world: %w", err)
		}
		for _, object := range list.Items {
			if object.GetNamespace() != "system" {
				names[object.GetUID()] = object.GetName()
				found[of.Resource] = append(found[of.Resource], object)
			}
		}
	}
	for resource, objects := range found {
		for i := range objects {
			w.workload.look(out, resource, &objects[i], names)
		}
	}
	if w.inCluster {
		all, err := w.ruleSets(w.workload.texts[0])
		if err != nil {
			return nil, err
		}
		for _, one := range all {
			set, err := w.setsLike(one).Get(ctx, one.GetName(), metav1.GetOptions{})
			if err != nil {
				return nil, fmt.Errorf("looking at a set object: %w", err)
			}
			if out["inventory of "+one.GetName()], err = leftoversOf(set); err != nil {
				return nil, err
			}
			if !w.workload.pauses && !w.isTroubled() {
				out[conditionsKey+one.GetName()] = conditionsOf(set)
			}
		}
		return out, nil
	}
	inventory, err := w.user.Resource(configmaps).Namespace("system").Get(ctx, "dyncontroller-inventory-world", metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err): // The rules leave nothing.
		out["inventory"] = []leftover{}
	case err != nil:
		return nil, fmt.Errorf("looking at the inventory: %w", err)
	default:
		if out["inventory"], err = leftoversOf(inventory); err != nil {
			return nil, err
		}
	}
	return out, nil
}

const conditionsKey = "conditions of "

// isTroubled reports whether a watch went wrong a while ago, as the conditions may say.
func (w *World) isTroubled() bool {
	return slices.ContainsFunc(w.history.all, func(r *request) bool {
		return r.fault != "" && r.fault != Lagging && strings.Contains(r.query, "watch=true") && time.Since(r.at) < settling
	})
}

// conditionsOf is what the status of a set object tells users, and whether it is about its present version.
func conditionsOf(set *unstructured.Unstructured) map[string]any {
	status := v1alpha1.StatusOf(set)
	out := map[string]any{"observed": status.ObservedGeneration == set.GetGeneration()}
	for _, c := range status.Conditions {
		out[c.Type] = fmt.Sprintf("%s %s of the present version: %t", c.Status, c.Reason, c.ObservedGeneration == set.GetGeneration())
	}
	return out
}

// leftoversOf are those that an object has in its status or its data.
func leftoversOf(object *unstructured.Unstructured) ([]leftover, error) {
	var as written
	err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &as)
	if err != nil {
		return nil, fmt.Errorf("reading the inventory: %w", err)
	}
	out, _ := as.inventory()
	slices.SortFunc(out, func(a, b leftover) int { // Those of several sets in files are by the names of the sets.
		return cmp.Or(strings.Compare(a.Rule, b.Rule), strings.Compare(a.Kind, b.Kind), strings.Compare(a.Resource, b.Resource))
	})
	return out, nil
}

// oracle looks for what the program promises that it never does, in the history of a world. It needs to know no case.
type oracle struct {
	all     []*request
	calm    map[string]any // what users see of the calm world in the end
	elected bool           // the replicas elect a leader
	verdict strings.Builder
}

func (o *oracle) accuse(format string, args ...any) { fmt.Fprintf(&o.verdict, format+"\n", args...) }

// judge says what is wrong with a world that has ended: in the end all must be as in a calm one, where there is one.
func judge(w, calm *World) string {
	o := &oracle{all: w.history.all, elected: len(w.places) > 1}
	if calm != nil {
		o.calm = maps.Clone(calm.state)
		maps.DeleteFunc(o.calm, func(key string, _ any) bool { return strings.HasPrefix(key, conditionsKey) && w.state[key] == nil })
		if diff := gocmp.Diff(o.calm, w.state); diff != "" {
			o.accuse("as if nothing had been disturbed, and as it is (-want +got):\n%s", diff)
		}
	}
	statuses, refused := map[string]int{}, map[string]int{}
	for _, r := range o.all[w.rested:] {
		if r.as == user || !r.changes() {
			continue
		}
		if r.toSets() { // The status counts how often rules were evaluated, such as when a watch begins anew.
			if r.fault == "" {
				statuses[r.path]++
			}
			if statuses[r.path] <= mostStatuses {
				continue
			}
		}
		if at := r.as + " " + r.path; r.arrived && !r.stored() { // A new process may try once what has been refused to the one before.
			if refused[at]++; refused[at] == 1 {
				continue
			}
		}
		o.accuse("in the quiet time: %s", r)
	}
	o.oneLeader()
	if w.inCluster {
		o.oneAccount(w.setOf)
	}
	o.leased()
	o.recorded()
	o.guarded()
	o.neverAgain()
	o.neverBack()
	w.workload.judge(o)
	return o.verdict.String()
}

// mostStatuses is how often the status of a set object is written in the quiet time, at most.
const mostStatuses = 6

// oneLeader holds that nothing is written by a replica after the first write of the next one.
func (o *oracle) oneLeader() {
	over, last := map[string]bool{}, ""
	for _, r := range o.all {
		if r.as == user || !r.stored() {
			continue
		}
		if over[r.as] {
			o.accuse("written by %s, after %s had begun to write: %s", r.as, last, r)
			continue
		}
		if last != r.as {
			over[last] = true
		}
		last = r.as
	}
}

// leased holds what a lease is for. No replica writes one while another process holds it. And a replica changes
// nothing after the renew deadline of what it has written last there, nor once it has let go. A program cannot know of a belated request.
func (o *oracle) leased() {
	var last *request
	own, identities := map[string]*request{}, map[string]string{}
	for _, r := range o.all {
		switch {
		case r.writesLease() && last != nil && r.written.Spec == last.written.Spec: // No time has gone by since the same was sent before.
		case r.writesLease():
			if holder := r.written.Spec.HolderIdentity; holder != "" {
				identities[r.as] = holder
			}
			if r.as != user && last != nil {
				before := last.written.Spec
				ends := last.at.Add(time.Duration(before.LeaseDurationSeconds) * time.Second)
				if before.HolderIdentity != "" && before.HolderIdentity != identities[r.as] && r.at.Before(ends) {
					o.accuse("written, and the lease belonged to another process: %s\n%s", last, r)
				}
			}
			last, own[r.as] = r, r
		case !o.elected || r.as == user || !r.stored() || r.fault == Belated:
		case own[r.as] == nil || own[r.as].written.Spec.HolderIdentity == "":
			o.accuse("written without the lease: %s", r)
		case r.at.Sub(own[r.as].sent) > renewDeadline:
			o.accuse("written, and the lease was renewed too long before: %s\n%s", own[r.as], r)
		}
	}
}

// leftover is what a rule may leave: of a kind as the inventory names it, on objects of a resource. Without a rule it is that of any.
type leftover struct{ Kind, Rule, Resource string }

// pause is that of a rule.
type pause struct{ Rule string }

// inventory is what an object says is left over, and which rules are paused: in the status of a set object, or in the data of a ConfigMap.
func (w *written) inventory() (leftovers []leftover, paused []pause) {
	leftovers, paused = append([]leftover{}, w.Status.Inventory...), w.Status.Paused
	for _, page := range w.Data {
		var said struct {
			Leftovers []leftover
			Paused    []pause
		}
		_ = json.Unmarshal([]byte(page), &said) // It is the program that reads it.
		leftovers, paused = append(leftovers, said.Leftovers...), append(paused, said.Paused...)
	}
	return leftovers, paused
}

// recorded holds that the inventory says what rules leave before they do: children, finalizers, and changes for a while.
func (o *oracle) recorded() {
	type entry struct {
		path string // of who has it
		leftover
	}
	inventory, before := map[entry]*spans{}, map[types.UID]written{}
	for _, r := range o.all {
		switch {
		case !r.stored():
		case r.toSets(), strings.Contains(r.path, "/namespaces/system/configmaps"):
			now, _ := r.written.inventory()
			path := strings.TrimSuffix(r.path, "/status")
			for _, one := range now {
				inventory[entry{path, one}] = cmp.Or(inventory[entry{path, one}], &spans{})
			}
			for one, listed := range inventory {
				if one.path == path {
					listed.note(r.at, slices.Contains(now, one.leftover))
				}
			}
		default:
			for _, left := range r.leaves(before[r.written.Metadata.UID]) {
				listed := func(one entry) bool {
					return one.Kind == left.Kind && one.Resource == left.Resource && (left.Rule == "" || left.Rule == one.Rule) && inventory[one].during(r.sent, r.sent)
				}
				if r.as != user && !slices.ContainsFunc(slices.Collect(maps.Keys(inventory)), listed) {
					o.accuse("written, and the inventory had no %s: %s", left, r)
				}
			}
			before[r.written.Metadata.UID] = r.written
		}
	}
}

// leaves is what the request has left that was not there before.
func (r *request) leaves(before written) (out []leftover) {
	was, is := before.Metadata, r.written.Metadata
	resource := resourceOf(r.path)
	if rule := is.Labels["dyncontroller.dev/rule"]; rule != "" && was.Labels["dyncontroller.dev/rule"] != rule {
		kind := map[bool]string{true: "created", false: "children"}[r.method == http.MethodPost]
		out = append(out, leftover{kind, rule, resource})
	}
	ours := func(name string) bool { return strings.HasPrefix(name, "dyncontroller.dev/") }
	if slices.ContainsFunc(is.Finalizers, ours) && !slices.ContainsFunc(was.Finalizers, ours) {
		out = append(out, leftover{"finalizer", "", resource})
	}
	if is.Annotations["dyncontroller.dev/restore"] != "" && was.Annotations["dyncontroller.dev/restore"] == "" {
		out = append(out, leftover{"changes", "", resource})
	}
	return out
}

// guarded holds that what changes or deletes an object that is there says which one, and of which version. An Event that is told again belongs
// to the one who tells it.
func (o *oracle) guarded() {
	for _, r := range o.all {
		if r.as == user || !r.stored() || r.method == http.MethodPost || r.code == http.StatusCreated || resourceOf(r.path) == "events" {
			continue
		}
		if !isGuarded(r.body) {
			o.accuse("sent without the uid and the version of the object: %s\n%s", r, r.body)
		}
	}
}

// neverAgain holds that no process sends a write again that the API server has refused as out of date, unless it could not read the object since. What
// is to be made may be so a while later, or when users have done something: what had the name may be gone.
func (o *oracle) neverAgain() {
	type place struct{ as, account, path string }
	refused, done := map[place]map[string]*request{}, 0 // by their bodies, which name the version; and what users have done last
	for _, r := range o.all {
		at := place{r.as, r.account, strings.TrimSuffix(r.path, "/status")}
		switch {
		case r.as == user && r.stored():
			done = r.number
			continue
		case r.method == http.MethodGet && (r.fault != "" || r.code != http.StatusOK):
			delete(refused, at)
			continue
		case r.as == user || !r.changes() || !r.arrived || r.code != http.StatusConflict || r.fault != "" || r.method == http.MethodPost:
			continue
		}
		makes := strings.Contains(r.body, `"resourceVersion":"1"`) // No object has that version.
		if before := refused[at][r.body]; before != nil && (!makes || before.number > done && r.sent.Sub(before.sent) < mostBehind) {
			o.accuse("sent again as it was refused before:\n%s\n%s\n%s", before, r, r.body)
		}
		if refused[at] == nil {
			refused[at] = map[string]*request{}
		}
		refused[at][r.body] = r
	}
}

// neverBack holds that the status of a set object is never about an earlier version of it than before.
func (o *oracle) neverBack() {
	observed := map[string]int64{}
	for _, r := range o.all {
		if r.as == user || !r.toSets() || !r.stored() {
			continue
		}
		now := r.written.Status.ObservedGeneration
		if now < observed[r.setObject()] {
			o.accuse("the status was about generation %d, and is about %d: %s", observed[r.setObject()], now, r)
		}
		observed[r.setObject()] = now
	}
}

// isGuarded reports whether the body of a request names the uid and the version of its object: in the metadata, as preconditions or in the steps
// of a JSON patch.
func isGuarded(body string) bool {
	var object struct {
		Metadata, Preconditions struct {
			UID             string `json:"uid"`
			ResourceVersion string `json:"resourceVersion"`
		}
	}
	if json.Unmarshal([]byte(body), &object) == nil {
		return object.Metadata.UID+object.Preconditions.UID != "" && object.Metadata.ResourceVersion+object.Preconditions.ResourceVersion != ""
	}
	var steps []struct{ Path string }
	_ = json.Unmarshal([]byte(body), &steps) // What is neither guards nothing.
	has := func(path string) bool {
		return slices.ContainsFunc(steps, func(s struct{ Path string }) bool { return s.Path == path })
	}
	return has("/metadata/uid") && has("/metadata/resourceVersion")
}

// onceMade holds that no object of a resource is made twice for one reason.
func (o *oracle) onceMade(of schema.GroupVersionResource, reason func(*request) string) {
	made := map[string]*request{}
	for _, r := range o.all {
		if _, is := r.to(of); !is || r.as == user || r.method != http.MethodPost || !r.stored() {
			continue
		}
		why := reason(r)
		if first := made[why]; first != nil {
			o.accuse("made twice:\n%s\n%s", first, r)
		}
		made[why] = r
	}
}
