package trace

import "time"

// Condition is what decides whether a rule matches.
type Condition struct {
	// When is nil where the rule has none, or was not asked.
	When *Clause `json:"when,omitempty"`
	// Done is that of onDelete, nil where it was not asked.
	Done *Clause `json:"done,omitempty"`
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
