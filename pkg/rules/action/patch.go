package action

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/body"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
	"github.com/dyncontroller/dyncontroller/pkg/rules/footprint"
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

// patchTypes are the fields of which a patch has exactly one.
var patchTypes = []plan.Type{plan.Merge, plan.JSON, plan.Apply}

func compilePatch(n *document.Node, env Env) (Action, document.Errors) {
	p := &patch{release: plan.OrphanFields}
	fields := []document.Field{
		document.Optional("subresource", p.decodeSubresource),
		document.Optional("force", document.Bool(&p.force)),
		document.Optional("target", p.target.decode(env.Scope)),
		document.Optional("release", document.OneOf(&p.release, plan.OrphanFields, plan.RemoveFields)),
	}
	for _, kind := range patchTypes {
		fields = append(fields, document.Optional(string(kind), func(value *document.Node) document.Errors {
			p.kind, p.node = kind, value
			return p.compileBody(value, env.Scope)
		}))
	}
	errs := misplaced(n, n.Decode(fields...))
	if len(errs) == 0 {
		errs = p.checkTypes(n)
	}
	if len(errs) > 0 {
		return nil, errs
	}
	return p, nil
}

func (p *patch) decodeSubresource(n *document.Node) document.Errors {
	p.named = n
	errs := document.String(&p.subresource)(n)
	if n.Kind() == document.KindString && len(validation.IsDNS1123Label(p.subresource)) > 0 {
		errs = append(errs, n.Errorf("write one word, such as status or scale", "%q cannot be a subresource", shortened(p.subresource)))
	}
	return errs
}

func (p *patch) compileBody(n *document.Node, scope *expression.Scope) (errs document.Errors) {
	if p.body, errs = body.Compile(n, scope); len(errs) > 0 {
		return errs
	}
	if wrong := p.wrongShape(n); wrong != nil {
		return document.Errors{wrong}
	}
	value, constant := p.body.Constant()
	if !constant {
		return nil
	}
	if len(n.Entries())+len(n.Elements()) == 0 {
		return document.Errors{n.Errorf("write what to change, or remove the action", "an empty patch does nothing")}
	}
	if wrong := p.check(value); wrong != nil {
		return document.Errors{wrong}
	}
	return nil
}

// wrongShape finds early what a template's value would show only when it is
// evaluated.
func (p *patch) wrongShape(n *document.Node) *document.Error {
	want, hint := document.KindMap, "write the fields, as in "+string(p.kind)+": {spec: {replicas: 3}}"
	if p.kind == plan.JSON {
		want, hint = document.KindList, "write operations, as in json: [{op: replace, path: /spec/replicas, value: 3}]"
	}
	if n.Kind() == want || n.Kind() == document.KindString && strings.Contains(n.Text(), "${") {
		return nil
	}
	return n.Errorf(hint, "the body of %s must be %s, have %s", p.kind, want, n.Kind())
}

func (p *patch) checkTypes(n *document.Node) document.Errors {
	var given []string
	for _, entry := range n.Entries() {
		if slices.Contains(patchTypes, plan.Type(entry.Key.Text())) {
			given = append(given, entry.Key.Text())
		}
	}
	switch {
	case len(given) != 1:
		return document.Errors{n.Errorf("write merge (RFC 7386), json (RFC 6902) or apply (server-side apply)",
			"a patch has one body, have %d", len(given))}
	case p.force && p.kind != plan.Apply:
		return document.Errors{n.Get("force").Errorf("leave it out", "force is of apply only, not of %s", given[0])}
	case n.Get("release") != nil && p.kind != plan.Apply:
		return document.Errors{n.Get("release").Errorf("leave it out", "release is of apply only, which owns fields, not of %s", given[0])}
	default:
		return nil
	}
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
	writing := body.Replacing
	if p.kind == plan.Apply {
		writing, w.Release = body.Applying, p.release
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
		fields["value"] = body.Stamped(value, plan.LookupPointer(current, path), now, body.Replacing)
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
	var resources []schema.GroupVersionResource
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
