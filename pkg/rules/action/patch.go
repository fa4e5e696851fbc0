package action

import (
	"cmp"
	"maps"
	"slices"
	"time"

	kubernetes "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/body"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
	"github.com/dyncontroller/dyncontroller/pkg/rules/field"
	"github.com/dyncontroller/dyncontroller/pkg/rules/footprint"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
)

// patch changes fields of objects that exist.
type patch struct {
	node        *document.Node // of the body, for errors
	kind        plan.Type
	body        *body.Body
	subresource string
	named       *document.Node // of the subresource
	target      target
	force       bool
	release     plan.ReleasePolicy
}

var patchFields = field.Object("patch",
	field.Optional(string(plan.Merge), mergeBody, "A JSON merge patch (RFC 7386): maps are merged, everything else is replaced, null removes. "+
		`Write null as "${nil}": clients lose a literal one on its way.`),
	field.Optional(string(plan.JSON), &field.Type{
		Kinds: []document.Kind{document.KindList, document.KindString}, Template: true, Filled: true, Items: field.Ref("operation"),
		Hint: "write operations, as in json: [{op: replace, path: /spec/replicas, value: 3}]",
	}, "A JSON patch (RFC 6902): a list of {op, path, value}."),
	field.Optional(string(plan.Apply), mergeBody, "Server-side apply of just these fields; keys with null are left out."),
	field.Optional("subresource", field.Label, "Writes to a subresource of the object, such as status."),
	targetField,
	field.Optional("force", field.Bool,
		"Of apply only: takes fields over from other managers. false (default): a field that another manager owns is an error."),
	field.Optional("release", field.Words(plan.OrphanFields, plan.RemoveFields), "Of apply only: what becomes of fields that the rule gives up. "+
		"Orphan (default): the values stay; Remove: they go, unless another manager owns them too."),
).With(patchTypes...).Otherwise(bodyHint)

// patchTypes are the fields of which a patch has exactly one.
var patchTypes = []string{string(plan.Merge), string(plan.JSON), string(plan.Apply)}

var mergeBody = &field.Type{
	Name: "body", Kinds: []document.Kind{document.KindMap, document.KindString}, Template: true, Filled: true,
	Hint: "write the fields, as in merge: {spec: {replicas: 3}}",
}

func compilePatch(v field.Values, env Env) (Action, document.Errors) {
	p := &patch{
		subresource: v["subresource"].Text(), named: v["subresource"], force: v.Bool("force", false),
		release: plan.ReleasePolicy(v.Word("release", string(plan.OrphanFields))),
	}
	var errs, wrong document.Errors
	p.target, errs = compileTarget(v, env.Scope)
	for _, name := range patchTypes {
		if v[name] != nil {
			p.kind, p.node = plan.Type(name), v[name]
			p.body, wrong = body.Compile(p.node, env.Scope)
			errs = append(errs, wrong...)
		}
	}
	if p.body == nil {
		return p, errs
	}
	if value, constant := p.body.Constant(); constant {
		if wrong := p.check(value); wrong != nil {
			errs = append(errs, wrong)
		}
	}
	if p.kind != plan.Apply {
		for _, name := range []string{"force", "release"} {
			if key := v[name]; key != nil && key.Text() != "false" {
				errs = append(errs, key.Errorf("leave it out", "%s is of apply only, not of %s", name, p.kind))
			}
		}
	}
	return p, errs
}

// check refuses a body that no API server would take, and fields that rules
// may not write.
func (p *patch) check(value any) *document.Error {
	if p.kind == plan.JSON {
		return p.checkSteps(value)
	}
	fields, ok := value.(map[string]any)
	if !ok {
		return p.node.Errorf("", "the body of %s must be a map, have %s", p.kind, expression.TypeName(value))
	}
	m := manifest{node: p.node, fields: fields}
	return cmp.Or(forbidden(m.at, p.kind, value), m.checkMarks(), m.checkTexts())
}

// checkSteps finds the operation that is wrong, where each is written out.
func (p *patch) checkSteps(value any) *document.Error {
	err := plan.ValidateJSONPatch(value)
	steps, _ := value.([]any)
	written := p.node.Elements()
	if len(written) != len(steps) { // A template gives them, or omits some.
		if err != nil {
			return p.node.Errorf("", "%v", err)
		}
		return forbidden(func(...string) *document.Node { return p.node }, p.kind, value)
	}
	for i, step := range steps {
		if err := plan.ValidateJSONOperation(step); err != nil {
			return written[i].Errorf(pointerHint(written[i].Get("path").Text()), "%v", err)
		}
		if wrong := forbidden(func(...string) *document.Node { return written[i] }, p.kind, []any{step}); wrong != nil {
			return wrong
		}
	}
	if err != nil {
		return p.node.Errorf("", "%v", err) // They are too many.
	}
	return nil
}

// forbidden refuses the fields that rules may not write; at returns where one is
// written.
func forbidden(at func(path ...string) *document.Node, kind plan.Type, value any) *document.Error {
	field := plan.ForbiddenField(kind, value)
	if field == nil {
		return nil
	}
	hint := "leave it out, the API server gives it"
	switch field[len(field)-1] {
	case "apiVersion", "kind", "name", "generateName", "namespace":
		hint = "leave it out, target says which object it is"
	}
	return at(field...).Errorf(hint, "a rule may not write %s", field)
}

