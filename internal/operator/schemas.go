package operator

import (
	"reflect"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/internal/source"
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

func newViews(known *schema.Catalog) *views {
	return &views{known: known, alike: map[[2]*schema.Resource]bool{}}
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

// since compares what is known with what a compilation has seen: whether it is the
// same, and whether all of it is known.
func (v *views) since(before compilation) (seen map[apischema.GroupVersionResource]*schema.Resource, same, whole bool) {
	seen, same, whole = make(map[apischema.GroupVersionResource]*schema.Resource, len(before.seen)), true, true
	for gvr, was := range before.seen {
		seen[gvr] = v.known.Resource(gvr)
		same = same && v.same(was, seen[gvr])
		whole = whole && seen[gvr] != nil
	}
	return seen, same, whole
}

// recompiled is a version under schemas of which some are news. The rules stay the same
// ones, so that their engine is left alone, where nothing is new of what they name:
// anybody may have new schemas asked for. What is said of a resource that is not known
// depends on all that there is, and is found anew.
func (o *Operator) recompiled(one source.Object, before compilation, now *views) compilation {
	seen, same, whole := now.since(before)
	if same && whole {
		before.seen = seen
		return before
	}
	out := o.compiled(one, now)
	if same && before.built != nil && out.built != nil {
		out.built = before.built
	}
	return out
}

// compiled has no set where there are mistakes, and what is doubtful where there are
// none.
func (o *Operator) compiled(one source.Object, now *views) compilation {
	options := o.options.Rules
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
