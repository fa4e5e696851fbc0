package worlds

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// look is what users see of a world: the objects by their kinds and names, without what the API server numbers, and how many runs there
// are of each Deployment.
func (w *World) look(ctx context.Context) (map[string]any, error) {
	out, names := map[string]any{}, map[types.UID]string{}
	for _, of := range []schema.GroupVersionResource{deployments, configmaps, podtemplates} {
		list, err := w.user.Resource(of).Namespace("shop").List(ctx, metav1.ListOptions{})
		if err != nil {
			return nil, fmt.Errorf("looking at the world: %w", err)
		}
		for _, object := range list.Items {
			names[object.GetUID()] = object.GetName()
			if of == podtemplates {
				if parent := names[types.UID(object.GetLabels()["of"])]; parent != "" { // Else it has outlived it.
					runs, _ := out["runs of "+parent].(int)
					out["runs of "+parent] = runs + 1
				}
				continue
			}
			out[of.Resource+"/"+object.GetName()] = map[string]any{
				"labels": object.GetLabels(), "annotations": object.GetAnnotations(), "finalizers": object.GetFinalizers(),
				"spec": object.Object["spec"], "data": object.Object["data"], "going": object.GetDeletionTimestamp() != nil,
			}
		}
	}
	return out, nil
}

// oracle looks for what the program promises that it never does, in the history of a world. It needs to know no case.
type oracle struct {
	all     []*request
	verdict strings.Builder
}

func (o *oracle) accuse(format string, args ...any) { fmt.Fprintf(&o.verdict, format+"\n", args...) }

// judge says what is wrong with a world that has ended: in the end all must be as in a calm one.
func judge(w, calm *World) string {
	o := &oracle{all: w.history.all}
	if diff := gocmp.Diff(calm.state, w.state); diff != "" {
		o.accuse("as if nothing had been disturbed, and as it is (-want +got):\n%s", diff)
	}
	for _, r := range o.all[w.rested:] {
		if r.as != user && r.changes() {
			o.accuse("in the quiet time: %s", r)
		}
	}
	o.oneLeader()
	o.onceMade()
	o.byThePresent()
	return o.verdict.String()
}

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

// onceMade holds that no object is made twice for one reason: each Deployment has one run in its life.
func (o *oracle) onceMade() {
	made := map[string]*request{}
	for _, r := range o.all {
		if _, is := r.to("podtemplates"); !is || r.method != http.MethodPost || !r.stored() {
			continue
		}
		of := r.written.Metadata.Labels["of"]
		if first := made[of]; first != nil {
			o.accuse("made twice:\n%s\n%s", first, r)
		}
		made[of] = r
	}
}

// mostBehind is how old the copy of an object may be because of which another one is made or deleted.
const mostBehind = 2 * time.Second

// byThePresent holds that a child is only made for a Deployment that is there, and only deleted where it is not, or is being deleted: when
// the request is carried out, or from a moment before it was sent.
func (o *oracle) byThePresent() {
	lives := o.lives()
	for _, r := range o.all {
		name, is := r.to("configmaps")
		if !is || r.as == user || !r.stored() {
			continue
		}
		from, to := r.sent.Add(-mostBehind), r.at
		switch {
		case r.method == http.MethodDelete && lives[name].throughout(from, to):
			o.accuse("deleted, and its Deployment was there: %s", r)
		case r.code == http.StatusCreated && !lives[cmp.Or(name, r.written.Metadata.Name)].during(from, to):
			o.accuse("made, and its Deployment was not there: %s", r)
		}
	}
}

// lives are when the Deployments of a name were there and not being deleted.
func (o *oracle) lives() map[string]spans {
	out := map[string]spans{}
	for _, r := range o.all {
		name, is := r.to("deployments")
		if !is || r.as != user || !r.stored() {
			continue
		}
		switch r.method {
		case http.MethodPost:
			name = r.written.Metadata.Name
			out[name] = append(out[name], span{from: r.at})
		case http.MethodDelete:
			if n := len(out[name]); n > 0 && out[name][n-1].to.IsZero() { // Else it is being deleted.
				out[name][n-1].to = r.at
			}
		}
	}
	return out
}

type span struct{ from, to time.Time } // to is zero until it is over

type spans []span

// throughout reports whether one span is about all of a time.
func (s spans) throughout(from, to time.Time) bool {
	return slices.ContainsFunc(s, func(s span) bool { return s.from.Before(from) && (s.to.IsZero() || s.to.After(to)) })
}

// during reports whether a span is about some of a time.
func (s spans) during(from, to time.Time) bool {
	return slices.ContainsFunc(s, func(s span) bool { return !s.from.After(to) && (s.to.IsZero() || !s.to.Before(from)) })
}
