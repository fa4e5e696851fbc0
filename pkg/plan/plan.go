package plan

import "time"

// Plan is everything that one evaluation of one object wants. [Build] fills in
// the operations, the decisions about rules that are left out, and what is
// suppressed.
type Plan struct {
	Operations []Operation
	Events     []Event
	Decisions  []Decision
	// Suppressed is what would have been written if it were not known to have
	// no effect.
	Suppressed Marks
	// Audited is what audited rules would write.
	Audited []Operation
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
	// HeldSince is since when `when` holds, for rules with `for`; zero where it
	// does not.
	HeldSince time.Time
	Audited   bool
}
