package simulate

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/fields"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/footprint"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema/builtin"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema/crd"
	"github.com/dyncontroller/dyncontroller/pkg/simulate/apiserver"
)

// guesser is a [schema.Source] of last resort: a resource that rules name and nothing
// defines is taken to exist, with any fields. What kind it is of is guessed by objects.
type guesser struct {
	given   schema.Source   // what is defined
	known   *schema.Catalog // that, and what Kubernetes itself has
	objects []map[string]any
}

var _ schema.Source = guesser{}

func newGuesser(definitions []*crd.Definition, objects []map[string]any) guesser {
	given := crd.NewSource(definitions)
	return guesser{given, schema.NewCatalog(given, builtin.Source()), objects}
}

// catalog is what is known, and guessed beside it.
func (g guesser) catalog() *schema.Catalog { return schema.NewCatalog(g.given, builtin.Source(), g) }

// Schemas are what is known of the resources that rules name, for [rules.Options]: what
// is defined, what Kubernetes itself has, and guesses by the objects.
func Schemas(definitions []*crd.Definition, objects []map[string]any) *schema.Catalog {
	return newGuesser(definitions, objects).catalog()
}

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
	status     bool     // something writes the status apart from the rest: then it must be a subresource
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
		access := set.Footprint().Lookup(selection.GVR)
		guessed.status = guessed.status || access != nil && slices.Contains(access.Verbs(), footprint.Verb{Name: "patch", Subresource: status})
		guessed.versions = append(guessed.versions, selection.GVR.Version)
		guessed.selectable = append(guessed.selectable, fieldsOf(selection.FieldSelector)...)
		found[at] = guessed
	}
	out := slices.SortedFunc(maps.Values(found), func(a, b guess) int { return strings.Compare(a.String(), b.String()) })
	for i := range out {
		slices.SortFunc(out[i].versions, func(a, b string) int { return version.CompareKubeAwareVersionStrings(b, a) }) // As an API server prefers them.
		out[i].versions = slices.Compact(out[i].versions)
		slices.Sort(out[i].selectable)
		out[i].selectable = slices.Compact(out[i].selectable)
	}
	return out
}

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
		out.namespaced = out.namespaced || plan.Text(o, "metadata", "namespace") != ""
	}
	out.namespaced = out.namespaced || !found
	return out
}

// objects are those of all cases. What cannot be read is told when a case is run.
func (t *Test) objects(files Files) []map[string]any {
	var out []map[string]any
	for _, c := range t.Cases {
		places := c.objects
		for _, step := range c.Steps {
			if step.Apply != nil {
				places = slices.Concat(places, step.Apply.files)
			}
		}
		found, _ := readObjects(places, files)
		out = append(out, contents(found)...)
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

// definition is what would define a resource as it is guessed.
func (g guess) definition() *crd.Definition {
	subresources, selectable := map[string]any{}, []any{}
	if g.status {
		subresources[status] = map[string]any{}
	}
	for _, field := range g.selectable {
		selectable = append(selectable, map[string]any{"jsonPath": "." + field})
	}
	var versions []any
	for i, name := range g.versions {
		versions = append(versions, map[string]any{
			"name": name, "served": true, "storage": i == 0, "subresources": subresources, "selectableFields": selectable,
			"schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
		})
	}
	scope := "Cluster"
	if g.namespaced {
		scope = "Namespaced"
	}
	_, singular := meta.UnsafeGuessKindToResource(g.WithVersion(g.versions[0]).GroupVersion().WithKind(g.kind))
	return &crd.Definition{Group: g.Group, Plural: g.Resource, Kind: g.kind, Namespaced: g.namespaced, Document: map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": g.String()},
		"spec": map[string]any{
			"group": g.Group, "scope": scope, "versions": versions,
			"names": map[string]any{"plural": g.Resource, "singular": singular.Resource, "kind": g.kind, "listKind": g.kind + "List"},
		},
	}}
}

// withGuesses are definitions with those of what is guessed beside them.
func withGuesses(defined []*crd.Definition, guesses []guess) []*crd.Definition {
	out := slices.Clone(defined)
	for _, g := range guesses {
		out = append(out, g.definition())
	}
	return out
}

// servers are those of a run: tests with the same definitions share one, since it takes
// time to make out what a definition says. It is safe for concurrent use.
type servers struct {
	mu sync.Mutex
	by map[string]*apiserver.Server // by the definitions as JSON; guarded by mu
}

// of returns a server that has the definitions.
func (s *servers) of(definitions []*crd.Definition) (*apiserver.Server, error) {
	documents := make([]map[string]any, len(definitions))
	for i, d := range definitions {
		documents[i] = d.Document
	}
	key, err := json.Marshal(documents)
	if err != nil {
		return nil, fmt.Errorf("encoding definitions: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if known := s.by[string(key)]; known != nil {
		return known, nil
	}
	server, err := serving(definitions)
	if err != nil {
		return nil, err
	}
	s.by[string(key)] = server
	return server, nil
}

func serving(definitions []*crd.Definition) (*apiserver.Server, error) {
	var all []*apiextensionsv1.CustomResourceDefinition
	for _, d := range definitions {
		definition, err := apiserver.Definition(d.Document)
		if err != nil {
			return nil, err
		}
		all = append(all, definition)
	}
	return apiserver.New(all)
}

const status = "status"

// writesStatus reports whether a step writes the status of a resource.
func (t *Test) writesStatus(g guess) bool {
	for _, c := range t.Cases {
		for _, step := range c.Steps {
			if step.Patch != nil && step.Patch.Subresource == status && step.Patch.Resource.GroupResource() == g.GroupResource {
				return true
			}
		}
	}
	return false
}
