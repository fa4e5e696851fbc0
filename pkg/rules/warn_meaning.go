package rules

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/dyncontroller/dyncontroller/pkg/rules/action"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
	"github.com/dyncontroller/dyncontroller/pkg/rules/spec"
)

// meanings number what names stand for, so that names of two rules have the same
// number where both were defined in the same way.
type meanings struct {
	numbers map[string]int
	known   map[ruleName]int
	params  map[*spec.Set]int
}

type ruleName struct {
	rule *Rule
	name string
}

func newMeanings() *meanings {
	return &meanings{numbers: map[string]int{}, known: map[ruleName]int{}, params: map[*spec.Set]int{}}
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
	switch {
	case name == "object":
		return watched
	case loop.InLoop(name):
		return m.number("each %t %s %v", name == loop.Name, source(loop.List), m.all(r, loop.Names))
	}
	key := ruleName{r, name}
	if _, known := m.known[key]; !known {
		m.known[key] = m.define(r, name)
	}
	return m.known[key]
}

func (m *meanings) all(r *Rule, names []string) []int {
	out := make([]int, len(names))
	for i, name := range names {
		out[i] = m.of(r, name, nil)
	}
	return out
}

func (m *meanings) define(r *Rule, name string) int {
	switch d := r.definition(name); {
	case name == "params":
		if m.params[r.set] == 0 {
			m.params[r.set] = m.number("params %s", text(r.params))
		}
		return m.params[r.set]
	case d == nil:
		return m.number("name %s %s", r.ID, name)
	case d.related != nil:
		return m.number("with %v %s %s %v", d.related.Declaration().GVR, r.set.Namespace, source(d.node), m.all(r, d.uses()))
	default:
		return m.number("let %s %v", d.value.Program().Source(), m.all(r, d.uses()))
	}
}

// subject is the number of a target, and whether it is only some of what with found.
// Each of a list is the list.
func (m *meanings) subject(r *Rule, target string, loop *action.Loop) (number int, filtered bool) {
	if target == "" {
		return watched, false
	}
	if loop.InLoop(target) {
		inner, _ := strings.CutPrefix(strings.TrimSpace(loop.List.Text()), "${")
		name := strings.TrimSpace(strings.TrimSuffix(inner, "}"))
		if !slices.Equal(loop.Names, []string{name}) {
			return m.of(r, target, loop), true
		}
		target = name
	}
	for {
		d := r.definition(target)
		if d == nil || d.related != nil {
			return m.of(r, target, nil), false
		}
		name := strings.TrimSpace(d.value.Program().Source())
		if !slices.Equal(d.uses(), []string{name}) {
			return m.of(r, target, nil), true
		}
		target = name
	}
}

// definition returns a name of let or of with, nil for others.
func (r *Rule) definition(name string) *definition {
	slot, known := r.names.scope.Slot(name)
	if !known || slot < firstDefined || slot-firstDefined >= len(r.names.defined) {
		return nil
	}
	return r.names.defined[slot-firstDefined]
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
	d := t.rule.definition(name)
	if d == nil || d.value == nil {
		return nil
	}
	return d.value.Program()
}

// Root implements [clause.Names].
func (t terms) Root(name string) string {
	if name == "object" {
		return name
	}
	return fmt.Sprintf("%d", t.meanings.of(t.rule, name, nil))
}

// Constant implements [clause.Names].
func (t terms) Constant(name string) (v any, known bool) {
	switch name {
	case "params":
		return t.rule.params, true
	case "rule":
		return t.rule.about, true
	default:
		return nil, false
	}
}
