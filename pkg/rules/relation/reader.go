package relation

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
)

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
}

// answer is a question with what was found.
type answer struct {
	read    plan.Read
	objects []map[string]any // by namespace and name
	missing []string         // of the names that were asked for
	looked  bool             // the rule may decide by the answer
	err     error
}

// Read returns the objects that the question selects, by namespace and name. They
// are shared, as is the slice: read only. The error wraps that of the source, or
// is of the budget.
func (r *Reader) Read(q plan.Read, budget *expression.Budget) ([]map[string]any, error) {
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
func (r *Reader) Look(q plan.Read, budget *expression.Budget) ([]map[string]any, error) {
	found, err := r.Read(q, budget)
	r.byKey[q.Key()].looked = true
	return found, err
}

// stepsOfObject is what it takes to find an object, apart from its size.
const stepsOfObject = 10

func (r *Reader) ask(a *answer, budget *expression.Budget) {
	var found []map[string]any
	if len(a.read.From) > 0 { // What is not declared is absent.
		if found, a.err = r.Source.Read(a.read); a.err != nil {
			return
		}
	}
	a.objects = ordered(found) // Before it is paid for, so that it counts as input.
	a.missing = missing(a.read.Names, a.objects)
	if err := spend(budget, len(found)); err != nil {
		a.objects, a.err = nil, err
	}
}

func spend(budget *expression.Budget, objects int) error {
	if err := budget.Steps(stepsOfObject * objects); err != nil {
		return err
	}
	if err := budget.Sort(objects); err != nil {
		return err
	}
	return budget.List(3 * objects) // Those of ordered.
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

// missing returns the names that no object has.
func missing(names []string, found []map[string]any) []string {
	if len(names) == 0 {
		return nil
	}
	has := make(map[string]bool, len(found))
	for _, object := range found {
		has[identityOf(object).name] = true
	}
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return has[name] })
}

// Reads returns the questions, in the order in which each was first asked.
func (r *Reader) Reads() []plan.Read {
	var out []plan.Read
	for _, a := range r.answers {
		out = append(out, a.read)
	}
	return out
}

// Seen returns the questions of Look alone: what expressions know of other objects.
func (r *Reader) Seen() []plan.Read {
	var out []plan.Read
	for _, a := range r.answers {
		if a.looked {
			out = append(out, a.read)
		}
	}
	return out
}

// Missed returns the questions of Look for names, with the names that were not
// found.
func (r *Reader) Missed() []plan.Read {
	var out []plan.Read
	for _, a := range r.answers {
		if a.looked && len(a.missing) > 0 {
			q := a.read
			q.Names = a.missing
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
