package doubt

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/action"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
	"github.com/dyncontroller/dyncontroller/pkg/rules/spec"
)

// meanings number what names stand for, so that names of two rules have the same
// number where both were defined in the same way.
type meanings struct {
	numbers  map[string]int
	known    map[ruleName]int
	params   map[*spec.Set]int
	subjects map[ruleName]subject
}

// ruleName is a name in a rule, and the list of the forEach that gives it, if one does.
type ruleName struct {
	rule *Rule
	list *document.Node
	name string
}

// subject is what a target stands for. filtered says that it is only some of what with
// found, which depends on each of them.
type subject struct {
	number   int
	filtered bool
	// selections have all that it can be, nil where it is filtered.
	selections []plan.Selection
}

func newMeanings() *meanings {
	return &meanings{numbers: map[string]int{}, known: map[ruleName]int{}, params: map[*spec.Set]int{}, subjects: map[ruleName]subject{}}
}

// watched is the number of the watched object.
const watched = 0

func (m *meanings) number(format string, args ...any) int {
	meaning := fmt.Sprintf(format, args...)
	if _, known := m.numbers[meaning]; !known {
		m.numbers[meaning] = len(m.numbers) + 1
	}
	return m.numbers[meaning]
}

// of is the number of a name in a rule, within a forEach if there is one.
func (m *meanings) of(r *Rule, name string, loop *action.Loop) int {
	key := keyOf(r, name, loop)
	if _, known := m.known[key]; !known {
		m.known[key] = m.define(r, name, loop)
	}
	return m.known[key]
}

func keyOf(r *Rule, name string, loop *action.Loop) ruleName {
	if loop.InLoop(name) {
		return ruleName{r, loop.List, name}
	}
	return ruleName{r, nil, name}
}

func (m *meanings) all(r *Rule, names []string) []int {
	out := make([]int, len(names))
	for i, name := range names {
		out[i] = m.of(r, name, nil)
	}
	return out
}

func (m *meanings) define(r *Rule, name string, loop *action.Loop) int {
	switch d := r.Names.Lookup(name); {
	case name == "object":
		return watched
	case loop.InLoop(name):
		return m.number("each %t %s %v", name == loop.Name, source(loop.List), m.all(r, loop.Names))
	case name == "params":
		if m.params[r.Set] == 0 {
			m.params[r.Set] = m.number("params %s", text(r.Constants[name]))
		}
		return m.params[r.Set]
	case d == nil:
		return m.number("name %s %s", r.ID, name)
	case d.Related != nil:
		return m.number("with %v %s %s %v", d.Related.Declaration().GVR, r.Set.Namespace, source(d.Node), m.all(r, d.Uses()))
	default:
		return m.number("let %s %v", d.Value.Program().Source(), m.all(r, d.Uses()))
	}
}

// value is the number of what is written. It is the same where the same names mean the same.
func (m *meanings) value(r *Rule, w action.Write) int {
	names := make([]int, len(w.Names))
	for i, name := range w.Names {
		names[i] = m.of(r, name, w.Loop)
	}
	return m.number("value %s %v", text(w.Value), names)
}

// subject is what a target stands for. Each of a list is the list.
func (m *meanings) subject(r *Rule, target string, loop *action.Loop) subject {
	if target == "" {
		return subject{number: watched, selections: r.Selections}
	}
	key := keyOf(r, target, loop)
	known, done := m.subjects[key]
	if !done {
		known = m.follow(r, target, loop)
		m.subjects[key] = known
	}
	return known
}

// follow goes from name to name, as long as each is no more than another one.
func (m *meanings) follow(r *Rule, target string, loop *action.Loop) subject {
	if loop.InLoop(target) {
		inner, _ := strings.CutPrefix(strings.TrimSpace(loop.List.Text()), "${")
		name := strings.TrimSpace(strings.TrimSuffix(inner, "}"))
		if !slices.Equal(loop.Names, []string{name}) {
			return subject{number: m.of(r, target, loop), filtered: true}
		}
		target = name
	}
	for {
		d := r.Names.Lookup(target)
		switch {
		case target == "object":
			return subject{number: watched, selections: r.Selections}
		case d == nil:
			return subject{number: m.of(r, target, nil), filtered: true} // Nothing is known of it.
		case d.Related != nil:
			return subject{number: m.of(r, target, nil), selections: d.Related.Selections()}
		}
		name := strings.TrimSpace(d.Value.Program().Source())
		if !slices.Equal(d.Uses(), []string{name}) {
			return subject{number: m.of(r, target, nil), filtered: true}
		}
		target = name
	}
}

// source is a part of a document as one text.
func source(n *document.Node) string { return text(n.Any()) }

func text(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v) // What is not a number, which JSON does not have.
	}
	return string(data)
}

// terms says what the names of a rule stand for in all rules.
type terms struct {
	rule     *Rule
	meanings *meanings
}

// Definition implements [clause.Names].
func (t terms) Definition(name string) *expression.Program {
	d := t.rule.Names.Lookup(name)
	if d == nil || d.Value == nil {
		return nil
	}
	return d.Value.Program()
}

// Root implements [clause.Names].
func (t terms) Root(name string) (called string, stored bool) {
	if name == "object" {
		return name, true
	}
	d := t.rule.Names.Lookup(name)
	return strconv.Itoa(t.meanings.of(t.rule, name, nil)), d != nil && d.Related != nil
}

// Constant implements [clause.Names].
func (t terms) Constant(name string) (v any, known bool) {
	v, known = t.rule.Constants[name]
	return v, known
}
