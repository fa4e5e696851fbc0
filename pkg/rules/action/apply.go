package action

import (
	"maps"
	"slices"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/field"
	"github.com/dyncontroller/dyncontroller/pkg/rules/footprint"
	"github.com/dyncontroller/dyncontroller/pkg/rules/lookup"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
	"github.com/dyncontroller/dyncontroller/pkg/rules/template"
)

// apply makes a named object be as the manifest says.
type apply struct {
	child
	keep    bool // leave alone whatever is there already
	prune   bool
	adopt   bool
	watched []plan.Selection // by the rule
}

var applyFields = field.Object("apply",
	field.Required("resource", field.NotBlank, "A name under resources. It gives apiVersion and kind."),
	field.Required("manifest", object, "The object, or one template that gives it. What is nil in it counts as absent."),
	ownedField,
	field.Optional("prune", field.Bool, "true: delete what the rule applied before and no longer wants. All apply actions of a rule on one resource agree on it."),
	field.Optional("existing", field.Words("Update", "Keep"),
		"Update (default), or Keep: create it if it is absent, and leave whatever is there alone."),
	field.Optional("adopt", field.Bool, "true: take over an object that the set did not make. It is released later, and never deleted."),
)

func compileApply(v field.Values, env Env) (Action, document.Errors) {
	a := &apply{
		child: child{from: v["resource"], owned: v.Bool("owned", true)}, keep: v["existing"].Text() == "Keep",
		prune: v.Bool("prune", false), adopt: v.Bool("adopt", false), watched: env.Watched,
	}
	var wrong *document.Error
	var errs document.Errors
	if a.declaration, wrong = env.Declared.Lookup(a.from); wrong != nil {
		errs = append(errs, wrong)
	}
	errs = append(errs, a.compileManifest(v["manifest"], env.Scope)...)
	if a.adopt && a.keep {
		errs = append(errs, v["adopt"].Errorf("leave out adopt or existing",
			"existing: Keep leaves an object alone, and adopt: true takes it over"))
	}
	return a, errs
}

// Application is what a step applies.
type Application struct {
	// Of is the resource of the objects.
	Of *lookup.Declaration
	// Prune says that those that the rule no longer wants are deleted.
	Prune bool
	// Owned says that the watched object owns them.
	Owned    bool
	Manifest *document.Node
	// Name is what gives the name, nil where that is not written out.
	Name *template.Body
}

// Applies is what the step applies, nil where its action is another.
func (s *Step) Applies() *Application {
	if a, is := s.action.(*apply); is && a.declaration != nil {
		out := &Application{a.declaration, a.prune, a.owned, a.node, nil}
		if a.body == nil {
			return out
		}
		for _, leaf := range a.body.Leaves() {
			if leaf.Path.String() == "metadata.name" {
				out.Name = leaf.Body
			}
		}
		return out
	}
	return nil
}

// Check implements [Action]. What an apply takes over may have the rest of the fields.
func (a *apply) Check(c Checking) document.Errors {
	how := schema.Whole
	if a.adopt {
		how = schema.Applied
	}
	errs := a.checkTyped(c, how, "resources."+a.declaration.Name, a.declaration.Selections)
	m := draft(a.node)
	name, namespace := m.at("metadata", "name"), m.at("metadata").Get("namespace")
	here := namespace == nil || namespace.Text() == "${object.metadata.namespace}"
	if c.Watched != nil && c.Watched.GroupVersionResource == a.declaration.GVR && here && name.Text() == "${object.metadata.name}" {
		errs = append(errs, name.Errorf("use patch", "a rule cannot make the object that it watches"))
	}
	return errs
}

