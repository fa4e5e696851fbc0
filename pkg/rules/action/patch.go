package action

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	kubernetes "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/field"
	"github.com/dyncontroller/dyncontroller/pkg/rules/footprint"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
	"github.com/dyncontroller/dyncontroller/pkg/rules/template"
)

// patch changes fields of objects that exist.
type patch struct {
	node        *document.Node // of the body, for errors
	kind        plan.Type
	body        *template.Body
	subresource string
	named       *document.Node // of the subresource
	target      target
	force       bool
	release     plan.ReleasePolicy
	restore     *document.Node // the key that has it change fields for a while, nil without
}

var patchFields = field.Object("patch",
	field.Optional(string(plan.Merge), mergeBody, "A JSON merge patch (RFC 7386): maps are merged, everything else is replaced, null removes. "+
		`Write null as "${nil}": clients lose a literal one on its way.`),
	field.Optional(string(plan.JSON), &field.Type{
		Kinds: document.KindList, Template: true, Filled: true, Items: field.Ref("operation"),
		Hint: "write operations, as in json: [{op: replace, path: /spec/replicas, value: 3}]",
	}, "A JSON patch (RFC 6902): a list of {op, path, value}."),
	field.Optional(string(plan.Apply), mergeBody, "Server-side apply of just these fields; keys with null are left out."),
	field.Optional("subresource", field.Subresource, "Writes to a subresource of the object, such as status."),
	targetField,
	field.Optional("force", field.Bool,
		"Of apply only: takes fields over from other managers. false (default): a field that another manager owns is an error."),
	field.Optional("release", field.Words(plan.OrphanFields, plan.RemoveFields), "Of apply only: what becomes of fields that the rule gives up. "+
		"Orphan (default): the values stay; Remove: they go, unless another manager owns them too."),
	field.Optional("restore", field.Bool, "Of merge and json only: a change for as long as the rule, and when of the action, match. When that ends, whatever the "+
		"reason, each field gets back what it had before, unless it has another value by then than the rule has written. false (default): the change stays."),
).With(patchTypes...).Otherwise(bodyHint)

// patchTypes are the fields of which a patch has exactly one.
var patchTypes = []string{string(plan.Merge), string(plan.JSON), string(plan.Apply)}

