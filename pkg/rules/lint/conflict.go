package lint

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/action"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	types "github.com/dyncontroller/dyncontroller/pkg/rules/schema"
)

// site is a field that a rule sets on objects of a resource, where and when.
type site struct {
	action.Write
	resource schema.GroupVersionResource
	rule     *Rule
	// fields are the texts of the paths to it: of each field around it, and its own at the end.
	fields []string
	holds  condition
	// subject is what it is set on, and wants the number of what it is set to.
	subject subject
	wants   int
	leaves  []int // of an atomic map: what each of its fields is set to
}

func (s *site) path() string { return s.fields[len(s.fields)-1] }

// field is one of a resource, or what is below it.
type field struct {
	resource schema.GroupVersionResource
	path     string
	below    bool
}

// comparison looks for rules that are in each other's way.
type comparison struct {
	*terms
	sites map[field][]*site
}

// conflicts warns of two rules that may set one field to different values on the same object.
func (t *terms) conflicts(all []*Rule) (out document.Errors) {
	if len(all) < 2 {
		return nil
	}
	c := &comparison{terms: t, sites: map[field][]*site{}}
	for _, rule := range all {
		if rule.audited() {
			continue
		}
		own := c.sitesOf(rule)
		for _, s := range own {
			if before := c.rival(s); before != nil {
				out = append(out, s.warning(before))
			}
			if t.work.spent() || out.EnoughOf(document.Warning) {
				return append(out, gaveUp(rule, "rules that set the same fields"))
			}
		}
		for _, s := range own {
			for i, path := range s.fields {
				at := field{s.resource, path, i < len(s.fields)-1}
				c.sites[at] = append(c.sites[at], s)
			}
		}
	}
	return out
}

// sitesOf lists what a rule sets while it acts on objects that live.
func (c *comparison) sitesOf(rule *Rule) (out []*site) {
	for i, step := range rule.Steps {
		holds := scope{c.terms, rule, nil}.condition(rule.When, step.When())
		byResource := map[schema.GroupVersionResource][]action.Write{}
		var resources []schema.GroupVersionResource
		for _, write := range rule.Effects[i].Writes {
			for _, resource := range write.Resources {
				if byResource[resource] == nil {
					resources = append(resources, resource)
				}
				byResource[resource] = append(byResource[resource], write)
			}
		}
		for _, resource := range resources {
			var of *types.Type
			if found := rule.Schemas.Resource(resource); found != nil {
				of = found.Type
			}
			for _, s := range (scope{c.terms, rule, nil}).parts(byResource[resource], of) {
				const keeping = 10 // Steps: it is kept by each field that is around it.
				if !c.work.spend(keeping + len(s.fields)*len(s.fields)/4) {
					return out
				}
				s.resource, s.holds = resource, holds
				out = append(out, s)
			}
		}
	}
	return out
}

// rival is the first site in conflict with another one, nil for none or where the work is spent: it sets the same field, or one
// around it or below it, where the outer is replaced as a whole.
func (c *comparison) rival(s *site) *site {
	for i, path := range slices.Backward(s.fields) {
		if found := c.first(s, c.sites[field{s.resource, path, false}], i < len(s.fields)-1); found != nil {
			return found
		}
	}
	if !s.Covers {
		return nil
	}
	return c.first(s, c.sites[field{s.resource, s.path(), true}], false)
}

func (c *comparison) first(s *site, all []*site, around bool) *site {
	for _, rival := range all {
		if !c.work.spend(1) {
			return nil
		}
		if (rival.Covers || !around) && c.conflict(s, rival) {
			return rival
		}
	}
	return nil
}

// conflict reports whether two rules certainly want different values there.
func (c *comparison) conflict(s, before *site) bool {
	switch {
	case s.Merges && before.Kind == plan.Apply, before.Merges && s.Kind == plan.Apply, s.path() == before.path() && s.wants == before.wants:
		return false
	case s.subject.number != before.subject.number: // What was filtered may well be apart.
		return !s.subject.filtered && !before.subject.filtered && c.selected(s.resource, s.subject.selections, before.subject.selections)
	default:
		watched := schema.GroupVersionResource{} // Any of those that both watch.
		if s.Target == "" {
			watched = s.resource
		}
		return s.holds.overlap(before.holds, c.terms) && c.selected(watched, s.rule.Selections, before.rule.Selections)
	}
}

func (s *site) warning(before *site) *document.Error {
	hint := "where both rules match, the first wins; let their conditions exclude each other, or make them one rule"
	if !slices.Equal(s.rule.Watched, before.rule.Watched) || s.rule.Set.Identity != before.rule.Set.Identity {
		hint = "they would undo each other; let their conditions exclude each other, or make them one rule"
	}
	return s.Node().Errorf(hint, "the rules %q and %q may set %s of the same %s to different values: the other is %s",
		before.rule.ID.Name, s.rule.ID.Name, s.path(), s.resource.Resource, before.Node().Place(s.Node())).Coded(document.CodeConflict).Between(before.rule.ID, s.rule.ID).Warn()
}

// selected reports whether some of the one and some of the other selections have objects in
// common: of a resource, or of any where it is empty.
func (c *comparison) selected(resource schema.GroupVersionResource, some, others []plan.Selection) bool {
	return slices.ContainsFunc(some, func(one plan.Selection) bool {
		return (resource.Empty() || one.GVR == resource) && slices.ContainsFunc(others, func(other plan.Selection) bool {
			length := len(one.LabelSelector) + len(other.LabelSelector) + len(one.FieldSelector) + len(other.FieldSelector)
			return one == other || c.work.spend(1+length/2) && one.Overlaps(other)
		})
	})
}
