package trace

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
