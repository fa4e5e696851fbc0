package plan

import (
	"cmp"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// LeftoverKind is a kind of thing that rules leave on objects.
type LeftoverKind string

// The kinds of leftovers.
const (
	LeftFinalizer LeftoverKind = "finalizer" // of onDelete with hold
	LeftFields    LeftoverKind = "fields"    // that a patch applied
	LeftChildren  LeftoverKind = "children"  // objects that were applied
	LeftCreated   LeftoverKind = "created"   // objects that were created, which are never cleaned up
)

// Known reports whether there is such a kind.
func (k LeftoverKind) Known() bool {
	return k == LeftFinalizer || k == LeftFields || k == LeftChildren || k == LeftCreated
}

// Leftover is what a rule may leave on the objects of a resource. It is
// comparable.
type Leftover struct {
	Rule      Rule
	GVR       schema.GroupVersionResource
	Namespace string // where the objects are; empty for everywhere, and for cluster-scoped ones
	Kind      LeftoverKind
	Release   ReleasePolicy // of fields, empty otherwise
	Prune     bool          // of children: they go with the rule, others stay
	// Account is the ServiceAccount that the rule acts as, and cleans up as; empty for the
	// process's own.
	Account types.NamespacedName
}

// String says what is left, whose, and where.
func (l Leftover) String() string {
	text := fmt.Sprintf("%s of rule %s on %s", l.Kind, l.Rule, ResourceName(l.GVR))
	if l.Namespace != "" {
		text += " in namespace " + l.Namespace
	}
	return text
}

// Thing is what stays the same while a rule goes on leaving it: all but the
// version of the resource, which has the same objects in each, the policies, and
// the account, which may be another one by now.
// Leftovers with the same thing are one.
func (l Leftover) Thing() Leftover {
	l.GVR.Version, l.Release, l.Prune, l.Account = "", "", false, types.NamespacedName{}
	return l
}

// Compare orders leftovers by set, rule, resource, namespace and kind.
func (l Leftover) Compare(other Leftover) int {
	key := func(l Leftover) []string {
		return []string{
			l.GVR.Group, l.GVR.Resource, l.Namespace, string(l.Kind), l.GVR.Version, string(l.Release), l.Account.Namespace, l.Account.Name,
		}
	}
	return cmp.Or(l.Rule.Compare(other.Rule), slices.Compare(key(l), key(other)))
}
