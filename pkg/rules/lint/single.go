package lint

import (
	"slices"

	kubernetes "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/action"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
	"github.com/dyncontroller/dyncontroller/pkg/rules/lookup"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
	"github.com/dyncontroller/dyncontroller/pkg/rules/template"
)

// unlimited warns of deletions without a blast radius.
func (r *Rule) unlimited() (out document.Errors) {
	if r.Source.Limits != nil || r.audited() {
		return nil
	}
	for _, step := range r.Steps {
		if key := step.Node().Key("delete"); key != nil {
			out = append(out, key.Errorf(`add limits: {maxObjects: 10%} to the rule, or "100%" to consent to all`,
				"the rule %q deletes, and has no limits: a mistake in it may delete everything", r.ID.Name).Coded(document.CodeUnlimitedDelete).Warn())
		}
	}
	return out
}

// pruneLoops warns of a rule that prunes objects which its own condition looks at: once
// it has made them, the condition may turn false, and then they go again.
func (t *terms) pruneLoops(r *Rule) (out document.Errors) {
	for _, step := range r.Steps {
		applied := step.Applies()
		if applied == nil || !applied.Prune {
			continue
		}
		for _, related := range r.asked(r.When, step.When()) {
			if !related.Finds(applied.Manifest, applied.Of, applied.Owned) {
				continue
			}
			out = append(out, step.Node().Get("apply").Get("prune").Errorf("let when leave out what the rule itself has made, as controllerOf tells it, or ask other objects, or leave prune out",
				"the rule prunes what its own when depends on: %q of with may find the very %s that this action makes",
				related.Name(), applied.Of.GVR.Resource).Coded(document.CodePruneLoop).Warn())
			break
		}
	}
	return out
}

// asked lists the lookups of which conditions ask nothing but whether they find something, or how much: x == nil, len(x) < 3.
// Where more is asked of what is found, such as its controller, it may well be that the objects of the rule make no difference.
func (r *Rule) asked(conditions ...*template.Expression) (found []*lookup.Lookup) {
	more, seen := map[string]int{}, map[string]bool{} // How often more is asked of a name.
	look := func(node expression.Node) {
		count := func(node expression.Node, by int) {
			if name, is := node.(*expression.Name); is {
				more[name.Name] += by
			}
		}
		count(node, 1)
		count(argumentOf(node, "len"), -1)
		if n, is := node.(*expression.Binary); is && (expression.IsNil(n.Left) || expression.IsNil(n.Right)) {
			count(n.Left, -1)
			count(n.Right, -1)
		}
	}
	var follow func(names []string)
	follow = func(names []string) {
		for _, name := range names {
			d := r.Names.Lookup(name)
			switch {
			case d == nil || seen[name]:
				continue
			case d.Related != nil:
				found = append(found, d.Related)
			default:
				expression.Visit(d.Value.Program().Root(), look)
			}
			seen[name] = true
			follow(d.Uses())
		}
	}
	for _, condition := range conditions {
		if condition != nil {
			expression.Visit(condition.Program().Root(), look)
			follow(condition.Program().Names())
		}
	}
	return slices.DeleteFunc(found, func(related *lookup.Lookup) bool { return more[related.Name()] > 0 })
}

// overwritten warns of a field that every element of forEach sets on one object. Where
// when asks for the element, it may be meant for one of them. So may what filter or take leaves of a list: that may be one element.
func (t *terms) overwritten(r *Rule) (out document.Errors) {
	for i, step := range r.Steps {
		loop := step.Loop()
		if loop == nil || step.When() != nil && slices.ContainsFunc(step.When().Program().Names(), loop.InLoop) {
			continue
		}
		if slices.Contains([]string{"filter", "take"}, (scope{t, r, nil}).function(loop.List)) {
			continue
		}
		at := slices.IndexFunc(r.Effects[i].Writes, func(w action.Write) bool {
			return !loop.InLoop(w.Target) && slices.ContainsFunc(w.Names(), loop.InLoop) && !w.Merges
		})
		if at >= 0 {
			write := r.Effects[i].Writes[at]
			out = append(out, write.Node().Errorf("build the value from the whole list, as in ${join(map(...), \",\")}, or make the element the target",
				"each element of forEach sets %s of the same object, and only the last stays", write.Path).Coded(document.CodeConflict).Warn())
		}
	}
	return out
}

