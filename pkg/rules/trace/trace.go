package trace

import (
	"time"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// Trace is how one rule came to its decision about one object.
type Trace struct {
	Rule   Rule   `json:"rule"`
	Object Object `json:"object"`
	// Now is the instant of the evaluation.
	Now      time.Time `json:"now"`
	Decision Decision  `json:"decision"`
	// Obstacles keep the rule from the object whatever its conditions are, or will keep it.
	Obstacles []Obstacle `json:"obstacles,omitempty"`
	Condition Condition  `json:"condition"`
	Actions   []Action   `json:"actions,omitempty"`
	// Requests are what would be sent, in order.
	Requests []Request `json:"requests,omitempty"`
	// Others are the rules that were evaluated together with this one.
	Others []Other `json:"others,omitempty"`
	// Controller is what a running controller remembers of the object, nil where none was
	// asked.
	Controller *Memory `json:"controller,omitempty"`
}

// Rule says which rule it is.
type Rule struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Set       string `json:"set"`
	Name      string `json:"name"`

	Description string `json:"description,omitempty"`
	// ActsAs is the ServiceAccount of the set, as namespace/name, empty for that of the
	// controller.
	ActsAs string `json:"actsAs,omitempty"`
	At     Place  `json:"at,omitzero"`
}

// RuleOf names a rule.
func RuleOf(id plan.Rule) Rule {
	return Rule{Kind: id.Kind, Namespace: id.Namespace, Set: id.Set, Name: id.Name}
}

// ID is the name of the rule as plans have it.
func (r Rule) ID() plan.Rule {
	return plan.Rule{Kind: r.Kind, Namespace: r.Namespace, Set: r.Set, Name: r.Name}
}

// String returns "set/rule".
func (r Rule) String() string { return r.ID().String() }

// Object says which object it is.
type Object struct {
	Group     string `json:"group,omitempty"`
	Version   string `json:"version"`
	Resource  string `json:"resource"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	// ResourceVersion is that of the object as it was seen.
	ResourceVersion string `json:"resourceVersion,omitempty"`
}

// ObjectOf names an object.
func ObjectOf(o plan.Object) Object {
	return Object{
		Group: o.GVR.Group, Version: o.GVR.Version, Resource: o.GVR.Resource,
		Namespace: o.Namespace, Name: o.Name, ResourceVersion: o.ResourceVersion,
	}
}

// String returns "resource namespace/name".
func (o Object) String() string {
	name := o.Name
	if o.Namespace != "" {
		name = o.Namespace + "/" + name
	}
	return o.Resource + " " + name
}

// Place is where something is written. Line and Column count from 1.
type Place struct {
	File   string `json:"file,omitempty"`
	Line   int    `json:"line"`
	Column int    `json:"column"`
}

// Decision is what became of the rule.
type Decision struct {
	// Outcome is empty where the rule was not asked: Obstacles say why.
	Outcome plan.Outcome `json:"outcome,omitempty"`
	Reason  string       `json:"reason,omitempty"`
	// Audited says that nothing is written, whatever is decided.
	Audited bool `json:"audited,omitempty"`
	// Settled says that all is as the rule wants it.
	Settled bool `json:"settled,omitempty"`
	// Next is when the rules look at the object again although nothing changes, nil for
	// not at all.
	Next *Next `json:"next,omitempty"`
}

// Next is a moment, and what comes then.
type Next struct {
	At      time.Time `json:"at"`
	Because string    `json:"because"`
}

// Obstacle keeps a rule from an object.
type Obstacle struct {
	Kind Kind   `json:"kind"`
	Text string `json:"text"`
}

// Kind is that of an obstacle.
type Kind string

// The kinds of obstacles.
const (
	OtherResource  Kind = "other-resource"  // the rule does not watch the resource
	OtherNamespace Kind = "other-namespace" // the set acts in another namespace
	NotSelected    Kind = "not-selected"    // the selectors of the resource do not admit it
	Suspended      Kind = "suspended"
	Audit          Kind = "audit"
	BeingDeleted   Kind = "being-deleted"
	NoObject       Kind = "no-object"
	NoResource     Kind = "no-resource" // the API server does not serve it: there is no CRD
	Forbidden      Kind = "forbidden"
	Unknown        Kind = "unknown" // something could not be found out
)

// Other is a rule that was evaluated together with another one.
type Other struct {
	Rule    string       `json:"rule"`
	Outcome plan.Outcome `json:"outcome"`
}
