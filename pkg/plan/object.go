package plan

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
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

// ShownOfSecrets are the fields of a Secret that are shown as those of every object. Annotations may have a copy of the values.
var ShownOfSecrets = []Path{
	{"apiVersion"},
	{"kind"},
	{"type"},
	{"metadata", "name"},
	{"metadata", "namespace"},
	{"metadata", "uid"},
	{"metadata", "labels"},
	{"metadata", "creationTimestamp"},
	{"metadata", "deletionTimestamp"},
	{"metadata", "finalizers"},
	{"metadata", "ownerReferences"},
	{"metadata", "annotations", AdoptedAnnotation},
}

// Shows reports whether a field of the object may be shown: of a Secret, only those of [ShownOfSecrets], and what is below them.
func (o Object) Shows(field Path) bool {
	return !o.IsSecret() || slices.ContainsFunc(ShownOfSecrets, func(shown Path) bool {
		return len(shown) <= len(field) && slices.Equal(shown, field[:len(shown)])
	})
}

// FieldManager is the name under which merge and JSON patches are sent.
const FieldManager = "dyncontroller"

// What an object carries that a set of rules made or adopted.
const (
	LabelSet          = "dyncontroller.dev/set"       // the [Rule.SetID]
	LabelRule         = "dyncontroller.dev/rule"      // the name of the rule
	LabelOwnerUID     = "dyncontroller.dev/owner-uid" // of the object that the rule watched
	AdoptedAnnotation = "dyncontroller.dev/adopted"   // on what was there before the rule was
)

// Rule names a rule by where it was written. It is comparable.
type Rule struct {
	Kind      string `json:"kind"`                // RuleSet or ClusterRuleSet
	Namespace string `json:"namespace,omitempty"` // empty for a ClusterRuleSet
	Set       string `json:"set"`
	Name      string `json:"name"`
}

// String returns "set/rule", the form users type and read.
func (r Rule) String() string { return r.Set + "/" + r.Name }

// OfSet stands for the set of the rule: it has no name of its own.
func (r Rule) OfSet() Rule {
	r.Name = ""
	return r
}

// Compare orders rules by set and name.
func (r Rule) Compare(other Rule) int {
	return cmp.Or(cmp.Compare(r.Set, other.Set), cmp.Compare(r.Kind, other.Kind),
		cmp.Compare(r.Namespace, other.Namespace), cmp.Compare(r.Name, other.Name))
}

// SetName names the set of the rule apart from others of the same name.
func (r Rule) SetName() string {
	if r.Namespace == "" {
		return r.Kind + " " + r.Set
	}
	return r.Kind + " " + r.Namespace + "/" + r.Set
}

// ID is short, stable over restarts and distinct for rules of the same name in
// different sets or namespaces.
func (r Rule) ID() string {
	return digest(r.Kind, r.Namespace, r.Set, r.Name)
}

// FieldManager owns the fields that the rule applies. It is per rule, or two
// rules would take each other's fields away on every apply.
func (r Rule) FieldManager() string { return FieldManager + "/" + r.ID() }

// SetID is the value of [LabelSet]: distinct for sets of the same name.
func (r Rule) SetID() string {
	return named(r.Set, r.Kind, r.Namespace, r.Set)
}

// Finalizer is the name by which the rule holds an object that is being
// deleted.
func (r Rule) Finalizer() string {
	return finalizerPrefix + r.qualified()
}

// qualified names the rule apart from those of the same name in other sets or namespaces, in the characters of a label.
func (r Rule) qualified() string { return named(r.Set+"."+r.Name, r.Kind, r.Namespace, r.Set, r.Name) }

// Holds reports whether the finalizer of the rule is on an object.
func (r Rule) Holds(object map[string]any) bool {
	found, _ := Lookup(object, finalizersPath)
	list, _ := found.([]any)
	return slices.Contains(list, any(r.Finalizer()))
}

const finalizerPrefix = "dyncontroller.dev/"

// digestSize is of a digest in bytes, each two characters: too many for two rules to have the
// same by chance, or for somebody to look for another's.
const digestSize = 8

// longestName leaves room for the digest in the 63 characters that a label or
// the name of a finalizer may have.
const longestName = 63 - len("-") - 2*digestSize

// named tells apart what has the same name, or the same beginning of one.
func named(name string, distinct ...string) string {
	return name[:min(len(name), longestName)] + "-" + digest(distinct...)
}

// digest is short and does not change with the version of this program.
func digest(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:digestSize])
}

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
	text := p.Verb + " " + p.Resource.String()
	if p.Subresource != "" {
		text += "/" + p.Subresource
	}
	if p.Name != "" {
		text += " " + strconv.Quote(p.Name)
	}
	if p.Namespace == "" {
		return text + " cluster-wide"
	}
	return text + " in namespace " + p.Namespace
}

// Compare orders permissions by resource, subresource, namespace, name and verb.
func (p Permission) Compare(other Permission) int {
	key := func(p Permission) []string {
		return []string{p.Resource.Group, p.Resource.Resource, p.Subresource, p.Namespace, p.Name, p.Verb}
	}
	return slices.Compare(key(p), key(other))
}
