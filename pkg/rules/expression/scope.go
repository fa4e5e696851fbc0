package expression

import (
	"slices"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/function"
)

// Scope is the names that an expression may use. Each has a slot, its position,
// by which [Names] resolves it. A Scope is immutable.
type Scope struct {
	names []string
	slots map[string]int
}

// NewScope returns a scope of these distinct names, in the order of their slots.
func NewScope(names ...string) *Scope {
	slots := make(map[string]int, len(names))
	for slot, name := range names {
		slots[name] = slot
	}
	return &Scope{names: slices.Clone(names), slots: slots}
}

// Extend returns a scope with more names, in slots after those of s.
func (s *Scope) Extend(names ...string) *Scope {
	return NewScope(slices.Concat(s.names, names)...)
}

// Slot returns the slot of a name.
func (s *Scope) Slot(name string) (slot int, found bool) {
	slot, found = s.slots[name]
	return slot, found
}

// Names returns the names in the order of their slots.
func (s *Scope) Names() []string { return slices.Clone(s.names) }

// Reserved reports whether name belongs to the language, so that no let, with or
// forEach may define it.
func Reserved(name string) bool {
	return builtinName(name) || keyword(name) || function.Reserved(name)
}

// Functions returns the functions an expression may call, for a reference.
func Functions() []function.Function { return function.All() }

func builtinName(name string) bool {
	switch name {
	case "object", "params", "rule", "index":
		return true
	default:
		return false
	}
}

func keyword(name string) bool {
	switch name {
	case "true", "false", "nil", "null", "let", "if", "else", "and", "or", "not", "in",
		"matches", "contains", "startsWith", "endsWith":
		return true
	default:
		return false
	}
}
