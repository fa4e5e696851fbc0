package engine

import (
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// keyOf is the key of whatever object has the name.
func keyOf(object plan.Object) Key {
	return Key{GVR: object.GVR, Namespace: object.Namespace, Name: object.Name}
}

// ofAnyVersion is the same for an object that is read or written in several versions
// of its resource: what is stored is one.
func (k Key) ofAnyVersion() Key {
	k.GVR = schema.GroupVersionResource{Group: k.GVR.Group, Resource: k.GVR.Resource}
	return k
}

func versionOf(object map[string]any) string {
	return plan.Text(object, "metadata", "resourceVersion")
}

func uidOf(object map[string]any) types.UID {
	return types.UID(plan.Text(object, "metadata", "uid"))
}
