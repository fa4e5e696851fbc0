package operator

import (
	"maps"
	"reflect"
	"slices"
	"sync"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
)

// learned is what the API server said last of the objects of resources. It is safe for
// concurrent use; the zero value knows nothing.
type learned struct {
	mu sync.Mutex
	of map[apischema.GroupVersionResource]*schema.Type // guarded by mu
}

// Learn takes what the API server says of the resources that are wanted. Where that is
// something else than it said before, their caches begin anew, whoever they belong to: by
// another schema the API server shows other objects, with defaults, or fields that were
// cut off, and does not tell so. A watch that is still open even tells what is written by
// the schema from before, and one that goes on after it does not tell it again.
//
// Of a resource that is not served or described now it counts what was said before.
func (o *Operator) Learn(said schema.Source, wanted []apischema.GroupVersionResource) {
	changed := o.learned.changed(said, wanted)
	if len(changed) == 0 {
		return
	}
	tenants, _ := o.present()
	for _, gvr := range changed {
		o.options.Log.Info("the schema has changed, the caches are filled anew", "gvr", plan.ResourceName(gvr))
		for _, t := range tenants {
			t.informers.Renew(gvr)
		}
	}
}

// changed notes what is said, and lists in order of what something else was said.
func (l *learned) changed(said schema.Source, wanted []apischema.GroupVersionResource) []apischema.GroupVersionResource {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.of == nil {
		l.of = map[apischema.GroupVersionResource]*schema.Type{}
	}
	out := map[apischema.GroupVersionResource]bool{}
	for _, gvr := range wanted {
		found := said.Resource(gvr)
		if found == nil || !found.Type.Known() {
			continue
		}
		before := l.of[gvr]
		l.of[gvr] = found.Type
		if before != nil && before != found.Type && !reflect.DeepEqual(before, found.Type) {
			out[gvr] = true
		}
	}
	return slices.SortedFunc(maps.Keys(out), byResource)
}
