package value

import (
	"maps"
	"time"
)

// Strip returns v as a body holds it: without the entries and elements that are
// [Omitted], at any depth, and with the texts of computed values. v itself may be
// Omitted, which is for the caller to act on, and a [Stamp] stays. What need not
// change is not copied. It spends what v costs once it is encoded, shared parts each
// time, so that whoever does that is bounded too.
func Strip(v any, budget *Budget) (any, error) {
	s := stripper{budget: budget}
	return s.value(v, 0)
}

type stripper struct {
	budget *Budget
	// changes counts the values that are written differently.
	changes int
}

func (s *stripper) value(v any, depth int) (any, error) {
	if depth > Depth {
		return nil, errDepth
	}
	switch v := v.(type) {
	case []any:
		return s.list(v, depth)
	case map[string]any:
		return s.mapping(v, depth)
	case string:
		return v, s.budget.Encoded(1, len(v))
	case nil, bool, int64, float64, Omitted, Stamp:
		return v, s.budget.Bytes(sizeOfNumber)
	case Amount, Version, time.Duration, time.Time:
		s.changes++
		return boxed(written(v, s.budget))
	default:
		return nil, Faultf("a value of type %T cannot be written", v)
	}
}

func (s *stripper) list(list []any, depth int) (any, error) {
	if err := s.budget.Encoded(len(list), 0); err != nil {
		return nil, err
	}
	var kept []any // Nil as long as nothing has changed.
	for i, element := range list {
		before := s.changes
		below, err := s.value(element, depth+1)
		if err != nil {
			return nil, err
		}
		if below == any(Omitted{}) {
			s.changes++
		}
		if kept == nil && s.changes > before {
			if err := s.budget.List(len(list)); err != nil {
				return nil, err
			}
			kept = append(make([]any, 0, len(list)), list[:i]...)
		}
		if kept != nil && below != any(Omitted{}) {
			kept = append(kept, below)
		}
	}
	if kept == nil {
		return list, nil
	}
	return kept, nil
}

func (s *stripper) mapping(m map[string]any, depth int) (any, error) {
	if err := s.budget.Encoded(2*len(m), 0); err != nil {
		return nil, err
	}
	var kept map[string]any // Nil as long as nothing has changed.
	for key, element := range m {
		if err := s.budget.Encoded(0, len(key)); err != nil {
			return nil, err
		}
		before := s.changes
		below, err := s.value(element, depth+1)
		if err != nil {
			return nil, err
		}
		if below == any(Omitted{}) {
			s.changes++
		}
		if s.changes == before {
			continue
		}
		if kept == nil {
			if err := s.budget.Map(len(m)); err != nil {
				return nil, err
			}
			kept = maps.Clone(m)
		}
		if below == any(Omitted{}) {
			delete(kept, key)
		} else {
			kept[key] = below
		}
	}
	if kept == nil {
		return m, nil
	}
	return kept, nil
}

// written returns the text of a computed value.
func written(v any, budget *Budget) (string, error) {
	if err := budget.Conversion(); err != nil {
		return "", err
	}
	text, ok := Text(v)
	if !ok {
		return "", errYear // Of the computed values only a time can have no text.
	}
	return text, nil
}