// Evaluate implements [Action].
func (p *patch) Evaluate(e *Evaluation) error {
	subjects, err := p.target.subjects(e)
	if err != nil || len(subjects) == 0 {
		return err
	}
	value, err := p.body.Eval(e.Expressions)
	if err != nil {
		return err
	}
	if value == nil {
		return nil // All of it was omitted.
	}
	if _, checked := p.body.Constant(); !checked {
		if wrong := p.check(value); wrong != nil {
			return wrong
		}
	}
	for _, subject := range subjects {
		e.Wishes = append(e.Wishes, p.wish(e, subject, value))
	}
	return nil
}

func (p *patch) wish(e *Evaluation, on subject, value any) plan.Wish {
	w := plan.Wish{
		Rule:        e.Rule,
		Target:      on.Object,
		Current:     on.current,
		Subresource: p.subresource,
		Type:        p.kind,
		Force:       p.force,
	}
	if p.kind == plan.JSON {
		steps, _ := value.([]any)
		w.Body = stampedSteps(steps, on.current, e.now())
		return w
	}
	writing := schema.Merged
	if p.kind == plan.Apply {
		writing, w.Release = schema.Applied, p.release
	}
	fields, _ := body.Stamped(value, on.current, e.now(), writing).(map[string]any)
	if p.kind == plan.Apply {
		fields = withoutNil(fields)
	}
	w.Body = fields
	return w
}

// stampedSteps writes the moment into the values of a JSON patch.
func stampedSteps(steps []any, current map[string]any, now time.Time) []any {
	out := slices.Clone(steps)
	for i, step := range steps {
		fields, _ := step.(map[string]any)
		value, ok := fields["value"]
		if !ok {
			continue
		}
		path, _ := fields["path"].(string)
		fields = maps.Clone(fields)
		fields["value"] = body.Stamped(value, plan.LookupPointer(current, path), now, schema.Merged)
		out[i] = fields
	}
	return out
}

// withoutNil drops nil leaves: what is applied is owned, and nothing cannot
// be. Elements of lists stay, since the position of the others may matter. What
// need not change is not copied.
func withoutNil(fields map[string]any) map[string]any {
	out, _ := withoutNilFields(fields)
	return out
}

func withoutNilFields(fields map[string]any) (out map[string]any, changed bool) {
	out = fields
	for key, value := range fields {
		below, differs := withoutNilValue(value)
		if value != nil && !differs {
			continue
		}
		if !changed {
			out, changed = maps.Clone(fields), true
		}
		if value == nil {
			delete(out, key)
		} else {
			out[key] = below
		}
	}
	return out, changed
}

func withoutNilValue(value any) (out any, changed bool) {
	switch value := value.(type) {
	case map[string]any:
		return withoutNilFields(value)
	case []any:
		list := value
		for i, element := range value {
			below, differs := withoutNilValue(element)
			if differs && !changed {
				list, changed = slices.Clone(value), true
			}
			if differs {
				list[i] = below
			}
		}
		return list, changed
	default:
		return value, false
	}
}

// Effects implements [Action]. What an apply gives up and leaves is found in managedFields, and dropped there.
func (p *patch) Effects(t Traces) (out Effects) {
	var reads, writes footprint.Tree // Once, however many kinds of objects the target can be.
	if p.kind == plan.JSON {
		p.body.Patched(t.Shapes, &reads, &writes)
	} else {
		p.body.Written(t.Shapes, &writes)
	}
	of := t.targets(&p.target)
	var resources []kubernetes.GroupVersionResource
	for _, access := range of {
		access.Reads.Merge(&reads)
		access.Writes.Merge(&writes)
		resources = append(resources, access.Resource)
		if p.kind == plan.Apply { // The rule owns the fields only then.
			out.Leaves = append(out.Leaves, plan.Leftover{GVR: access.Resource, Kind: plan.LeftFields, Release: p.release})
		}
	}
	verbs := []footprint.Verb{{Name: "patch", Subresource: p.subresource}}
	if p.kind == plan.Apply && p.release == plan.OrphanFields {
		verbs = append(verbs, footprint.Verb{Name: "get"})
		if p.subresource != "" {
			verbs = append(verbs, footprint.Verb{Name: "patch"})
		}
	}
	out.Requests = p.target.requests(of, verbs...)
	if resources == nil || p.subresource != "" && p.subresource != "status" {
		return out
	}
	for _, leaf := range p.leaves() {
		_, isList := leaf.Value.([]any)
		out.Writes = append(out.Writes, Write{Leaf: leaf, Resources: resources, Target: p.target.name, Kind: p.kind, Merges: isList && p.kind == plan.Apply})
	}
	return out
}

// leaves are the fields of the patch. What is nil is not applied.
func (p *patch) leaves() []body.Leaf {
	switch p.kind {
	case plan.JSON:
		return p.body.PatchedLeaves()
	case plan.Apply:
		return slices.DeleteFunc(p.body.Leaves(), func(leaf body.Leaf) bool { return leaf.Value == nil })
	default:
		return p.body.Leaves()
	}
}
