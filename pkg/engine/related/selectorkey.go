package related

import (
	"hash/maphash"
	"slices"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// selectorKey is what all objects have in common that may answer the questions of one bucket.
type selectorKey struct {
	by        plan.By
	namespace string // empty for all
	key       string // of a label, or the JSON pointer to a field
	exists    bool   // the label is there, whatever its value
	value     string // of a name, owner, label or field
}

// nothing is the key of questions that no object answers.
const nothing plan.By = "nothing"

// bucket is short for the key. Two keys with one bucket share their questions, which costs
// time and changes no answer.
func (k selectorKey) bucket(seed maphash.Seed) uint64 { return maphash.Comparable(seed, k) }

// requirement is one of several that a question makes: an object that answers it is in one of the
// buckets.
type requirement struct {
	path    plan.Path // of ByFields
	buckets []uint64
}

// requirementsOf returns at least one, with at least one bucket.
func requirementsOf(seed maphash.Seed, r plan.Read) []requirement {
	var out []requirement
	one := func(key string, exists bool, values ...string) requirement {
		buckets := make([]uint64, len(values))
		for i, value := range values {
			buckets[i] = selectorKey{r.By, r.Namespace, key, exists, value}.bucket(seed)
		}
		return requirement{buckets: buckets}
	}
	switch r.By {
	case plan.ByAll:
		out = append(out, one("", false, ""))
	case plan.ByName:
		out = append(out, one("", false, r.Names...))
	case plan.ByOwner:
		owners := make([]string, len(r.Owners))
		for i, uid := range r.Owners {
			owners[i] = string(uid)
		}
		out = append(out, one("", false, owners...))
	case plan.ByLabels:
		out = labelRequirements(r.Labels, one)
	case plan.ByFields:
		for _, field := range r.Fields {
			required := one(field.Path.Pointer(), false, plan.ScalarText(field.Value))
			required.path = field.Path
			out = append(out, required)
		}
	}
	out = slices.DeleteFunc(out, func(r requirement) bool { return len(r.buckets) == 0 })
	if len(out) == 0 {
		out = []requirement{{buckets: []uint64{selectorKey{by: nothing}.bucket(seed)}}}
	}
	return out
}

// labelRequirements prefers a label with its value to one that must only be there. A
// selector that asks for neither is answered by nearly every object.
func labelRequirements(selector string, one func(key string, exists bool, values ...string) requirement) []requirement {
	parsed, err := labels.Parse(selector)
	if err != nil || selector == "" {
		return nil
	}
	all, _ := parsed.Requirements()
	var values, keys []requirement
	for _, required := range all {
		switch required.Operator() {
		case selection.In, selection.Equals, selection.DoubleEquals:
			values = append(values, one(required.Key(), false, required.ValuesUnsorted()...))
		case selection.Exists, selection.GreaterThan, selection.LessThan:
			keys = append(keys, one(required.Key(), true, ""))
		default: // What an object must not have says nothing of where it is.
		}
	}
	switch {
	case len(values) > 0:
		return values
	case len(keys) > 0:
		return keys
	default:
		return []requirement{one("", false, "")}
	}
}