// silent warns of what goes wrong in a rule without any error: elements of lists that a
// patch loses, and stamps that are never renewed.
func (t *terms) silent(r *Rule) (out document.Errors) {
	for i, step := range r.Steps {
		for _, write := range r.Effects[i].Writes {
			s := scope{t, r, write.Loop}
			keys, through := write.Path.Keys()
			of := write.Target == "" || write.Target == "object"
			switch {
			case !through || len(keys) == 0:
			case write.Kind == plan.Merge && r.givesKeyed(write, keys) && !s.builds(write, keys[len(keys)-1]) && (!of || !s.absent(step, keys)):
				out = append(out, write.Node().Errorf("use apply, or build it from the list that is there, as with map or concat; where all of it is meant, write it with json",
					"merge replaces the whole list %s: the elements that are not written here are lost", write.Path).Coded(document.CodeReplacedList).Warn())
			case of && s.function(write.Body) == "stamp" && s.onlyStamps(r.Effects[i].Writes, write) && s.waitsFor(step, keys) && !s.absent(step, keys):
				out = append(out, write.Node().Errorf(`write beside it what changes each time, such as window("0 * * * *", "1h", "UTC")?.start, and let when compare that`,
					"stamp() keeps the time that is there, as nothing else in the map changes: once %s is old, the rule matches for ever and writes nothing",
					write.Path).Coded(document.CodeIdleStamp).Warn())
			}
		}
	}
	return out
}

// givesKeyed reports whether what is written has elements of a list whose elements have keys,
// or names of finalizers.
func (r *Rule) givesKeyed(write action.Write, keys []string) bool {
	list, isList := write.Value.([]any)
	if _, isTemplate := write.Value.(string); !isTemplate && (!isList || len(list) == 0) {
		return false // Whoever empties a list means it.
	}
	return slices.ContainsFunc(write.Resources, func(of kubernetes.GroupVersionResource) bool {
		resource := r.Schemas.Resource(of)
		if resource == nil {
			return false
		}
		place := resource.Type
		for _, key := range keys {
			f, _ := place.Field(key)
			place = f.Type
		}
		return place != nil && place.List != nil && (place.List.Kind == schema.Keyed || slices.Equal(keys, []string{"metadata", "finalizers"}))
	})
}

// builds reports whether what is written, or the list of its forEach, goes through a field of that name of what is no parameter.
func (s scope) builds(write action.Write, field string) bool {
	all := write.Programs()
	if s.loop != nil {
		all = append(all, s.loop.List.Programs()...)
	}
	return slices.ContainsFunc(all, func(p *expression.Program) bool {
		return s.somewhere(p, func(node expression.Node) bool {
			if n, is := node.(*expression.Path); is {
				of, is := n.Root.(*expression.Name)
				return (!is || of.Name != "params") && slices.ContainsFunc(n.Steps, func(step expression.Step) bool { return step.Key == field })
			}
			text, is := expression.TextOf(node) // That get takes, as a rule.
			return is && text == field
		})
	})
}

// absent reports whether the step is surely done only where nothing is at a path of the
// watched object, or around it.
func (s scope) absent(step *action.Step, keys []string) bool {
	none := map[int]any{s.number("len", s.object(keys)): int64(0)}
	for i := range keys {
		none[s.object(keys[:i+1])] = nil
	}
	return slices.ContainsFunc(scope{s.terms, s.rule, nil}.condition(s.rule.When, step.When()).facts, func(f fact) bool {
		v, is := none[f.term]
		return is && f.operator == "in" && !slices.ContainsFunc(f.constants, func(c any) bool { return c != v })
	})
}

// onlyStamps reports whether the map around a stamp has stamps alone, as far down as it goes. An operation of a JSON patch writes it
// alone.
func (s scope) onlyStamps(all []action.Write, stamp action.Write) bool {
	around := stamp.Path[:len(stamp.Path)-1]
	return stamp.Kind == plan.JSON || !slices.ContainsFunc(all, func(w action.Write) bool {
		return len(w.Path) > len(around) && slices.Equal(w.Path[:len(around)], around) && s.function(w.Body) != "stamp"
	})
}

// waitsFor reports whether a step is done once the time at a path of the watched object is old.
func (s scope) waitsFor(step *action.Step, keys []string) bool {
	return slices.ContainsFunc([]*template.Expression{s.rule.When, step.When()}, func(when *template.Expression) bool {
		return when != nil && s.somewhere(when.Program(), func(node expression.Node) bool {
			name, arguments := expression.Calls(node)
			return (name == "olderThan" || name == "after") && len(arguments) > 0 && s.reads(arguments[0], s.object(keys))
		})
	})
}
