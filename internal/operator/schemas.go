package operator

import (
	"maps"
	"reflect"
	"slices"
	"sync"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/internal/source"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
)

// compilation is what compiling a version of a set object told.
type compilation struct {
	// built is the version compiled, nil where it has mistakes of its own, and found
	// what compiling it told.
	built *rules.Set
	found document.Errors
	// seen is what was known of the resources that it names, nil for what was not.
	seen map[apischema.GroupVersionResource]*schema.Resource
}

// views compares what is known of resources with what was, each pair once: many sets
// name the same. It is for one round, and one goroutine.
type views struct {
	known *schema.Catalog
	alike map[[2]*schema.Resource]bool
}

// of is what is known of the resources that a set object names.
func (v *views) of(one source.Object) map[apischema.GroupVersionResource]*schema.Resource {
	out := map[apischema.GroupVersionResource]*schema.Resource{}
	for _, gvr := range one.Resources {
		out[gvr] = v.known.Resource(gvr)
	}
	return out
}

// same reports whether the same is known of a resource. An answer of the API server that
// is made anew is compared by what it says, as most of it is shared with the one before.
func (v *views) same(before, now *schema.Resource) bool {
	if before == nil || now == nil || before == now {
		return before == now
	}
	pair := [2]*schema.Resource{before, now}
	alike, done := v.alike[pair]
	if !done {
		alike = reflect.DeepEqual(before, now)
		v.alike[pair] = alike
	}
	return alike
}

// recompiled is a version under schemas of which some are news. The rules stay the same
// ones, so that their engine is left alone, where nothing is new of what they name:
// anybody may have new schemas asked for. What is said of a resource that is not known
// depends on all that there is, and is found anew.
func (c *core) recompiled(one source.Object, before compilation, now *views) compilation {
	seen := now.of(one)
	same := maps.EqualFunc(before.seen, seen, now.same)
	if same && !slices.Contains(slices.Collect(maps.Values(seen)), nil) {
		before.seen = seen
		return before
	}
	out := c.compiled(one, now)
	if same && before.built != nil && out.built != nil {
		out.built = before.built
	}
	return out
}

// unchecked is a version in effect under schemas of which some are news, though the present version is refused. Whether
// it fits them or not, it must not use a schema that is out of date.
func (c *core) unchecked(before version, now *views) version {
	if before.set == nil {
		return before
	}
	seen := now.of(before.Object)
	if !maps.EqualFunc(before.seen, seen, now.same) {
		before.set = c.loaded(before.Document, now)
	}
	before.seen = seen
	return before
}

// loaded compiles what had no mistakes, whether it fits the schemas or not.
func (c *core) loaded(file document.File, now *views) *rules.Set {
	options := c.options.Rules
	options.Schemas, options.Unchecked = now.known, true
	set, _ := rules.Load([]document.File{file}, options)
	return set
}

// compiled has no set where there are mistakes, and what is doubtful where there are
// none.
func (c *core) compiled(one source.Object, now *views) compilation {
	options := c.options.Rules
	options.Schemas = now.known
	out := compilation{seen: now.of(one)}
	set, mistakes := rules.Load([]document.File{one.Document}, options)
	if mistakes = append(mistakes, nameless(one)...); len(mistakes.Of(document.Mistake)) > 0 {
		out.found = mistakes
		return out
	}
	out.built, out.found = set, set.Warnings()
	return out
}

// learned is what the API server said last of the objects of resources: a *schema.Type by GroupVersionResource. It is safe
// for concurrent use; the zero value knows nothing.
type learned struct{ sync.Map }

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
	var out []apischema.GroupVersionResource
	for _, gvr := range wanted {
		found := said.Resource(gvr)
		if found == nil || !found.Type.Known() {
			continue
		}
		if before, known := l.Swap(gvr, found.Type); known && !reflect.DeepEqual(before, found.Type) {
			out = append(out, gvr)
		}
	}
	slices.SortFunc(out, byResource)
	return out
}
