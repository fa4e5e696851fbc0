package scenario

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// RestlessError says that rules go on writing for ever.
type RestlessError struct {
	// Path are the writes of one round, each with its rules.
	Path []string
	err  error
}

// Error implements error.
func (e *RestlessError) Error() string { return e.err.Error() }

// Unwrap returns what the engine said.
func (e *RestlessError) Unwrap() error { return e.err }

// move is a write as a step of a path.
type move struct {
	by, what string
	// fields are what a round has in common with the next, in which values may differ.
	fields string
}

// moveOf names rules, object and fields, with what is written where that is no secret.
func moveOf(operation plan.Operation) move {
	rules := make([]string, len(operation.Rules))
	for i, rule := range operation.Rules {
		rules[i] = rule.String()
	}
	var changes, paths []string
	for _, change := range operation.Changes {
		text := change.Path.String()
		paths = append(paths, text)
		if !operation.Target.IsSecret() {
			text += fmt.Sprintf(": %s -> %s", brief(change.Before), brief(change.After))
		}
		changes = append(changes, text)
	}
	what := string(operation.Type) + " " + operation.Target.String()
	if operation.Subresource != "" {
		what += " (" + operation.Subresource + ")"
	}
	paths = append(paths, what)
	if len(changes) > 0 {
		what += ": " + strings.Join(changes, ", ")
	}
	return move{by: strings.Join(rules, ", "), what: what, fields: strings.Join(paths, " ")}
}

// longestValue is how much of a value is shown in a path.
const longestValue = 60

func brief(value any) string {
	if value == nil {
		return "nothing"
	}
	text := fmt.Sprint(value)
	if len(text) > longestValue {
		text = text[:longestValue] + "..."
	}
	return text
}

// restless tells the path of a cycle, if the last writes are one.
func (h *history) restless(err error) error {
	round := period(h.moves)
	if len(round) == 0 {
		return err
	}
	out := &RestlessError{err: err}
	for _, m := range round {
		out.Path = append(out.Path, m.by, "  "+m.what)
	}
	return out
}

// longestPeriod bounds how long a round of a cycle may be.
const longestPeriod = 50

// period is the shortest round that the writes end with twice: with the same values if
// there is one, and else, as where something grows, with others each time.
func period(moves []move) []move {
	for _, same := range []func(a, b move) bool{move.equals, move.repeats} {
		for n := 1; n <= longestPeriod && 2*n <= len(moves); n++ {
			last := moves[len(moves)-n:]
			if slices.EqualFunc(last, moves[len(moves)-2*n:len(moves)-n], same) {
				return last
			}
		}
	}
	return nil
}

func (m move) equals(other move) bool { return m == other }

func (m move) repeats(other move) bool { return m.by == other.by && m.fields == other.fields }
