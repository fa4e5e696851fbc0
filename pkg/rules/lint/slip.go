package lint

import (
	"slices"

	"github.com/dyncontroller/dyncontroller/pkg/rules/action"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
	"github.com/dyncontroller/dyncontroller/pkg/rules/lookup"
	"github.com/dyncontroller/dyncontroller/pkg/rules/template"
)

// slips warns of what is written in templates and hardly ever meant.
func (r *Rule) slips() (found document.Errors) {
	for _, related := range r.Source.With {
		for _, name := range lookup.Fields.Templates() {
			found = slipsIn(found, related.Value.Get(name), r.Names.Scope(), false)
		}
	}
	actions := r.Source.Actions
	if r.Source.OnDelete != nil {
		actions = slices.Concat(actions, r.Source.OnDelete.Actions)
	}
	for _, n := range actions {
		scope := r.Names.Actions()
		for _, loop := range n.Get("forEach").Entries() {
			scope = scope.Extend(loop.Key.Text(), "index")
		}
		for _, entry := range n.Entries() {
			kind := entry.Key.Text()
			if fields := action.FieldsOf[kind]; fields != nil { // Else it is when or forEach.
				for _, name := range fields.Templates() {
					found = slipsIn(found, entry.Value.Get(name), scope, kind == "patch" && name != "apply")
				}
			}
		}
	}
	return found
}

// slipsIn looks at all of a template, and adds what it finds. Where it is a patch, null means something.
func slipsIn(found document.Errors, n *document.Node, scope *expression.Scope, patch bool) document.Errors {
	switch {
	case found.EnoughOf(document.Warning):
		return found
	case n.Kind() == document.KindNull && patch:
		return append(found, n.Errorf(`write "${nil}"`,
			"null is lost when the rules are put into a cluster by kubectl apply").Coded(document.CodeLiteralNull).Warn())
	case template.IsNil(n):
		return append(found, template.Slip(n, `write "${nil}", or "nil" in quotes for the text`))
	case n.Kind() == document.KindString && template.Unmarked(n.Text(), scope, false):
		return append(found, template.Slip(n, "write "+template.Marked(n.Text())))
	}
	for _, element := range n.Elements() {
		found = slipsIn(found, element, scope, patch)
	}
	for _, entry := range n.Entries() {
		if !template.HoldsExpression(entry.Key.Text()) {
			found = slipsIn(found, entry.Value, scope, patch)
		}
	}
	return found
}
