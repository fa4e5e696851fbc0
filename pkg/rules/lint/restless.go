package lint

import (
	"slices"
	"strings"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/action"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/footprint"
	"github.com/dyncontroller/dyncontroller/pkg/rules/template"
)

// restless warns of rules that change their object whatever it looks like, and each time
// anew. That is certain only where nothing else has a hand in it: no condition, no loop,
// no other patch, no other rule, and no selector that the object might leave.
func (t *terms) restless(all []*Rule) (out document.Errors) {
	for _, r := range all {
		step := r.onlyPatch()
		if step < 0 || r.audited() || r.Effects[step].Restores != nil { // See undone.
			continue
		}
		for _, write := range r.Effects[step].Writes {
			if write.Target == "" && (scope{t, r, nil}).changes(write) && t.alone(r, all, write.Path) {
				out = append(out, write.Node().Errorf("give the rule a when that is false once the field is as it should be",
					"the rule changes %s each time that it is evaluated, and never stops", write.Path).Coded(document.CodeRestless).Warn())
			}
		}
		if pointer, list := grown(r.Steps[step].Node().Get("patch")); pointer != nil && t.alone(r, all, list) {
			out = append(out, pointer.Errorf("give the rule a when that is false once the element is there",
				"the rule adds an element to %s each time that it is evaluated, and never stops", list).Coded(document.CodeRestless).Warn())
		}
	}
	return out
}

// undone warns of a change for a while by which the rule's own condition is false, so that it is restored at once and made again, and of a value
// for a while that is computed from the field itself.
func (t *terms) undone(r *Rule) (out document.Errors) {
	for i, step := range r.Steps {
		if r.Effects[i].Restores == nil || r.audited() {
			continue
		}
		s := scope{t, r, step.Loop()}
		holds := s.condition(r.When, step.When())
		for n, write := range r.Effects[i].Writes {
			keys, through := write.Path.Keys()
			if write.Target != "" || !through || r.writesAgain(i, n) {
				continue
			}
			field := s.object(keys)
			value, known := write.Value, len(write.Programs()) == 0
			if p := write.Alone(); p != nil {
				value, known = s.constant(p.Root())
				if s.moves(p.Root(), field) {
					out = append(out, write.Node().Errorf("write a value that is the same when it is computed again, such as a constant, or min(...) of the field and a constant",
						"the rule changes %s for a while, and computes the value from that field: each evaluation changes it further", write.Path).
						Coded(document.CodeRestless).Warn())
				}
			}
			if !known || !scalar(value) || value == nil && keys[0] != "metadata" { // The API server may put a default in its place.
				continue
			}
			if slices.ContainsFunc(holds.facts, func(f fact) bool { return f.term == field && !f.holds(value) }) {
				out = append(out, write.Node().Errorf("let the condition ask something that the rule does not change, such as a label, an annotation or the time",
					"the rule changes %s for a while, and its condition is false then: it changes the field and restores it in turn, and never stops", write.Path).
					Coded(document.CodeRestless).Warn())
			}
		}
	}
	return out
}

// writesAgain reports whether a rule writes a field, or what is around it, once more after a write of a step.
func (r *Rule) writesAgain(step, write int) bool {
	path := r.Effects[step].Writes[write].Path.String()
	after := r.Effects[step].Writes[write+1:]
	for _, effects := range r.Effects[step+1:] {
		after = slices.Concat(after, effects.Writes)
	}
	return slices.ContainsFunc(after, func(w action.Write) bool {
		return w.Target == "" && strings.HasPrefix(path+".", w.Path.String()+".")
	})
}

// onlyPatch is which step changes objects, whatever they look like, where there is one alone. It is negative where there is not.
func (r *Rule) onlyPatch() int {
	at := -1
	for i, step := range r.Steps {
		if kind := step.Kind(); kind == "delete" || kind == "patch" && at >= 0 {
			return -1
		} else if kind == "patch" {
			at = i
		}
	}
	if at < 0 || r.Steps[at].Loop() != nil {
		return -1
	}
	if !r.always(r.Steps[at]) {
		return -1
	}
	return at
}

