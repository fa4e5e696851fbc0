package history

// Kept counts the rules of which something is kept.
func (h *History) Kept() int { return len(h.rules) }
