package doubt

import (
	"fmt"
	"iter"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/action"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/clause"
)

// site is a field that a rule sets on objects of a resource, where and when.
type site struct {
	action.Write
	resource schema.GroupVersionResource
	rule     *Rule
	path     string
	// holds takes the condition apart, once it is asked for.
	holds func() clause.Condition
	// subject is what it is set on.
	subject subject
	// wants is the number of what it is set to, as [meanings] know it.
	wants int
}

// comparison looks for rules that are in each other's way.
type comparison struct {
	work     *clause.Work
	meanings *meanings
	at       map[schema.GroupVersionResource]*sites
	meets    map[meeting]bool
	found    document.Errors
}

// compare warns of two rules that may set one field to different values on the same
// object, and of one that never settles, where no other rule has a hand in that.
func compare(all []*Rule) document.Errors {
	c := &comparison{
		work: clause.NewWork(leastCompared + comparedOfEach*len(all)), meanings: newMeanings(),
		at: map[schema.GroupVersionResource]*sites{}, meets: map[meeting]bool{},
	}
	for _, t := range all {
		if t.audited() {
			continue
		}
		if c.add(t); c.done() {
			return append(c.found, gaveUp(t, "rules that set the same fields"))
		}
	}
	return append(c.found, c.restless(all)...)
}

// done reports whether looking on would be of no use.
func (c *comparison) done() bool { return c.work.Spent() || c.found.EnoughOf(document.Warning) }

// add compares a rule with those before it.
func (c *comparison) add(t *Rule) {
	own := c.sites(t)
	for _, s := range own {
		for before := range c.rivals(s) {
			if c.conflict(s, before) {
				c.found = append(c.found, s.warning(before))
				break
			}
		}
		if c.done() {
			return
		}
	}
	for _, s := range own {
		if c.at[s.resource] == nil {
			c.at[s.resource] = &sites{at: map[string][]*site{}, below: map[string][]*site{}}
		}
		c.at[s.resource].add(s)
	}
}

// sites lists what a rule sets while it acts on objects that live.
func (c *comparison) sites(t *Rule) (out []*site) {
	for i, step := range t.Steps {
		holds := sync.OnceValue(func() clause.Condition { return c.holds(t, step) })
		for _, write := range t.Effects[i].Writes {
			s := site{Write: write, rule: t, path: write.Path.String(), holds: holds}
			s.subject = c.meanings.subject(t, write.Target, write.Loop)
			s.wants = c.meanings.value(t, write)
			for _, s.resource = range write.Resources {
				const keeping = 10 // Steps: it is kept by each field that is around it.
				if !c.work.Spend(keeping + len(write.Path)*len(write.Path)/4) {
					return out
				}
				of := s
				out = append(out, &of)
			}
		}
	}
	return out
}

// holds is the condition of a step, that of its rule included.
func (c *comparison) holds(r *Rule, step *action.Step) (holds clause.Condition) {
	names := terms{r, c.meanings}
	if r.When != nil {
		holds = clause.Of(r.When.Program(), names, c.work)
	}
	if step.When() != nil {
		holds = clause.And(holds, clause.Of(step.When().Program(), names, c.work), c.work)
	}
	return holds
}

// sites are all that set fields of one resource.
type sites struct {
	at    map[string][]*site // by the field
	below map[string][]*site // by all that is around the field
}

func (all *sites) add(s *site) {
	all.at[s.path] = append(all.at[s.path], s)
	for i := 1; i < len(s.Path); i++ {
		around := s.Path[:i].String()
		all.below[around] = append(all.below[around], s)
	}
}

// rivals set the same field, or one around it or below it, where the outer is replaced
// as a whole. They end where the work does.
func (c *comparison) rivals(s *site) iter.Seq[*site] {
	all := c.at[s.resource]
	return func(yield func(*site) bool) {
		each := func(rivals []*site, covering bool) bool {
			for _, rival := range rivals {
				if !c.work.Spend(1) || (rival.Covers || !covering) && !yield(rival) {
					return false
				}
			}
			return true
		}
		if all == nil || !each(all.at[s.path], false) {
			return
		}
		for i := 1; i < len(s.Path); i++ {
			if !each(all.at[s.Path[:i].String()], true) {
				return
			}
		}
		if s.Covers {
			each(all.below[s.path], false)
		}
	}
}

// conflict reports whether two rules want different values there. Where there was no
// work left to tell, it does not.
func (c *comparison) conflict(s, before *site) bool {
	if s.Merges && before.Merges || s.path == before.path && s.wants == before.wants {
		return false
	}
	if s.subject.number != before.subject.number {
		return !s.subject.filtered && !before.subject.filtered && // What was filtered may well be apart.
			c.selected(s.resource, s.subject.selections, before.subject.selections)
	}
	return c.overlap(s, before) && !clause.Exclusive(s.holds(), before.holds(), c.work) && !c.work.Spent()
}

func (s *site) warning(before *site) *document.Error {
	hint := "where both rules match, the first wins; let their conditions exclude each other, or make them one rule"
	if !slices.Equal(s.rule.Watched, before.rule.Watched) || s.rule.Set.Identity != before.rule.Set.Identity {
		hint = "they would undo each other; let their conditions exclude each other, or make them one rule"
	}
	return s.Node.Errorf(hint, "the rules %q and %q may set %s of the same %s to different values: the other is %s",
		before.rule.ID.Name, s.rule.ID.Name, s.path, s.resource.Resource, s.placeOf(before)).Coded(document.CodeConflict).Warn()
}

// placeOf says where another site is.
func (s *site) placeOf(other *site) string {
	line := other.Node.Position().Line
	if other.rule.Set.File == s.rule.Set.File {
		return fmt.Sprintf("on line %d", line)
	}
	return fmt.Sprintf("in %s:%d", other.rule.Set.File, line)
}

// meeting is two rules that may look at the same object: of one resource or, where that
// does not matter, of any.
type meeting struct {
	one, other *Rule
	resource   schema.GroupVersionResource
}

// overlap reports whether two rules can watch the same object, as far as their
// selections say.
func (c *comparison) overlap(s, before *site) bool {
	key := meeting{one: s.rule, other: before.rule}
	if s.Target == "" {
		key.resource = s.resource
	}
	meet, known := c.meets[key]
	if !known {
		meet = c.meet(key)
		c.meets[key] = meet
	}
	return meet
}

func (c *comparison) meet(m meeting) bool {
	return c.selected(m.resource, m.one.Selections, m.other.Selections)
}

// selected reports whether some of the one and some of the other selections have objects in
// common: of a resource, or of any where it is empty.
func (c *comparison) selected(resource schema.GroupVersionResource, some, others []plan.Selection) bool {
	return slices.ContainsFunc(some, func(one plan.Selection) bool {
		return (resource.Empty() || one.GVR == resource) && slices.ContainsFunc(others, func(other plan.Selection) bool {
			const reading = 20 // Two selectors, which are short: what is long takes as many steps more.
			work := 1
			if one.GVR == other.GVR && one.Namespace == other.Namespace {
				work = reading + (len(one.LabelSelector)+len(other.LabelSelector)+len(one.FieldSelector)+len(other.FieldSelector))/10
			}
			return !c.work.Spend(work) || one.Overlaps(other)
		})
	})
}
