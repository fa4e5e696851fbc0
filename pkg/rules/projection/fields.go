package projection

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/footprint"
)

// Fields are what a cache keeps of an object. They are immutable and safe for concurrent use. Nil Fields keep whole objects.
type Fields struct {
	tree    *footprint.Tree
	root    *node
	text    string
	version bool
}

// New returns Fields that keep what the trees have and what the engine needs of every object. They are nil where that is the
// whole object.
//
// An evaluation and a plan from a projected object equal those from the whole object if the trees are those of all rules that may
// see it, as [footprint.Access.Kept] joins them. Without the Writes a plan would take a field that it
// writes for absent, and send it again for ever. A list that a rule writes is a whole value in Writes, so it has no holes where
// a plan compares it with what the API server would store.
func New(trees ...*footprint.Tree) *Fields {
	tree := footprint.Union(trees...)
	version := tree.Touches(footprint.Fields("metadata", "resourceVersion"))
	for _, key := range identity {
		tree.Add(footprint.Fields("metadata", key), footprint.Value)
	}
	for _, key := range annotations {
		tree.Add(footprint.Fields("metadata", "annotations", key), footprint.Value)
	}
	if tree.All() {
		return nil
	}
	root := compile(tree, "")
	root.fields["metadata"].addManagedFields()
	root.object = true
	return &Fields{tree: tree, root: root, text: strings.Join(tree.Paths(), " "), version: version}
}

// Union keeps what either keeps.
func Union(a, b *Fields) *Fields {
	if a == nil || b == nil {
		return nil
	}
	union := New(a.tree, b.tree)
	if union != nil {
		union.version = a.version || b.version // Both trees have it for the engine.
	}
	return union
}

// node is that of an object.
func (f *Fields) node() *node {
	if f == nil {
		return whole
	}
	return f.root
}

// HasVersion reports whether the resourceVersion is among the trees, and not kept for the engine alone: then each version of an
// object says something else.
func (f *Fields) HasVersion() bool { return f == nil || f.version }

// identity is what is kept of the metadata of every object. The generation is not: it counts changes that no rule may read.
var identity = []string{
	"name", "generateName", "namespace", "uid", "resourceVersion", "creationTimestamp",
	"deletionTimestamp", "deletionGracePeriodSeconds", "ownerReferences", "finalizers", "labels",
}

// annotations are those that the engine and its informers obey. The last one is on bookmarks only.
var annotations = []string{plan.AdoptedAnnotation, plan.RestoreAnnotation, metav1.InitialEventsAnnotationKey}

// Covers reports whether objects with these fields have all that other would keep. It may miss that they do, never that they
// do not.
func (f *Fields) Covers(other *Fields) bool {
	return f == nil || other != nil && f.tree.Covers(other.tree)
}

// String lists the fields as an expression names them; "*" is the whole object.
func (f *Fields) String() string {
	if f == nil {
		return "*"
	}
	return f.text
}

// node is a field that is kept. A nil node is a field that is not.
type node struct {
	key      string // the same string for all objects
	strength footprint.Strength
	fields   map[string]*node
	values   *node // of keys that are not in fields
	elements map[int]*node
	items    *node // at indexes that are not in elements
	places   bool  // of a list: elements that are not kept are nil
	texts    bool  // of a list: elements that are strings are kept, as "in" asks for them
	managed  bool  // it is metadata.managedFields
	text     bool  // a map is kept as the text of its JSON
	read     bool  // of managedFields: rules read something of them
	object   bool  // it is a whole object, not a map in one
}

func compile(from *footprint.Tree, key string) *node {
	n := &node{key: key, strength: from.Strength(), fields: map[string]*node{}, elements: map[int]*node{}}
	for step, below := range from.Below() {
		switch child := compile(below, step.Key()); {
		case step == footprint.Values():
			n.values = child
		case step == footprint.Items():
			n.items = child
		case step.IntoList():
			n.elements[step.Index()] = child
		default:
			n.fields[step.Key()] = child
		}
	}
	if n.strength == footprint.Value {
		return n
	}
	n.texts = len(n.fields) > 0
	n.places = n.texts || n.strength == footprint.Length || n.items != nil || len(n.elements) > 0
	for _, key := range [...]string{"apiVersion", "kind"} { // They tell an object from a map, and rules read the two differently.
		if n.field(key) == nil {
			n.fields[key] = &node{key: key, strength: footprint.Exists}
		}
	}
	return n
}

// addManagedFields is for the node of metadata.
func (n *node) addManagedFields() {
	if n.strength == footprint.Value {
		return
	}
	managed := node{key: "managedFields", strength: footprint.Exists, managed: true, read: n.strength == footprint.Length}
	if read := n.field("managedFields"); read != nil {
		managed = *read
		managed.key, managed.managed, managed.read = "managedFields", managed.strength < footprint.Value, true
	}
	n.fields["managedFields"] = &managed
}

func (n *node) field(key string) *node {
	if below := n.fields[key]; below != nil {
		return below
	}
	return n.values
}

func (n *node) element(i int) *node {
	if below := n.elements[i]; below != nil {
		return below
	}
	return n.items
}
