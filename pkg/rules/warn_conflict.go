package rules

import (
	"fmt"
	"reflect"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/action"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/clause"
)

// site is a field that a rule sets, where and when.
type site struct {
	action.Write
	rule *Rule
	path string
	// holds takes the condition apart, once it is asked for.
	holds func() clause.Condition
	// subject is what it is set on, as [meanings] know it. filtered says that this is only
	// some of what with found, which depends on each of them.
	subject  int
	filtered bool
	// names are what those of the value mean.
	names []int
}

// mostPairs bounds the work on rules that all write one field.
const mostPairs = 20_000

// conflicts warns of two rules that may set one field to different values on the same
// object.
func conflicts(all []*trail) (out document.Errors) {
	meanings := newMeanings()
	at := map[schema.GroupVersionResource]*sites{}
	pairs := 0
	for _, t := range all {
		for _, s := range t.sites(meanings) {
			if at[s.Resource] == nil {
				at[s.Resource] = &sites{at: map[string][]site{}, below: map[string][]site{}}
			}
			for _, before := range at[s.Resource].rivals(s) {
				if pairs++; pairs > mostPairs || out.Enough() {
					return out
				}
				if s.conflicts(before) {
					out = append(out, s.warning(before))
					break
				}
			}
			at[s.Resource].add(s)
		}
	}
	return out
}

// sites lists what a rule sets while it acts on objects that live.
func (t *trail) sites(meanings *meanings) (out []site) {
	if t.rule.audited() {
		return nil
	}
	for _, step := range t.rule.steps {
		holds := sync.OnceValue(func() clause.Condition { return t.holds(step, meanings) })
		for _, write := range step.Writes(t.traces) {
			s := site{Write: write, rule: t.rule, path: write.Path.String(), holds: holds}
			s.subject, s.filtered = meanings.subject(t.rule, write.Target, write.Loop)
			for _, name := range write.Names {
				s.names = append(s.names, meanings.of(t.rule, name, write.Loop))
			}
			out = append(out, s)
		}
	}
	return out
}

// holds is the condition of a step, that of its rule included.
func (t *trail) holds(step *action.Step, meanings *meanings) (holds clause.Condition) {
	names := terms{t.rule, meanings}
	if t.rule.when != nil {
		holds = clause.Of(t.rule.when.Program(), names)
	}
	if step.When() != nil {
		holds = clause.And(holds, clause.Of(step.When().Program(), names))
	}
	return holds
}

// sites are all that set fields of one resource.
type sites struct {
	at    map[string][]site // by the field
	below map[string][]site // by all that is around the field
}

func (all *sites) add(s site) {
	all.at[s.path] = append(all.at[s.path], s)
	for i := 1; i < len(s.Path); i++ {
		around := s.Path[:i].String()
		all.below[around] = append(all.below[around], s)
	}
}

// rivals set the same field, or one around it or below it, where the outer is replaced
// as a whole.
func (all *sites) rivals(s site) []site {
	out := slices.Clone(all.at[s.path])
	for i := 1; i < len(s.Path); i++ {
		for _, before := range all.at[s.Path[:i].String()] {
			if before.Covers {
				out = append(out, before)
			}
		}
	}
	if s.Covers {
		out = append(out, all.below[s.path]...)
	}
	return out
}

func (s site) conflicts(before site) bool {
	switch {
	case s.rule == before.rule, s.Merges && before.Merges, s.agrees(before):
		return false
	case s.subject == before.subject:
		return s.overlaps(before) && !clause.Exclusive(s.holds(), before.holds())
	default:
		return !s.filtered && !before.filtered // What was filtered may well be apart.
	}
}

// agrees reports whether both want the same.
func (s site) agrees(before site) bool {
	return s.path == before.path && reflect.DeepEqual(s.Value, before.Value) && slices.Equal(s.names, before.names)
}

func (s site) warning(before site) *document.Error {
	hint := "where both rules match, the first wins; let their conditions exclude each other, or make them one rule"
	if !slices.Equal(s.rule.watchedResources(), before.rule.watchedResources()) || s.rule.Identity() != before.rule.Identity() {
		hint = "they would undo each other; let their conditions exclude each other, or make them one rule"
	}
	return s.Node.Errorf(hint, "the rules %q and %q may set %s of the same %s to different values: the other is %s",
		before.rule.ID.Name, s.rule.ID.Name, s.path, s.Resource.Resource, s.placeOf(before)).Coded(document.CodeConflict).Warn()
}

// placeOf says where another site is.
func (s site) placeOf(other site) string {
	line := other.Node.Position().Line
	if other.rule.set.File == s.rule.set.File {
		return fmt.Sprintf("on line %d", line)
	}
	return fmt.Sprintf("in %s:%d", other.rule.set.File, line)
}

// overlaps reports whether two rules can watch the same object, as far as their
// selections say.
func (s site) overlaps(before site) bool {
	return slices.ContainsFunc(s.rule.selections, func(one plan.Selection) bool {
		return (s.Target != "" || one.GVR == s.Resource) && slices.ContainsFunc(before.rule.selections, func(other plan.Selection) bool {
			return other.GVR == one.GVR && compatible(one, other)
		})
	})
}
