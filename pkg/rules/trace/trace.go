package trace

import (
	"encoding/json"
	"fmt"
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
	// Sets are the set objects of the same ServiceAccount whose newest version is not the one in effect, or may not be.
	Sets []Set `json:"sets,omitempty"`
	// Controller is what a running controller remembers of the object, nil where none was
	// asked.
	Controller *Memory `json:"controller,omitempty"`
}

// Rule says which rule it is, and what its author says of it.
type Rule struct {
	plan.Rule
	Description string `json:"description,omitempty"`
	// ActsAs is the ServiceAccount of the set, as namespace/name, empty for that of the
	// controller.
	ActsAs string `json:"actsAs,omitempty"`
	At     Place  `json:"at,omitzero"`
}

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
	// Path is such as spec.rules[0].when. It is set where nobody has the text in which the lines are.
	Path string `json:"path,omitempty"`
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
	At      time.Time `json:"at,omitzero"` // zero where it may tell of a Secret
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

// Set says which version of a set object is in effect. It is the answer to GET /explain?kind=&namespace=&set= at the metrics
// address of a controller; of a set that it does not know, only Name is there.
type Set struct {
	Name string `json:"name"` // such as "RuleSet shop/guard"
	// Newest is the generation of the newest version, and Refused why that is refused, empty where it is not.
	Newest  int64  `json:"newest,omitempty"`
	Refused string `json:"refused,omitempty"`
	// InEffect is the generation of the version in effect, zero for none. Unknown says that only the controller knows it.
	InEffect int64 `json:"inEffect,omitempty"`
	Unknown  bool  `json:"unknown,omitempty"`
	// Explained is the generation of the version that is explained, zero for none.
	Explained int64 `json:"explained,omitempty"`
	// Object is the version in effect, only in the answer of a controller.
	Object json.RawMessage `json:"object,omitempty"`
}

// String says it in a line.
func (s Set) String() string {
	out := fmt.Sprintf("%s: generation %d is not judged yet", s.Name, s.Newest)
	if s.Refused != "" {
		out = fmt.Sprintf("%s: generation %d is refused: %s", s.Name, s.Newest, s.Refused)
	}
	switch {
	case s.Unknown:
		out += "; the version in effect is not known here: ask the controller with --controller"
	case s.InEffect == 0:
		return out + "; no version is in effect"
	case s.InEffect == s.Newest:
		out += "; it is in effect, as it was accepted before"
	default:
		out += fmt.Sprintf("; generation %d is in effect", s.InEffect)
	}
	switch s.Explained {
	case 0:
	case s.InEffect:
		out += ", and is explained here"
	default:
		out += fmt.Sprintf("; generation %d is explained here", s.Explained)
	}
	return out
}

// Memory is what a running controller remembers of an object. It is the answer to
// GET /explain?group=&version=&resource=&namespace=&name= at its metrics address; an
// object of which nothing is remembered has no Records.
type Memory struct {
	Object Object `json:"object"`
	// Records are those of the rules that have looked at the object, in their order.
	Records []Record `json:"records"`
	// Waits is what the object waits for before it is evaluated, such as a cache or a
	// write that is to be seen, empty for nothing.
	Waits string `json:"waits,omitempty"`
	// Trouble is why the object could not be looked at by any rule.
	Trouble Trouble `json:"trouble,omitzero"`
}

// Record is what a controller remembers of one rule and one object. It tells no values.
type Record struct {
	Rule    plan.Rule    `json:"rule"`
	Outcome plan.Outcome `json:"outcome,omitempty"`
	Reason  string       `json:"reason,omitempty"`
	Audited bool         `json:"audited,omitempty"`
	// At is when it was decided, and Since when it was first decided like that.
	At    time.Time `json:"at,omitzero"`
	Since time.Time `json:"since,omitzero"`
	// HeldSince is since when the condition of a rule with `for` holds.
	HeldSince time.Time `json:"heldSince,omitzero"`
	// LookAgainAt is when the rule looks again although nothing changes.
	LookAgainAt time.Time `json:"lookAgainAt,omitzero"`
	Trouble     Trouble   `json:"trouble,omitzero"`
	// WrittenAt is when the rule last changed something because of the object.
	WrittenAt time.Time `json:"writtenAt,omitzero"`
}

// Trouble is what keeps a rule from carrying out what it decided.
type Trouble struct {
	// Failure is why the last attempt of Attempts in a row failed; Next is when the next
	// one comes. Quarantined says that it is tried only now and then.
	Failure     string    `json:"failure,omitempty"`
	Attempts    int       `json:"attempts,omitempty"`
	Next        time.Time `json:"next,omitzero"`
	Quarantined bool      `json:"quarantined,omitempty"`
	// Contest says who undoes what the rule writes, and that it is slowed down.
	Contest string `json:"contest,omitempty"`
	// Paused says why the rule writes nothing at all, as past its limits.
	Paused string `json:"paused,omitempty"`
	// Wave says for which wave of a rollout the object waits.
	Wave string `json:"wave,omitempty"`
}

// Of is what is remembered of a rule, nil for nothing.
func (m *Memory) Of(rule plan.Rule) *Record {
	if m == nil {
		return nil
	}
	for i := range m.Records {
		if m.Records[i].Rule == rule {
			return &m.Records[i]
		}
	}
	return nil
}

