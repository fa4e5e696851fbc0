package plan

import (
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
)

// Filter reports whether an object, which is of the right resource, is selected. Its selectors are parsed already: who
// asks often, or of many objects, keeps it. It is safe for concurrent use.
type Filter func(object map[string]any) bool

// Selects reports whether the object, which is of the right resource, is among
// the answers. What asks for nothing, such as no labels at all, has none.
func (r Read) Selects(object map[string]any) bool {
	return r.Matches(object) && slices.ContainsFunc(r.From, func(s Selection) bool { return s.Admits(object) })
}

// Matches is Selects for an object of which the API server has said that it is
// among what From selects.
func (r Read) Matches(object map[string]any) bool { return r.Filter()(object) }

// Filter is [Read.Matches] for many objects.
func (r Read) Filter() Filter {
	namespace, matches := r.Namespace, r.filterBy()
	return func(object map[string]any) bool { return isIn(namespace, object) && matches(object) }
}

func (r Read) filterBy() Filter {
	names, values, owners := r.Names, r.Fields, r.Owners // A filter does not keep the rest of the question.
	switch {
	case r.By == ByAll:
		return func(map[string]any) bool { return true }
	case r.By == ByName:
		return func(object map[string]any) bool { return slices.Contains(names, Text(object, "metadata", "name")) }
	case r.By == ByLabels && r.Labels != "":
		parsed := parseLabels(r.Labels)
		return func(object map[string]any) bool { return parsed.Matches(LabelsOf(object)) }
	case r.By == ByFields && len(values) > 0:
		return func(object map[string]any) bool {
			return !slices.ContainsFunc(values, func(field FieldValue) bool { return !field.holds(object) })
		}
	case r.By == ByOwner:
		return func(object map[string]any) bool {
			uid := ControllerUID(object)
			return uid != "" && slices.Contains(owners, uid)
		}
	default:
		return func(map[string]any) bool { return false }
	}
}

func (f FieldValue) holds(object map[string]any) bool {
	value, exists := Lookup(object, f.Path)
	return exists && Equal(value, f.Value)
}

// Guarantees are the fields that all objects of the selection have: labels that its selector asks for, and fields that it compares with
// a value.
func (s Selection) Guarantees() (out []Path) {
	requirements, _ := parseLabels(s.LabelSelector).Requirements()
	for _, r := range requirements {
		if slices.Contains([]selection.Operator{selection.Equals, selection.DoubleEquals, selection.In, selection.Exists}, r.Operator()) {
			out = append(out, Path{"metadata", "labels", r.Key()})
		}
	}
	byFields, err := fields.ParseSelector(s.FieldSelector)
	if err != nil {
		return out
	}
	for _, r := range byFields.Requirements() {
		if r.Operator != selection.NotEquals && !slices.Contains([]string{"", "false", "0"}, r.Value) { // These may not be stored.
			out = append(out, strings.Split(r.Field, "."))
		}
	}
	return out
}

// Admits reports whether a list with the selection's namespace and selectors
// has the object, which is of the right resource. A selector that the API
// server would refuse admits nothing.
func (s Selection) Admits(object map[string]any) bool { return s.Filter()(object) }

// Filter is [Selection.Admits] for many objects.
func (s Selection) Filter() Filter {
	byLabels := parseLabels(s.LabelSelector)
	byFields, err := fields.ParseSelector(s.FieldSelector)
	if err != nil {
		return func(map[string]any) bool { return false }
	}
	wanted := byFields.Requirements()
	paths := make([]Path, len(wanted))
	for i, want := range wanted {
		paths[i] = strings.Split(want.Field, ".")
	}
	return func(object map[string]any) bool {
		if !isIn(s.Namespace, object) || !byLabels.Matches(LabelsOf(object)) {
			return false
		}
		for i, want := range wanted {
			value, _ := Lookup(object, paths[i])
			have := ScalarText(value) // Empty for what no selector can name, too.
			if have == "" && s.GVR.Group == "" && want.Value == strconv.FormatBool(false) {
				have = want.Value // Kubernetes' own types are false where nothing is stored.
			}
			if (have == want.Value) == (want.Operator == selection.NotEquals) {
				return false
			}
		}
		return true
	}
}

// isIn reports whether an object is in the namespace; empty is for all.
func isIn(namespace string, object map[string]any) bool {
	return namespace == "" || namespace == Text(object, "metadata", "namespace")
}

// parseLabels matches nothing where the API server would refuse the selector.
func parseLabels(selector string) labels.Selector {
	parsed, err := labels.Parse(selector)
	if err != nil {
		return labels.Nothing()
	}
	return parsed
}

// Labels are those of an object, whatever they look like. One that is not a text is empty.
type Labels map[string]any

var _ labels.Labels = Labels{}

// LabelsOf has none where there are none.
func LabelsOf(object map[string]any) Labels {
	found, _ := Lookup(object, Path{"metadata", "labels"})
	given, _ := found.(map[string]any)
	return given
}

// Has implements [labels.Labels].
func (l Labels) Has(key string) bool {
	_, has := l[key]
	return has
}

// Get implements [labels.Labels].
func (l Labels) Get(key string) string {
	text, _ := l[key].(string)
	return text
}

// Lookup implements [labels.Labels].
func (l Labels) Lookup(key string) (value string, exists bool) { return l.Get(key), l.Has(key) }
