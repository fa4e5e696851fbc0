package plan

import (
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// ResourceName writes a GVR as kubectl takes it, such as
// tidbclusters.v1alpha1.pingcap.com.
func ResourceName(gvr schema.GroupVersionResource) string {
	return strings.TrimSuffix(gvr.Resource+"."+gvr.Version+"."+gvr.Group, ".")
}

// Object is the object that an operation is about, as the snapshot saw it.
type Object struct {
	GVR             schema.GroupVersionResource
	Kind            string
	Namespace       string
	Name            string
	UID             types.UID
	ResourceVersion string
}

// ObjectOf says which object it is that the API server has stored so.
func ObjectOf(gvr schema.GroupVersionResource, object map[string]any) Object {
	metadata, _ := object["metadata"].(map[string]any)
	return Object{
		GVR: gvr, Kind: Text(object, "kind"), Namespace: Text(metadata, "namespace"), Name: Text(metadata, "name"),
		UID: types.UID(Text(metadata, "uid")), ResourceVersion: Text(metadata, "resourceVersion"),
	}
}

// String returns "resource namespace/name" without the namespace where there
// is none.
func (o Object) String() string {
	name := o.Name
	if o.Namespace != "" {
		name = o.Namespace + "/" + name
	}
	return o.GVR.Resource + " " + name
}

// IsSecret reports whether the object's values must not be shown.
func (o Object) IsSecret() bool { return o.GVR.Group == "" && o.GVR.Resource == "secrets" }
