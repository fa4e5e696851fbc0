package rules

import (
	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/rules/action"
	"github.com/dyncontroller/dyncontroller/pkg/rules/body"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/names"
	"github.com/dyncontroller/dyncontroller/pkg/rules/relation"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
	"github.com/dyncontroller/dyncontroller/pkg/rules/typing"
)

// check returns what the schemas show to be wrong with a compiled rule. It looks at
// the rule once for each resource that it watches, since its names mean something
// else each time.
func (r *Rule) check(schemas *schema.Catalog, declared relation.Declarations) document.Errors {
	watched := r.watchedResources()
	found := make([]document.Errors, len(watched))
	known := map[*schema.Resource]document.Errors{} // All that nothing is known of are one.
	for i, gvr := range watched {
		resource := schemas.Resource(gvr)
		errs, done := known[resource]
		if !done {
			c := &checking{rule: r, schemas: schemas, watched: resource, memo: map[mention]typing.Type{}, budget: r.budget()}
			if c.check(declared); c.budget >= 0 {
				errs = c.errs.Sorted()
			}
			known[resource] = errs
		}
		found[i] = errs
	}
	if len(watched) == 1 {
		return found[0]
	}
	return ofKinds(watched, found)
}

// finding is what tells the findings in a rule from one another.
type finding struct {
	line, column int
	message      string
}

// ofKinds says of each finding which kind it is about, unless it is about all of them.
func ofKinds(watched []apischema.GroupVersionResource, found []document.Errors) (errs document.Errors) {
	times := map[finding]int{}
	for _, ofKind := range found {
		for _, err := range ofKind {
			times[finding{err.Line, err.Column, err.Message}]++
		}
	}
	for i, gvr := range watched {
		for _, err := range found[i] {
			if times[finding{err.Line, err.Column, err.Message}] < len(watched) {
				of := *err
				of.Message = "for " + gvr.Resource + ": " + err.Message
				err = &of
			}
			errs = append(errs, err)
		}
		errs = errs.Bounded()
	}
	return errs
}

// checking is a rule on objects of one resource, in types. What a name stands for is
// checked where it is used, with what is known there: names are lazy, so what guards
// their use guards them.
type checking struct {
	rule    *Rule
	schemas *schema.Catalog
	watched *schema.Resource // nil where nothing is known of it
	memo    map[mention]typing.Type
	// budget is how many bytes of lets may still be looked at. Once it is spent, nothing
	// is known of anything, and nothing is said of the rule.
	budget int
	errs   document.Errors
}

// mention is a name where facts hold.
type mention struct {
	slot  int
	facts *typing.Facts
}

// leastBudget is far beyond what the lets of a set that a person writes take in a rule.
const leastBudget = 10_000

// budget allows for looking at the lets of the rule in several places each. Those that
// use one another in ever more places take more than any budget.
func (r *Rule) budget() int {
	const times = 20
	budget := leastBudget
	for _, let := range r.source.Let {
		budget += times * len(let.Value.Text())
	}
	return budget
}

// spend reports whether the budget allows for looking at a name once more.
func (c *checking) spend(d *names.Definition) bool {
	const related = 50 // About what is written of one.
	switch {
	case c.budget < 0:
	case d.Value == nil:
		c.budget -= related
	default:
		c.budget -= len(d.Value.Program().Source())
	}
	return c.budget >= 0
}

func (c *checking) check(declared relation.Declarations) {
	r := c.rule
	always := body.Context{Names: c, Scope: r.names.Scope()}
	matched, errs := r.when.CheckCondition(always)
	c.errs = append(c.errs, errs...)
	if r.hold != nil && r.hold.computed != nil {
		c.errs = append(c.errs, r.hold.check(matched)...)
	}
	surroundings := action.Checking{Context: matched, Schemas: c.schemas, Declared: declared, Watched: c.watched}
	c.steps(r.steps, surroundings)
	if r.onDelete != nil {
		c.deletion(surroundings, always)
	}
	c.unused(matched.Facts)
}

// deletion checks what is done while the object is being deleted, which shows then.
func (c *checking) deletion(surroundings action.Checking, always body.Context) {
	o := c.rule.onDelete
	if o.hold {
		surroundings.Context = always // The finalizer is on, whether when still holds or not.
	}
	surroundings.Facts = surroundings.Facts.With(names.Object, "metadata", "deletionTimestamp")
	c.steps(o.steps, surroundings)
	_, errs := o.done.CheckCondition(surroundings.Context)
	c.errs = append(c.errs, errs...)
}

func (c *checking) steps(steps []*action.Step, surroundings action.Checking) {
	for _, step := range steps {
		if c.errs.Enough() {
			return
		}
		c.errs = append(c.errs, step.Check(surroundings)...).Bounded()
	}
}

// unused checks the names of the rule that nothing uses.
func (c *checking) unused(facts *typing.Facts) {
	used := map[int]bool{}
	for of := range c.memo {
		used[of.slot] = true
	}
	own := len(c.rule.source.With) + len(c.rule.source.Let)
	slots := c.rule.names.Slots()
	for slot := slots - own; slot < slots; slot++ {
		if !used[slot] {
			c.Type(slot, facts)
		}
	}
}

// Type implements [check.Names].
func (c *checking) Type(slot int, facts *typing.Facts) typing.Type {
	switch {
	case c.budget < 0:
		return typing.Unknown()
	case slot == names.Object:
		if c.watched == nil {
			return typing.Of(value.Map)
		}
		return typing.Object(c.watched.Type)
	case slot == names.Rule:
		return typing.Constant(c.rule.about)
	case slot == names.Params:
		return typing.Constant(c.rule.params)
	}
	of := mention{slot, facts}
	known, done := c.memo[of]
	if d := c.rule.names.At(slot); !done && c.spend(d) {
		known = c.define(d, body.Context{Names: c, Facts: facts, Scope: c.rule.names.Scope()})
		c.memo[of] = known
	}
	if c.budget < 0 {
		return typing.Unknown()
	}
	return known
}

// define checks what a name stands for.
func (c *checking) define(d *names.Definition, in body.Context) typing.Type {
	if d.Related == nil {
		known, errs := d.Value.Check(in)
		c.errs = append(c.errs, errs...)
		return known
	}
	related := c.schemas.Resource(d.Related.Declaration().GVR)
	c.errs = append(c.errs, d.Related.Check(in, relation.Surroundings{Watched: c.watched, Related: related})...)
	return d.Related.Type(related)
}

// Definition implements [check.Names].
func (c *checking) Definition(slot int) *expression.Program {
	d := c.rule.names.At(slot)
	if d == nil || d.Value == nil || !c.spend(d) {
		return nil
	}
	return d.Value.Program()
}

// check wants a duration.
func (h *hold) check(in body.Context) document.Errors {
	given, errs := h.computed.Check(in)
	switch {
	case len(errs) > 0 || !given.Known():
		return errs
	case given.Kinds()&(value.Duration|value.String|value.Int) == 0:
		return document.Errors{h.node.Errorf(`give a text such as "1h30m" or "2d", or a number of seconds`,
			"for wants a duration, have %s", given).Coded(document.CodeTypeMismatch)}
	case given.CanBeNil():
		return document.Errors{h.node.Errorf("?? gives a default", "for wants a duration, and this may be absent").Coded(document.CodeMayBeAbsent)}
	default:
		return nil
	}
}
