package plan

import (
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Permission is a right that rules need, as RBAC tells rights apart. It is
// comparable.
type Permission struct {
	Verb        string // of RBAC: get, list, watch, create, update, patch, delete
	Resource    schema.GroupResource
	Subresource string // empty for the resource itself
	Namespace   string // empty for all of them, and for cluster-scoped resources
	Name        string // empty for every object
}

// String says the right as a sentence goes on after "may not", such as "patch
// tidbclusters.pingcap.com/status in namespace shop". What is not bound to a namespace
// is "cluster-wide", which is true of a resource without namespaces too.
func (p Permission) String() string {
	var text strings.Builder
	text.WriteString(p.Verb + " " + p.Resource.String())
	if p.Subresource != "" {
		text.WriteString("/" + p.Subresource)
	}
	if p.Name != "" {
		text.WriteString(" " + strconv.Quote(p.Name))
	}
	if p.Namespace == "" {
		text.WriteString(" cluster-wide")
	} else {
		text.WriteString(" in namespace " + p.Namespace)
	}
	return text.String()
}

// Compare orders permissions by resource, subresource, namespace, name and verb.
func (p Permission) Compare(other Permission) int {
	key := func(p Permission) []string {
		return []string{p.Resource.Group, p.Resource.Resource, p.Subresource, p.Namespace, p.Name, p.Verb}
	}
	return slices.Compare(key(p), key(other))
}