// Evaluate implements [Action].
func (a *apply) Evaluate(e *Evaluation) error {
	want, err := a.want(e)
	if err != nil || want == nil {
		return err
	}
	if named(want.object) == named(e.Object) {
		return manifest{node: a.node}.at("metadata", "name").Errorf("use patch", "a rule cannot make the object that it watches")
	}
	if e.Children == nil {
		e.Children = map[plan.Object]bool{}
	}
	e.Children[named(want.object)] = true
	question := plan.Read{
		From:      a.declaration.Selections,
		Namespace: want.object.Namespace,
		By:        plan.ByName,
		Names:     []string{want.object.Name},
	}
	found, err := e.read(a.node, question)
	if err != nil {
		return err
	}
	wish := plan.Wish{Rule: e.Rule, Target: want.object, Type: plan.Apply, Force: true}
	if len(found) == 0 {
		wish.Unseen = a.unseen(e, want.object)
	} else {
		wish.Target, wish.Current, _ = e.Related.Origin(found[0])
		if a.keep || plan.BeingDeleted(wish.Current) {
			return nil // What is going is looked at again when it is gone.
		}
		if err := a.claim(e, want, &wish, question); err != nil {
			return err
		}
	}
	if err := a.checkSelected(want, wish.Current); err != nil {
		return err
	}
	wish.Body = dropIdentity(template.Stamped(want.fields, wish.Current, e.now(), schema.Applied)) // Nobody else has these maps.
	e.Wishes = append(e.Wishes, wish)
	return nil
}

// unseen says how an object may have the name that the look-up does not show, nil where
// it shows all.
func (a *apply) unseen(e *Evaluation, object plan.Object) *plan.Unseen {
	out := &plan.Unseen{From: a.declaration.Selections}
	if slices.ContainsFunc(out.From, func(s plan.Selection) bool { return s.LabelSelector == "" && s.FieldSelector == "" }) {
		return nil // All selections of a declaration have the same selectors.
	}
	if !a.keep {
		out.Event = e.notOurs("write another name, or widen what is selected",
			object.String()+" is there already, and is not among what resources."+a.declaration.Name+" selects")
	}
	return out
}

// checkSelected refuses an object that the rules would not see: it would look
// absent, and be made again and again.
func (a *apply) checkSelected(want *wanted, current map[string]any) error {
	// All selections of a declaration have the same selectors, so one that has the object as it is, and admits what is wanted of
	// it, has both together.
	if a.declaration.Admits(want.fields) || current != nil && a.declaration.Admits(overlaid(current, want.fields)) {
		return nil
	}
	return a.node.Errorf("give it the labels and fields that the selectors there want, or widen them",
		"%s would not be among what resources.%s selects, so no rule would see it", want.object, a.declaration.Name)
}

// overlaid returns current with the fields put over it.
func overlaid(current, fields map[string]any) map[string]any {
	out := maps.Clone(fields)
	for key, value := range current {
		below, isMap := value.(map[string]any)
		above, both := fields[key].(map[string]any)
		if _, there := fields[key]; !there {
			out[key] = value
		} else if isMap && both {
			out[key] = overlaid(below, above)
		}
	}
	return out
}

// dropIdentity drops what an apply does not own; the target says it. The object and its metadata are changed.
func dropIdentity(object any) map[string]any {
	fields, _ := object.(map[string]any)
	delete(fields, "apiVersion")
	delete(fields, "kind")
	metadata, _ := fields["metadata"].(map[string]any)
	delete(metadata, "name")
	delete(metadata, "namespace")
	return fields
}

// Effects implements [Action]. The API server asks for the right to create where an apply makes the object. Of an object that is not
// ours an Event tells.
func (a *apply) Effects(t Traces) Effects {
	access := a.trace(t)
	lookup.ReadFootprint(t.Footprint, a.declaration)
	for _, label := range []string{plan.LabelSet, plan.LabelRule, plan.LabelOwnerUID} {
		access.Reads.Add(footprint.Fields("metadata", "labels", label), footprint.Value)
	}
	access.Reads.Add(footprint.Fields("metadata", "annotations", plan.AdoptedAnnotation), footprint.Value)
	verbs := []footprint.Verb{{Name: "create"}, {Name: "patch"}}
	if a.prune {
		verbs = append(verbs, footprint.Verb{Name: "delete"})
	}
	out := Effects{
		Requests: a.requests(t, verbs...),
		Leaves:   []plan.Leftover{{GVR: a.declaration.GVR, Kind: plan.LeftChildren, Prune: a.prune, Owned: a.owned}},
		Bodies:   []*template.Body{a.body},
	}
	if !a.keep {
		out.Requests = append(out.Requests, record(t.watching())...)
	}
	return out
}
