package schema

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
)

// list compares the elements of a list with its type.
func (c *validation) list(t *Type, list []any, merged bool) {
	merged = merged && c.how == Applied && t.List.Kind != Atomic
	known := 0
	for i, element := range list {
		if _, unknown := element.(Unknown); unknown {
			continue
		}
		known++
		c.within(i, func() { c.value(t.List.Items, element, merged) })
	}
	if limit := t.Limit; limit != nil {
		c.least(limit.MinItems, len(list), merged, "elements")
		c.most(limit.MaxItems, known, "elements")
	}
	switch {
	case t.List.Kind == Keyed:
		c.keyed(t.List, list)
	case t.List.Kind == Set && c.unique(t.List) || t.Limit != nil && t.Limit.UniqueItems:
		c.distinct(list)
	}
}

// unique reports whether elements have to differ, or to have keys by which they do.
func (c *validation) unique(l *List) bool { return l.Unique || c.how == Applied }

// distinct reports elements that are there before.
func (c *validation) distinct(list []any) {
	seen := map[string]int{}
	for i, element := range list {
		data, err := json.Marshal(element)
		if err != nil {
			continue // Something of it is not known.
		}
		if first, twice := seen[string(data)]; twice {
			c.repeated(i, first, "element")
			continue
		}
		seen[string(data)] = i
	}
}

// keyed reports elements without the fields that tell them apart, and those that
// agree in all of them.
func (c *validation) keyed(l *List, list []any) {
	seen := map[string]int{}
	for i, element := range list {
		fields, ok := element.(map[string]any)
		if !ok {
			continue
		}
		key, missing := l.key(fields)
		switch {
		case missing != "":
			if c.how != Merged && c.unique(l) && !l.reported(missing, c.how) {
				c.within(i, func() {
					c.report(document.CodeMissingField, fmt.Sprintf("the field %q is missing, which tells the elements apart", missing), "add "+missing+": ...")
				})
			}
		case key == "" || !c.unique(l):
		default:
			if first, twice := seen[key]; twice {
				c.repeated(i, first, strings.Join(l.Keys, " and "))
				continue
			}
			seen[key] = i
		}
	}
}

// key writes the fields that tell an element apart as one text, "" where they are
// not known, and names the first that is missing.
func (l *List) key(fields map[string]any) (key, missing string) {
	values := make([]any, len(l.Keys))
	_, more := fields[SomeKeys].(Unknown)
	for i, name := range l.Keys {
		f, _ := l.Items.Field(name)
		values[i] = fields[name]
		if values[i] == nil {
			values[i] = f.Default
		}
		switch {
		case values[i] != nil:
		case more || f.Always && !f.Required:
			return "", ""
		default:
			return "", name
		}
	}
	data, err := json.Marshal(values)
	if err != nil {
		return "", ""
	}
	return string(data), ""
}

// reported says that a missing field is a mistake already because the schema
// requires it.
func (l *List) reported(name string, how Writing) bool {
	f, _ := l.Items.Field(name)
	return how == Whole && f.Required
}

func (c *validation) repeated(i, first int, what string) {
	c.within(i, func() {
		c.report(document.CodeInvalid, fmt.Sprintf("the same %s as element %d of the list, and each is there once", what, first), "remove one of them")
	})
}