var mergeBody = &field.Type{
	Name: object.Name, Kinds: document.KindMap, Template: true, Filled: true,
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
			p.body, wrong = template.Compile(p.node, env.Scope)
			errs = append(errs, wrong...)
		}
	}
	for _, of := range p.target.resources(env) {
		if wrong := p.misplaced(of); wrong != nil {
			errs = append(errs, wrong)
			break
		}
	}
	if key := v["restore"]; v.Bool("restore", false) {
		p.restore = key
		errs = append(errs, p.checkRestore(env)...)
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

// misplaced refuses a subresource that rules may not write of a resource.
func (p *patch) misplaced(of kubernetes.GroupResource) *document.Error {
	if plan.MayWrite(of, p.subresource) {
		return nil
	}
	return p.named.Errorf("leave subresource out, or write status or scale", "rules may not write %s of %s", p.subresource, of.Resource).
		Coded(document.CodeSubresource)
}

// checkRestore refuses changes for a while that could not be kept in mind and made by one request, and values that must not be copied.
func (p *patch) checkRestore(env Env) (errs document.Errors) {
	switch {
	case p.kind == plan.Apply:
		errs = append(errs, p.restore.Errorf("write it with merge or json; what apply gives up goes or stays as release says", "restore is of merge and json, not of apply"))
	case p.subresource != "":
		errs = append(errs, p.restore.Errorf("write the field of the object itself, such as spec.replicas",
			"restore is not for subresources: a request to %s cannot write what the fields had before", p.subresource))
	case p.target.node != nil && p.target.name != "object":
		errs = append(errs, p.restore.Errorf("watch the resource of "+p.target.name+", and read what is watched now by with",
			"restore is for the object that the rule watches, not for another target"))
	}
	secret := func(of kubernetes.GroupResource) bool { return of == kubernetes.GroupResource{Resource: "secrets"} }
	if slices.ContainsFunc(p.target.resources(env), secret) {
		errs = append(errs, p.restore.Errorf("leave restore out", "restore is not for Secrets: what they had before would be kept in an annotation"))
	}
	return errs
}

// check refuses a body that no API server would take, and fields that rules may not write.
func (p *patch) check(v any) *document.Error {
	if p.kind == plan.JSON {
		return p.checkSteps(v)
	}
	fields, ok := v.(map[string]any)
	if !ok {
		return p.node.Errorf("", "the body of %s must be a map, have %s", p.kind, value.KindOf(v))
	}
	if wrong := p.forbidden(p.node, v); wrong != nil || fields["metadata"] == nil {
		return wrong
	}
	m := manifest{node: p.node, fields: fields}
	return cmp.Or(m.checkKinds(schema.Merged), m.checkMarks(), m.checkTexts())
}

// checkSteps finds the operation that is wrong, where each is written out. A template may give all, or omit some.
func (p *patch) checkSteps(v any) *document.Error {
	steps, _ := v.([]any)
	if written := p.node.Elements(); len(written) == len(steps) {
		for i, step := range steps {
			if err := plan.ValidateJSONOperation(step); err != nil {
				return written[i].Errorf(pointerHint(written[i].Get("path").Text()), "%v", err)
			}
			if wrong := p.forbidden(written[i], []any{step}); wrong != nil {
				return wrong
			}
		}
	}
	if err := plan.ValidateJSONPatch(v); err != nil {
		return p.node.Errorf("", "%v", err)
	}
	return p.forbidden(p.node, v)
}

// forbidden refuses the fields that rules may not write.
func (p *patch) forbidden(n *document.Node, v any) *document.Error {
	field := plan.ForbiddenField(p.kind, v)
	if field == nil {
		return nil
	}
	hint := "leave it out, the API server gives it"
	if slices.Contains([]string{"apiVersion", "kind", "name", "generateName", "namespace"}, field[len(field)-1]) {
		hint = "leave it out, target says which object it is"
	}
	return document.At(n, field...).Errorf(hint, "a rule may not write %s", field)
}

// Check implements [Action].
func (p *patch) Check(c Checking) document.Errors {
	resource := c.resource(&p.target)
	place, misplaced := p.place(resource)
	errs := append(c.checkTarget(&p.target), found(misplaced)...)
	var wrong document.Errors
	switch p.kind {
	case plan.JSON:
		wrong = p.body.CheckPatch(c.Context, place)
	case plan.Apply:
		_, wrong = p.body.Check(c.Context, schema.Field{Type: place}, schema.Applied)
		wrong = append(wrong, p.atomicLists(p.node, place)...)
	default:
		_, wrong = p.body.Check(c.Context, schema.Field{Type: place}, schema.Merged)
	}
	if errs = append(errs, wrong...); resource != nil && misplaced == nil {
		errs = append(errs, p.checkIgnored(resource)...)
	}
	return errs
}

// place is the type of what is patched, nil where nothing is known of it.
func (p *patch) place(resource *schema.Resource) (*schema.Type, *document.Error) {
	switch {
	case resource == nil:
		return nil, nil
	case p.subresource == "":
		return resource.Type, nil
	}
	place, there := resource.Subresources[p.subresource]
	if there || !resource.SubresourcesKnown {
		return place, nil
	}
	names := strings.Join(slices.Sorted(maps.Keys(resource.Subresources)), ", ")
	return nil, p.named.Errorf("leave subresource out, or write one that there is: "+cmp.Or(names, "none"), "%s have no subresource %q", resource.Resource, p.subresource).Coded(document.CodeSubresource)
}

// checkIgnored refuses to write what the API server passes over without a word: the status of an object whose status is a subresource,
// and anything else through it.
func (p *patch) checkIgnored(resource *schema.Resource) (errs document.Errors) {
	_, separate := resource.Subresources["status"]
	const apart = "make it a patch of its own, without subresource"
	check := func(field string, at *document.Node) {
		var wrong *document.Error
		switch {
		case p.subresource == "" && field == "status" && separate:
			wrong = at.Errorf("add subresource: status", "the API server ignores status here, which %s have as a subresource", resource.Resource)
		case p.subresource == "status" && field == "spec":
			wrong = at.Errorf(apart, "the API server ignores spec in a patch of status")
		case p.subresource == "status" && field == "metadata" && plan.Custom(resource.Group):
			wrong = at.Errorf(apart, "the API server ignores metadata in a patch of the status of a custom resource")
		default:
			return
		}
		errs = append(errs, wrong.Coded(document.CodeSubresource))
	}
	for _, entry := range p.node.Entries() {
		check(entry.Key.Text(), entry.Key)
	}
	for _, operation := range p.node.Elements() {
		if path := operation.Get("path"); path != nil && operation.Get("op").Text() != "test" {
			field, _, _ := strings.Cut(strings.TrimPrefix(path.Text(), "/"), "/")
			check(field, path)
		}
	}
	return errs
}

// atomicLists warns of lists that server-side apply owns as a whole. Whoever writes what
// is around a required one has no choice.
func (p *patch) atomicLists(n *document.Node, place *schema.Type) (errs document.Errors) {
	for _, entry := range n.Entries() {
		f, possible := place.Field(entry.Key.Text())
		if !possible || !f.Type.Known() {
			continue
		}
		given := entry.Value.Kind() == document.KindList || unknown(template.Draft(entry.Value)) && f.Type.Kinds&^value.Nil == value.List
		switch list := f.Type.List; {
		case list != nil && list.Kind == schema.Atomic && given && f.Required:
		case list != nil && list.Kind == schema.Atomic && given:
			errs = append(errs, entry.Key.Errorf("write it with merge or json, or be sure that nobody else does",
				"apply owns all of the list %s: what others write into it conflicts, or with force is lost", value.Excerpt(entry.Key.Text())).
				Coded(document.CodeAtomicList).Warn())
		case list != nil:
			for _, element := range entry.Value.Elements() {
				errs = append(errs, p.atomicLists(element, list.Items)...)
			}
		default:
			errs = append(errs, p.atomicLists(entry.Value, f.Type)...)
		}
	}
	return errs
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
		if wrong := p.misplaced(subject.GVR.GroupResource()); wrong != nil {
			return wrong
		}
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
	if p.restore != nil {
		w.Restoring = &plan.Restoring{}
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
	w.Body = template.Stamped(value, on.current, e.now(), writing)
	if p.kind == plan.Apply {
		w.Body = withoutNil(w.Body)
	}
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
		fields["value"] = template.Stamped(value, plan.LookupPointer(current, path), now, schema.Merged)
		out[i] = fields
	}
	return out
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
		if access.Writes.Merge(&writes); p.kind == plan.Apply {
			t.applied(access, &writes)
		}
		resources = append(resources, access.Resource)
		if p.kind == plan.Apply { // The rule owns the fields only then.
			out.Leaves = append(out.Leaves, plan.Leftover{GVR: access.Resource, Kind: plan.LeftFields, Release: p.release})
		}
		if p.restore != nil {
			access.Writes.Add(footprint.Fields("metadata", "annotations", plan.RestoreAnnotation), footprint.Value)
			access.Keeps.Merge(surroundings(&writes))
			out.Leaves = append(out.Leaves, plan.Leftover{GVR: access.Resource, Kind: plan.LeftChanges})
			out.Restores = p.restore
		}
	}
	verbs := []footprint.Verb{{Name: "patch", Subresource: p.subresource}}
	if p.kind == plan.Apply && p.release == plan.OrphanFields {
		verbs = append(verbs, footprint.Verb{Name: "get"})
		if p.subresource != "" {
			verbs = append(verbs, footprint.Verb{Name: "patch"})
		}
	}
	out.Requests, out.Bodies = send(p.target.about(of), verbs...), []*template.Body{p.body}
	if resources == nil || p.subresource != "" && p.subresource != "status" {
		return out
	}
	for _, leaf := range p.leaves() {
		_, isList := leaf.Value.([]any)
		out.Writes = append(out.Writes, Write{Leaf: leaf, Resources: resources, Target: p.target.name, Kind: p.kind, Merges: isList && p.kind == plan.Apply})
	}
	return out
}

