package plan

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// subresources are those that rules may write, by the one resource that has it, or the empty one if any resource may have it. The API
// server answers a PATCH of these with the object itself, or with its Scale.
//
// Others are refused. The API server connects a PATCH of proxy to a Pod, a Service or a Node, which may answer anything. It serves no
// PATCH of exec, attach, portforward and log, which are streams, of binding, eviction and token, which are other objects that can only be
// created, and of finalize of Namespaces. Nor can be known what an API that is not of Kubernetes does with a name of its own.
var subresources = map[string]schema.GroupResource{
	"status":              {},
	"scale":               {},
	"approval":            {Group: "certificates.k8s.io", Resource: "certificatesigningrequests"},
	"ephemeralcontainers": {Resource: "pods"},
	"resize":              {Resource: "pods"},
}

// Subresources lists the names of the subresources that rules may write, in order.
func Subresources() []string { return slices.Sorted(maps.Keys(subresources)) }

// MayWrite reports whether rules may write a subresource of a resource. The empty one is the resource itself.
func MayWrite(of schema.GroupResource, subresource string) bool {
	only, known := subresources[subresource]
	return subresource == "" || known && (only == schema.GroupResource{} || only == of)
}

// Custom reports whether a group is surely none of Kubernetes itself.
func Custom(group string) bool {
	return strings.Contains(group, ".") && !strings.HasSuffix(group, ".k8s.io")
}
