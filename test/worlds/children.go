package worlds

import (
	"cmp"
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// The workload of Deployments with children has a rule of each kind that leaves something: a field, a field for a while, what is made once,
// a child, a finalizer. A second child is made by a rule without a finalizer: that of the other one cleans it up, too. A Deployment may leave
// the selection of the rules with children. The second file lacks the rules that take back what they did.
const (
	childrenHead = `
apiVersion: dyncontroller.dev/v1alpha1
kind: RuleSet
metadata: {name: world, namespace: shop}
spec:
  resources:
    deployments: {group: apps, version: v1, resource: deployments}
    configured: {group: apps, version: v1, resource: deployments, labelSelector: config!=no}
    configmaps: {version: v1, resource: configmaps, labelSelector: made=yes}
    runs: {version: v1, resource: podtemplates}
  rules:
`
	childrenFirst = `
  - name: least
    watch: deployments
    when: object.spec.replicas < 2
    actions: [{patch: {merge: {spec: {replicas: 2}}}}]
  - name: run
    watch: deployments
    with: {mine: {resource: runs, matchLabels: {of: "${object.metadata.uid}"}}}
    when: len(mine) == 0
    actions:
    - create:
        in: mine
        owned: false
        manifest:
          metadata: {generateName: "${object.metadata.name}-", labels: {of: "${object.metadata.uid}"}}
          template: {spec: {containers: [{name: main, image: main}]}}
`
	childrenRest = `
  - name: paused
    watch: deployments
    when: object.metadata.labels?.paused == "true"
    actions: [{patch: {merge: {spec: {paused: true}}, restore: true}}]
  - name: note
    watch: configured
    actions:
    - apply:
        resource: configmaps
        prune: true
        owned: false
        manifest:
          metadata: {name: "${object.metadata.name}-note", labels: {made: "yes", of: "${object.metadata.name}"}}
  - name: config
    watch: configured
    with: {configs: {resource: configmaps, matchLabels: {of: "${object.metadata.name}"}}}
    actions:
    - apply:
        resource: configmaps
        prune: true
        owned: false
        manifest:
          metadata: {name: "${object.metadata.name}", labels: {made: "yes", of: "${object.metadata.name}"}}
          data: {replicas: "${string(object.spec.replicas)}"}
    onDelete:
      actions:
      - forEach: {config: "${configs}"}
        delete: {target: config}
`
)

var (
	deployments  = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
	configmaps   = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
	podtemplates = schema.GroupVersionResource{Version: "v1", Resource: "podtemplates"}
)

// What users of Deployments with children do.
const (
	create   deed = "create"
	scale    deed = "scale"
	relabel  deed = "relabel"  // to one for which a rule changes something for a while, or back
	reselect deed = "reselect" // out of the selection of a rule, or into it
	remove   deed = "delete"
	force    deed = "force" // the finalizers off
	spoil    deed = "spoil" // what a rule has made
)

func children(files func(text string) *workload) *workload {
	out := childrenBy(files(childrenHead+childrenFirst+childrenRest), files(childrenHead+childrenFirst))
	out.name = "children"
	return out
}

// tenants is the same with the rules in two set objects, each of which acts as an account of its own or as the same one.
func tenants(files func(text string) *workload) *workload {
	rest := strings.Replace(childrenHead, "name: world", "name: rest", 1)
	none := `
  - name: nothing
    watch: deployments
    when: object.metadata.name == "nobody"
    actions: [{patch: {merge: {spec: {paused: true}}}}]
`
	first := childrenHead + childrenFirst + "---\n" + rest
	out := childrenBy(files(first+childrenRest), files(first+none))
	out.name, out.tenants = "tenants", true
	out.setOf = func(r *request) string {
		return map[string]string{podtemplates.Resource: "world", configmaps.Resource: "rest"}[resourceOf(r.path)]
	}
	return out
}

func childrenBy(out, less *workload) *workload {
	out.sets, out.texts = append(out.sets, less.sets...), append(out.texts, less.texts...)
	out.resources = []schema.GroupVersionResource{deployments, configmaps, podtemplates}
	out.deeds = []deed{create, create, scale, relabel, reselect, remove, force, spoil}
	out.do, out.look, out.judge = changeDeployments, lookAtDeployments, judgeChildren
	return out
}

func changeDeployments(ctx context.Context, w *World, s step) error {
	own, made := w.user.Resource(deployments).Namespace("shop"), w.user.Resource(configmaps).Namespace("shop")
	odd := s.value%2 == 1
	switch s.deed {
	case create:
		for range 60 { // A user waits until the one before is gone.
			before, err := own.Get(ctx, s.name, metav1.GetOptions{})
			if err != nil || before.GetDeletionTimestamp() == nil {
				break
			}
			w.pass(time.Minute)
		}
		_, err := own.Create(ctx, &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "apps/v1", "kind": "Deployment", "metadata": map[string]any{"name": s.name},
			"spec": map[string]any{"replicas": int64(s.value % 4)},
		}}, metav1.CreateOptions{FieldManager: "user"})
		return err //nolint:wrapcheck // See merge.
	case scale:
		return w.merge(ctx, deployments, s.name, `{"spec":{"replicas":%d}}`, s.value%4)
	case relabel:
		return w.merge(ctx, deployments, s.name, `{"metadata":{"labels":{"paused":"%t"}}}`, odd)
	case reselect:
		return w.merge(ctx, deployments, s.name, `{"metadata":{"labels":{"config":%q}}}`, map[bool]string{true: "yes", false: "no"}[odd])
	case force:
		return w.merge(ctx, deployments, s.name, `{"metadata":{"finalizers":null}}`)
	case spoil:
		if odd {
			return made.Delete(ctx, s.name, metav1.DeleteOptions{}) //nolint:wrapcheck // See merge.
		}
		return w.merge(ctx, configmaps, s.name, `{"data":{"replicas":"many"}}`)
	default: // remove
		return own.Delete(ctx, s.name, metav1.DeleteOptions{}) //nolint:wrapcheck // See merge.
	}
}

