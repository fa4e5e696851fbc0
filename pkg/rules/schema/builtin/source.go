package builtin

import (
	"compress/gzip"
	"embed"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"sync"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema/openapi"
)

//go:embed data
var data embed.FS

// Source returns what is known of the built-in resources. There is one for the
// process: it decodes a group and version when something of it is first asked for,
// and keeps what it has decoded.
func Source() schema.Source { return shared() }

var shared = sync.OnceValue(load)

// load reads the index. Tests hold that the files are good, so none is missing.
func load() *source {
	var groups []group
	index, err := data.ReadFile("data/index.json")
	if err != nil || json.Unmarshal(index, &groups) != nil {
		return newSource(nil)
	}
	return newSource(groups)
}

// group is a group and version in the index.
type group struct {
	Group, Version, File string
	Resources            []struct {
		Name, Kind string
		Other      []string
	}
}

type source struct {
	names     []schema.Name
	groups    map[string]bool
	documents map[apischema.GroupVersion]func() *openapi.Document
}

func newSource(groups []group) *source {
	s := &source{groups: map[string]bool{}, documents: map[apischema.GroupVersion]func() *openapi.Document{}}
	for _, g := range groups {
		gv := apischema.GroupVersion{Group: g.Group, Version: g.Version}
		s.groups[g.Group] = true
		s.documents[gv] = sync.OnceValue(func() *openapi.Document {
			document, err := read(g.File)
			if err != nil {
				return nil // As in load.
			}
			return document
		})
		for _, r := range g.Resources {
			s.names = append(s.names, schema.Name{GroupVersionResource: gv.WithResource(r.Name), Kind: r.Kind, Other: r.Other})
		}
	}
	slices.SortFunc(s.names, schema.CompareNames)
	return s
}

// read decodes one of the documents.
func read(name string) (*openapi.Document, error) {
	file, err := data.Open("data/" + name + ".gz")
	if err != nil {
		return nil, fmt.Errorf("opening %s: %w", name, err)
	}
	defer file.Close() //nolint:errcheck // It lies in memory.
	unpacked, err := gzip.NewReader(file)
	if err != nil {
		return nil, fmt.Errorf("unpacking %s: %w", name, err)
	}
	text, err := io.ReadAll(unpacked)
	if err != nil {
		return nil, fmt.Errorf("unpacking %s: %w", name, err)
	}
	document, err := openapi.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("parsing %s: %w", name, err)
	}
	return document, nil
}

// Resource returns nil where Kubernetes serves no such resource.
func (s *source) Resource(gvr apischema.GroupVersionResource) *schema.Resource {
	document, known := s.documents[gvr.GroupVersion()]
	if !known || document() == nil {
		return nil
	}
	return document().Resource(gvr)
}

// Resources lists all built-in resources in order.
func (s *source) Resources() []schema.Name { return slices.Clone(s.names) }

// Whole reports whether a group is Kubernetes' own. Groups of custom resources may
// end in k8s.io too.
func (s *source) Whole(group string) bool { return s.groups[group] }
