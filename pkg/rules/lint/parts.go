package lint

import (
	"maps"
	"slices"
	"strings"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/action"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
)

// parts returns what a step sets on objects of a type, as server-side apply tells it apart: an atomic map is one field, and so is each
// field of an element of a list with keys. A write that is no apply, or of a type of which nothing is known, is one field.
func (s scope) parts(writes []action.Write, of *schema.Type) (out []*site) {
	atomic := map[string]*site{}
	for _, w := range writes {
		in := s
		in.loop = w.Loop
		one := &site{Write: w, rule: s.rule, subject: in.subject(w.Target), wants: in.value(w)}
		place := of
		for i := range w.Path {
			one.fields = append(one.fields, w.Path[:i+1].String())
			f, _ := place.Field(w.Path[i].Key())
			if place = f.Type; w.Kind == plan.Apply && place.Known() && place.Map != nil && place.Map.Atomic {
				break
			}
		}
		key := w.Target + " " + one.path()
		switch value, isList := w.Value.([]any); {
		case w.Kind != plan.Apply || !place.Known():
			out = append(out, one)
		case place.Map != nil && place.Map.Atomic:
			one.Covers = true
			if before := atomic[key]; before != nil { // The order of the leaves is that of the text: two that differ in it alone are no conflict.
				before.leaves = append(before.leaves, s.number(w.Path.String(), one.wants))
				continue
			}
			one.leaves, atomic[key] = []int{s.number(w.Path.String(), one.wants)}, one
			out = append(out, one)
		case place.List != nil && place.List.Kind == schema.Atomic:
			one.Merges = false
			out = append(out, one)
		case place.List != nil && isList:
			whole := *one
			out = append(append(out, one), s.elements(&whole, place, value)...) // The list as a whole is for who replaces it.
		default:
			out = append(out, one)
		}
	}
	for _, one := range out {
		if len(one.leaves) > 0 {
			slices.Sort(one.leaves)
			one.wants = s.number("map", one.leaves...)
		}
	}
	return out
}

// elements returns the fields of a value in a list that is merged, as far as they are written out. Each element of a set is its own.
func (s scope) elements(whole *site, t *schema.Type, value any) (out []*site) {
	add := func(field string, t *schema.Type, value any) {
		one := *whole
		one.fields, one.Merges, one.Covers = append(slices.Clip(whole.fields), field), false, true
		out = append(out, s.elements(&one, t, value)...)
	}
	switch value := value.(type) {
	case map[string]any:
		if t == nil || t.Map == nil || t.Map.Atomic {
			break
		}
		for _, key := range slices.Sorted(maps.Keys(value)) {
			if f, possible := t.Field(key); possible && value[key] != nil {
				add(whole.path()+"."+key, f.Type, value[key])
			}
		}
		return out
	case []any:
		switch {
		case t == nil || t.List == nil || t.List.Kind == schema.Atomic:
		case t.List.Kind == schema.Set:
			return nil
		default:
			for _, element := range value {
				pairs, known := t.List.Pairs(element)
				if key := plan.KeyText(pairs); known && !strings.Contains(key, "${") {
					add(whole.path()+"["+key+"]", t.List.Items, element)
				}
			}
			return out
		}
	}
	text := jsonOf(value)
	if strings.Contains(text, "${") {
		return nil // What it is made of is not known to be another thing.
	}
	whole.wants = s.number("value " + text)
	return []*site{whole}
}
