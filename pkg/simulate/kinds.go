package simulate

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/fields"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"

	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema/crd"
)

// guesser is a [schema.Source] of last resort: a resource that rules name and nothing
// defines is taken to exist, with any fields. What kind it is of is guessed by objects.
type guesser struct {
	known   *schema.Catalog
	objects []map[string]any
}

var _ schema.Source = guesser{}

// Resource implements [schema.Source]. What others know to be missing stays so.
func (g guesser) Resource(gvr apischema.GroupVersionResource) *schema.Resource {
	if g.known.Resource(gvr) != nil || g.known.Missing(gvr) {
		return nil
	}
	out := g.guess(gvr.GroupResource())
	return &schema.Resource{GroupVersionResource: gvr, Kind: out.kind, Namespaced: out.namespaced, Type: schema.Open()}
}

// Resources implements [schema.Source]. What is guessed is no name to suggest.
func (guesser) Resources() []schema.Name { return nil }

// Whole implements [schema.Source].
func (guesser) Whole(string) bool { return false }

// guess is what a resource is taken to be. All its versions are alike.
type guess struct {
	apischema.GroupResource
	kind       string
	namespaced bool
	versions   []string // that the rules name, the stored one first
	selectable []string // the fields that the rules select by
}

// among are the guesses that a set of rules needs, in order.
func (g guesser) among(set *rules.Set) []guess {
	found := map[apischema.GroupResource]guess{}
	for _, selection := range slices.Concat(set.Selections(), set.Related()) {
		if g.known.Resource(selection.GVR) != nil {
			continue
		}
		at := selection.GVR.GroupResource()
		guessed, seen := found[at]
		if !seen {
			guessed = g.guess(at)
		}
		guessed.versions = append(guessed.versions, selection.GVR.Version)
		guessed.selectable = append(guessed.selectable, fieldsOf(selection.FieldSelector)...)
		found[at] = guessed
	}
	out := slices.SortedFunc(maps.Values(found), func(a, b guess) int { return strings.Compare(a.String(), b.String()) })
	for i := range out {
		slices.SortFunc(out[i].versions, preferred)
		out[i].versions = slices.Compact(out[i].versions)
		slices.Sort(out[i].selectable)
		out[i].selectable = slices.Compact(out[i].selectable)
	}
	return out
}

// preferred puts the version first that an API server prefers.
func preferred(a, b string) int { return version.CompareKubeAwareVersionStrings(b, a) }

// fieldsOf are the fields of a selector that a definition must name: all resources can be
// selected by their metadata.
func fieldsOf(selector string) []string {
	parsed, err := fields.ParseSelector(selector)
	if err != nil {
		return nil // The rules were checked already.
	}
	var out []string
	for _, r := range parsed.Requirements() {
		if !strings.HasPrefix(r.Field, "metadata.") {
			out = append(out, r.Field)
		}
	}
	return out
}

// guess goes by the objects that may be of the resource: one with a namespace says that
// all have one.
func (g guesser) guess(at apischema.GroupResource) guess {
	singular := strings.TrimSuffix(at.Resource, "s")
	first := min(1, len(singular))
	out := guess{GroupResource: at, kind: strings.ToUpper(singular[:first]) + singular[first:]}
	found := false
	for _, o := range g.objects {
		kind := kindOf(o)
		if kind.Group != at.Group || !slices.Contains(plurals(kind), at.Resource) {
			continue
		}
		found, out.kind = true, kind.Kind
		out.namespaced = out.namespaced || stringAt(metadataOf(o), "namespace") != ""
	}
	out.namespaced = out.namespaced || !found
	return out
}

// objects are those of all cases. What cannot be read is told when a case is run.
func (t *Test) objects(files Files) []map[string]any {
	var out []map[string]any
	for _, c := range t.Cases {
		found, _ := readObjects(c.objects, files)
		out = append(out, contents(found)...)
		for _, step := range c.Steps {
			if step.Apply != nil {
				found, _ := readObjects(step.Apply.files, files)
				out = append(out, contents(found)...)
			}
		}
	}
	return out
}

func contents(objects []object) []map[string]any {
	out := make([]map[string]any, len(objects))
	for i, o := range objects {
		out[i] = o.content
	}
	return out
}

// definition is what would define a resource as it is guessed. It has the subresource
// status if something writes that.
func (g guess) definition(status bool) (*crd.Definition, error) {
	versions := make([]any, len(g.versions))
	for i, name := range g.versions {
		versions[i] = g.version(name, i == 0, status)
	}
	scope := "Cluster"
	if g.namespaced {
		scope = "Namespaced"
	}
	_, singular := meta.UnsafeGuessKindToResource(g.WithVersion(g.versions[0]).GroupVersion().WithKind(g.kind))
	data, err := json.Marshal(map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": g.String()},
		"spec": map[string]any{
			"group": g.Group, "scope": scope, "versions": versions,
			"names": map[string]any{"plural": g.Resource, "singular": singular.Resource, "kind": g.kind, "listKind": g.kind + "List"},
		},
	})
	if err != nil {
		return nil, fmt.Errorf("defining %s: %w", g, err)
	}
	found, err := crd.Read("what is guessed of "+g.String(), data)
	if err != nil {
		return nil, fmt.Errorf("defining %s: %w", g, err)
	}
	return found[0], nil
}

// version is what the definition says of one of its versions.
func (g guess) version(name string, stored, status bool) map[string]any {
	out := map[string]any{
		"name": name, "served": true, "storage": stored,
		"schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
	}
	if status {
		out["subresources"] = map[string]any{"status": map[string]any{}}
	}
	for _, field := range g.selectable {
		known, _ := out["selectableFields"].([]any)
		out["selectableFields"] = append(known, map[string]any{"jsonPath": "." + field})
	}
	return out
}