// always reports whether a step is done for each object, without any condition.
func (r *Rule) always(step *action.Step) bool {
	return !slices.ContainsFunc([]*template.Expression{r.When, step.When()}, func(when *template.Expression) bool {
		if when == nil {
			return false
		}
		v, _ := when.Program().Constant()
		is, _ := v.(bool)
		return !is
	})
}

// changes reports whether what is written certainly differs from what is there.
func (s scope) changes(w action.Write) bool {
	keys, through := w.Path.Keys()
	all := w.Programs()
	if _, isText := w.Value.(string); !isText || !through || len(all) != 1 {
		return false // The value is a constant, which looks like a template.
	}
	if w.Alone() == nil {
		return s.reads(all[0].Root(), s.object(keys)) // There is more text around it.
	}
	return s.differs(all[0].Root(), s.object(keys))
}

// differs reports whether a value certainly differs from that of a term: something is added to that, or it is negated.
func (s scope) differs(node expression.Node, from int) bool {
	node = s.resolve(node)
	if argument := argumentOf(node, "string"); argument != nil {
		return s.differs(argument, from)
	}
	switch n := node.(type) {
	case *expression.Unary:
		return n.Negates() && s.reads(n.X, from)
	case *expression.Binary:
		return (n.Operator == "+" || n.Operator == "-") && s.something(n.Right) && s.reads(n.Left, from) ||
			n.Operator == "+" && s.something(n.Left) && s.reads(n.Right, from)
	default:
		return false
	}
}

// moves reports whether a value is computed from that of a term in such a way that it is hardly ever the same when it is computed again.
func (s scope) moves(node expression.Node, from int) bool {
	node = s.resolve(node)
	if argument := argumentOf(node, "int", "string"); argument != nil {
		return s.moves(argument, from)
	}
	factor := func(node expression.Node) bool {
		v, known := s.constant(node)
		none, ordered := value.Compare(v, int64(0))
		same, _ := value.Compare(v, int64(1))
		return known && ordered && none != 0 && same != 0
	}
	if n, is := node.(*expression.Binary); is && (n.Operator == "*" || n.Operator == "/") {
		return s.reads(n.Left, from) && factor(n.Right) || n.Operator == "*" && s.reads(n.Right, from) && factor(n.Left)
	}
	if name, arguments := expression.Calls(node); name == "div" && len(arguments) == 2 {
		return s.reads(arguments[0], from) && factor(arguments[1])
	}
	return s.differs(node, from)
}

// reads reports whether a value is that of a term. It looks through conversions, and through what stands in where there is nothing.
func (s scope) reads(node expression.Node, term int) bool {
	node = s.resolve(node)
	if argument := argumentOf(node, "int", "string"); argument != nil {
		return s.reads(argument, term)
	}
	if n, is := node.(*expression.Binary); is && n.Operator == "??" {
		_, known := s.constant(n.Right)
		return known && s.reads(n.Left, term)
	}
	return s.term(node) == term
}

// something reports whether adding a constant makes a difference. Not every fraction does,
// after a conversion.
func (s scope) something(node expression.Node) bool {
	v, _ := s.constant(node)
	return value.KindOf(v)&(value.Int|value.String) != 0 && v != int64(0) && v != ""
}

// function is the one whose value a template is, "" where it is another value.
func (s scope) function(b *template.Body) (name string) {
	if p := b.Alone(); p != nil {
		name, _ = expression.Calls(s.resolve(p.Root()))
	}
	return name
}

// argumentOf is the argument of a call of one of some functions, nil of anything else.
func argumentOf(node expression.Node, functions ...string) expression.Node {
	if name, arguments := expression.Calls(node); len(arguments) == 1 && slices.Contains(functions, name) {
		return arguments[0]
	}
	return nil
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
		strings.Contains(jsonOf(operations[0].Get("value").Any()), "omit") {
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
func (t *terms) alone(r *Rule, all []*Rule, path footprint.Path) bool {
	if r.selects(path) {
		return false
	}
	for _, other := range all {
		if other == r || other.audited() {
			continue
		}
		for _, resource := range r.Watched {
			access := other.Footprint.Lookup(resource)
			if !t.work.spend(1) || access != nil && access.Writes.Touches(path) {
				return false
			}
		}
	}
	return true
}
