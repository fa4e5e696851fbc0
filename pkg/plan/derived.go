package plan

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Derived are fields of an object that may hold what rules make of values of Secrets, with the names of the fields below them.
type Derived []DerivedField

// DerivedField is such a field, and the rule that writes it.
type DerivedField struct {
	Path Path
	Rule Rule
	Keys bool // what is derived is a key of the map there
}

// Shows reports whether nothing in a field is derived. Of its path, so many steps may be shown.
func (d Derived) Shows(field Path) (value bool, steps int) {
	value, steps = true, -1
	for _, f := range d {
		if field.hasPrefix(f.Path) {
			steps = max(steps, len(f.Path))
		}
		value = value && !field.hasPrefix(f.Path) && !f.Path.hasPrefix(field)
	}
	if steps < 0 {
		steps = len(field)
	}
	return value, steps
}

// Shows reports whether the values of a change may be shown: they are not those of a Secret, and not made of one. Of its path, so many
// steps may be shown.
func (o Operation) Shows(c Change) (values bool, steps int) {
	of := slices.DeleteFunc(slices.Clone(o.Derived), func(f DerivedField) bool { return f.Rule != c.Rule })
	values, steps = of.Shows(c.Path)
	return values && o.Target.Shows(c.Path), steps
}

// derived are the fields that the wish derives. The values of a Secret are hidden anyway, and its keys are shown unless they are derived
// themselves.
func (w Wish) derived() (out Derived) {
	for _, f := range w.Derived {
		ofKeys := slices.ContainsFunc(w.Derived, func(k DerivedField) bool { return k.Keys && f.Path.hasPrefix(k.Path) })
		if len(f.Path) > 0 && (f.Path[0] == "data" || f.Path[0] == "stringData") && w.Target.IsSecret() {
			if f.Path = append(Path{"data"}, f.Path[1:]...); !ofKeys {
				continue
			}
		}
		f.Rule = w.Rule
		out = append(out, f)
	}
	return out
}

// With adds fields that are not there yet.
func (d Derived) With(more ...DerivedField) Derived {
	for _, f := range more {
		if !slices.ContainsFunc(d, func(known DerivedField) bool { return known.Rule == f.Rule && slices.Equal(known.Path, f.Path) }) {
			d = append(d, f)
		}
	}
	return d
}

// Hide returns an object, or a body that is written to one, with what mask makes of the derived fields.
func (d Derived) Hide(body any, mask func(any) any) any {
	steps, isPatch := body.([]any)
	switch {
	case len(d) == 0:
		return body
	case !isPatch:
		return d.hide(nil, body, mask)
	}
	out := make([]any, len(steps))
	for i, step := range steps {
		given, _ := step.(map[string]any)
		shown := maps.Clone(given)
		for _, key := range []string{"from", "path"} {
			text, _ := given[key].(string)
			at, _ := ParsePointer(text)
			if _, known := d.Shows(at); known < len(at) {
				shown[key] = at[:known].Pointer() + "/" + fmt.Sprint(mask(strings.Join(at[known:], "/")))
			}
			if value, there := given["value"]; there && key == "path" {
				shown["value"] = d.hide(at, value, mask)
			}
		}
		out[i] = shown
	}
	return out
}

// hide returns what may be shown of a value at a path. An object stays one.
func (d Derived) hide(at Path, value any, mask func(any) any) any {
	fields, isMap := value.(map[string]any)
	switch shown, _ := d.Shows(at); {
	case shown:
		return value
	case !isMap || len(at) > 0 && slices.ContainsFunc(d, func(f DerivedField) bool { return at.hasPrefix(f.Path) }):
		return mask(value)
	}
	out := make(map[string]any, len(fields))
	for key, below := range fields {
		field := at.child(key)
		if _, known := d.Shows(field); known == len(at) {
			key = fmt.Sprint(mask(key))
		}
		out[key] = d.hide(field, below, mask)
	}
	return out
}

// Masked returns the Event with what mask makes of the parts of its texts that are derived.
func (e Event) Masked(mask func(any) any) Event {
	texts := [...]*string{&e.Reason, &e.Message, &e.Type, &e.Action}
	for at, parts := range e.Derived {
		parts = slices.Clone(parts)
		for i := 1; i < len(parts); i += 2 {
			parts[i] = fmt.Sprint(mask(parts[i]))
		}
		if parts != nil {
			*texts[at] = strings.Join(parts, "")
		}
	}
	e.Derived = nil
	return e
}
