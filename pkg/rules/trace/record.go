package trace

import (
	"time"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

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
	Rule    Rule         `json:"rule"`
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
}

// Of is what is remembered of a rule, nil for nothing.
func (m *Memory) Of(rule plan.Rule) *Record {
	if m == nil {
		return nil
	}
	for i := range m.Records {
		if m.Records[i].Rule.ID() == rule {
			return &m.Records[i]
		}
	}
	return nil
}
