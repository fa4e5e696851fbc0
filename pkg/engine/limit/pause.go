package limit

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/spec"
)

// Pause says that a rule writes nothing until somebody has looked. It is comparable.
type Pause struct {
	Rule plan.Rule
	// Digest is that of the rule that paused: another one has not.
	Digest string
	// Since is when it paused, in UTC and whole seconds, as it is stored.
	Since time.Time
	// Objects is for how many it had written within the window, of so many that it
	// watched.
	Objects, Of int
	// Limit and Per are as the rule has them, such as "10%" and "10m".
	Limit, Per string
	// Asked says that it is asked to resume since before it paused, which does not count:
	// nobody has looked.
	Asked bool
}

// String says what happened, and what to do about it.
func (p Pause) String() string {
	ask := fmt.Sprintf("annotate %s with %s=%s", p.Rule.SetName(), spec.ResumeAnnotation, p.Rule.Name)
	if p.Asked {
		ask = fmt.Sprintf("take the annotation %s=%s off %s and put it on again", spec.ResumeAnnotation, p.Rule.Name, p.Rule.SetName())
	}
	return fmt.Sprintf("it has written for %d of %d objects in %s, its limit is %s; look at what it did, then %s, or change the rule",
		p.Objects, p.Of, p.Per, p.Limit, ask)
}

// compare orders pauses by set and rule.
func (p Pause) compare(other Pause) int {
	return plan.Leftover{Rule: p.Rule}.Compare(plan.Leftover{Rule: other.Rule})
}

// PausedError is why a paused rule does not write.
type PausedError struct{ Pause Pause }

// Error implements error.
func (e *PausedError) Error() string { return "the rule is paused: " + e.Pause.String() }

// Sorted returns the pauses in order. Of two of a rule it has the first.
func Sorted(pauses []Pause) []Pause {
	out := slices.SortedStableFunc(slices.Values(pauses), Pause.compare)
	return slices.CompactFunc(out, func(a, b Pause) bool { return a.Rule == b.Rule })
}

// written is a limit as a rule has it.
func written(l spec.Limits) string {
	if l.Percent > 0 {
		return strconv.FormatFloat(l.Percent, 'f', -1, 64) + "%"
	}
	return strconv.Itoa(l.Objects)
}

// brief is a duration without what is zero: 10m for 10m0s.
func brief(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// slack is for shares such as 4.35 percent, which a float64 does not hold.
const slack = 1e-9

// Most is for how many objects a rule may write that watches so many: at least one.
func Most(l spec.Limits, watched int) int {
	if l.Percent > 0 {
		return max(1, int(float64(watched)*l.Percent/100+slack))
	}
	return max(1, l.Objects)
}
