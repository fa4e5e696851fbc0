package doubt

import (
	"slices"
	"strings"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/action"
	"github.com/dyncontroller/dyncontroller/pkg/rules/body"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/clause"
	"github.com/dyncontroller/dyncontroller/pkg/rules/footprint"
)

// restless warns of rules that change their object whatever it looks like, and each time
// anew. That is certain only where nothing else has a hand in it: no condition, no loop,
// no other patch, no other rule, and no selector that the object might leave.
func (c *comparison) restless(all []*Rule) (out document.Errors) {
	for _, t := range all {
		step, n := t.onlyPatch()
		if step < 0 || t.audited() || t.conditional(step) {
			continue
		}
		for _, write := range t.Effects[step].Writes {
			if write.Target == "" && c.changes(t, write) && c.alone(t, all, write.Path) {
				out = append(out, write.Node.Errorf("give the rule a when that is false once the field is as it should be",
					"the rule changes %s each time that it is evaluated, and never stops", write.Path).Coded(document.CodeRestless).Warn())
			}
		}
		if pointer, list := grown(n); pointer != nil && c.alone(t, all, list) {
			out = append(out, pointer.Errorf("give the rule a when that is false once the element is there",
				"the rule adds an element to %s each time that it is evaluated, and never stops", list).Coded(document.CodeRestless).Warn())
		}
	}
	return out
}

// onlyPatch is the action that changes objects, where there is one alone: its place, which
// is negative where there is not, and what it says.
func (r *Rule) onlyPatch() (at int, patch *document.Node) {
	at = -1
	for i, n := range r.Source.Actions {
		switch found := n.Get("patch"); {
		case n.Get("delete") != nil, found != nil && at >= 0:
			return -1, nil
		case found != nil:
			at, patch = i, found
		}
	}
	return at, patch
}

// conditional reports whether a step may not be done.
func (r *Rule) conditional(step int) bool {
	mayBeFalse := func(when *body.Expression) bool {
		if when == nil {
			return false
		}
		v, _ := when.Program().Constant()
		always, _ := v.(bool)
		return !always
	}
	return mayBeFalse(r.When) || mayBeFalse(r.Steps[step].When()) || r.Steps[step].Loop() != nil
}

// changes reports whether what is written certainly differs from what is there.
func (c *comparison) changes(r *Rule, w action.Write) bool {
	written, isText := w.Value.(string)
	keys, through := w.Path.Keys()
	if !isText || !through || !strings.Contains(written, "${") {
		return false
	}
	template, err := expression.CompileTemplate(written, r.Names.Scope())
	if err != nil {
		return false // The value is a constant, which looks like a template.
	}
	parts, alone := template.Parts()
	if len(parts) != 1 {
		return false
	}
	if alone {
		return clause.Changes(parts[0].Program, keys, terms{r, c.meanings})
	}
	return clause.Reads(parts[0].Program, keys, terms{r, c.meanings}) // There is more text around it.
}

// grown is where a JSON patch of a single operation says that an element is added to a
// list, nil where it does not.
func grown(patch *document.Node) (pointer *document.Node, list footprint.Path) {
	operations := patch.Get("json").Elements()
	if len(operations) != 1 || patch.Get("target") != nil {
		return nil, nil
	}
	pointer = operations[0].Get("path")
	text, adds := strings.CutSuffix(pointer.Text(), "/-")
	if !adds || operations[0].Get("op").Text() != "add" || strings.ContainsAny(text, "~$0123456789") ||
		strings.Contains(source(operations[0].Get("value")), "omit") {
		return nil, nil
	}
	return pointer, footprint.Fields(strings.Split(strings.TrimPrefix(text, "/"), "/")...)
}

// selects reports whether it may hang on a field whether the rule watches an object.
func (r *Rule) selects(path footprint.Path) bool {
	keys, _ := path.Keys()
	label := len(keys) > 2 && slices.Equal(keys[:2], []string{"metadata", "labels"})
	return slices.ContainsFunc(r.Selections, func(s plan.Selection) bool {
		return label && s.LabelSelector != "" || strings.Contains(s.FieldSelector, path.String())
	})
}

// alone reports whether nothing else can change a field, and nothing is selected by it.
func (c *comparison) alone(t *Rule, all []*Rule, path footprint.Path) bool {
	if t.selects(path) {
		return false
	}
	for _, other := range all {
		if other == t || other.audited() {
			continue
		}
		for _, resource := range t.Watched {
			access := other.Footprint.Lookup(resource)
			if !c.work.Spend(1) || access != nil && access.Writes.Touches(path) {
				return false
			}
		}
	}
	return true
}
