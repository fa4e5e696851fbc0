package rules

import (
	"slices"
	"strconv"
	"strings"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/trace"
)

// actions tells what each action came to, and what the engine does for the rule besides.
func (x *explanation) actions(s *showing) []trace.Action {
	var out []trace.Action
	for _, step := range x.steps {
		out = append(out, s.action(step))
	}
	return append(out, x.besides(s)...)
}

// besides are the finalizers and what is pruned, which no action asks for.
func (x *explanation) besides(s *showing) []trace.Action {
	var out []trace.Action
	add := func(kind string, wish plan.Wish) {
		if wants := s.wants([]plan.Wish{wish}, nil); len(wants) > 0 {
			out = append(out, trace.Action{Kind: kind, Reached: true, Count: 1, Turns: []trace.Turn{{Wants: wants}}})
		}
	}
	for _, wish := range slices.Concat(x.unasked(), x.turn.freed) {
		if wish.Type == plan.Finalize {
			add("finalizer", wish)
		} else {
			add("prune", wish)
		}
	}
	return out
}

// unasked are the wishes that no action has.
func (x *explanation) unasked() []plan.Wish {
	out := slices.Clone(x.turn.action.Wishes)
	for _, step := range x.steps {
		out = without(out, step.rest)
		for _, turn := range step.turns {
			out = without(out, turn.wishes)
		}
	}
	return out
}

// without leaves out wishes that are told with the action that has them.
func without(all, told []plan.Wish) []plan.Wish {
	if len(told) == 0 {
		return all
	}
	return slices.DeleteFunc(all, func(w plan.Wish) bool {
		return slices.ContainsFunc(told, func(t plan.Wish) bool { return t.Type == w.Type && t.Target == w.Target })
	})
}

func (s *showing) action(step toldStep) trace.Action {
	out := trace.Action{
		Kind: step.step.Kind(), At: placeOfNode(step.node), Reached: step.reached, Count: step.count, Error: s.error(step.err),
	}
	if loop := step.step.Loop(); loop != nil {
		out.ForEach = loop.Name
	}
	for _, turn := range step.turns {
		told := trace.Turn{Error: s.error(turn.err)}
		if out.ForEach != "" {
			element := s.element(turn.element, step)
			told.Element = &element
		}
		if turn.when != nil {
			s.opened = map[string]bool{}
			clause := s.clause(turn.when, turn.clause)
			told.When = &clause
		}
		var written *document.Node
		if turn.secret {
			written = step.node
		}
		told.Wants = s.wants(turn.wishes, written)
		for _, event := range turn.events {
			told.Events = append(told.Events, s.event(event, turn.secret))
		}
		out.Turns = append(out.Turns, told)
	}
	return out
}

// element names an object, and shows anything else. What an expression made of a Secret
// may look like an object.
func (s *showing) element(v any, step toldStep) trace.Value {
	object, isMap := v.(map[string]any)
	loop := step.step.Loop()
	if hidden := step.secret && s.foundBySecret(loop.Name, loop); !hidden && isMap && plan.Text(object, "kind") != "" && plan.Text(object, "metadata", "name") != "" {
		return trace.Value{Summary: s.text(plan.Text(object, "kind")) + " " + s.related(object)}
	}
	return s.within(v, step.secret)
}

func (s *showing) event(e plan.Event, secret bool) trace.Event {
	out := trace.Event{
		Object: s.object(e.Regarding), Type: e.Type, Reason: s.text(e.Reason), Message: s.text(e.Message),
	}
	if secret {
		out.Reason, out.Message = trace.Masked, trace.Masked
	}
	return out
}

// wants tells what wishes are, each by itself. Where written is an action, they may tell of
// a Secret, and only what is written there is shown.
func (s *showing) wants(wishes []plan.Wish, written *document.Node) []trace.Want {
	var out []trace.Want
	for _, wish := range wishes {
		built := plan.Build([]plan.Wish{wish}, s.evaluation.set.planOptions())
		want := trace.Want{Type: wish.Type, Object: s.object(wish.Target), Subresource: wish.Subresource}
		want.Already = len(built.Operations) == 0 && len(built.Decisions) == 0
		for _, operation := range built.Operations {
			want.Count += len(operation.Changes)
			for _, change := range operation.Changes {
				if len(want.Changes) < mostChanges {
					want.Changes = append(want.Changes, s.change(wish, change, written))
				}
			}
		}
		out = append(out, want)
	}
	return out
}

func (s *showing) change(wish plan.Wish, change plan.Change, written *document.Node) trace.Change {
	secret := written != nil || wish.Target.IsSecret() && len(change.Path) > 0 && (change.Path[0] == "data" || change.Path[0] == "stringData")
	path := slices.Clone(change.Path)
	for i, step := range path {
		path[i] = s.values.Key(step)
		_, there := plan.Lookup(wish.Current, change.Path[:i+1])
		if written != nil && !there && !mentions(written, step) {
			path[i] = trace.Masked
		}
	}
	out := trace.Change{
		Path: path.String(), Before: s.within(change.Before, secret), After: s.within(change.After, secret),
	}
	if change.Before != nil {
		for _, manager := range plan.Managers(wish.Current, change.Path) {
			out.Owners = append(out.Owners, trace.Owner(manager))
		}
	}
	return out
}

// mentions reports whether a step of a path is written in an action as it is: as a key, or
// in the path of a JSON patch.
func mentions(n *document.Node, step string) bool {
	if _, err := strconv.Atoi(step); err == nil {
		return true
	}
	for _, entry := range n.Entries() {
		if entry.Key.Text() == step || mentions(entry.Value, step) {
			return true
		}
	}
	if slices.ContainsFunc(n.Elements(), func(element *document.Node) bool { return mentions(element, step) }) {
		return true
	}
	return n.Kind() == document.KindString && strings.HasPrefix(n.Text(), "/") && slices.Contains(strings.Split(n.Text(), "/"), step)
}
