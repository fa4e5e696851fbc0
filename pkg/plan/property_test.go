package plan

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/dyncontroller/dyncontroller/test/generate"
)

func TestBuildSettles(t *testing.T) { rapid.Check(t, settles) }

// FuzzWishes has go test -fuzz look for wishes that do not settle.
func FuzzWishes(f *testing.F) {
	generate.Seeds(f)
	f.Fuzz(rapid.MakeFuzz(settles))
}

// settles holds for any wishes that a plan is the same when it is made
// again, that it changes nothing that it was made from, and that once it is
// carried out nothing is left to do. Only what comes and goes may take more than
// one round: an object that is gone, or on its way, no longer keeps others from
// their wishes, and one that is new has no room for a second.
func settles(t *rapid.T) {
	w := drawWorld(t)
	options := Options{Separate: rapid.Bool().Draw(t, "separate")}
	const enough = 12
	for round := range enough {
		before := fmt.Sprint(w.objects)
		built := Build(w.wishes(), options)
		if again := Build(w.wishes(), options); !cmp.Equal(built, again, cmp.AllowUnexported(Change{})) {
			t.Fatalf("not the same again: %s", cmp.Diff(built, again, cmp.AllowUnexported(Change{})))
		}
		if after := fmt.Sprint(w.objects); after != before {
			t.Fatalf("the snapshot was changed from\n%s to\n%s", before, after)
		}
		w.finalizersFirst(t, built.Operations)
		if len(built.Operations) == 0 {
			return
		}
		if round > 0 && !w.comesOrGoes {
			t.Fatalf("round %d still writes %v", round, built.Operations)
		}
		w.carryOut(t, built.Operations)
	}
	t.Fatalf("it never settles: %v", Build(w.wishes(), options).Operations)
}

// finalizersFirst holds that a request which puts a finalizer on comes before all that do not.
func (w *world) finalizersFirst(t *rapid.T, operations []Operation) {
	late := slices.IndexFunc(operations, func(o Operation) bool { return !putsOn(o) })
	if late >= 0 && slices.ContainsFunc(operations[late:], putsOn) {
		t.Fatalf("a finalizer is not first: %v", operations)
	}
}

// putsOn reports whether an operation leaves an object with more finalizers than it had.
func putsOn(o Operation) bool {
	return slices.ContainsFunc(o.Changes, func(c Change) bool {
		before, _ := c.Before.([]any)
		after, _ := c.After.([]any)
		return slices.Equal(c.Path, finalizersPath) && slices.ContainsFunc(after, func(name any) bool { return !slices.Contains(before, name) })
	})
}

// world is a cluster with rules that want something of it.
type world struct {
	objects map[string]map[string]any
	wanted  []Wish
	// comesOrGoes says that something is created or deleted.
	comesOrGoes bool
	// vanish says that what is deleted is gone at once.
	vanish bool
}

// wishes are about the objects as they are. What is gone, nobody targets; what
// is created, nobody creates again.
func (w *world) wishes() []Wish {
	var out []Wish
	for _, wish := range w.wanted {
		object, exists := w.objects[wish.Target.Name]
		if wish.Type == Create && exists || wish.Target.UID != "" && !exists {
			continue
		}
		wish.Current = object
		if exists {
			wish.Target = identityOf(wish.Target.Name)
		}
		out = append(out, wish)
	}
	return out
}

func identityOf(name string) Object { return cluster{name: ""}.object(name) }

// carryOut is an API server that admits everything.
func (w *world) carryOut(t *rapid.T, operations []Operation) {
	applied := map[string][]any{}
	for _, o := range operations {
		name := o.Target.Name
		_, exists := w.objects[name]
		if exists != (o.Target.UID != "") {
			continue // Only what is there is changed, only what is not is made.
		}
		switch o.Type {
		case Delete:
			w.objects[name] = o.leaves(w.objects[name])
			if w.vanish {
				delete(w.objects, name)
			}
			continue
		case Merge, JSON:
			after, err := Wish{Type: o.Type, Body: o.Body}.applyTo(w.objects[name])
			if err != nil {
				t.Fatalf("%v on %v: %v", o.Body, w.objects[name], err)
			}
			if !Equal(after, o.Predicted) {
				t.Fatalf("%v on %v: predicted %v, came to %v", o.Body, w.objects[name], o.Predicted, after)
			}
		default:
		}
		w.objects[name] = o.Predicted
		if o.Type == Apply {
			entry := map[string]any{"manager": o.Manager, "operation": "Apply", "fieldsV1": fieldsOf(o.Body.(map[string]any))}
			applied[name] = append(applied[name], entry)
		}
	}
	for name, entries := range applied {
		if object, exists := w.objects[name]; exists {
			w.objects[name] = withEntries(object, entries)
		}
	}
}

