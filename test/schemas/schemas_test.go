package schemas_test

import (
	"testing"

	kubernetes "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/test/schemas"
)

func TestCatalog(t *testing.T) {
	known := schemas.Catalog(t)
	for name, tc := range map[string]struct {
		reason     string
		resource   kubernetes.GroupVersionResource
		namespaced bool
	}{
		"gateways":     {"Of our own.", schemas.Gateways(), true},
		"tenants":      {"They are the cluster's.", schemas.Tenants(), false},
		"tidbclusters": {"Of a real project.", kubernetes.GroupVersionResource{Group: "pingcap.com", Version: "v1alpha1", Resource: "tidbclusters"}, true},
		"pods":         {"Of Kubernetes.", kubernetes.GroupVersionResource{Version: "v1", Resource: "pods"}, true},
	} {
		found := known.Resource(tc.resource)
		if found == nil || !found.Type.Known() || found.Namespaced != tc.namespaced {
			t.Errorf("%s: %s have %+v", name, tc.reason, found)
		}
	}
}
