// Package plan is what a set of rules wants done to objects, as plain data.
//
// Rules turn a snapshot into wishes, one for each action and object. [Build]
// turns the wishes into operations:
//
//	wishes -> conflicts withheld -> joined per object -> no-ops removed -> operations
//
// An operation becomes one request: a patch of what is there, with the fields
// of several rules and their finalizers, an apply of one rule, a new object, or
// a deletion. A [Read] is a question about other objects that led there.
//
// Nothing here reads a clock, a cluster or a log: the same wishes always give
// the same plan, in the same order. Nothing here sends a request either, or
// guards one with the version of the object.
package plan

import (
	"slices"
	"time"
)

// Plan is everything that one evaluation of one object wants. [Build] fills in
// the operations, the decisions about rules that are left out, and what is
// suppressed.
type Plan struct {
	Operations []Operation
	Events     []Event
	Decisions  []Decision
	// Unheld are the rules that want their finalizer on the watched object, where it is not yet. Nothing that they would have to
	// clean up is sent before.
	Unheld []Rule
	// Suppressed is what would have been written if it were not known to have
	// no effect.
	Suppressed Marks
	// Audited is what audited rules would write, and AuditedEvents what they would record.
	Audited       []Operation
	AuditedEvents []Event
	// Reads are the questions about other objects that were asked.
	Reads []Read
	// LookAgainAt is when an answer that was used changes with time alone, zero
	// for never.
	LookAgainAt time.Time
}

// Event is a Kubernetes Event to be recorded once the rule's operations have
// succeeded.
type Event struct {
	Rule      Rule
	Regarding Object
	Type      string // Normal or Warning
	Reason    string
	Action    string
	Message   string
	// Derived are the reason, message, type and action in parts, of which every second one is made of values of Secrets. The type has no
	// parts, nor has a text of which nothing is.
	Derived [][]string
}

// Outcome is what became of a rule in one evaluation.
type Outcome string

// The outcomes of a rule.
const (
	Matched   Outcome = "matched"
	Unmatched Outcome = "not matched"
	Waiting   Outcome = "waiting" // for `when` to have held long enough
	Skipped   Outcome = "skipped"
	Withheld  Outcome = "withheld" // an earlier rule decides otherwise
	Refused   Outcome = "refused"  // an action is not allowed; what came before it stands
	Failed    Outcome = "failed"
)

// Troubled reports whether the rule could not act although it may have wanted
// to.
func (o Outcome) Troubled() bool { return o == Failed || o == Withheld || o == Refused }

// Decision says what became of a rule and why.
type Decision struct {
	Rule    Rule
	Outcome Outcome
	Reason  string
	Err     error // of Failed and Refused
	Winner  *Rule // of Withheld: the rule that decides
	// HeldSince is since when `when` holds, for rules with `for`; zero where it
	// does not.
	HeldSince time.Time
	// Zone is the time zone that the rule has asked in last, empty for none. It is not told of rules that read Secrets.
	Zone    string
	Audited bool
	Reacts  bool // an action of the rule reads failure
	// Health is that of the object for the rollout of the rule, nil where there is none, or it is not known.
	Health *Health
}

// Health is how an object fares that a rule with a rollout watches.
type Health struct {
	Healthy bool
	Reason  string // why not
	By      any    // what the objects are ordered by
}

// Type says how the body of an operation is to be read.
type Type string

// The kinds of patch, and what else can be done to an object.
const (
	Merge    Type = "merge" // RFC 7386
	JSON     Type = "json"  // RFC 6902
	Apply    Type = "apply" // server-side apply, KEP-555; creates where the target has no UID
	Create   Type = "create"
	Delete   Type = "delete"
	Finalize Type = "finalizer" // of wishes only: it is sent as a merge or JSON patch
)