// withEntries replaces the entries of the managers that have applied.
func withEntries(object map[string]any, entries []any) map[string]any {
	byManager := map[any]any{}
	for _, entry := range elements(object, "metadata", "managedFields") {
		byManager[entry["manager"]] = entry
	}
	for _, entry := range entries {
		byManager[entry.(map[string]any)["manager"]] = entry
	}
	return WithField(object, managedFieldsPath, slices.Collect(maps.Values(byManager)))
}

// fieldsOf is the FieldsV1 tree of a body in which all lists are atomic.
func fieldsOf(body map[string]any) map[string]any {
	out := map[string]any{}
	for key, value := range body {
		fields := map[string]any{}
		if nestedMap, ok := value.(map[string]any); ok {
			fields = fieldsOf(nestedMap)
		}
		out["f:"+key] = fields
	}
	return out
}

func drawWorld(t *rapid.T) *world {
	w := &world{objects: map[string]map[string]any{}, vanish: rapid.Bool().Draw(t, "vanish")}
	for _, name := range []string{"p", "q"} {
		metadata := map[string]any{"name": name}
		if list := rapid.SliceOfNDistinct(rapid.SampledFrom([]any{"f", "g", "h"}), 0, 3, rapid.ID).Draw(t, "finalizers"); len(list) > 0 {
			metadata["finalizers"] = list
		}
		if rapid.IntRange(0, 3).Draw(t, "dying") == 0 {
			metadata["deletionTimestamp"], metadata["deletionGracePeriodSeconds"] = "t", int64(30)
		}
		w.objects[name] = map[string]any{"metadata": metadata, "spec": map[string]any{"m": map[string]any{"c": int64(0)}, "a": int64(1)}}
	}
	for _, name := range []string{"a", "b", "c"} {
		w.drawRule(t, name)
	}
	return w
}

// drawRule gives a rule some actions that do not contradict each other: it
// wants one value for a field at most.
func (w *world) drawRule(t *rapid.T, name string) {
	values := map[string]any{}
	for range rapid.IntRange(0, 5).Draw(t, "actions") {
		target := rapid.SampledFrom([]string{"p", "q", "new"}).Draw(t, "target")
		wish := Wish{Rule: rule(name), Target: cluster{"p": "", "q": ""}.object(target)}
		wish.Type = rapid.SampledFrom([]Type{Merge, JSON, Apply, Finalize, Delete}).Draw(t, "type")
		if wish.Type == Finalize && target == "q" { // A rule holds no other object than the one that it watches.
			target, wish.Target = "p", identityOf("p")
		}
		if target == "new" {
			w.comesOrGoes = true
			wish.Type = rapid.SampledFrom([]Type{Apply, Create}).Draw(t, "type")
		}
		path := rapid.SampledFrom([]Path{{"spec", "a"}, {"spec", "b"}, {"spec", "m", "c"}, {"spec", "m", "d"}}).Draw(t, "path")
		key := target + path.String()
		if _, known := values[key]; !known {
			values[key] = rapid.SampledFrom([]any{int64(1), int64(2), []any{"x"}}).Draw(t, "value")
		}
		w.drawBody(t, &wish, path, values[key])
		w.wanted = append(w.wanted, wish)
	}
}

func (w *world) drawBody(t *rapid.T, wish *Wish, path Path, value any) {
	switch wish.Type {
	case JSON:
		wish.Body = []any{step("add", path, value)}
	case Delete:
		w.comesOrGoes = true
		d := Deletion{PropagationPolicy: rapid.SampledFrom([]string{"", "Orphan"}).Draw(t, "policy")}
		if rapid.Bool().Draw(t, "graceful") {
			d.GracePeriodSeconds = new(rapid.Int64Range(0, 60).Draw(t, "grace"))
		}
		wish.Body = d
	case Finalize:
		f := Finalizer{Name: rapid.SampledFrom([]string{"f", "g", "k"}).Draw(t, "finalizer")}
		f.Present = (f.Name + wish.Rule.Name)[1]%2 == 0 // A rule is of one mind.
		wish.Body = f
	default:
		wish.Body = nested(path, value)
	}
}
