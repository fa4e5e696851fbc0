package apiserver

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/controller/openapi/builder"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kube-openapi/pkg/handler3"
	"k8s.io/kube-openapi/pkg/spec3"
)

// descriptions are the OpenAPI documents of custom resources, by their group and version. Built-in kinds have none.
type descriptions map[apischema.GroupVersion]func() ([]byte, error)

// describe returns the documents of definitions, each of which is made when it is first asked for.
func describe(definitions []*apiextensionsv1.CustomResourceDefinition) descriptions {
	out, of := descriptions{}, map[apischema.GroupVersion][]*apiextensionsv1.CustomResourceDefinition{}
	for _, definition := range definitions {
		for _, version := range definition.Spec.Versions {
			if version.Served {
				gv := apischema.GroupVersion{Group: definition.Spec.Group, Version: version.Name}
				of[gv] = append(of[gv], definition)
			}
		}
	}
	for gv, all := range of {
		out[gv] = sync.OnceValues(func() ([]byte, error) {
			var documents []*spec3.OpenAPI
			for _, definition := range all {
				document, err := builder.BuildOpenAPIV3(definition, gv.Version, builder.Options{})
				if err != nil {
					return nil, fmt.Errorf("describing %s: %w", definition.Name, err)
				}
				documents = append(documents, document)
			}
			whole, err := builder.MergeSpecsV3(documents...)
			if err != nil {
				return nil, fmt.Errorf("describing %s: %w", gv, err)
			}
			return json.Marshal(whole)
		})
	}
	return out
}

const openAPIPath = "/openapi/v3"

// ServeHTTP implements [http.Handler] for the index of documents, and for the documents.
func (d descriptions) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	wanted := strings.TrimPrefix(strings.TrimPrefix(r.URL.Path, openAPIPath), "/")
	if wanted == "" {
		index := handler3.OpenAPIV3Discovery{Paths: map[string]handler3.OpenAPIV3DiscoveryGroupVersion{}}
		for gv := range d {
			path := "apis/" + gv.String()
			index.Paths[path] = handler3.OpenAPIV3DiscoveryGroupVersion{ServerRelativeURL: openAPIPath + "/" + path}
		}
		_ = json.NewEncoder(w).Encode(index) // The client is there.
		return
	}
	gv, err := apischema.ParseGroupVersion(strings.TrimPrefix(wanted, "apis/"))
	if document := d[gv]; document != nil && err == nil {
		text, err := document()
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		_, _ = w.Write(text) // The client is there.
		return
	}
	http.NotFound(w, r)
}
