package related

import (
	"hash/maphash"
	"math"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// place is what the objects have in common that can answer a question there.
type place struct {
	by        plan.By
	namespace string // empty for all
	key       string // of a label, or the JSON pointer to a field
	kind      kind
	value     string
}

// kind says what is known of the value at a place.
type kind uint8

const (
	anything kind = iota // nothing is known, not even that there is one
	nowhere              // no object has it
	present              // there is some value
	text
	number
	boolean
	null
	other // what no rule can ask for
)

// hasher makes short keys of places. Two places with one key share their questions,
// which costs time and changes no answer.
type hasher struct{ seed maphash.Seed }

func (h hasher) hash(p place) uint64 { return maphash.Comparable(h.seed, p) }

// way is one of several ways to find a question: an object that answers it is at
// one of the places.
type way struct {
	path   plan.Path // of ByFields
	places []uint64
}

func (h hasher) way(places ...place) way {
	out := way{places: make([]uint64, len(places))}
	for i, p := range places {
		out.places[i] = h.hash(p)
	}
	return out
}

// ways returns at least one.
func (h hasher) ways(r plan.Read) []way {
	var out []way
	switch r.By {
	case plan.ByAll:
		out = []way{h.way(place{by: r.By, namespace: r.Namespace})}
	case plan.ByName:
		out = []way{h.way(valued(r, "", r.Names)...)}
	case plan.ByOwner:
		out = []way{h.way(valued(r, "", r.Owners)...)}
	case plan.ByLabels:
		out = h.labelWays(r)
	case plan.ByFields:
		for _, field := range r.Fields {
			kind, value := kindOf(field.Value)
			found := h.way(place{by: r.By, namespace: r.Namespace, key: field.Path.Pointer(), kind: kind, value: value})
			found.path = field.Path
			out = append(out, found)
		}
	}
	out = slices.DeleteFunc(out, func(w way) bool { return len(w.places) == 0 })
	if len(out) == 0 {
		out = []way{h.way(place{by: r.By, kind: nowhere})}
	}
	return out
}

func valued[T ~string](r plan.Read, key string, values []T) []place {
	out := make([]place, len(values))
	for i, value := range values {
		out[i] = place{by: r.By, namespace: r.Namespace, key: key, kind: text, value: string(value)}
	}
	return out
}

// labelWays prefers a label with its value to one that must only be there. A
// selector that asks for neither is answered by nearly every object.
func (h hasher) labelWays(r plan.Read) []way {
	parsed, err := labels.Parse(r.Labels)
	if err != nil || r.Labels == "" {
		return nil
	}
	requirements, _ := parsed.Requirements()
	var values, keys []way
	for _, requirement := range requirements {
		switch requirement.Operator() {
		case selection.In, selection.Equals, selection.DoubleEquals:
			values = append(values, h.way(valued(r, requirement.Key(), requirement.ValuesUnsorted())...))
		case selection.Exists, selection.GreaterThan, selection.LessThan:
			keys = append(keys, h.way(place{by: r.By, namespace: r.Namespace, key: requirement.Key(), kind: present}))
		default: // What an object must not have says nothing of where it is.
		}
	}
	switch {
	case len(values) > 0:
		return values
	case len(keys) > 0:
		return keys
	default:
		return []way{h.way(place{by: r.By, namespace: r.Namespace})}
	}
}

// kindOf returns the same for values that [plan.Read.Matches] holds for the same,
// such as 1 and 1.0.
func kindOf(value any) (kind, string) {
	switch value := value.(type) {
	case nil:
		return null, ""
	case string:
		return text, value
	case bool:
		return boolean, strconv.FormatBool(value)
	case int:
		return number, strconv.Itoa(value)
	case int64:
		return number, strconv.FormatInt(value, 10)
	case float64:
		if value == math.Trunc(value) && value >= math.MinInt64 && value < math.MaxInt64 {
			return number, strconv.FormatInt(int64(value), 10)
		}
		return number, strconv.FormatFloat(value, 'g', -1, 64)
	default:
		return other, ""
	}
}
