package body

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/check"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
)

// misfits compares what stands in a template with the place that it is written to, each
// branch of ?? and ?: on its own.
func (d *draft) misfits(t template, given check.Given, into *schema.Type) (errs document.Errors) {
	if given.Known() && into.Known() && written(given.Kinds())&accepted(into) == 0 {
		return nil // All of them are wrong, and one message will do.
	}
	for _, w := range given.Written {
		place, how := descend(into, d.how, w.Path)
		wrong := misfitOf(w, place, how)
		if wrong == nil || !place.Known() {
			continue
		}
		if way := wayTo(w.Path); way != "" {
			wrong.message = way + ": " + wrong.message
		}
		errs = append(errs, t.node.ErrorAt(w.At.Offset, w.At.Length, wrong.hint, "%s", wrong.message).Coded(wrong.code))
	}
	return errs
}

// wayTo writes a path in the value of a template, "" for all of it. Which element of a
// list it is shows at the place.
func wayTo(path []any) string {
	var keys []string
	for _, step := range path {
		if key, is := step.(string); is {
			keys = append(keys, key)
		}
	}
	return value.Excerpt(strings.Join(keys, "."))
}

// descend returns the place that a path leads to, nil where nothing is known of it, and
// how it is written.
func descend(into *schema.Type, how schema.Writing, path []any) (*schema.Type, schema.Writing) {
	for _, step := range path {
		switch step := step.(type) {
		case string:
			f, _ := into.Field(step)
			into = f.Type
		default:
			into, how = into.Items(), schema.Whole
		}
	}
	return into, how
}

// misfitOf is what is wrong with a branch. What a name stands for may be a constant
// that is there only where another branch is taken.
func misfitOf(w check.Written, into *schema.Type, how schema.Writing) *fault {
	if _, unknown := w.Value.(schema.Unknown); !unknown {
		violations := into.Validate(w.Value, how)
		if len(violations) == 0 {
			return nil
		}
		wrong := &fault{violations[0].Code, violations[0].Message, violations[0].Hint}
		switch {
		case w.Value != "" || wrong.code != document.CodeTypeMismatch:
		case into.Kinds&value.Map != 0:
			wrong.hint = "write {} for an empty map, or omit() for none"
		case into.Kinds&value.List != 0:
			wrong.hint = "write [] for an empty list, or omit() for none"
		}
		return wrong
	}
	if len(w.Type.Literals()) > 0 {
		return nil
	}
	wrong := misfit(w.Type, into, how)
	if wrong == nil || w.Where == "" {
		return wrong
	}
	hint := cmp.Or(w.Conversion(accepted(into)), wrong.hint)
	return &fault{wrong.code, fmt.Sprintf("%s, %s", w.Where, wrong.message), hint}
}
