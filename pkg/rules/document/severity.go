package document

// Severity says how sure it is that something is wrong.
type Severity uint8

// The severities. A mistake keeps a rule from being used. A warning is about what
// can be meant and mostly is not. A note says what nobody can know from the
// rules, and never counts against them.
const (
	Mistake Severity = iota
	Warning
	Note
)

// String returns the word for it.
func (s Severity) String() string { return [...]string{"mistake", "warning", "note"}[min(s, Note)] }
