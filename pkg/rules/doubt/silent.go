package doubt

import (
	"slices"
	"strconv"
	"strings"

	kubernetes "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/action"
	"github.com/dyncontroller/dyncontroller/pkg/rules/body"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/clause"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
)

// silent warns of what goes wrong in a rule without any error: elements of lists that a
// patch loses, and stamps that are never renewed.
func (c *comparison) silent(t *Rule) (out document.Errors) {
	for i, step := range t.Steps {
		for _, write := range t.Effects[i].Writes {
			keys, through := write.Path.Keys()
			switch {
			case !through || len(keys) == 0:
			case write.Kind == plan.Merge && t.givesKeyed(write, keys) && !t.builds(write, keys[len(keys)-1]) && !c.absent(t, step, write, keys):
				out = append(out, write.Node.Errorf("use apply, or build it from the list that is there, as with map or concat; where all of it is meant, write it with json",
					"merge replaces the whole list %s: the elements that are not written here are lost", write.Path).Coded(document.CodeReplacedList).Warn())
			case ofWatched(write) && t.isStamp(write) && t.onlyStamps(i, write, keys) && t.waitsFor(step, keys) && !c.absent(t, step, write, keys):
				out = append(out, write.Node.Errorf(`write beside it what changes each time, such as window("0 * * * *", "1h", "UTC")?.start, and let when compare that`,
					"stamp() keeps the time that is there, as nothing else in the map changes: once %s is old, the rule matches for ever and writes nothing",
					write.Path).Coded(document.CodeIdleStamp).Warn())
			}
		}
	}
	return out
}

func ofWatched(write action.Write) bool { return write.Target == "" || write.Target == "object" }

// givesKeyed reports whether what is written has elements of a list whose elements have keys,
// or names of finalizers.
func (r *Rule) givesKeyed(write action.Write, keys []string) bool {
	switch v := write.Value.(type) {
	case []any:
		if len(v) == 0 {
			return false // Whoever empties a list means it.
		}
	case string: // A template, since the type fits.
	default:
		return false
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
		if place == nil || place.List == nil {
			return false
		}
		return place.List.Kind == schema.Keyed || slices.Equal(keys, []string{"metadata", "finalizers"})
	})
}

// builds reports whether what is written comes from a field of that name.
func (r *Rule) builds(write action.Write, field string) bool {
	scope := r.Names.Scope()
	if write.Loop != nil {
		scope = scope.Extend(write.Loop.Name, "index")
	}
	return r.mentions(write.Node, field, scope) || write.Loop != nil && r.mentions(write.Loop.List, field, r.Names.Scope())
}

func (r *Rule) mentions(n *document.Node, field string, scope *expression.Scope) bool {
	return slices.ContainsFunc(programs(n, scope), func(p *expression.Program) bool {
		return clause.Mentions(p, field, terms{rule: r})
	})
}

// programs are all expressions in the templates of a node.
func programs(n *document.Node, scope *expression.Scope) (out []*expression.Program) {
	if text := n.Text(); strings.Contains(text, "${") {
		if template, err := expression.CompileTemplate(text, scope); err == nil {
			parts, _ := template.Parts()
			for _, part := range parts {
				out = append(out, part.Program)
			}
		}
	}
	for _, element := range n.Elements() {
		out = append(out, programs(element, scope)...)
	}
	for _, entry := range n.Entries() {
		out = append(out, programs(entry.Key, scope)...)
		out = append(out, programs(entry.Value, scope)...)
	}
	return out
}

// absent reports whether the step is surely done only where nothing is at a path of the
// watched object, or around it.
func (c *comparison) absent(r *Rule, step *action.Step, write action.Write, keys []string) bool {
	if !ofWatched(write) {
		return false
	}
	at, present := "object", []string{}
	for _, key := range keys {
		at += "[" + strconv.Quote(key) + "]"
		present = append(present, at+" != nil")
	}
	holds := c.holds(r, step)
	return slices.ContainsFunc(append(present, "len("+at+") != 0"), func(there string) bool {
		p, err := expression.Compile(there, r.Names.Scope())
		return err == nil && clause.Exclusive(holds, clause.Of(p, terms{r, c.meanings}, c.work), c.work)
	})
}

// isStamp reports whether stamp() and nothing else is written.
func (r *Rule) isStamp(write action.Write) bool {
	template, err := expression.CompileTemplate(write.Node.Text(), r.Names.Scope())
	if err != nil {
		return false
	}
	parts, alone := template.Parts()
	return alone && clause.Calls(parts[0].Program, terms{rule: r}, "stamp")
}

// onlyStamps reports whether the map around a stamp has stamps alone, as far down as it goes.
func (r *Rule) onlyStamps(step int, stamp action.Write, keys []string) bool {
	if stamp.Kind == plan.JSON {
		return true // An operation writes it alone.
	}
	around := r.Source.Actions[step].Get("patch").Get(string(stamp.Kind))
	for _, key := range keys[:len(keys)-1] {
		around = around.Get(key)
	}
	var only func(n *document.Node) bool
	only = func(n *document.Node) bool {
		if n.Kind() != document.KindMap {
			return r.isStamp(action.Write{Leaf: body.Leaf{Node: n}})
		}
		return !slices.ContainsFunc(n.Entries(), func(e document.Entry) bool { return !only(e.Value) })
	}
	return only(around)
}

// waitsFor reports whether a step is done once a time of the watched object is old.
func (r *Rule) waitsFor(step *action.Step, keys []string) bool {
	return slices.ContainsFunc([]*body.Expression{r.When, step.When()}, func(when *body.Expression) bool {
		return when != nil && clause.Ages(when.Program(), keys, terms{rule: r, meanings: newMeanings()})
	})
}
