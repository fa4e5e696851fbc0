package write

import (
	"cmp"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// Echo is what the caches must show of a write before the object that it was
// decided for is evaluated again.
type Echo struct {
	// Object is the object as it came back: with name, uid and resourceVersion.
	// The version is empty where it has none any more.
	Object plan.Object
	// Gone says that it must be gone from the caches, or be there as another object, or where
	// there is a version, with a deletionTimestamp and of that version.
	Gone bool
}

// echo is nil where the answer has no version to wait for.
func echo(target plan.Object, answer map[string]any) *Echo {
	object := identity(target, answer)
	if object.ResourceVersion = version(answer); object.ResourceVersion == "" {
		return nil
	}
	return &Echo{Object: object}
}

// gone is the echo of an object that is not there any more.
func gone(target plan.Object) *Echo {
	target.ResourceVersion = ""
	return &Echo{Object: target, Gone: true}
}

// going is the echo of a deletion, by what came back: a Status, the object as it
// was where that was its end, or as it is until its finalizers or its grace are
// over.
func going(target plan.Object, answer map[string]any) *Echo {
	out := gone(target)
	if object := (&unstructured.Unstructured{Object: answer}); object.GetDeletionTimestamp() != nil && !unheld(target, answer) {
		out.Object = identity(target, answer)
	}
	return out
}

// identity is the target by its answer. Some subresources answer with an object of
// another kind, which has the name, uid and version of the target.
func identity(target plan.Object, answer map[string]any) plan.Object {
	object := &unstructured.Unstructured{Object: answer}
	target.Namespace = cmp.Or(object.GetNamespace(), target.Namespace)
	target.Name = cmp.Or(object.GetName(), target.Name)
	target.UID = cmp.Or(object.GetUID(), target.UID)
	target.ResourceVersion = cmp.Or(version(answer), target.ResourceVersion)
	return target
}

func version(object map[string]any) string {
	return (&unstructured.Unstructured{Object: object}).GetResourceVersion()
}

// ended reports whether a patch was the end of an object that was being deleted. The
// API server answers then with what it would have stored, under the version that it
// found, so that a patch that took the last finalizer looks like one that changed
// nothing.
func ended(target plan.Object, answer map[string]any) bool {
	stored := version(answer)
	return unheld(target, answer) && (stored == "" || stored == target.ResourceVersion)
}

// unheld reports whether an object is being deleted and nothing keeps it any more:
// nobody sees it again.
func unheld(target plan.Object, answer map[string]any) bool {
	object := &unstructured.Unstructured{Object: answer}
	if object.GetDeletionTimestamp() == nil || len(object.GetFinalizers()) > 0 {
		return false
	}
	grace := object.GetDeletionGracePeriodSeconds()
	return (grace == nil || *grace == 0) && !heldBySpec(target, answer)
}

// heldBySpec reports whether a Namespace has the finalizers that it alone has.
func heldBySpec(target plan.Object, answer map[string]any) bool {
	if target.GVR.Group != "" || target.GVR.Resource != "namespaces" {
		return false
	}
	held, _, _ := unstructured.NestedSlice(answer, "spec", "finalizers")
	return len(held) > 0
}
