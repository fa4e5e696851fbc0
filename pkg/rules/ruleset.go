package rules

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

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

// RuleSet is a parsed document: everything that was written, with its place.
type RuleSet struct {
	File        string
	Kind        string
	Namespace   string // empty for a ClusterRuleSet
	Name        string
	Description string
	Let         []Let
	Resources   []Resource
	Rules       []RuleSource

	node *document.Node
}

// Let is a named value.
type Let struct {
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

// RuleSource is a rule as it was written.
type RuleSource struct {
	Name        string
	Description string
	Watch       *document.Node
	Let         []Let
	When        *document.Node // nil where absent
	Actions     []*document.Node
}
