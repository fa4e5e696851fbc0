package rules

// Audited reports whether the rule only reports what it would do.
func (r *Rule) Audited() bool { return r.audited() }
