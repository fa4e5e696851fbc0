package lookup

import (
	"cmp"
	"errors"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

// ErrNotSynced is what the error of a [Source] wraps where the answer is not
// known for certain: nothing is read from a cache that is not synced, since
// unsynced is not empty.
var ErrNotSynced = errors.New("the cache is not synced")

// Source answers questions about related objects, the same way throughout an
// evaluation.
type Source interface {
	// Read returns every object that the question selects, once, in any order; see
	// [plan.Read.Selects]. The objects are shared: read only.
	Read(q plan.Read) ([]map[string]any, error)
}

// Objects is a [Source] that has all objects in memory, and answers every
// question by going through those of the resource. It is safe for concurrent use
// as long as nobody changes it.
type Objects map[schema.GroupVersionResource][]map[string]any

// Read implements [Source]. Of a resource that is not in the map there is no
// object.
func (o Objects) Read(q plan.Read) ([]map[string]any, error) {
	if len(q.From) == 0 {
		return nil, nil
	}
	var found []map[string]any
	for _, object := range o[q.From[0].GVR] {
		if q.Selects(object) {
			found = append(found, object)
		}
	}
	return found, nil
}

// Reader asks a [Source] on behalf of one rule on one object. It asks each
// question once and remembers what it asked and found. It is not safe for
// concurrent use.
type Reader struct {
	Source Source
	// Kinds are those of all resources that the rules declare.
	Kinds map[schema.GroupVersionResource]plan.Kind
	// Home is the watched object, and Current its fields.
	Home    plan.Object
	Current map[string]any

	answers []*answer
	byKey   map[string]*answer
	// size is that of the first measured answers.
	size, measured int
	// origins has the resource of each object of the first indexed answers, by the pointer of its map. The answers keep the maps.
	origins map[uintptr]schema.GroupVersionResource
	indexed int
}

// answer is a question with what was found.
type answer struct {
	read    plan.Read
	objects []map[string]any // by namespace and name
	looked  bool             // the rule may decide by the answer
	err     error
}

// Read returns the objects that the question selects, by namespace and name. They
// are shared, as is the slice: read only. The error wraps that of the source, or
// is of the budget.
func (r *Reader) Read(q plan.Read, budget *value.Budget) ([]map[string]any, error) {
	key := q.Key()
	a := r.byKey[key]
	if a == nil {
		a = &answer{read: q}
		if r.byKey == nil {
			r.byKey = map[string]*answer{}
		}
		r.byKey[key] = a
		r.answers = append(r.answers, a)
		r.ask(a, budget)
	}
	return a.objects, a.err
}

// Look is Read for what the rule itself sees, and may decide by.
func (r *Reader) Look(q plan.Read, budget *value.Budget) ([]map[string]any, error) {
	found, err := r.Read(q, budget)
	r.byKey[q.Key()].looked = true
	return found, err
}

// stepsOfObject is what it takes to find an object, apart from its size.
const stepsOfObject = 10

func (r *Reader) ask(a *answer, budget *value.Budget) {
	var found []map[string]any
	if len(a.read.From) > 0 { // What is not declared is absent.
		if found, a.err = r.Source.Read(a.read); a.err != nil {
			return
		}
	}
	a.objects = ordered(found) // Before it is paid for, so that it counts as input.
	if a.err = cmp.Or(budget.Steps(stepsOfObject*len(found)), budget.Sort(len(found)), budget.List(3*len(found))); a.err != nil {
		a.objects = nil
	}
}

// identity is what orders the objects of a resource.
type identity struct{ namespace, name string }

func (i identity) compare(other identity) int {
	return cmp.Or(cmp.Compare(i.namespace, other.namespace), cmp.Compare(i.name, other.name))
}

func identityOf(object map[string]any) identity {
	return identity{plan.Text(object, "metadata", "namespace"), plan.Text(object, "metadata", "name")}
}

// ordered returns the objects by namespace and name. An object that several
// selections hold counts once.
func ordered(objects []map[string]any) []map[string]any {
	type keyed struct {
		identity
		object map[string]any
	}
	all := make([]keyed, len(objects))
	for i, object := range objects {
		all[i] = keyed{identityOf(object), object}
	}
	slices.SortFunc(all, func(a, b keyed) int { return a.compare(b.identity) })
	all = slices.CompactFunc(all, func(a, b keyed) bool { return a.identity == b.identity })
	out := make([]map[string]any, len(all))
	for i, k := range all {
		out[i] = k.object
	}
	return out
}

// Reads returns the questions, in the order in which each was first asked.
func (r *Reader) Reads() []plan.Read { return r.questions(false) }

// Seen returns the questions of Look alone: what expressions know of other objects.
func (r *Reader) Seen() []plan.Read { return r.questions(true) }

func (r *Reader) questions(looked bool) (out []plan.Read) {
	for _, a := range r.answers {
		if a.looked || !looked {
			out = append(out, a.read)
		}
	}
	return out
}

// Missed returns the questions of Look for names, with the names that no object has.
func (r *Reader) Missed() (out []plan.Read) {
	for _, a := range r.answers {
		if !a.looked || a.err != nil || len(a.read.Names) == 0 {
			continue
		}
		q, has := a.read, make(map[string]bool, len(a.objects))
		for _, object := range a.objects {
			has[identityOf(object).name] = true
		}
		q.Names = slices.DeleteFunc(slices.Clone(q.Names), func(name string) bool { return has[name] })
		if len(q.Names) > 0 {
			out = append(out, q)
		}
	}
	return out
}

// Err returns the first error that Read returned. It is here as it came, where an
// expression that met it may have kept its text alone.
func (r *Reader) Err() error {
	for _, a := range r.answers {
		if a.err != nil {
			return a.err
		}
	}
	return nil
}

// Size returns about how many bytes the objects read so far have as JSON, for a
// lazy budget. The watched object is not among them.
func (r *Reader) Size() int {
	for ; r.measured < len(r.answers); r.measured++ {
		for _, object := range r.answers[r.measured].objects {
			r.size += expression.ObjectSize(object)
		}
	}
	return r.size
}

// Origin returns which object a value is, if it is one that was read or the
// watched one: the very map, not one that equals it. So whatever hands on the
// elements of a list keeps it, and whatever builds new maps does not. current is
// the object as it was read.
func (r *Reader) Origin(v any) (object plan.Object, current map[string]any, found bool) {
	candidate, _ := v.(map[string]any)
	if len(candidate) == 0 {
		return plan.Object{}, nil, false
	}
	if pointerOf(candidate) == pointerOf(r.Current) {
		return r.Home, r.Current, true
	}
	for ; r.indexed < len(r.answers); r.indexed++ {
		a := r.answers[r.indexed]
		if r.origins == nil {
			r.origins = make(map[uintptr]schema.GroupVersionResource, len(a.objects))
		}
		for _, object := range a.objects {
			r.origins[pointerOf(object)] = a.read.From[0].GVR
		}
	}
	gvr, found := r.origins[pointerOf(candidate)]
	if !found {
		return plan.Object{}, nil, false
	}
	object = plan.ObjectOf(gvr, candidate)
	object.Kind = r.Kinds[gvr].Name
	return object, candidate, true
}

// pointerOf is the same for the same map alone.
func pointerOf(m map[string]any) uintptr { return reflect.ValueOf(m).Pointer() }
