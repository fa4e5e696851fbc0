package typing

// Literals returns the constants among what the value can be that stand in the rules,
// and not only in the enum of a schema. It is read only.
func (t Type) Literals() []any { return t.constants }