// Operation is one request to be: the joined wishes of one or more rules.
type Operation struct {
	Target      Object
	Subresource string
	Type        Type
	Body        any    // as of a [Wish]
	Manager     string // none for Delete
	Force       bool   // of Apply only
	// Grain is that of the target, of Apply only. It is nil where it is not known.
	Grain Grain
	// Release says what becomes of fields that the manager owns and the body no
	// longer has, of Apply only. Empty is as the API server does it: they go.
	Release ReleasePolicy
	// GivesUp says that the manager owns such fields. If they are to stay, what [Operation.GiveUp] returns for the object as it is live goes
	// before the apply. If they are to go, only the object as it is live has all of them, and says which others own too.
	GivesUp bool
	// TakesOver says that former managers may own fields that the apply is to
	// remove: what [Operation.TakeOver] returns for the object as it is live goes
	// before the apply.
	TakesOver bool
	Rules     []Rule
	Parts     []Part   // of each of the rules
	Changes   []Change // none for Delete
	// Predicted is the object after the operation, as far as it can be known
	// without the server: no admission, and no defaults of a new object. It is nil for Delete.
	Predicted map[string]any
	Confirm   []Read // see ToConfirm
	// Reads are the look-ups that the rules may have decided by, and Missed those of them by name that found nothing.
	Reads, Missed []Read
	Unseen        *Unseen // as of a [Wish]
	Derived       Derived // of the target
}

// Orphans reports whether the manager gives up fields that are to stay: it lets go of them before it applies the rest.
func (o Operation) Orphans() bool { return o.GivesUp && o.Release == OrphanFields }

// Irreversible reports whether the operation cannot be undone: it makes or deletes its target, or takes a finalizer off it, which may be its end.
func (o Operation) Irreversible() bool {
	return o.Type == Create || o.Type == Delete || o.Target.UID == "" || slices.ContainsFunc(o.Changes, Change.takesFinalizer)
}

// ToConfirm are the look-ups of the snapshot that a live read must confirm before the operation is sent. If it is irreversible, they include
// those by name that found nothing.
func (o Operation) ToConfirm() []Read {
	if len(o.Missed) == 0 || !o.Irreversible() {
		return o.Confirm
	}
	return Distinct(slices.Concat(o.Confirm, o.Missed))
}

// Part is what an operation carries out of a rule: its actions First to Last, or some of them, numbered as of a [Wish]. Those that
// read failure and others are never in one operation.
type Part struct {
	First, Last int
	Reacts      bool // they read failure
}

// Part returns what the operation carries out of a rule.
func (o Operation) Part(rule Rule) Part {
	if at := slices.Index(o.Rules, rule); at >= 0 && at < len(o.Parts) {
		return o.Parts[at]
	}
	return Part{}
}

// Change is a field that an operation writes, with the rule that asked for it.
// Before and After are nil where the field is absent.
type Change struct {
	Rule   Rule
	Path   Path
	Before any
	After  any
	// Restored says that the field gets back what it had before the rule changed it for a while.
	Restored bool
}

// takesFinalizer reports whether there is a finalizer less.
func (c Change) takesFinalizer() bool {
	before, _ := c.Before.([]any)
	after, _ := c.After.([]any)
	return slices.Equal(c.Path, finalizersPath) && len(difference(before, after)) > 0
}

// Bookkeeping says what a change of what the engine itself keeps on an object is about, empty for any other. If that is all of
// the annotations, it may be a change of their map.
func (c Change) Bookkeeping() string {
	all := slices.Equal(c.Path, restorePath[:2]) && onlyKept(c.Before) && onlyKept(c.After)
	switch {
	case !all && !slices.Equal(c.Path, restorePath):
		return ""
	case c.After == nil:
		return "nothing is left to be restored"
	default:
		return "records what is to be restored"
	}
}

// onlyKept reports whether annotations have nothing but what is to be restored, or are not there.
func onlyKept(annotations any) bool {
	fields, is := annotations.(map[string]any)
	return annotations == nil || is && len(fields) == 1 && fields[RestoreAnnotation] != nil
}

// String names the rule and the field, not the values, which may be secret.
func (c Change) String() string { return c.Rule.String() + ": " + c.Path.String() }
