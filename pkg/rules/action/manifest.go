package action

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/lookup"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
	"github.com/dyncontroller/dyncontroller/pkg/rules/template"
	"github.com/dyncontroller/dyncontroller/pkg/rules/typing"
)

// manifest is an object as a rule writes it, or its draft: as much of it as is known before it is evaluated. What is nil counts as
// absent and is not there.
type manifest struct {
	node   *document.Node
	fields map[string]any // nil where an expression gives all of it
}

// draft is as much of a manifest as is written out.
func draft(n *document.Node) manifest {
	fields, _ := withoutNil(template.Draft(n)).(map[string]any)
	return manifest{n, fields}
}

// lookup is [template.Lookup].
func (m manifest) lookup(path ...string) (v any, there bool) {
	return template.Lookup(m.fields, path...)
}

// at returns the node of a field, or of what is written around it.
func (m manifest) at(path ...string) *document.Node { return document.At(m.node, path...) }

func unknown(v any) bool {
	_, is := v.(schema.Unknown)
	return is
}

// text returns a field that is a string, "" where it is absent or not known.
func (m manifest) text(path ...string) string {
	v, _ := m.lookup(path...)
	text, _ := v.(string)
	return text
}

// entries are those of a map in order, as far as their keys are known.
func (m manifest) entries(path ...string) (fields map[string]any, keys []string) {
	v, _ := m.lookup(path...)
	fields, _ = v.(map[string]any)
	return fields, slices.DeleteFunc(slices.Sorted(maps.Keys(fields)), func(key string) bool { return key == schema.SomeKeys })
}

var (
	text   = &schema.Type{Kinds: value.String | value.Nil}
	filled = &schema.Type{Kinds: value.String | value.Nil, Limit: &schema.Limits{MinLength: new(int64(1))}}
	texts  = &schema.Type{Kinds: value.Map | value.Nil, Map: &schema.Map{Values: text}}
	// ofAny is what is known of the manifest of any object.
	ofAny = &schema.Type{Kinds: value.Map, Map: &schema.Map{Open: true, Fields: map[string]schema.Field{
		"apiVersion": {Type: filled}, "kind": {Type: filled},
		"metadata": {Type: &schema.Type{Kinds: value.Map | value.Nil, Map: &schema.Map{Open: true, Fields: map[string]schema.Field{
			"name": {Type: filled}, "generateName": {Type: filled}, "namespace": {Type: filled}, "labels": {Type: texts}, "annotations": {Type: texts},
		}}}},
	}}}
)

// checkKinds makes sure of what the other checks look into.
func (m manifest) checkKinds(how schema.Writing) *document.Error {
	all := ofAny.Validate(m.fields, how)
	if len(all) == 0 {
		return nil
	}
	at, hint := document.At(m.node, all[0].Path...), all[0].Hint
	if hint == "" || strings.Contains(at.Text(), "${") {
		hint = "give it a text, as by string(...), or omit() it"
	}
	return at.Errorf(hint, "%s", all[0].Message)
}

// checkType takes an apiVersion and a kind that repeat what `resource` says. One that is "" is not known.
func (m manifest) checkType(apiVersion, kind string) *document.Error {
	for _, field := range [][2]string{{"apiVersion", apiVersion}, {"kind", kind}} {
		name, want := field[0], field[1]
		if text := m.text(name); text != "" && want != "" && text != want {
			return m.at(name).Errorf("leave it out, it comes from resource", "the %s of the resource is %q, not %q", name, want, text)
		}
	}
	return nil
}

// checkServer refuses the fields that belong to the API server.
func (m manifest) checkServer() *document.Error {
	if metadata, _ := m.lookup("metadata"); unknown(metadata) {
		return nil
	}
	if field := plan.ForbiddenField(plan.Create, m.fields); field != nil {
		return m.at(field...).Errorf("leave it out, the API server gives it", "a rule may not write %s", field)
	}
	return nil
}

// checkName wants a name, or where the API server may choose one, a beginning of it. Neither may leave its place of a path.
func (m manifest) checkName(generated bool) *document.Error {
	name, named := m.lookup("metadata", "name")
	prefix, prefixed := m.lookup("metadata", "generateName")
	at, hint := m.at("metadata", "generateName"), "write metadata: {name: ...}"
	if generated {
		hint = `write metadata: {generateName: "${object.metadata.name}-"}, or {name: ...}`
	}
	switch {
	case prefixed && !generated:
		return at.Errorf("write name, or use create", "apply makes an object of a certain name")
	case prefixed && named:
		return at.Errorf("write one of them", "an object has a name, or one that is generated")
	case name == nil && prefix == nil:
		return m.at("metadata", "name").Errorf(hint, "the object has no name")
	}
	for _, field := range []string{"name", "generateName"} {
		text := m.text("metadata", field)
		if reasons := content.IsPathSegmentName(text); len(reasons) > 0 {
			return m.at("metadata", field).Errorf("", "%q cannot be the %s of an object: it %s", value.Excerpt(text), field, reasons[0])
		}
	}
	return nil
}

// checkNamespace keeps a RuleSet, whose namespace is home, where it is.
func (m manifest) checkNamespace(home string) *document.Error {
	namespace := m.text("metadata", "namespace")
	if namespace == "" {
		return nil
	}
	at := m.at("metadata", "namespace")
	if reasons := validation.IsDNS1123Label(namespace); len(reasons) > 0 {
		reason, _, _ := strings.Cut(reasons[0], " (e.g.") // The pattern helps nobody.
		return at.Errorf(template.HintFor(namespace, ""), "%q cannot be a namespace: %s", value.Excerpt(namespace), reason)
	}
	if home != "" && namespace != home {
		return at.Errorf("leave it out, or make it a ClusterRuleSet",
			"a RuleSet acts in its own namespace only, which is %q, not %q", home, namespace)
	}
	return nil
}

