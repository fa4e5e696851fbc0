package compare

import (
	"cmp"
	"maps"
	"slices"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// Only leaves out of both values what is equal. Elements of lists that differ keep the field by which they are told apart.
func Only(before, after any) (old, now any) {
	a, isMap := before.(map[string]any)
	b, areMaps := after.(map[string]any)
	if isMap && areMaps {
		outA, outB := map[string]any{}, map[string]any{}
		for key := range keysOf(a, b) {
			x, y := fieldOf(a, key), fieldOf(b, key)
			if plan.Equal(x, y) {
				continue
			}
			left, right := Only(x, y)
			if shows(x, left, y) {
				outA[key] = left
			}
			if shows(y, right, x) {
				outB[key] = right
			}
		}
		return outA, outB
	}
	list, isList := before.([]any)
	others, areLists := after.([]any)
	if isList && areLists {
		outA, outB := changedElements(list, others), changedElements(others, list)
		if len(outA)+len(outB) > 0 { // Otherwise it is their order.
			return outA, outB
		}
	}
	return before, after
}

// shows reports whether what is left of a value is to be shown: not where all of it is in the other one, which has more.
func shows(value, left, other any) bool {
	switch left := left.(type) {
	case nothing:
		return false
	case map[string]any:
		_, areMaps := other.(map[string]any)
		return len(left) > 0 || !areMaps
	case []any:
		list, _ := value.([]any)
		return len(left) > 0 || len(list) == 0
	default:
		return true
	}
}

// keysOf are the names of the fields of both.
func keysOf(a, b map[string]any) map[string]any {
	out := maps.Clone(a)
	if out == nil {
		return b
	}
	maps.Copy(out, b)
	return out
}

func changedElements(list, others []any) []any {
	out := []any{}
	rest := newElements(others)
	for _, element := range list {
		other := rest.take(element)
		if plan.Equal(element, other) {
			continue
		}
		changed, _ := Only(element, other)
		if fields, isMap := changed.(map[string]any); isMap {
			whole, _ := element.(map[string]any)
			for _, key := range identity(whole) {
				fields = plan.WithField(fields, plan.Path{key}, whole[key])
			}
			changed = fields
		}
		out = append(out, changed)
	}
	return out
}

// Kept puts back what an apply has set and a clean-up takes away: the API server has judged each by itself, and so let go of a
// field that a removed rule gave up and another rule applies now.
func Kept(object, wanted, answer map[string]any) map[string]any {
	out := map[string]any{}
	maps.Copy(out, object)
	for key, value := range wanted {
		have, set := fieldOf(out, key), fieldOf(answer, key)
		below, isMap := value.(map[string]any)
		fields, areMaps := have.(map[string]any)
		list, isList := value.([]any)
		elements, areLists := have.([]any)
		switch {
		case set == nothing{}: // It is stored as nothing.
		case have == nothing{}:
			out[key] = set
		case isMap && areMaps:
			answered, _ := set.(map[string]any)
			out[key] = Kept(fields, below, answered)
		case isList && areLists:
			answered, _ := set.([]any)
			then, now := newElements(answered), newElements(elements)
			for _, element := range list {
				if is := then.find(element); is != (nothing{}) && now.find(element) == (nothing{}) {
					elements = append(slices.Clip(elements), is)
				}
			}
			out[key] = elements
		}
	}
	return out
}

// nothing is a field, or an element, that is not there.
type nothing struct{}

func fieldOf(object map[string]any, key string) any {
	if value, there := object[key]; there {
		return value
	}
	return nothing{}
}

// Merge makes both changes of a value, elements of lists by what they are about.
func Merge(before, ours, theirs any) any {
	switch {
	case plan.Equal(before, ours), plan.Equal(ours, theirs):
		return theirs
	case plan.Equal(before, theirs):
		return ours
	}
	a, ourMap := ours.(map[string]any)
	b, theirMap := theirs.(map[string]any)
	if ourMap && theirMap {
		old, _ := before.(map[string]any)
		out := map[string]any{}
		for key := range keysOf(a, b) {
			if value := Merge(fieldOf(old, key), fieldOf(a, key), fieldOf(b, key)); value != (nothing{}) {
				out[key] = value
			}
		}
		return out
	}
	mine, ourList := ours.([]any)
	other, theirList := theirs.([]any)
	if ourList && theirList {
		list, _ := before.([]any)
		old, a, b, out := newElements(list), newElements(mine), newElements(other), []any{}
		for _, element := range slices.Concat(mine, slices.DeleteFunc(slices.Clone(other), func(e any) bool { return a.find(e) != nothing{} })) {
			if value := Merge(old.find(element), a.find(element), b.find(element)); value != (nothing{}) {
				out = append(out, value)
			}
		}
		return out
	}
	return theirs
}

// elements finds elements of a list by what they are about, or else by their values.
type elements struct {
	list []any
	at   map[string][]int
}

func newElements(list []any) elements {
	e := elements{list, map[string][]int{}}
	for i, element := range list {
		key := keyOf(element)
		e.at[key] = append(e.at[key], i)
	}
	return e
}

func keyOf(element any) string { return cmp.Or(about(element), Show(element)) }

// find returns the element that is the same one, an equal one if there are several, nothing{} for none.
func (e elements) find(element any) any {
	if i := e.index(element); i >= 0 {
		return e.list[e.at[keyOf(element)][i]]
	}
	return nothing{}
}

// take returns the same, and does not find that element again.
func (e elements) take(element any) any {
	key, i := keyOf(element), e.index(element)
	if i < 0 {
		return nothing{}
	}
	found := e.list[e.at[key][i]]
	e.at[key] = slices.Delete(e.at[key], i, i+1)
	return found
}

// index is where the element is among those of the same key, -1 for none.
func (e elements) index(element any) int {
	same := e.at[keyOf(element)]
	equal := slices.IndexFunc(same, func(i int) bool { return plan.Equal(element, e.list[i]) })
	if equal < 0 && len(same) > 0 {
		return 0
	}
	return equal
}

// TellApart says of texts that are masked alike, and differ, that they do.
func TellApart(before, after, shownBefore, shownAfter any) (markedBefore, markedAfter any) {
	switch a := shownBefore.(type) {
	case string:
		if b, are := shownAfter.(string); are && a == b && !plan.Equal(before, after) {
			return a + " before", b + " after"
		}
	case map[string]any:
		b, areMaps := shownAfter.(map[string]any)
		old, _ := before.(map[string]any)
		now, _ := after.(map[string]any)
		if !areMaps {
			break
		}
		outA, outB := maps.Clone(a), maps.Clone(b)
		for key := range old {
			x, inA := a[key]
			if y, inB := b[key]; inA && inB { // The name of the field is not masked.
				outA[key], outB[key] = TellApart(old[key], now[key], x, y)
			}
		}
		return outA, outB
	case []any:
		b, areLists := shownAfter.([]any)
		old, _ := before.([]any)
		now, _ := after.([]any)
		if !areLists || len(a) != len(b) || len(old) != len(a) || len(now) != len(a) {
			break
		}
		outA, outB := slices.Clone(a), slices.Clone(b)
		for i := range a {
			outA[i], outB[i] = TellApart(old[i], now[i], a[i], b[i])
		}
		return outA, outB
	}
	return shownBefore, shownAfter
}