// lookAtDeployments leaves out what the API server numbers. Of the runs of a Deployment there is a number.
func lookAtDeployments(seen map[string]any, resource string, object *unstructured.Unstructured, names map[types.UID]string) {
	if resource == podtemplates.Resource {
		if parent := names[types.UID(object.GetLabels()["of"])]; parent != "" { // Else it has outlived it.
			runs, _ := seen["runs of "+parent].(int)
			seen["runs of "+parent] = runs + 1
		}
		return
	}
	data, _, _ := unstructured.NestedStringMap(object.Object, "data")
	spec, _, _ := unstructured.NestedMap(object.Object, "spec")
	seen[resource+"/"+object.GetName()] = looks{
		object.GetLabels(), object.GetAnnotations(), object.GetFinalizers(), spec, data, object.GetDeletionTimestamp() != nil,
	}
}

// looks is what users see of an object.
type looks struct {
	Labels, Annotations map[string]string
	Finalizers          []string
	Spec                map[string]any
	Data                map[string]string
	Going               bool
}

func judgeChildren(o *oracle) {
	o.onceMade(podtemplates, func(r *request) string { return r.written.Metadata.Labels["of"] })
	o.byThePresent()
	o.heldUntilClean()
	o.asRuled()
}

// asRuled holds that the rules have been carried out in the calm world, by what they say and not by the program.
func (o *oracle) asRuled() {
	ruled, owned := true, map[string]bool{}
	for _, r := range o.all {
		if r.method == reload {
			ruled = r.path == "0"
		}
	}
	for key, value := range o.calm {
		name, is := strings.CutPrefix(key, "deployments/")
		if !is {
			continue
		}
		seen, _ := value.(looks)
		child, has := o.calm["configmaps/"+name].(looks)
		_, noted := o.calm["configmaps/"+name+"-note"]
		replicas, _ := seen.Spec["replicas"].(int64)
		paused, _ := seen.Spec["paused"].(bool)
		wants := ruled && seen.Labels["config"] != "no"
		owned["configmaps/"+name], owned["configmaps/"+name+"-note"] = true, true
		switch {
		case replicas < 2:
			o.accuse("%s has %d replicas in the calm world", name, replicas)
		case o.calm["runs of "+name] != 1:
			o.accuse("%s has %v runs in the calm world", name, o.calm["runs of "+name])
		case paused != (ruled && seen.Labels["paused"] == "true"):
			o.accuse("%s is paused in the calm world: %t", name, paused)
		case wants != has, wants != noted, wants != (len(seen.Finalizers) > 0):
			o.accuse("%s wants children in the calm world: %t; it has them: %t, %t, and the finalizers %v", name, wants, has, noted, seen.Finalizers)
		case wants && child.Data["replicas"] != strconv.FormatInt(replicas, 10):
			o.accuse("the child of %s has %v in the calm world, want %d replicas", name, child.Data, replicas)
		}
	}
	for key := range o.calm {
		if strings.HasPrefix(key, "configmaps/") && !owned[key] {
			o.accuse("nobody owns %s in the calm world", key)
		}
	}
}

// mostBehind is how old the copy of an object may be because of which another one is made or deleted.
const mostBehind = 2 * time.Second

// longestAttempt is how long what was evaluated by rules may go on after those were replaced.
const longestAttempt = time.Minute

