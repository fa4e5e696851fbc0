package plan

import "slices"

// place is what two wishes must share to be able to contradict each other.
type place struct {
	target      Object
	subresource string
}

func (w Wish) place() place { return place{w.Target, w.Subresource} }

// batch holds the wishes that travel in one request.
type batch struct {
	place   place
	manager string
	wishes  []Wish
}

// batches puts the wishes together that can travel together.
func batches(wishes []Wish, separate bool) []*batch {
	var out []*batch
	for _, wish := range wishes {
		b := joinable(out, wish, separate)
		if b == nil {
			b = &batch{place: wish.place(), manager: wish.manager()}
			out = append(out, b)
		}
		b.wishes = append(b.wishes, wish)
	}
	return out
}

// joinable finds the batch that the wish can join, nil where there is none. A
// wish does not overtake what its own rule asked for before it.
func joinable(all []*batch, wish Wish, separate bool) *batch {
	for _, b := range slices.Backward(all) {
		own := b.hasRule(wish.Rule)
		if b.place == wish.place() && b.manager == wish.manager() && (own || !separate) {
			return b
		}
		if own {
			return nil
		}
	}
	return nil
}

func (b *batch) hasRule(rule Rule) bool {
	return slices.ContainsFunc(b.wishes, func(w Wish) bool { return w.Rule == rule })
}

// manager is the same for all merge and JSON patches, since the API server
// keeps only ten Update managers for an object.
func (w Wish) manager() string {
	if w.Type == Apply {
		return w.Rule.FieldManager()
	}
	return FieldManager
}

// operation is the request without its body.
func (b *batch) operation(kind Type) *Operation {
	first := b.wishes[0]
	return &Operation{Target: first.Target, Subresource: first.Subresource, Type: kind, Manager: b.manager}
}

func (b *batch) hasJSON() bool {
	return slices.ContainsFunc(b.wishes, func(w Wish) bool { return w.Type == JSON })
}
