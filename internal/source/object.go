package source

import (
	"maps"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/pkg/api/v1alpha1"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/spec"
)

// Object is a set object as the cluster has it.
type Object struct {
	Key
	UID             types.UID
	ResourceVersion string
	Generation      int64
	// Deleting says that it has a deletionTimestamp, and Finalizer that our finalizer
	// is on it.
	Deleting, Finalizer bool
	// Status is what it has, with the inventory: empty where it cannot be read.
	Status v1alpha1.Status
	// Annotations are shared: read only.
	Annotations map[string]string
	// LostNull is where the author wrote a null that the object does not have, such as
	// "spec.rules[0].when"; empty for nowhere.
	LostNull string
	// Document is what the object says, to be compiled as a file is. It has nothing but
	// apiVersion, kind, name, namespace and spec, and is the same for the same of these,
	// byte for byte. The name of the file is that of the set, "RuleSet shop/guard"; its
	// lines mean nothing to anybody, so a mistake is shown by its path.
	Document document.File
	// Resources are those that it names, each once. They are shared: read only.
	Resources []apischema.GroupVersionResource
}

// objectOf reads an object. It keeps nothing of it that may be changed.
func objectOf(kind string, u *unstructured.Unstructured) Object {
	key := Key{Kind: kind, Namespace: u.GetNamespace(), Name: u.GetName()}
	said := DocumentOf(key, u.Object)
	return Object{
		Key: key, UID: u.GetUID(), ResourceVersion: u.GetResourceVersion(), Generation: u.GetGeneration(),
		Deleting:  u.GetDeletionTimestamp() != nil,
		Finalizer: slices.Contains(u.GetFinalizers(), v1alpha1.Finalizer),
		Status:    v1alpha1.StatusOf(u), Annotations: u.GetAnnotations(), LostNull: lostNull(u),
		Document: said, Resources: ResourcesIn(said, key.Namespace),
	}
}

// ResourcesIn lists the resources that the rule sets of a file name, each once, as far as it
// can be read.
func ResourcesIn(file document.File, defaultNamespace string) []apischema.GroupVersionResource {
	sets, _ := spec.Parse([]document.File{file}, defaultNamespace)
	return resourcesOf(sets)
}

func resourcesOf(sets []*spec.Set) []apischema.GroupVersionResource {
	var out []apischema.GroupVersionResource
	for _, set := range sets {
		for _, resource := range set.Resources {
			if !slices.Contains(out, resource.GVR) {
				out = append(out, resource.GVR)
			}
		}
	}
	return out
}

// DocumentOf returns the document of a set object. What the object says is compiled as
// if it had been written to a file: numbers keep their types, and every text is within
// quotes, so that none reads as something else.
func DocumentOf(key Key, object map[string]any) document.File {
	metadata := map[string]any{"name": key.Name}
	if key.Namespace != "" {
		metadata["namespace"] = key.Namespace
	}
	fields := []field{{"apiVersion", spec.APIVersion}, {"kind", key.Kind}, {"metadata", metadata}}
	if said, there := object["spec"]; there {
		fields = append(fields, field{"spec", said})
	}
	return document.File{Name: key.String(), Data: encode(fields)}
}

// matters reports whether a change is more than what a status tells.
func matters(before, after map[string]any) bool {
	if before == nil || after == nil {
		return true
	}
	return !reflect.DeepEqual(essence(before), essence(after))
}

// essence is an object without what a status tells, but for what the inventory keeps there,
// and without the marks that every write leaves. What it says is a matter of its generation.
func essence(object map[string]any) map[string]any {
	metadata, _ := object["metadata"].(map[string]any)
	metadata = maps.Clone(metadata)
	delete(metadata, "resourceVersion")
	delete(metadata, "managedFields")
	status, _ := object["status"].(map[string]any)
	return map[string]any{"metadata": metadata, "inventory": status["inventory"], "paused": status["paused"]}
}