// byThePresent holds that a run is only made for a Deployment that is there, that a child is only made for a Deployment that wants one and is
// held by a finalizer, and only deleted where its Deployment wants none: at some moment from [mostBehind] before the request was sent until the API
// server carried it out.
func (o *oracle) byThePresent() {
	parents := o.parents()
	o.runsByThePresent(parents)
	of, heard := map[string]*parent{}, newNews()
	for _, r := range o.all {
		heard.note(r)
		name, is := r.to(configmaps)
		if !is || r.as == user || !r.stored() {
			continue
		}
		from, to := r.sent.Add(-mostBehind), r.at
		if r.method == http.MethodDelete {
			if p := of[name]; p != nil && p.wanting.throughout(from, to) && !heard.late(r) {
				o.accuse("deleted, and its Deployment wanted it: %s", r)
			}
			continue
		}
		p := parents[types.UID(r.written.Metadata.Labels["dyncontroller.dev/owner-uid"])]
		of[cmp.Or(name, r.written.Metadata.Name)] = p
		switch {
		case r.code != http.StatusCreated:
		case p == nil || !p.selecting.during(from, to) || !p.wanting.during(from.Add(-longestAttempt), to) && !heard.late(r):
			o.accuse("made, and no Deployment wanted it: %s", r)
		case !p.holding.during(from, to):
			o.accuse("made, and its Deployment had no finalizer: %s", r)
		}
	}
}

func (o *oracle) runsByThePresent(parents map[types.UID]*parent) {
	for _, r := range o.all {
		if _, is := r.to(podtemplates); is && r.as != user && r.stored() && r.method == http.MethodPost {
			if p := parents[types.UID(r.written.Metadata.Labels["of"])]; p == nil || !p.living.during(r.sent.Add(-mostBehind), r.at) {
				o.accuse("made, and its Deployment was not there: %s", r)
			}
		}
	}
}

// heldUntilClean holds that the finalizer of a Deployment that is being deleted is only taken off when it has no child, at some moment from
// [mostBehind] before the request was sent until the API server carried it out. When the rules have just been replaced, the clean-up after them may come in any order.
func (o *oracle) heldUntilClean() {
	held, children, owner := map[types.UID]bool{}, map[string]time.Time{}, map[string]types.UID{}
	ruled, replaced, heard := true, time.Time{}, newNews()
	for _, r := range o.all {
		if r.method == reload {
			ruled, replaced = r.path == "0", r.at
		}
		if heard.note(r); !r.stored() {
			continue
		}
		metadata := r.written.Metadata
		if name, is := r.to(configmaps); is && r.method == http.MethodDelete {
			delete(children, name)
		} else if is && r.code == http.StatusCreated {
			children[metadata.Name], owner[metadata.Name] = r.at, types.UID(metadata.Labels["dyncontroller.dev/owner-uid"])
		}
		if _, is := r.to(deployments); !is {
			continue
		}
		letGo := held[metadata.UID] && len(metadata.Finalizers) == 0
		held[metadata.UID] = len(metadata.Finalizers) > 0
		if !letGo || r.as == user || metadata.DeletedAt == nil || !ruled || r.sent.Sub(replaced) < longestAttempt || heard.late(r) {
			continue
		}
		for name, made := range children {
			if owner[name] == metadata.UID && made.Before(r.sent.Add(-mostBehind)) {
				o.accuse("taken off, and its child %s was there: %s", name, r)
			}
		}
	}
}

// parent is when a Deployment was there and not being deleted, when it was selected besides, when it wanted a child as the rule was in effect, too;
// and when it had a finalizer.
type parent struct {
	there, selected                     bool
	living, selecting, wanting, holding spans
}

// parents are all Deployments that there have been.
func (o *oracle) parents() map[types.UID]*parent {
	out, named, ruled := map[types.UID]*parent{}, map[string]*parent{}, true
	for _, r := range o.all {
		if r.method == reload {
			ruled = r.path == "0"
		}
		if name, is := r.to(deployments); is && r.stored() {
			metadata := r.written.Metadata
			name = cmp.Or(name, metadata.Name)
			p := named[name]
			if r.method == http.MethodPost {
				p = &parent{there: true}
				out[metadata.UID], named[name] = p, p
			}
			if r.method == http.MethodDelete {
				p.there = false
			}
			p.selected = metadata.Labels["config"] != "no"
			p.holding.note(r.at, len(metadata.Finalizers) > 0)
		}
		for _, p := range out {
			p.living.note(r.at, p.there)
			p.selecting.note(r.at, p.there && p.selected)
			p.wanting.note(r.at, ruled && p.there && p.selected)
		}
	}
	return out
}

// spans are when something was true, in order: from the even moments to the odd ones.
type spans []time.Time

// note adds what is true from a moment on.
func (s *spans) note(at time.Time, is bool) {
	if is != (len(*s)%2 == 1) {
		*s = append(*s, at)
	}
}

// throughout reports whether it was true all of a time, with its ends.
func (s *spans) throughout(from, to time.Time) bool {
	for i := 0; i < len(*s); i += 2 {
		if (*s)[i].Before(from) && (i+1 == len(*s) || (*s)[i+1].After(to)) {
			return true
		}
	}
	return false
}

// during reports whether it was true at some moment of a time.
func (s *spans) during(from, to time.Time) bool {
	for i := 0; i < len(*s); i += 2 {
		if !(*s)[i].After(to) && (i+1 == len(*s) || !(*s)[i+1].Before(from)) {
			return true
		}
	}
	return false
}
