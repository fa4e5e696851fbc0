package rules

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/action"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/lookup"
	"github.com/dyncontroller/dyncontroller/pkg/rules/names"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
	"github.com/dyncontroller/dyncontroller/pkg/rules/spec"
	"github.com/dyncontroller/dyncontroller/pkg/rules/template"
	"github.com/dyncontroller/dyncontroller/pkg/rules/trace"
	"github.com/dyncontroller/dyncontroller/pkg/rules/typing"
)

// check returns what the schemas show to be wrong with a compiled rule. It looks at
// the rule once for each resource that it watches, since its names mean something
// else each time.
func (r *Rule) check(schemas *schema.Catalog, declared lookup.Declarations) document.Errors {
	watched := r.watched
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
	errs := found[0]
	if len(watched) > 1 {
		errs = ofKinds(watched, found)
	}
	if len(errs) == 0 {
		errs = r.checkEffects()
	}
	return errs
}

// checkEffects refuses events that read failure, which would never be recorded, and changes for a while of what is made of a Secret or
// while the object is being deleted. It takes the footprint, so it is for rules without other mistakes.
func (r *Rule) checkEffects() (errs document.Errors) {
	effects := r.effects()
	for i, step := range r.allSteps() {
		restores := effects.steps[i].Restores
		switch {
		case restores == nil:
		case r.onDelete != nil && slices.Contains(r.onDelete.steps, step):
			errs = append(errs, restores.Errorf("leave restore out", "nothing is restored of an object that is being deleted"))
		case len(effects.derivedFields[step]) > 0:
			errs = append(errs, restores.Errorf("leave restore out, or write nothing of a Secret with it",
				"the patch writes what it makes of a Secret, which would be kept in an annotation"))
		}
		if step.Kind() == "event" && r.effects().reacts[step] {
			errs = append(errs, step.Node().Errorf("write it into a status or an annotation with patch",
				"an event is recorded once all writes of its rule have succeeded, so it cannot tell of a failure"))
		}
	}
	return errs
}

