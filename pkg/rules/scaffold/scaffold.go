// Package scaffold writes the files that rules begin with: a first rule that works, objects,
// and a RuleTest that has both.
//
//	Input -> Files: rules, CRD, object, test
//	Test -> YAML of a RuleTest
//
// It is pure.
package scaffold

import (
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/validate/content"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/version"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/plan/compare"
	"github.com/dyncontroller/dyncontroller/pkg/redact"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema/builtin"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema/crd"
	"github.com/dyncontroller/dyncontroller/pkg/rules/spec"
)

// Input is what is known of the resource that rules are to be about.
type Input struct {
	Resource   apischema.GroupVersionResource
	Kind       string
	Other      []string // singular and short names
	Namespaced bool
	// Type is that of its objects, nil where it is not known.
	Type *schema.Type
	// Object is one of them, nil to make one up.
	Object map[string]any
	// CRD defines it, nil for a built-in kind or where it is not known.
	CRD map[string]any
}

// ForObject is what is known of an object: by the CRDs, or Kubernetes itself, or else by guessing the name of the resource.
func ForObject(object map[string]any, definitions []*crd.Definition) Input {
	kind := apischema.FromAPIVersionAndKind(plan.Text(object, "apiVersion"), plan.Text(object, "kind"))
	for _, d := range definitions {
		if d.Group == kind.Group && d.Kind == kind.Kind {
			out := ForCRD(d)
			out.Object = object
			return out.in(kind.Version, crd.NewSource(definitions))
		}
	}
	guess, _ := meta.UnsafeGuessKindToResource(kind)
	out := Input{Resource: guess, Kind: kind.Kind, Namespaced: plan.Text(object, "metadata", "namespace") != "", Object: object}
	for _, known := range builtin.Source().Resources() {
		if known.Group == kind.Group && known.Kind == kind.Kind {
			out.Resource.Resource, out.Other = known.Resource, known.Other
		}
	}
	return out.in(kind.Version, builtin.Source())
}

// ForCRD is what a CRD says of its resource, in the version that the API server prefers.
func ForCRD(d *crd.Definition) Input {
	source := crd.NewSource([]*crd.Definition{d})
	out := Input{Resource: apischema.GroupVersionResource{Group: d.Group, Resource: d.Plural}, Kind: d.Kind, Namespaced: d.Namespaced, CRD: d.Document}
	best := ""
	for _, known := range source.Resources() {
		if best == "" || version.CompareKubeAwareVersionStrings(known.Version, best) > 0 {
			best = known.Version
		}
	}
	return out.in(best, source)
}

// in is the same in a version of the resource.
func (in Input) in(of string, known schema.Source) Input {
	in.Resource.Version = of
	if resource := known.Resource(in.Resource); resource != nil {
		in.Type, in.Namespaced = resource.Type, resource.Namespaced
	}
	return in
}

// rules has the name of the set and its resource three times, and what is known of spec.
const rules = `apiVersion: %s
kind: %s
metadata: {name: %s}
spec:
  resources:
    %s: {%sversion: %s, resource: %s}
  rules:
  # This rule works. Make another one of it: a condition and an action of your own.
%s  - name: owner
    description: Each object says whose it is
    watch: %s
    when: object.metadata.labels["example.com/owner"] == nil
    # It pauses rather than change more than 10 objects in an hour. Take this out once diff shows what you want.
    limits: {maxObjects: 10, per: 1h}
    actions:
    - patch: {merge: {metadata: {labels: {example.com/owner: nobody}}}}
    - event: {type: Normal, reason: NoOwner, message: "${object.metadata.name} had no owner"}
`

// mostNames is how many fields of spec are named.
const mostNames = 10

// check refuses names that no API server has: they become text of rules, and names of files.
func (in Input) check() error {
	for _, name := range []struct {
		what, text string
		wrong      []string
	}{
		{"kind", in.Kind, validation.IsDNS1035Label(strings.ToLower(in.Kind))},
		{"resource", in.Resource.Resource, validation.IsDNS1035Label(in.Resource.Resource)},
		{"version", in.Resource.Version, validation.IsDNS1035Label(in.Resource.Version)},
		{"group", in.Resource.Group, validation.IsDNS1123Subdomain(cmp.Or(in.Resource.Group, "core"))},
		{"name", plan.Text(in.Object, "metadata", "name"), content.IsPathSegmentName(cmp.Or(plan.Text(in.Object, "metadata", "name"), "example"))},
	} {
		if len(name.wrong) > 0 {
			return fmt.Errorf("%q is no %s of an object: it %s", name.text, name.what, name.wrong[0])
		}
	}
	return nil
}

