package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// FieldManager is the name under which merge and JSON patches are sent.
const FieldManager = "dyncontroller"

// ResourceName writes a GVR as kubectl takes it, such as
// tidbclusters.v1alpha1.pingcap.com.
func ResourceName(gvr schema.GroupVersionResource) string {
	return strings.TrimSuffix(gvr.Resource+"."+gvr.Version+"."+gvr.Group, ".")
}

// Rule names a rule by where it was written. It is comparable.
type Rule struct {
	Kind      string // RuleSet or ClusterRuleSet
	Namespace string // empty for a ClusterRuleSet
	Set       string
	Name      string
}

// String returns "set/rule", the form users type and read.
func (r Rule) String() string { return r.Set + "/" + r.Name }

// ID is short, stable over restarts and distinct for rules of the same name in
// different sets or namespaces.
func (r Rule) ID() string {
	sum := sha256.Sum256([]byte(strings.Join([]string{r.Kind, r.Namespace, r.Set, r.Name}, "\x00")))
	return hex.EncodeToString(sum[:4])
}

// FieldManager owns the fields that the rule applies. It is per rule, or two
// rules would take each other's fields away on every apply.
func (r Rule) FieldManager() string { return FieldManager + "/" + r.ID() }

// Object is the object that an operation is about, as the snapshot saw it.
type Object struct {
	GVR             schema.GroupVersionResource
	Kind            string
	Namespace       string
	Name            string
	UID             types.UID
	ResourceVersion string
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

// Plan is everything that one evaluation of one object wants.
type Plan struct {
	Operations []Operation
	Events     []Event
	Decisions  []Decision
	// Suppressed is what would have been written if it were not known to have
	// no effect.
	Suppressed Marks
}

// Type says how the body of an operation is to be read.
type Type string

// The three kinds of patch.
const (
	Merge Type = "merge" // RFC 7386
	JSON  Type = "json"  // RFC 6902
	Apply Type = "apply" // server-side apply, KEP-555
)

// Operation is one request to be: the joined wishes of one or more rules.
type Operation struct {
	Target      Object
	Subresource string
	Type        Type
	Body        any // map[string]any for Merge and Apply, []any for JSON
	Manager     string
	Force       bool // of Apply only
	Rules       []Rule
	Changes     []Change
	// Predicted is the object after the operation, as far as it can be known
	// without the server: no defaulting, no admission.
	Predicted map[string]any
}

// Change is a field that an operation writes, with the rule that asked for it.
// Before and After are nil where the field is absent.
type Change struct {
	Rule   Rule
	Path   Path
	Before any
	After  any
	// existed tells a null that was there from a field that was not.
	existed bool
}

// String names the rule and the field, not the values, which may be secret.
func (c Change) String() string { return c.Rule.String() + ": " + c.Path.String() }

// Event is a Kubernetes Event to be recorded once the rule's operations have
// succeeded.
type Event struct {
	Rule      Rule
	Regarding Object
	Type      string // Normal or Warning
	Reason    string
	Action    string
	Message   string
}

// Outcome is what became of a rule in one evaluation.
type Outcome string

// The outcomes of a rule.
const (
	Matched   Outcome = "matched"
	Unmatched Outcome = "not matched"
	Skipped   Outcome = "skipped"
	Withheld  Outcome = "withheld"
	Failed    Outcome = "failed"
)

// Troubled reports whether the rule could not act although it may have wanted
// to.
func (o Outcome) Troubled() bool { return o == Failed || o == Withheld }

// Decision says what became of a rule and why.
type Decision struct {
	Rule    Rule
	Outcome Outcome
	Reason  string
	Err     error // of Failed only
}

// CameTrue reports whether the object is as predicted, apart from what the API
// server alone writes. Where it is not, admission or another writer had a
// hand in it, and what else was planned may be wrong.
func (o Operation) CameTrue(object map[string]any) bool {
	return equal(withoutBookkeeping(o.Predicted), withoutBookkeeping(object))
}

func withoutBookkeeping(object map[string]any) map[string]any {
	out := maps.Clone(object)
	metadata, _ := object["metadata"].(map[string]any)
	metadata = maps.Clone(metadata)
	for _, key := range []string{"resourceVersion", "generation", "managedFields"} {
		delete(metadata, key)
	}
	out["metadata"] = metadata
	return out
}
