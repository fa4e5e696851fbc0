package spec

import (
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
)

// APIVersion is the version of the language.
const APIVersion = "dyncontroller.dev/v1alpha1"

// The kinds of documents. The kind alone decides the scope of a set.
const (
	KindRuleSet        = "RuleSet"
	KindClusterRuleSet = "ClusterRuleSet"
	KindRuleTest       = "RuleTest"
)

// Mode says whether rules write.
type Mode string

// The modes. The empty one is that of the set, and Enforce for a set.
const (
	Enforce Mode = "Enforce"
	Audit   Mode = "Audit" // decide and report, write nothing
)

// Set is a parsed document.
type Set struct {
	File        string
	Kind        string
	Namespace   string // empty for a ClusterRuleSet
	Name        string
	Description string
	// Identity is the ServiceAccount that reads and writes, empty for the
	// process's own.
	Identity  types.NamespacedName
	Mode      Mode
	Params    []Definition
	Let       []Definition
	Resources []Resource
	Rules     []Rule
	// Resume are the names that [ResumeAnnotation] gives.
	Resume []string

	node   *document.Node
	faulty bool
}

// Node returns the whole document.
func (s *Set) Node() *document.Node { return s.node }

// Faulty reports whether mistakes were found when it was read, so that parts of it may
// be missing.
func (s *Set) Faulty() bool { return s.faulty }

// Definition is a name and what it stands for: an entry of let, with or params.
type Definition struct {
	Name  string
	Key   *document.Node
	Value *document.Node
}

// Resource is a declaration under `resources`.
type Resource struct {
	Name          string
	GVR           schema.GroupVersionResource
	Namespaces    []string
	LabelSelector string
	FieldSelector string
}

// Rule is a rule as it was written. Nodes are nil where the field is absent.
type Rule struct {
	Name        string
	Description string
	Watch       *document.Node
	With        []Definition
	Let         []Definition
	When        *document.Node
	For         *document.Node
	Actions     []*document.Node
	OnDelete    *OnDelete
	Suspend     bool
	Mode        Mode
	Limits      *Limits

	node *document.Node
}

// Node returns the whole rule.
func (r *Rule) Node() *document.Node { return r.node }

// OnDelete is what a rule does while the object is being deleted.
type OnDelete struct {
	Actions []*document.Node
	Done    *document.Node
	// Hold keeps the object until Done, by a finalizer.
	Hold bool
}

// Limits are the blast radius of a rule: for how many of the objects it watches
// it may write within a sliding window. Either Objects or Percent is set.
type Limits struct {
	Objects int
	Percent float64
	Per     time.Duration
}

// Everything reports whether the limit is no limit, but consent.
func (l *Limits) Everything() bool { return l.Percent >= 100 }