// ofKinds says of each finding which kind it is about, unless it is about all of them.
func ofKinds(watched []apischema.GroupVersionResource, found []document.Errors) (errs document.Errors) {
	finding := func(err *document.Error) string { return fmt.Sprint(err.Line, ":", err.Column, " ", err.Message) }
	times := map[string]int{}
	for _, err := range slices.Concat(found...) {
		times[finding(err)]++
	}
	for i, gvr := range watched {
		for _, err := range found[i] {
			if times[finding(err)] < len(watched) {
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

func (c *checking) check(declared lookup.Declarations) {
	r := c.rule
	always := template.Context{Names: c, Scope: r.names.Scope(), Facts: c.guaranteed()}
	matched, errs := r.when.CheckCondition(always)
	c.errs = append(c.errs, errs...)
	if r.hold != nil && r.hold.computed != nil {
		c.errs = append(c.errs, r.hold.check(matched)...)
	}
	if r.rollout != nil {
		c.errs = append(c.errs, r.rollout.check(always)...)
	}
	surroundings := action.Checking{Context: matched, Schemas: c.schemas, Declared: declared, Watched: c.watched}
	c.steps(r.steps, surroundings)
	if r.onDelete != nil {
		c.deletion(surroundings, always)
	}
	c.unused(matched.Facts)
}

// guaranteed is what the selectors say of each object that the rule watches.
func (c *checking) guaranteed() *typing.Facts {
	var out *typing.Facts
	for i, selection := range c.rule.selections {
		var of *typing.Facts
		for _, g := range selection.Guarantees() {
			of = of.Is(g.Text, names.Object, g.Path...)
		}
		if i > 0 {
			of = out.Common(of)
		}
		out = of
	}
	return out
}

// deletion checks what is done while the object is being deleted, which shows then.
func (c *checking) deletion(surroundings action.Checking, always template.Context) {
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
	surroundings.Scope = c.rule.names.Actions()
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
	case slot == c.rule.names.Failure():
		return failureType
	}
	of := mention{slot, facts}
	known, done := c.memo[of]
	if d := c.rule.names.At(slot); !done && c.spend(d) {
		known = c.define(d, template.Context{Names: c, Facts: facts, Scope: c.rule.names.Scope()})
		c.memo[of] = known
	}
	if c.budget < 0 {
		return typing.Unknown()
	}
	return known
}

// failureType is that of failure.
var failureType = typing.Map(map[string]typing.Type{"reason": typing.Of(value.String), "message": typing.Of(value.String)}).Nilable()

// define checks what a name stands for.
func (c *checking) define(d *names.Definition, in template.Context) typing.Type {
	if d.Related == nil {
		known, errs := d.Value.Check(in)
		c.errs = append(c.errs, errs...)
		return known
	}
	related := c.schemas.Resource(d.Related.Declaration().GVR)
	c.errs = append(c.errs, d.Related.Check(in, c.watched, related)...)
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
func (h *hold) check(in template.Context) document.Errors {
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

// checkResources returns what is wrong with the declarations of a set, and notes of
// which nothing is known.
func checkResources(set *spec.Set, schemas *schema.Catalog) (errs document.Errors) {
	if schemas == nil || set.Faulty() {
		return nil
	}
	all := set.Node().Get("spec").Get("resources")
	for _, declared := range set.Resources {
		n := all.Get(declared.Name)
		if errs.Enough() {
			break
		}
		found := schemas.Resource(declared.GVR)
		if found == nil {
			errs = append(errs, unknownResource(declared, schemas, n))
			continue
		}
		errs = append(errs, checkResource(set, declared, found, n)...)
		if !found.Type.Known() {
			errs = append(errs, untyped(declared, n))
		}
	}
	return errs
}

// untyped is the note of a resource of which there is no schema.
func untyped(declared spec.Resource, n *document.Node) *document.Error {
	return n.Errorf("give its CRD with --crds, or a cluster with --context",
		"no schema is known of %s, so its fields are not checked", plan.ResourceName(declared.GVR)).Coded(document.CodeUntyped).Note()
}

func unknownResource(declared spec.Resource, schemas *schema.Catalog, n *document.Node) *document.Error {
	gvr := declared.GVR
	near, suggested := schemas.Closest(gvr)
	at := n.Get("resource")
	hint := "kubectl api-resources lists what there is; the CRD of another one can be given with --crds"
	if suggested {
		hint = "write " + written(near, gvr)
		switch {
		case near.Group != gvr.Group && n.Get("group") != nil:
			at = n.Get("group")
		case near.Group == gvr.Group && near.Version != gvr.Version:
			at = n.Get("version")
		}
	}
	missing := at.Errorf(hint, "there is no resource %s", plan.ResourceName(gvr)).Coded(document.CodeUnknownResource)
	switch {
	case schemas.Missing(gvr):
		return missing
	case suggested:
		return missing.Warn()
	default:
		return untyped(declared, n)
	}
}

// written is how a set has the parts of a resource that another one has otherwise.
func written(resource, other apischema.GroupVersionResource) string {
	var parts []string
	for _, part := range [][3]string{
		{"resource", resource.Resource, other.Resource}, {"group", resource.Group, other.Group}, {"version", resource.Version, other.Version},
	} {
		if part[1] != part[2] {
			parts = append(parts, part[0]+": "+cmp.Or(part[1], `""`))
		}
	}
	return strings.Join(parts, ", ")
}

func checkResource(set *spec.Set, declared spec.Resource, found *schema.Resource, n *document.Node) (errs document.Errors) {
	resource := n.Get("resource")
	var lacks []string
	for _, verb := range []string{"list", "watch"} {
		if found.Verbs != nil && !slices.Contains(found.Verbs, verb) {
			lacks = append(lacks, verb+"ed")
		}
	}
	if len(lacks) > 0 {
		errs = append(errs, resource.Errorf("rules see only what can be listed and watched",
			"%s cannot be %s", declared.GVR.Resource, strings.Join(lacks, " or ")).Coded(document.CodeNotWatchable))
	}
	switch namespaces := n.Get("namespaces"); {
	case found.Namespaced:
	case set.Kind == spec.KindRuleSet:
		errs = append(errs, resource.Errorf("make it a ClusterRuleSet",
			"%s are cluster-scoped, and a RuleSet acts in its own namespace only", declared.GVR.Resource).Coded(document.CodeWrongScope))
	case namespaces != nil:
		errs = append(errs, namespaces.Errorf("leave namespaces out",
			"%s are cluster-scoped and have no namespace", declared.GVR.Resource).Coded(document.CodeWrongScope))
	}
	return append(errs, checkFieldSelector(declared, found, n.Get("fieldSelector"))...)
}

// mostSelectable is how many fields a hint names.
const mostSelectable = 10

// checkFieldSelector finds fields that the objects do not have, and those of custom resources by which the API server does not select.
// Of built-in kinds only that knows which they are.
func checkFieldSelector(declared spec.Resource, found *schema.Resource, n *document.Node) (errs document.Errors) {
	selector, err := fields.ParseSelector(declared.FieldSelector)
	if err != nil || n == nil {
		return nil //nolint:nilerr // The parser of the set has reported it.
	}
	for _, requirement := range selector.Requirements() {
		at := max(strings.Index(n.Text(), requirement.Field), 0)
		unknown := found.Type.ValidatePath(strings.Split(requirement.Field, ".")...)
		for _, v := range unknown {
			errs = append(errs, n.ErrorAt(at, len(requirement.Field), v.Hint, "%s", v.Message).Coded(v.Code))
		}
		selectable := append([]string{"metadata.name", "metadata.namespace"}, found.Selectable...)
		if len(unknown) == 0 && found.Selectable != nil && !slices.Contains(selectable, requirement.Field) {
			errs = append(errs, n.ErrorAt(at, len(requirement.Field),
				"write a condition in when; by its CRD, what can be selected by is "+strings.Join(document.Few(selectable, mostSelectable), ", "),
				"the API server does not select %s by %s", declared.GVR.Resource, requirement.Field).Coded(document.CodeInvalid))
		}
	}
	return errs
}

// unselected says why no selection of the rule has the object.
func (r *Rule) unselected(gvr apischema.GroupVersionResource, object map[string]any) []trace.Obstacle {
	var out []trace.Obstacle
	var elsewhere []string
	namespace := plan.Text(object, "metadata", "namespace")
	for _, selection := range r.selections {
		switch {
		case selection.GVR != gvr:
		case selection.Namespace != "" && selection.Namespace != namespace:
			elsewhere = append(elsewhere, selection.Namespace)
		default:
			lacks := selection.Parse().Lacks(object)
			if len(lacks) == 0 {
				lacks = []string{"it is not among what the selectors of its resource select"}
			}
			for _, text := range lacks {
				out = append(out, trace.Obstacle{Kind: trace.NotSelected, Text: text})
			}
		}
	}
	if len(out) > 0 || len(elsewhere) == 0 {
		return out
	}
	slices.Sort(elsewhere)
	where := "is in namespace " + namespace
	if namespace == "" {
		where = "has no namespace"
	}
	if r.set.Kind == spec.KindRuleSet {
		return []trace.Obstacle{{Kind: trace.OtherNamespace, Text: fmt.Sprintf(
			"%s acts in its own namespace, and the object %s: a ClusterRuleSet acts everywhere", r.ID.SetName(), where)}}
	}
	return []trace.Obstacle{{Kind: trace.NotSelected, Text: fmt.Sprintf(
		"resources select the namespaces %s, and the object %s", strings.Join(slices.Compact(elsewhere), ", "), where)}}
}

// compileWatch resolves `watch`: a key of `resources`, or several with commas.
func (r *Rule) compileWatch(declared lookup.Declarations) document.Errors {
	n := r.source.Watch
	if n.Kind() == document.KindInvalid {
		return nil
	}
	var errs document.Errors
	seen := map[*lookup.Declaration]bool{}
	offset := 0
	for part := range strings.SplitSeq(n.Text(), ",") {
		if errs.Enough() {
			break
		}
		name := strings.TrimSpace(part)
		at := offset + strings.Index(part, name)
		offset += len(part) + 1
		watched, wrong := declared.LookupAt(n, at, name)
		switch {
		case wrong != nil:
			errs = append(errs, wrong)
		case watched != nil && !seen[watched]:
			seen[watched] = true
			r.selections = append(r.selections, watched.Selections...)
			if !slices.Contains(r.watched, watched.GVR) {
				r.watched = append(r.watched, watched.GVR)
			}
		}
	}
	return errs
}

func declarations(set *spec.Set) lookup.Declarations {
	var out lookup.Declarations
	for _, resource := range set.Resources {
		out = append(out, &lookup.Declaration{
			Name: resource.Name, GVR: resource.GVR, Selections: selections(set, resource), Namespace: set.Namespace,
		})
	}
	return out
}

// selections spreads a declaration over its namespaces. Selectors are written
// in one way, so that equal ones share an informer.
func selections(set *spec.Set, r spec.Resource) []plan.Selection {
	selection := plan.Selection{GVR: r.GVR, Namespace: set.Namespace}
	if parsed, err := labels.Parse(r.LabelSelector); err == nil {
		selection.LabelSelector = parsed.String()
	}
	if parsed, err := fields.ParseSelector(r.FieldSelector); err == nil {
		selection.FieldSelector = parsed.String()
	}
	if len(r.Namespaces) == 0 || set.Kind == spec.KindRuleSet {
		return []plan.Selection{selection}
	}
	var out []plan.Selection
	for _, namespace := range slices.Compact(slices.Sorted(slices.Values(r.Namespaces))) {
		selection.Namespace = namespace
		out = append(out, selection)
	}
	return out
}
