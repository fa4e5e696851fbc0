package related

import "iter"

// set holds its first element in itself, since most sets here have but one. The
// zero value is empty; the zero T cannot be an element.
type set[T comparable] struct {
	first T
	rest  map[T]struct{}
}

func (s set[T]) has(element T) bool {
	_, ok := s.rest[element]
	return ok || s.first == element
}

func (s *set[T]) add(element T) {
	var none T
	switch {
	case s.has(element):
	case s.first == none:
		s.first = element
	default:
		if s.rest == nil {
			s.rest = map[T]struct{}{}
		}
		s.rest[element] = struct{}{}
	}
}

// remove leaves the first place free rather than to fill it from the rest: to
// find some element of a map that was large takes long.
func (s *set[T]) remove(element T) {
	if s.first == element {
		var none T
		s.first = none
		return
	}
	delete(s.rest, element)
	if len(s.rest) == 0 {
		s.rest = nil
	}
}

func (s set[T]) len() int {
	var none T
	if s.first == none {
		return len(s.rest)
	}
	return len(s.rest) + 1
}

// all is in no order. An element may be removed once it has been seen.
func (s set[T]) all() iter.Seq[T] {
	return func(yield func(T) bool) {
		var none T
		if s.first != none && !yield(s.first) {
			return
		}
		for element := range s.rest {
			if !yield(element) {
				return
			}
		}
	}
}
