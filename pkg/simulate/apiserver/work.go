package apiserver

const (
	// mostWork bounds what checking a definition may cost, to a second or two: an API server
	// looks at all that is below a default or a validation rule for each of them, so that
	// what is nested costs far more than it is long. Of real definitions, those with the most
	// stay below a tenth of it.
	mostWork = 2_000_000
	// workOfRule is how many values could be looked at while a validation rule is compiled.
	workOfRule = 500
)

// work estimates how many values are looked at.
func work(definition map[string]any) int {
	_, total := weigh(definition)
	return total
}

// weigh returns how many values there are, and how many are looked at.
func weigh(v any) (size, looked int) {
	size = 1
	add := func(below any) {
		s, l := weigh(below)
		size, looked = size+s, looked+l
	}
	switch v := v.(type) {
	case map[string]any:
		for _, below := range v {
			add(below)
		}
		if v["default"] != nil {
			looked += size
		}
		if rules, _ := v["x-kubernetes-validations"].([]any); len(rules) > 0 {
			looked += size + len(rules)*workOfRule
		}
	case []any:
		for _, below := range v {
			add(below)
		}
	}
	return size, looked
}