// Action is an action of a rule, or what the engine does for it.
type Action struct {
	// Kind is patch, apply, create, delete or event; of what no action asks for it is
	// finalizer, prune or restore.
	Kind string `json:"kind"`
	At   Place  `json:"at,omitzero"`
	// Reached says that the rule came to it.
	Reached bool `json:"reached"`
	// ForEach is what the action repeats, empty for once.
	ForEach string `json:"forEach,omitempty"`
	// Turns are the elements of ForEach, the first ones of Count, or the one time.
	Turns []Turn `json:"turns,omitempty"`
	Count int    `json:"count"`
	Error string `json:"error,omitempty"`
}

// Turn is one time that an action is carried out.
type Turn struct {
	// Element is nil without ForEach.
	Element *Value  `json:"element,omitempty"`
	When    *Clause `json:"when,omitempty"`
	Wants   []Want  `json:"wants,omitempty"`
	Events  []Event `json:"events,omitempty"`
	Error   string  `json:"error,omitempty"`
}

// Want is what an action wants of one object, by itself: other rules and later actions may
// want otherwise.
type Want struct {
	Type        plan.Type `json:"type"`
	Object      string    `json:"object"`
	Subresource string    `json:"subresource,omitempty"`
	// Already says that it is so.
	Already bool `json:"already,omitempty"`
	// Changes are the first ones of Count.
	Changes []Change `json:"changes,omitempty"`
	Count   int      `json:"count"`
}

// Change is a field that is written.
type Change struct {
	Path   string `json:"path"`
	Before Value  `json:"before"`
	After  Value  `json:"after"`
	// Owners are the field managers that set the field, as managedFields says.
	Owners []plan.Manager `json:"owners,omitempty"`
}

// Event is a Kubernetes Event that is recorded after the writes.
type Event struct {
	Object  string `json:"object"`
	Type    string `json:"type"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

// Request is one request to be.
type Request struct {
	Type        plan.Type `json:"type"`
	Object      string    `json:"object"`
	Subresource string    `json:"subresource,omitempty"`
	Manager     string    `json:"manager,omitempty"`
	Force       bool      `json:"force,omitempty"`
	// Rules are all that it carries out.
	Rules []string `json:"rules"`
	// Audited says that it is not sent.
	Audited bool `json:"audited,omitempty"`
}

// Condition is what decides whether a rule matches.
type Condition struct {
	// When is nil where the rule has none, or was not asked.
	When *Clause `json:"when,omitempty"`
	// Done is that of onDelete, nil where it was not asked.
	Done *Clause `json:"done,omitempty"`
	// Healthy is that of rollout, nil where it was not asked.
	Healthy *Clause `json:"healthy,omitempty"`
	// For is nil where the rule acts at once, or does not match.
	For *Hold `json:"for,omitempty"`
	// Names are the names of let that were used, Lookups all of with.
	Names   []Name   `json:"names,omitempty"`
	Lookups []Lookup `json:"lookups,omitempty"`
}

// Clause is a condition, and the conditions that it is made of.
type Clause struct {
	// Operator joins Clauses. [Let] is for a name, whose definition they are.
	Operator Operator `json:"operator,omitempty"`
	Source   string   `json:"source"`
	At       Place    `json:"at"`
	Verdict  Verdict  `json:"verdict"`
	Error    string   `json:"error,omitempty"`
	// Reads are of a clause that is not taken apart.
	Reads []Read `json:"reads,omitempty"`
	// ChangesAt is when time alone may change the verdict.
	ChangesAt *time.Time `json:"changesAt,omitempty"`
	Clauses   []Clause   `json:"clauses,omitempty"`
}

// Read is a path as it is written, and its value.
type Read struct {
	Path string `json:"path"`
	Value
}

// Hold is `for`.
type Hold struct {
	// Duration is how long the condition must hold, empty where that is secret.
	Duration string    `json:"duration,omitempty"`
	Since    time.Time `json:"since"`
	// Until is when it has held long enough, nil if it has.
	Until *time.Time `json:"until,omitempty"`
	// Guessed says that Since is not remembered by anybody: it begins now.
	Guessed bool `json:"guessed,omitempty"`
}

// Name is a name of let.
type Name struct {
	Name   string `json:"name"`
	Source string `json:"source"`
	At     Place  `json:"at"`
	Error  string `json:"error,omitempty"`
	Value
}

// Lookup is a name of with.
type Lookup struct {
	Name string `json:"name"`
	At   Place  `json:"at"`
	// Asked says that the rule came to need it.
	Asked bool `json:"asked"`
	// Resource and By are what was looked for, such as "labels app=web in shop". By is
	// empty where there was nothing to look for, as for a name that is nil.
	Resource string `json:"resource"`
	By       string `json:"by,omitempty"`
	// Found are the objects, as namespace/name, the first ones of Count. There are none
	// where they would tell of a Secret.
	Found []string `json:"found,omitempty"`
	Count int      `json:"count"`
	// Missing are the names that no object has.
	Missing []string `json:"missing,omitempty"`
	Error   string   `json:"error,omitempty"`
}

// Verdict is what a condition was.
type Verdict string

// The verdicts.
const (
	True     Verdict = "true"
	False    Verdict = "false"
	Error    Verdict = "error"
	NotAsked Verdict = "not asked" // What stands before it had decided.
)

// Of is the verdict of a condition that was asked.
func Of(holds bool) Verdict {
	if holds {
		return True
	}
	return False
}

// Operator says how the parts of a condition make it up.
type Operator string

// The operators. A condition without one is not taken apart.
const (
	And    Operator = "&&"
	Or     Operator = "||"
	Not    Operator = "!"
	Choice Operator = "?:" // The condition, then what it leads to.
	Let    Operator = "let"
)
