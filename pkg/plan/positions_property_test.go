package plan

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// TestPositionsAsRead holds that the JSON patches of a plan name the elements of lists by where they were read, for generated objects, rules
// and patches. What becomes of the object is compared with a model, in which every element keeps its place when it is removed, and with what
// the library of the API server makes of the request. A rule is left out only where it wants of an element what an earlier one does not.
func TestPositionsAsRead(t *testing.T) {
	const cases = 4000
	var failed, withheld, written int
	for seed := range uint64(cases) {
		g := &positionsCase{Rand: rand.New(rand.NewPCG(seed, 6)), several: seed%2 == 1}
		object := g.object()
		wishes, patches := g.wishes(object)
		before := encode(t, object)
		built := Build(wishes, Options{Separate: seed%5 == 0})
		if after := encode(t, object); after != before {
			t.Fatalf("case %d: the snapshot was changed from %s to %s", seed, before, after)
		}
		told := func() string {
			out := "case " + strconv.FormatUint(seed, 10) + ": " + before
			for _, w := range wishes {
				out += "\n" + w.Rule.Name + " " + encode(t, w.Body)
			}
			return out + "\noperations " + encode(t, bodies(built))
		}
		m, wants := modelOf(object).(map[string]any), [][]Path{}
		for i, patch := range patches {
			at := slices.IndexFunc(built.Decisions, func(d Decision) bool { return d.Rule == wishes[i].Rule })
			if at < 0 {
				if err := patch.applyTo(m, i+1); err != nil {
					t.Fatalf("%s\n%v, and it is not told", told(), err)
				}
				wants = append(wants, patch.wants)
				continue
			}
			switch d := built.Decisions[at]; {
			case !g.several:
				failed++
				m := modelOf(object).(map[string]any)
				if !slices.ContainsFunc(patches, func(p modelPatch) bool { i++; return p.applyTo(m, i) != nil }) {
					t.Fatalf("%s\n%s %s", told(), d.Outcome, d.Reason)
				}
			case !patch.overlaps(wants):
				t.Fatalf("%s\n%s is %s: %s", told(), d.Rule.Name, d.Outcome, d.Reason)
			default:
				withheld++
			}
			if !g.several {
				break
			}
		}
		after := []byte(before)
		for _, o := range built.Operations {
			patch, err := jsonpatch.DecodePatch([]byte(encode(t, o.Body)))
			if err != nil {
				t.Fatal(err)
			}
			if after, err = patch.Apply(after); err != nil {
				t.Fatalf("%s\n%v", told(), err)
			}
			if want := encode(t, o.Predicted); sorted(t, after) != want {
				t.Fatalf("%s\nthe plan predicts %s, and the library makes %s", told(), want, after)
			}
			written++
		}
		if want, got := encode(t, plainOf(m)), sorted(t, after); len(built.Decisions) == 0 && got != want || g.several && got != want {
			t.Fatalf("%s\n got %s\nwant %s", told(), got, want)
		}
	}
	if failed < cases/50 || withheld < cases/50 || written < cases/2 {
		t.Errorf("%d failed, %d withheld, %d written: too few to hold anything", failed, withheld, written)
	}
}

// sorted is a text of JSON with sorted keys.
func sorted(t *testing.T, data []byte) string {
	t.Helper()
	var value any
	if err := utiljson.Unmarshal(data, &value); err != nil {
		t.Fatal(err)
	}
	return encode(t, value)
}

func bodies(built Plan) (out []any) {
	for _, o := range built.Operations {
		out = append(out, o.Body)
	}
	return out
}

// positionsCase draws an object and patches of it.
type positionsCase struct {
	*rand.Rand
	several bool // each patch is of a rule of its own
	made    int
}

func (g *positionsCase) object() map[string]any {
	var list []any
	for range 1 + g.IntN(4) {
		element := map[string]any{"name": g.name(), "x": int64(0)}
		if g.IntN(2) == 0 {
			nested := []any{}
			for range g.IntN(4) {
				nested = append(nested, map[string]any{"y": g.name()})
			}
			element["n"] = nested
		}
		list = append(list, element)
	}
	texts := []any{}
	for range g.IntN(4) {
		texts = append(texts, g.name()) // To move one of two equal ones changes nothing, and is left out.
	}
	return map[string]any{"spec": map[string]any{"l": list, "s": texts}}
}

func (g *positionsCase) name() string {
	g.made++
	return "e" + strconv.Itoa(g.made)
}

