package lint

import (
	"strings"

	"github.com/dyncontroller/dyncontroller/pkg/rules/action"
	"github.com/dyncontroller/dyncontroller/pkg/rules/body"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
	"github.com/dyncontroller/dyncontroller/pkg/rules/relation"
)

// slips warns of what is written in templates and hardly ever meant.
func (r *Rule) slips() document.Errors {
	w := &slips{scope: r.Names.Scope()}
	for _, related := range r.Source.With {
		for _, name := range relation.Fields.Templates() {
			w.walk(related.Value.Get(name), false)
		}
	}
	w.actions(r.Source.Actions)
	if r.Source.OnDelete != nil {
		w.actions(r.Source.OnDelete.Actions)
	}
	return w.found
}

// slips is one walk over the templates of a rule.
type slips struct {
	scope *expression.Scope
	found document.Errors
}

func (w *slips) actions(nodes []*document.Node) {
	outer := w.scope
	for _, n := range nodes {
		for _, loop := range n.Get("forEach").Entries() {
			w.scope = outer.Extend(loop.Key.Text(), "index")
		}
		for _, entry := range n.Entries() {
			w.fields(entry.Key.Text(), entry.Value)
		}
		w.scope = outer
	}
}

// fields looks into the templates of an action.
func (w *slips) fields(kind string, n *document.Node) {
	of := action.FieldsOf[kind]
	if of == nil {
		return // It is no action, but when or forEach.
	}
	for _, name := range of.Templates() {
		w.walk(n.Get(name), kind == "patch" && name != "apply")
	}
}

// walk looks at all of a template. Where it is a patch, null means something.
func (w *slips) walk(n *document.Node, patch bool) {
	if w.found.EnoughOf(document.Warning) {
		return
	}
	switch n.Kind() {
	case document.KindNull:
		if patch {
			w.found = append(w.found, n.Errorf(`write "${nil}"`,
				"null is lost when the rules are put into a cluster by kubectl apply").Coded(document.CodeLiteralNull).Warn())
		}
	case document.KindString:
		if body.Unmarked(n.Text(), w.scope, false) {
			w.found = append(w.found, n.Errorf("write "+body.Marked(n.Text()),
				"this is written as it is, and looks like an expression").Coded(document.CodeMissingBraces).Warn())
		}
	default: // Of the others only what is in them can be one.
	}
	for _, element := range n.Elements() {
		w.walk(element, patch)
	}
	for _, entry := range n.Entries() {
		if !strings.HasSuffix(strings.ToLower(entry.Key.Text()), "expression") { // Those of Kubernetes go to object, too.
			w.walk(entry.Value, patch)
		}
	}
}
