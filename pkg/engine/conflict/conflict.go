package conflict

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dyncontroller/dyncontroller/pkg/engine/guard"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

const (
	// Repeats are so many that the next one names the contest, less one.
	Repeats = 5
	// Window is how far apart two repeats may be, and how long after the last of them a
	// rule stays slowed down.
	Window = 10 * time.Minute
	// Interval is how often a rule that is slowed down may write to the object: two or
	// three rules against each other write at most six times a minute in all.
	Interval = 30 * time.Second
)

// Object names an object.
type Object = guard.Object

// Kind says who undoes what a rule writes.
type Kind string

// The kinds of rivals.
const (
	// Itself is the rule: it wants something else each time that it sees what it wrote.
	Itself Kind = "Itself"
	// Rule is another one of the same identity, or the same for another watched object.
	Rule Kind = "Rule"
	// OtherIdentity is a rule that is sent as somebody else.
	OtherIdentity Kind = "OtherIdentity"
	// Admission changes the field in the very request.
	Admission Kind = "Admission"
	// Manager is a field manager that is none of ours.
	Manager Kind = "Manager"
	// Unknown is somebody who has left no name.
	Unknown Kind = "Unknown"
)

// Rival is who undoes what a rule writes. It is comparable.
type Rival struct {
	Kind    Kind
	Rule    plan.Rule // of kind Rule
	Watched Object    // of kind Rule: for which that rule writes
	Manager string    // of kind Manager
}

// String is who it is, in short.
func (r Rival) String() string {
	switch r.Kind {
	case Rule:
		return r.Rule.String()
	case Manager:
		return r.Manager
	case Itself:
		return "itself"
	case OtherIdentity:
		return "another identity"
	case Admission:
		return "admission"
	default:
		return "unknown"
	}
}

// Conflict is a rule that is undone again and again in one object. It has no values, but
// paths and names.
type Conflict struct {
	Rule    plan.Rule
	Watched Object // for which the rule wrote last
	Target  Object
	// Paths are the fields, in the order in which they were found; an empty one is the
	// object as a whole.
	Paths []plan.Path
	Rival Rival // the last that was seen
	Since time.Time
	// Rounds are the repeats so far.
	Rounds int
	// Next is when the rule may write to the target again.
	Next time.Time
}

// shownPaths is how many fields of a contest are told by name.
const shownPaths = 3

// String says which field of what is contested, and by whom.
func (c Conflict) String() string {
	where := c.Target.String()
	if fields := c.fields(); fields != "" {
		where = fields + " of " + where
	}
	return where + ": " + c.doing()
}

func (c Conflict) fields() string {
	var out []string
	for _, path := range c.Paths {
		if len(path) > 0 {
			out = append(out, path.String())
		}
	}
	if more := len(out) - shownPaths; more > 0 {
		out = append(out[:shownPaths], fmt.Sprintf("%d more", more))
	}
	return strings.Join(out, ", ")
}

// doing is what the rival does.
func (c Conflict) doing() string {
	undoes := "undoes what rule " + c.Rule.String() + " writes"
	switch c.Rival.Kind {
	case Itself:
		return "rule " + c.Rule.String() + " undoes itself"
	case Rule:
		return c.rule(undoes)
	case OtherIdentity:
		return "a rule of another identity " + undoes
	case Admission:
		return "admission " + undoes
	case Manager:
		return fmt.Sprintf("field manager %q %s", c.Rival.Manager, undoes)
	default:
		return "somebody unknown " + undoes
	}
}

// rule says of another object that is watched which one it is.
func (c Conflict) rule(undoes string) string {
	by := "rule " + c.Rival.Rule.String()
	if c.Rival.Watched == c.Watched {
		return by + " " + undoes
	}
	return fmt.Sprintf("%s for %s %s for %s", by, c.Rival.Watched, undoes, c.Watched)
}

func (c Conflict) clone() Conflict {
	c.Paths = slices.Clone(c.Paths)
	return c
}

// Error is why a rule does not write now: it is slowed down.
type Error struct{ Conflict Conflict }

// Error implements [error].
func (e *Error) Error() string {
	return fmt.Sprintf("%s; slowed down to one write in %s", e.Conflict, Interval)
}