func (g *positionsCase) wishes(object map[string]any) (wishes []Wish, patches []modelPatch) {
	for i := range 1 + g.IntN(4) {
		w := Wish{Rule: rule("a"), Target: target, Current: object, Type: JSON}
		if g.several {
			w.Rule = rule(string(rune('a' + i)))
		}
		alone := modelOf(object).(map[string]any) // What the patch makes of the object as it was read.
		var patch modelPatch
		var steps []any
		for range 1 + g.IntN(3) {
			op := g.operation(alone, i+1)
			if (modelPatch{operations: []modelOperation{op}}).applyTo(alone, i+1) != nil {
				continue
			}
			patch.operations, steps = append(patch.operations, op), append(steps, op.step)
			if op.wants != nil {
				patch.wants = append(patch.wants, op.wants)
			}
			if op.into != nil {
				patch.wants = append(patch.wants, op.into.child("+"))
			}
		}
		// A patch that only puts an equal element in the place of another one changes nothing, and is left out.
		if w.Body = steps; !Equal(plainOf(alone), object) {
			wishes, patches = append(wishes, w), append(patches, patch)
		}
	}
	return wishes, patches
}

// modelPatch is a patch of a model. It wants something of elements that were read.
type modelPatch struct {
	operations []modelOperation
	wants      []Path
}

func (p modelPatch) overlaps(others [][]Path) bool {
	for _, path := range p.wants {
		for _, other := range slices.Concat(others...) {
			if path.hasPrefix(other) || other.hasPrefix(path) {
				return true
			}
		}
	}
	return false
}

// modelOperation names the list by the fields and the indexes that lead to it, as the patch sees them.
type modelOperation struct {
	step  map[string]any
	op    string
	list  Path
	index int
	value any
	to    string
	into  Path // of moveInto and copyInto
	place int
	wants Path
}

func (g *positionsCase) operation(alone map[string]any, patch int) (o modelOperation) {
	o.list = []Path{{"spec", "l"}, {"spec", "l"}, {"spec", "s"}}[g.IntN(3)]
	read := slices.Clone(o.list)
	list, _, _ := modelList(alone, o.list, patch)
	isElement, field := o.list[1] == "l", "x"
	if view := list.view(patch); isElement && g.IntN(3) == 0 && len(view) > 0 {
		i := g.IntN(len(view))
		if element, _ := view[i].value.(map[string]any); element != nil && element["n"] != nil {
			read = append(read, strconv.Itoa(view[i].read), "n")
			o.list, list, field = append(slices.Clone(o.list), strconv.Itoa(i), "n"), element["n"].(*modelCells), "y"
		}
	}
	view := list.view(patch)
	o.index = g.IntN(len(view) + 1)
	at := o.list.child(strconv.Itoa(o.index))
	added := any(g.name())
	if isElement {
		added = map[string]any{"name": added, "x": int64(1)}
	}
	o.op = []string{"remove", "remove", "add", "append", "replace", "field", "test", "move", "copy", "moveInto", "moveInto", "copyInto"}[g.IntN(12)]
	if o.index == len(view) && o.op != "append" {
		o.op = "add"
	}
	if (o.op == "copy" || o.op == "copyInto") && g.several || o.op == "field" && (!isElement || field == "y") {
		o.op = "remove"
	}
	if o.op == "field" {
		if _, isMap := view[o.index].value.(map[string]any); !isMap {
			o.op = "remove" // A text was moved here.
		}
	}
	if o.op == "add" || o.op == "append" {
		o.wants = read.child("+")
	} else if view[o.index].read >= 0 && o.op != "test" && o.op != "copy" && o.op != "copyInto" {
		o.wants = read.child(strconv.Itoa(view[o.index].read))
	}
	o.value = added
	switch o.op {
	case "append":
		o.step = step("add", o.list.child("-"), added)
	case "field":
		o.value = int64(2 + g.IntN(3))
		o.step = step("replace", at.child("x"), o.value)
		if o.wants != nil {
			o.wants = o.wants.child("x")
		}
	case "test":
		o.step = step("test", at, plainOf(view[o.index].value))
	case "remove":
		o.step = removal(at)
	case "move", "copy":
		o.to = g.name()
		o.step = map[string]any{"op": o.op, "from": at.Pointer(), "path": "/spec/" + o.to}
	case "moveInto", "copyInto":
		// The place is counted without the element that is moved.
		o.into = o.list
		if g.IntN(3) == 0 {
			o.into = Path{"spec", "l"}
		}
		if o.op == "copyInto" {
			o.into = Path{"spec", "s"} // Two equal elements in one list cannot be told apart.
		}
		if dest, _, err := modelList(alone, o.into, patch); err == nil && dest != nil {
			size := len(dest.view(patch))
			if o.op == "moveInto" && dest == list {
				size--
			}
			o.place = g.IntN(size + 1)
		}
		o.step = map[string]any{"op": o.op[:4], "from": at.Pointer(), "path": o.into.child(strconv.Itoa(o.place)).Pointer()}
	default:
		o.step = step(o.op, at, added)
	}
	return o
}

// modelCells are the elements of a list, each at its place for ever.
type modelCells struct {
	cells []*modelCell
	views map[int][]*modelCell // by patch
}