// checkMarks leaves to the engine by what it knows its children.
func (m manifest) checkMarks() *document.Error {
	for _, path := range [][]string{
		{"metadata", "labels", plan.LabelSet},
		{"metadata", "labels", plan.LabelRule},
		{"metadata", "labels", plan.LabelOwnerUID},
		{"metadata", "annotations", plan.AdoptedAnnotation},
	} {
		if _, there := m.lookup(path...); there {
			return m.at(path...).Errorf("leave it out", "%s is for dyncontroller to write", path[2])
		}
	}
	return nil
}

// checkTexts refuses labels and annotations that no API server takes, whatever the resource.
func (m manifest) checkTexts() *document.Error {
	for field, one := range map[string]string{"labels": "a label", "annotations": "an annotation"} {
		texts, keys := m.entries("metadata", field)
		for _, key := range keys {
			text, _ := texts[key].(string)
			at := m.at("metadata", field, key)
			switch {
			case len(validation.IsQualifiedName(key)) > 0:
				return at.Errorf("use letters, digits, -, _ and ., with a prefix such as example.com/ if need be",
					"%q cannot be the key of %s", value.Excerpt(key), one)
			case field == "labels" && len(validation.IsValidLabelValue(text)) > 0:
				return at.Errorf(template.HintFor(text, "use at most 63 letters, digits, -, _ and ., or make it an annotation"),
					"%q cannot be the value of a label", value.Excerpt(text))
			}
		}
	}
	return nil
}

// checkOwners keeps apart the two ways to write owners.
func (m manifest) checkOwners(owned bool) *document.Error {
	if _, there := m.lookup("metadata", "ownerReferences"); !there || !owned {
		return nil
	}
	return m.at("metadata", "ownerReferences").Errorf("leave them out, or write owned: false and all of them, with controllerRef(object)",
		"the owner is the watched object already")
}

// checkNames refuses a name, and keys of data, that the API server takes for none of the resource. Some kinds take more than others:
// the names of roles, for example, need not be domains.
func (m manifest) checkNames(resource *schema.Resource) *document.Error {
	domains := slices.Contains([]string{"", "apps", "batch"}, resource.Group) || plan.Custom(resource.Group)
	name := m.text("metadata", "name")
	if reasons := validation.IsDNS1123Subdomain(name); name != "" && len(reasons) > 0 && domains {
		return m.at("metadata", "name").Errorf("use lower case letters, digits, - and ., with a letter or digit at both ends",
			"%q cannot be the name of a %s", value.Excerpt(name), resource.Kind).Coded(document.CodeWrongFormat)
	}
	if resource.Group != "" || resource.Resource != "configmaps" && resource.Resource != "secrets" {
		return nil
	}
	for _, field := range []string{"data", "stringData", "binaryData"} {
		_, keys := m.entries(field)
		for _, key := range keys {
			if reasons := validation.IsConfigMapKey(key); len(reasons) > 0 {
				return m.at(field).Key(key).Errorf("use letters, digits, -, _ and .",
					"%q cannot be a key of a %s", value.Excerpt(key), resource.Kind).Coded(document.CodeWrongFormat)
			}
		}
	}
	return nil
}

// checkStatus refuses what the API server drops when it makes the object.
func (m manifest) checkStatus(resource *schema.Resource) *document.Error {
	_, separate := resource.Subresources["status"]
	if _, there := m.lookup("status"); !there || !separate {
		return nil
	}
	return m.node.Key("status").Errorf("patch it, with subresource: status",
		"the API server ignores status here, which %s have as a subresource", resource.Resource).Coded(document.CodeSubresource)
}

// checkAbsent refuses a name that may be absent, and a namespace where it has to be said.
func (m manifest) checkAbsent(given typing.Type, kind string, placed bool) *document.Error {
	metadata, _ := given.Field("metadata")
	for _, name := range []string{"name", "generateName", "namespace"} {
		_, written := m.lookup("metadata", name)
		field, found := metadata.Field(name)
		if written && found == typing.Found && field.CanBeNil() && (placed || name != "namespace") {
			return m.at("metadata", name).Errorf("?? gives a default; or let when ask for it first",
				"the %s of the %s may be absent", name, kind).Coded(document.CodeMayBeAbsent)
		}
	}
	return nil
}

// checkSelected refuses an object whose labels, as they are written, let none of the selections of a list have it: no rule would ever
// see it.
func (m manifest) checkSelected(list string, selections []plan.Selection) *document.Error {
	unmet := ""
	for _, selection := range selections {
		if _, unmet = lookup.Fits(selection, m.fields); unmet == "" {
			return nil
		}
	}
	return m.at("metadata", "labels").Errorf("give it the labels that the selector wants, or widen that",
		"the object would not be among what %s selects: the selector wants %s", list, value.Excerpt(unmet))
}

// withoutNil returns a copy without nil leaves: what is applied is owned, and nothing cannot be. Elements of lists stay, since the
// position of the others may matter.
func withoutNil(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, below := range v {
			if below != nil {
				out[key] = withoutNil(below)
			}
		}
		return out
	case []any:
		out := slices.Clone(v)
		for i, element := range v {
			out[i] = withoutNil(element)
		}
		return out
	default:
		return v
	}
}
