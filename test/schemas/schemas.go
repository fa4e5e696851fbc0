// Package schemas has what tests of types are about: the kinds of Kubernetes, and small CustomResourceDefinitions. In
// gateways.yaml are gateways, with every extension of Kubernetes to OpenAPI, and tenants, which are cluster-scoped and
// have no status subresource; in tidbclusters.yaml is a slice of the real TidbCluster.
package schemas

import (
	"embed"
	"fmt"
	"io/fs"
	"sync"
	"testing"

	kubernetes "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema/builtin"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema/crd"
)

//go:embed *.yaml
var files embed.FS

// Catalog knows all of them.
func Catalog(t testing.TB) *schema.Catalog {
	t.Helper()
	known, err := catalog()
	if err != nil {
		t.Fatalf("reading the schemas of the tests: %v", err)
	}
	return known
}

// Gateways are the resource that has most of what a schema can say.
func Gateways() kubernetes.GroupVersionResource {
	return kubernetes.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "gateways"}
}

// Tenants are cluster-scoped.
func Tenants() kubernetes.GroupVersionResource {
	return kubernetes.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "tenants"}
}

var catalog = sync.OnceValues(func() (*schema.Catalog, error) {
	names, err := fs.Glob(files, "*.yaml")
	if err != nil {
		return nil, err
	}
	var all []*crd.Definition
	for _, name := range names {
		data, err := files.ReadFile(name)
		if err != nil {
			return nil, err
		}
		definitions, err := crd.Read(name, data)
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", name, err)
		}
		all = append(all, definitions...)
	}
	return schema.NewCatalog(crd.NewSource(all), builtin.Source()), nil
})