type modelCell struct {
	value   any
	read    int // -1 for what was not there
	patch   int // that has put it there
	removed int // the patch that has removed it, 0 for none
}

// view are the elements that a patch counts: those that were read, as it has moved them itself.
func (l *modelCells) view(patch int) []*modelCell {
	if l.views[patch] == nil {
		var out []*modelCell
		for _, cell := range l.cells {
			if cell.read >= 0 {
				out = append(out, cell)
			}
		}
		slices.SortFunc(out, func(a, b *modelCell) int { return a.read - b.read })
		if l.views == nil {
			l.views = map[int][]*modelCell{}
		}
		l.views[patch] = out
	}
	return l.views[patch]
}

// insert puts a cell before what the patch sees at an index, and takes it away from where it was.
func (l *modelCells) insert(cell *modelCell, index, patch int) {
	is := func(c *modelCell) bool { return c == cell }
	l.cells = slices.DeleteFunc(l.cells, is)
	view := l.view(patch)
	place := len(l.cells)
	if index < len(view) {
		place = slices.Index(l.cells, view[index])
	}
	l.cells = slices.Insert(l.cells, place, cell)
	l.views[patch] = slices.Insert(view, index, cell)
}

func (l *modelCells) remove(cell *modelCell, patch int) {
	cell.removed = patch
	l.views[patch] = slices.DeleteFunc(slices.Clone(l.view(patch)), func(c *modelCell) bool { return c == cell })
}

func modelOf(value any) any {
	switch value := value.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, below := range value {
			out[key] = modelOf(below)
		}
		return out
	case []any:
		out := &modelCells{}
		for i, below := range value {
			out.cells = append(out.cells, &modelCell{value: modelOf(below), read: i})
		}
		return out
	default:
		return value
	}
}

func plainOf(value any) any {
	switch value := value.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, below := range value {
			out[key] = plainOf(below)
		}
		return out
	case *modelCells:
		out := []any{}
		for _, cell := range value.cells {
			if cell.removed == 0 {
				out = append(out, plainOf(cell.value))
			}
		}
		return out
	default:
		return value
	}
}

var errTaken = errors.New("another patch has taken it away")

// modelList follows a path; gone says that something around the list is not there any more.
func modelList(object map[string]any, path Path, patch int) (list *modelCells, gone bool, err error) {
	at := any(object)
	for _, step := range path {
		switch value := at.(type) {
		case map[string]any:
			at = value[step]
		case *modelCells:
			i, err := strconv.Atoi(step)
			view := value.view(patch)
			if err != nil || i >= len(view) {
				return nil, false, fmt.Errorf("there is no %v", path)
			}
			gone, at = gone || view[i].removed > 0, view[i].value
		}
	}
	list, _ = at.(*modelCells)
	return list, gone, nil
}

func (p modelPatch) applyTo(object map[string]any, patch int) error {
	for _, o := range p.operations {
		list, gone, err := modelList(object, o.list, patch)
		switch {
		case err != nil:
			return err
		case o.op == "test", (list == nil || gone) && o.op == "remove":
			continue
		case list == nil || gone:
			return errTaken
		}
		view := list.view(patch)
		if strings.HasPrefix(o.op, "a") {
			index := len(view)
			if o.op == "add" {
				index = o.index
			}
			list.insert(&modelCell{value: modelOf(o.value), read: -1, patch: patch}, index, patch)
			continue
		}
		cell := view[o.index]
		if cell.removed > 0 && o.op != "remove" {
			return errTaken
		}
		var dest *modelCells
		if o.into != nil {
			var toGone bool
			if o.op == "moveInto" {
				list.remove(cell, patch)
			}
			if dest, toGone, err = modelList(object, o.into, patch); err != nil || dest == nil {
				return fmt.Errorf("no list %v", o.into)
			}
			if toGone {
				return errTaken
			}
			if o.place > len(dest.view(patch)) {
				return errors.New("place")
			}
		}
		spec := object["spec"].(map[string]any)
		switch o.op {
		case "remove":
			list.remove(cell, patch)
		case "replace":
			cell.value = modelOf(o.value)
		case "field":
			cell.value.(map[string]any)["x"] = o.value
		case "copy":
			spec[o.to] = modelOf(plainOf(cell.value))
		case "move":
			spec[o.to] = plainOf(cell.value)
			list.remove(cell, patch)
		case "moveInto":
			moved := cell
			if dest != list {
				moved = &modelCell{value: modelOf(plainOf(cell.value)), read: -1, patch: patch}
			} else {
				cell.removed = 0
			}
			dest.insert(moved, o.place, patch)
		case "copyInto":
			dest.insert(&modelCell{value: modelOf(plainOf(cell.value)), read: -1, patch: patch}, o.place, patch)
		}
	}
	return nil
}