// Files returns a rule set, a RuleTest of it, and what that reads, by their paths. The golden is not among them.
func Files(in Input) (map[string][]byte, error) {
	if err := in.check(); err != nil {
		return nil, err
	}
	plural := in.Resource.Resource
	group := ""
	if in.Resource.Group != "" {
		group = "group: " + in.Resource.Group + ", "
	}
	fields := ""
	if of, possible := field(in.Type, "spec"); possible && of.Type.Map != nil && len(of.Type.Names()) > 0 {
		var names []string
		for _, name := range of.Type.Names() {
			names = append(names, plan.Path{name}.String()) // Quoted where it is no word.
		}
		fields = "  # object.spec has " + strings.Join(document.Few(names, mostNames), ", ") + "\n"
	}
	object := in.Object
	if object == nil {
		object = made(in)
	}
	name := plan.Text(object, "metadata", "name")
	fixture := path.Join("fixtures", name+".yaml")
	test := Test{Name: plural, Rules: []string{plural + ".yaml"}, Case: "an object without an owner gets one", Objects: []string{fixture}}
	out := map[string][]byte{
		plural + ".yaml": fmt.Appendf(nil, rules, spec.APIVersion, spec.KindClusterRuleSet, plural, plural, group, in.Resource.Version, plural, fields, plural),
	}
	err := write(out, fixture, Fixture(object))
	if in.CRD != nil {
		test.CRDs, err = []string{"crds"}, errors.Join(err, write(out, path.Join("crds", plural+".yaml"), definition(in.CRD)))
	}
	return out, errors.Join(err, write(out, plural+"_test.yaml", test.content()))
}

// write adds a document to a file.
func write(files map[string][]byte, at string, content map[string]any) error {
	data, err := compare.YAML(content)
	if err != nil {
		return fmt.Errorf("writing %s: %w", at, err)
	}
	if len(files[at]) > 0 {
		files[at] = append(files[at], "---\n"...)
	}
	files[at] = append(files[at], data...)
	return nil
}

// Test is a RuleTest of one case. Paths are relative to its file.
type Test struct {
	Name                 string
	Rules, CRDs, Objects []string
	Case                 string
	Now                  string // RFC 3339, empty for the default
}

// Recorded returns a test with an object, of which there may be a CRD, and what was read of the cluster for it, by their paths.
// Values of Secrets are masked in all objects, so that copies of them still are copies.
func Recorded(test Test, object map[string]any, crds []*crd.Definition, answers map[string][]map[string]any) (map[string][]byte, error) {
	secrets := redact.New(redact.Plain)
	related := map[string]map[string]any{}
	key := func(o map[string]any) string {
		return strings.Join([]string{plan.Text(o, "apiVersion"), plan.Text(o, "kind"), plan.Text(o, "metadata", "namespace"), plan.Text(o, "metadata", "name")}, "/")
	}
	for _, found := range answers {
		for _, o := range found {
			related[key(o)] = o
		}
	}
	delete(related, key(object))
	all := []map[string]any{object}
	for _, key := range slices.Sorted(maps.Keys(related)) {
		all = append(all, related[key])
	}
	for _, o := range all {
		if redact.IsSecret(o) {
			secrets.Learn(o)
		}
	}
	out := map[string][]byte{}
	var err error
	for i, o := range all {
		at := path.Join("fixtures", test.Name+[]string{".yaml", "-related.yaml"}[min(i, 1)])
		if out[at] == nil {
			test.Objects = append(test.Objects, at)
		}
		shown, _ := secrets.Tree(o).(map[string]any)
		err = errors.Join(err, write(out, at, Fixture(shown)))
	}
	for _, d := range crds {
		test.CRDs, err = []string{"crds"}, errors.Join(err, write(out, path.Join("crds", d.Plural+".yaml"), definition(d.Document)))
	}
	return out, errors.Join(err, write(out, test.Name+"_test.yaml", test.content()))
}

