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
	// last is, for an Apply, the last batch of the manager for the place: itself
	// but where the order of the rule's actions asks for several.
	last *batch
}

// batches puts the wishes together that can travel together.
func batches(wishes []Wish, separate bool) []*batch {
	var out []*batch
	var open *batch // its wishes end where the next one is: appending that stores what is there
	for i, wish := range wishes {
		b := joinable(out, wish, separate)
		if open != nil && b != open {
			open.wishes, open = slices.Clip(open.wishes), nil
		}
		if b == nil {
			b = &batch{place: wish.place(), manager: wish.manager(), wishes: wishes[i:i]}
			out, open = append(out, b), b
		}
		b.wishes = append(b.wishes, wish)
	}
	accumulate(out)
	return out
}

// joinable finds the batch that the wish can join, nil where there is none. A
// wish does not overtake what its own rule asked for before it. Deletions of an
// object are the same request whoever asks.
func joinable(all []*batch, wish Wish, separate bool) *batch {
	for _, b := range slices.Backward(all) {
		own := b.hasRule(wish.Rule)
		if b.takes(wish) && (own || !separate || wish.Type == Delete) {
			return b
		}
		if own {
			return nil
		}
	}
	return nil
}

// takes reports whether the wish and the batch can be one request. No two
// creates can.
func (b *batch) takes(wish Wish) bool {
	return b.place == wish.place() && b.manager == wish.manager() && wish.Type != Create && b.wishes[0].Type != Create
}

// hasRule looks at the last wish only, since wishes come rule by rule.
func (b *batch) hasRule(rule Rule) bool { return b.wishes[len(b.wishes)-1].Rule == rule }

// manager is the same for all updates, since the API server keeps only ten
// Update managers for an object. A deletion has none.
func (w Wish) manager() string {
	switch w.Type {
	case Apply:
		return w.Rule.FieldManager()
	case Delete:
		return ""
	default:
		return FieldManager
	}
}

// operation is the request without its body.
func (b *batch) operation(kind Type) *Operation {
	return &Operation{
		Target: b.place.target, Subresource: b.place.subresource, Type: kind, Manager: b.manager,
		Confirm: b.once(func(w Wish) []Read { return w.Confirm }), Reads: b.once(func(w Wish) []Read { return w.Reads }),
	}
}

// once has each look-up of the wishes once.
func (b *batch) once(of func(Wish) []Read) []Read {
	if len(b.wishes) == 1 {
		return of(b.wishes[0])
	}
	var all []Read
	for _, wish := range b.wishes {
		all = append(all, of(wish)...)
	}
	return Distinct(all)
}

func (b *batch) hasJSON() bool {
	return slices.ContainsFunc(b.wishes, func(w Wish) bool { return w.Type == JSON })
}
