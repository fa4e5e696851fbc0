package scenario

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
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
	// values are what is written, as a whole: a secret value is not found in a part of it.
	values []field
}

// field is a field with what it was and what it is to be, where that may be shown.
type field struct {
	path          string
	hidden        bool
	before, after any
}

// moveOf names rules, object and fields, with what is written where that is no secret.
func moveOf(operation plan.Operation) move {
	rules := make([]string, len(operation.Rules))
	for i, rule := range operation.Rules {
		rules[i] = rule.String()
	}
	out := move{by: strings.Join(rules, ", "), what: string(operation.Type) + " " + operation.Target.String()}
	if operation.Subresource != "" {
		out.what += " (" + operation.Subresource + ")"
	}
	var paths []string
	for _, change := range operation.Changes {
		one := field{path: change.Path.String(), hidden: operation.Target.IsSecret()}
		if !one.hidden {
			one.before, one.after = change.Before, change.After
		}
		paths = append(paths, one.path)
		out.values = append(out.values, one)
	}
	out.fields = strings.Join(append(paths, out.what), " ")
	return out
}

// shown is the move in one line.
func (m move) shown(hidden *mask) string {
	var changes []string
	for _, one := range m.values {
		text := one.path
		if !one.hidden {
			text += ": " + brief(hidden, one.before) + " -> " + brief(hidden, one.after)
		}
		changes = append(changes, text)
	}
	if len(changes) == 0 {
		return m.what
	}
	return m.what + ": " + strings.Join(changes, ", ")
}

// longestValue is how much of a value is shown in a path, in bytes of JSON.
const longestValue = 60

// brief is the beginning of a value. It is masked before it is cut.
func brief(hidden *mask, value any) string {
	if value == nil {
		return "nothing"
	}
	text := hidden.text(compact(hidden.values.Tree(value)))
	if len(text) > longestValue {
		text = strings.ToValidUTF8(text[:longestValue], "") + "..."
	}
	return text
}

// compact is a value as JSON in one line, in which characters of HTML are as they are.
func compact(value any) string {
	var out strings.Builder
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return strconv.Quote(fmt.Sprint(value)) // No object holds such a value.
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// restless tells the path of a cycle, if the last writes are one.
func (h *history) restless(err error) error {
	round := period(h.moves)
	if len(round) == 0 {
		return err
	}
	out := &RestlessError{err: err}
	for _, m := range round {
		out.Path = append(out.Path, m.by, "  "+m.shown(h.secrets))
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

func (m move) equals(other move) bool { return reflect.DeepEqual(m, other) }

func (m move) repeats(other move) bool { return m.by == other.by && m.fields == other.fields }
