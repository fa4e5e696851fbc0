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

func versionOf(object map[string]any) string { return textOf(object, "resourceVersion") }

func uidOf(object map[string]any) types.UID { return types.UID(textOf(object, "uid")) }

// textOf is a text of an object's metadata.
func textOf(object map[string]any, field string) string {
	metadata, _ := object["metadata"].(map[string]any)
	text, _ := metadata[field].(string)
	return text
}

// labelOf is a label of an object.
func labelOf(object map[string]any, label string) string {
	metadata, _ := object["metadata"].(map[string]any)
	labels, _ := metadata["labels"].(map[string]any)
	text, _ := labels[label].(string)
	return text
}
