package value

// Strip returns v without the entries and elements that are [Omitted], at any
// depth; v itself may be Omitted, which is for the caller to act on. It copies v
// only if there is something to leave out. It spends what v costs once it is written out, shared
// parts each time, so that whoever copies or encodes the result is bounded too.
func Strip(v any, budget *Budget) (any, error) {
	found, err := holdsOmission(v, budget, 0)
	if err != nil || !found {
		return v, err
	}
	return without(v), nil
}

// holdsOmission visits all of v even after it found one, to account for it.
func holdsOmission(v any, budget *Budget, depth int) (bool, error) {
	if depth > Depth {
		return false, errDepth
	}
	switch v := v.(type) {
	case []any:
		return listHoldsOmission(v, budget, depth)
	case map[string]any:
		return mapHoldsOmission(v, budget, depth)
	case string:
		return false, budget.Text(len(v))
	case Omitted:
		return depth > 0, nil
	case nil, bool, int64, float64:
		return false, budget.Bytes(sizeOfNumber)
	default:
		return false, Faultf("a value of type %T cannot be written", v)
	}
}

func listHoldsOmission(list []any, budget *Budget, depth int) (bool, error) {
	if err := budget.List(len(list)); err != nil {
		return false, err
	}
	found := false
	for _, element := range list {
		below, err := holdsOmission(element, budget, depth+1)
		if err != nil {
			return false, err
		}
		found = found || below
	}
	return found, nil
}

func mapHoldsOmission(m map[string]any, budget *Budget, depth int) (bool, error) {
	if err := budget.Map(len(m)); err != nil {
		return false, err
	}
	found := false
	for key, element := range m {
		if err := budget.Text(len(key)); err != nil {
			return false, err
		}
		below, err := holdsOmission(element, budget, depth+1)
		if err != nil {
			return false, err
		}
		found = found || below
	}
	return found, nil
}

func without(v any) any {
	switch v := v.(type) {
	case []any:
		list := make([]any, 0, len(v))
		for _, element := range v {
			if element != any(Omitted{}) {
				list = append(list, without(element))
			}
		}
		return list
	case map[string]any:
		m := make(map[string]any, len(v))
		for key, element := range v {
			if element != any(Omitted{}) {
				m[key] = without(element)
			}
		}
		return m
	default:
		return v
	}
}
