package simulate

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/footprint"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema/crd"
	"github.com/dyncontroller/dyncontroller/pkg/simulate/apiserver"
)

// servers are those of a run: tests with the same definitions share one, since it takes
// time to make out what a definition says. It is safe for concurrent use.
type servers struct {
	mu sync.Mutex
	by map[[sha256.Size]byte]*apiserver.Server // guarded by mu
}

// of returns a server that has the definitions.
func (s *servers) of(definitions []*crd.Definition) (*apiserver.Server, error) {
	digest := sha256.New()
	for _, d := range definitions {
		data, err := json.Marshal(d.Document)
		if err != nil {
			return nil, fmt.Errorf("encoding the definition of %s: %w", d.Plural, err)
		}
		digest.Write(data)
	}
	var key [sha256.Size]byte
	digest.Sum(key[:0])
	s.mu.Lock()
	defer s.mu.Unlock()
	if known := s.by[key]; known != nil {
		return known, nil
	}
	server, err := serving(definitions)
	if err != nil {
		return nil, err
	}
	if s.by == nil {
		s.by = map[[sha256.Size]byte]*apiserver.Server{}
	}
	s.by[key] = server
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

// definitions are those of the test and of its run, with what is guessed beside them.
func (t *Test) definitions() ([]*crd.Definition, error) {
	return withGuesses(t.defined, t.guesses, func(g guess) bool { return writesStatus(t.set, g) || t.writesStatus(g) })
}

func withGuesses(defined []*crd.Definition, guesses []guess, hasStatus func(guess) bool) ([]*crd.Definition, error) {
	out := slices.Clone(defined)
	for _, g := range guesses {
		definition, err := g.definition(hasStatus(g))
		if err != nil {
			return nil, err
		}
		out = append(out, definition)
	}
	return out, nil
}

const status = "status"

// writesStatus reports whether the rules write the status of a resource apart from the
// rest: then it must be a subresource.
func writesStatus(set *rules.Set, g guess) bool {
	return slices.ContainsFunc(g.versions, func(version string) bool {
		access := set.Footprint().Lookup(g.WithVersion(version))
		return access != nil && slices.Contains(access.Verbs(), footprint.Verb{Name: "patch", Subresource: status})
	})
}

// writesStatus reports the same of the steps.
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