// surroundings are the whole fields of the object, such as spec or metadata.annotations, in which something is written. It depends on what is
// around a field how that is recorded: a map may be empty without it, a list may be recorded as a whole, and its element is known by its key.
func surroundings(writes *footprint.Tree) *footprint.Tree {
	out := &footprint.Tree{}
	for first, below := range writes.Below() {
		if first != footprint.Key("metadata") {
			out.Add(footprint.Path{first}, footprint.Value)
			continue
		}
		for second := range below.Below() {
			out.Add(footprint.Path{first, second}, footprint.Value)
		}
	}
	return out
}

// leaves are the fields of the patch. What is nil is not applied.
func (p *patch) leaves() []template.Leaf {
	switch p.kind {
	case plan.JSON:
		return p.body.PatchedLeaves()
	case plan.Apply:
		return slices.DeleteFunc(p.body.Leaves(), func(leaf template.Leaf) bool { return leaf.Value == nil })
	default:
		return p.body.Leaves()
	}
}

// bodyHints say where something belongs that is written beside the body of a patch.
var bodyHints = map[string]string{
	"type":            "the type is the name of the body, as in merge: {spec: ...}",
	"strategicMerge":  "write apply, which merges lists by their keys, or merge, which replaces them",
	"strategic":       "write apply, which merges lists by their keys, or merge, which replaces them",
	"patchesJson6902": "write json: [{op: replace, path: /spec/replicas, value: 3}]",
}

func bodyHint(key, given string) string {
	if slices.Contains([]string{"spec", "metadata", "status", "data"}, key) {
		return fmt.Sprintf("put it into a body: merge: {%s: ...}", key)
	}
	return cmp.Or(bodyHints[key], misplaced(key, given))
}

// pointerHint writes a path with dots as a JSON pointer; it is "" for other texts.
func pointerHint(path string) string {
	if path == "" || strings.ContainsAny(path, "/$[ ") {
		return ""
	}
	return "write /" + value.Excerpt(strings.ReplaceAll(path, ".", "/"))
}
