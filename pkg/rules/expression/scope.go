package expression

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/function"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/syntax"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

// Scope is the names that an expression may use. Each has a slot, its position,
// by which [Names] resolves it. A Scope is immutable.
type Scope struct {
	outer *Scope   // what it extends, or nil
	first int      // the slot of the first of its own names
	names []string // its own
	slots map[string]int
	hints map[string]string
	// fields are those of names whose value is a map that is known.
	fields map[string][]string
}

// NewScope returns a scope of these distinct names, in the order of their slots.
func NewScope(names ...string) *Scope {
	slots := make(map[string]int, len(names))
	for slot, name := range names {
		slots[name] = slot
	}
	return &Scope{names: slices.Clone(names), slots: slots}
}

// Extend returns a scope with more names, in slots after those of s. It costs
// nothing for the names of s, since many rules may extend the scope of one set.
func (s *Scope) Extend(names ...string) *Scope {
	if len(names) == 0 {
		return s
	}
	extended := NewScope(names...)
	extended.outer, extended.first = s, s.first+len(s.names)
	extended.hints, extended.fields = s.hints, s.fields
	return extended
}

// WithHints returns the scope with what to write instead of names that it does not
// have, but that users may take for one.
func (s *Scope) WithHints(hints map[string]string) *Scope {
	hinting := *s
	hinting.hints = hints
	return &hinting
}

// WithFields returns the scope with the keys of names whose value is a map of which
// all keys are known: reading another is a mistake.
func (s *Scope) WithFields(fields map[string][]string) *Scope {
	knowing := *s
	knowing.fields = fields
	return &knowing
}

// Slot returns the slot of a name.
func (s *Scope) Slot(name string) (slot int, found bool) {
	for ; s != nil; s = s.outer {
		if slot, found = s.slots[name]; found {
			return s.first + slot, true
		}
	}
	return 0, false
}

// Names returns the names in the order of their slots.
func (s *Scope) Names() []string {
	if s == nil {
		return nil
	}
	return append(s.outer.Names(), s.names...)
}

// Reserved says what a name means in the language, so that no let, with or forEach may
// define it; it is empty for a name that is free.
func Reserved(name string) string {
	if f, found := function.Lookup(name); found {
		return "it is the function " + f.Signature()
	}
	switch {
	case slices.Contains(strings.Fields("now date timezone bitand bitor bitxor bitnand bitnot bitshl bitshr bitushr"), name):
		return "the grammar has a function of this name"
	case slices.Contains([]string{"object", "params", "rule", "failure", "index"}, name):
		return "every rule has a value of this name"
	case slices.Contains(strings.Fields("true false nil null let if else and or not in matches contains startsWith endsWith"), name):
		return "it is a word of the language"
	default:
		return ""
	}
}

// ConditionStatus is which status of a condition a word is meant for, "" for none.
func ConditionStatus(word string) string {
	i := slices.IndexFunc(conditionStatuses, func(status string) bool { return strings.EqualFold(word, status) })
	if i < 0 {
		return ""
	}
	return conditionStatuses[i]
}

var conditionStatuses = []string{"True", "False", "Unknown"}

// unknown is the error that a name means nothing.
func (c *compiler) unknown(at syntax.Span, name string) *Error {
	within := len(c.predicates) > 0 // Then most likely the field of the element is meant.
	if _, found := function.Lookup(name); found {
		err := at.Errorf("%s is a function", name)
		if within {
			return err.WithHint("write %s(...), or .%s for that field of the element", name, name)
		}
		return err.WithHint("write %s(...)", name)
	}
	err := at.Errorf("unknown name %q", value.Excerpt(name))
	if c.scope.hints[name] == "" && c.tree.WithinKey(at) {
		return err.WithHint(`a key with - or / in it is written as in object.metadata.labels["a.b/c-d"]`)
	}
	hint := cmp.Or(c.scope.hints[name], function.Instead(name))
	if text := ConditionStatus(name); text != "" && c.tree.BesideStatus(at) {
		hint = "write " + strconv.Quote(text)
	}
	names := c.scope.Names()
	for _, let := range c.lets {
		names = append(names, let.Name)
	}
	other := document.Suggest(name, names)
	switch {
	case hint != "" && (!within || !strings.HasPrefix(hint, "write object.")):
		return err.WithHint("%s", hint)
	case within:
		return err.WithHint("write .%s for that field of the element", name)
	case other != "":
		return err.WithHint("did you mean %q?", other)
	}
	if other := syntax.ClosestFunction(name); other != "" {
		return err.WithHint("did you mean the function %s(...)?", other)
	}
	return err.WithHint("a text needs quotes of its own; a key with - or / is written [\"...\"]")
}

// visible is whether a name means something already.
func (c *compiler) visible(name string) bool {
	_, found := c.scope.Slot(name)
	return found || slices.ContainsFunc(c.lets, func(l *Let) bool { return l.Name == name })
}