// content is the document.
func (t Test) content() map[string]any {
	type testSpec struct {
		Rules []string         `json:"rules"`
		CRDs  []string         `json:"crds,omitempty"`
		Now   string           `json:"now,omitempty"`
		Cases []map[string]any `json:"cases"`
	}
	return map[string]any{
		"apiVersion": spec.APIVersion, "kind": spec.KindRuleTest, "metadata": map[string]any{"name": t.Name},
		"spec": testSpec{t.Rules, t.CRDs, t.Now, []map[string]any{{"name": t.Case, "objects": t.Objects}}},
	}
}

// Fixture is an object of a cluster as a test has it: without what the API server and kubectl keep for themselves, and with
// other values where it is a Secret.
func Fixture(object map[string]any) map[string]any {
	out := maps.Clone(object)
	metadata, _ := out["metadata"].(map[string]any)
	metadata = maps.Clone(metadata)
	for _, key := range []string{"managedFields", "resourceVersion", "generation", "selfLink"} {
		delete(metadata, key)
	}
	if annotations, is := metadata["annotations"].(map[string]any); is {
		annotations = maps.Clone(annotations)
		delete(annotations, "kubectl.kubernetes.io/last-applied-configuration")
		if metadata["annotations"] = annotations; len(annotations) == 0 {
			delete(metadata, "annotations")
		}
	}
	out["metadata"] = metadata
	if redact.IsSecret(object) {
		data, _ := out["data"].(map[string]any)
		data = maps.Clone(data)
		for key := range data {
			data[key] = base64.StdEncoding.EncodeToString([]byte(redact.Plain("")))
		}
		out["data"] = data
		delete(out, "stringData")
	}
	return out
}

// definition is a CRD without what the API server says of it.
func definition(crd map[string]any) map[string]any {
	out := Fixture(crd)
	delete(out, "status")
	return out
}

// made is an object with no more than the API server wants.
func made(in Input) map[string]any {
	metadata := map[string]any{"name": "example"}
	if in.Namespaced {
		metadata["namespace"] = "default"
	}
	out := map[string]any{}
	if in.Type != nil {
		out, _ = sample(in.Type, 0).(map[string]any)
	}
	out["apiVersion"], out["kind"], out["metadata"] = in.Resource.GroupVersion().String(), in.Kind, metadata
	if of, possible := field(in.Type, "spec"); possible && out["spec"] == nil {
		out["spec"] = sample(of.Type, 1)
	}
	return out
}

func field(of *schema.Type, name string) (schema.Field, bool) {
	if of == nil {
		return schema.Field{}, false
	}
	found, possible := of.Field(name)
	return found, possible && found.Type != nil
}

// deepest bounds a sample of a type that contains itself.
const deepest = 12

// sample is the least value of a type, as far as that can be told.
func sample(of *schema.Type, depth int) any {
	limit := of.Limit
	if limit == nil {
		limit = &schema.Limits{}
	}
	switch {
	case len(limit.Enum) > 0:
		return limit.Enum[0]
	case of.Map != nil && depth < deepest:
		out := map[string]any{}
		for _, name := range slices.Sorted(maps.Keys(of.Map.Fields)) {
			switch f := of.Map.Fields[name]; {
			case !f.Required || depth == 0 && slices.Contains([]string{"apiVersion", "kind", "metadata"}, name):
			case f.Default != nil:
				out[name] = f.Default
			default:
				out[name] = sample(f.Type, depth+1)
			}
		}
		return out
	case of.List != nil && limit.MinItems != nil && *limit.MinItems > 0 && depth < deepest:
		return []any{sample(of.List.Items, depth+1)}
	case of.List != nil:
		return []any{}
	case of.Kinds.Has(value.Int), of.Kinds.Has(value.Float):
		if limit.Minimum != nil {
			return int64(*limit.Minimum)
		}
		return int64(1)
	case of.Kinds.Has(value.Bool):
		return false
	default:
		return "example"
	}
}
