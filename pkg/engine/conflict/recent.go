package conflict

// recent are the objects that were written to last, up to a number of them. They are kept
// in two generations, which is as good as an order of use here, and lets all of them be
// visited, which the caches of libraries do not.
type recent struct {
	young, old map[Object]*ledger
	half       int
}

func newRecent(size int) recent { return recent{young: map[Object]*ledger{}, half: max(1, size/2)} }

// get returns what is known of an object, which stays longer for it; nil for nothing.
func (r *recent) get(object Object) *ledger {
	l := r.peek(object)
	if l != nil && r.young[object] == nil {
		r.put(object, l)
	}
	return l
}

func (r *recent) peek(object Object) *ledger {
	if l := r.young[object]; l != nil {
		return l
	}
	return r.old[object]
}

// put makes room for an object that is not among the young.
func (r *recent) put(object Object, l *ledger) {
	if len(r.young) >= r.half {
		r.old, r.young = r.young, map[Object]*ledger{}
	}
	delete(r.old, object)
	r.young[object] = l
}

func (r *recent) remove(object Object) {
	delete(r.young, object)
	delete(r.old, object)
}

// keep forgets all others.
func (r *recent) keep(wanted func(*ledger) bool) {
	for _, generation := range []map[Object]*ledger{r.young, r.old} {
		for object, l := range generation {
			if !wanted(l) {
				delete(generation, object)
			}
		}
	}
}

func (r *recent) len() int { return len(r.young) + len(r.old) }
