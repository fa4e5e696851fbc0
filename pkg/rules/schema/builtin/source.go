package builtin

import (
	"compress/gzip"
	"embed"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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

// Document returns what is known of the types of a group and version, nil where none of them is built in.
func Document(of apischema.GroupVersion) *openapi.Document {
	if document := shared().documents[of]; document != nil {
		return document()
	}
	return nil
}

var shared = sync.OnceValue(load)

// load reads the index. Tests hold that the files are good, so none is missing.
func load() *source {
	var lists []metav1.APIResourceList
	if index, err := data.ReadFile("data/index.json"); err != nil || json.Unmarshal(index, &lists) != nil {
		return newSource(nil)
	}
	return newSource(lists)
}

type source struct {
	schema.Index
	groups    map[string]bool
	documents map[apischema.GroupVersion]func() *openapi.Document
}

// newSource makes a source of what discovery lists.
func newSource(lists []metav1.APIResourceList) *source {
	s := &source{groups: map[string]bool{}, documents: map[apischema.GroupVersion]func() *openapi.Document{}}
	for _, list := range lists {
		gv, _ := apischema.ParseGroupVersion(list.GroupVersion)
		s.groups[gv.Group] = true
		s.documents[gv] = sync.OnceValue(func() *openapi.Document { return read(gv) })
		for _, r := range list.APIResources {
			if strings.Contains(r.Name, "/") {
				continue
			}
			r.Group, r.Version = gv.Group, gv.Version
			name := schema.Name{GroupVersionResource: gv.WithResource(r.Name), Kind: r.Kind, Other: r.ShortNames}
			if r.SingularName != "" {
				name.Other = append([]string{r.SingularName}, r.ShortNames...)
			}
			s.Add(name, func() *schema.Resource {
				return s.documents[gv]().Resource(r, slices.DeleteFunc(slices.Clone(list.APIResources), func(sub metav1.APIResource) bool {
					return !strings.HasPrefix(sub.Name, r.Name+"/")
				}))
			})
		}
	}
	return s
}

// read decodes one of the documents. Tests hold that all of them are good.
func read(of apischema.GroupVersion) *openapi.Document {
	file, err := data.Open("data/" + strings.ReplaceAll(of.String(), "/", "_") + ".json.gz")
	if err != nil {
		return nil
	}
	unpacked, err := gzip.NewReader(file)
	if err != nil {
		return nil
	}
	text, _ := io.ReadAll(unpacked) // What is cut off cannot be parsed.
	document, _ := openapi.Parse(text, of, nil)
	return document
}

// Whole reports whether a group is Kubernetes' own. Groups of custom resources may
// end in k8s.io too.
func (s *source) Whole(group string) bool { return s.groups[group] }
