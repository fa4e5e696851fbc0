package plan

import (
	"fmt"
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

// Selector is a [Selection] that is parsed: for who asks often, or of many objects. It is safe for concurrent use.
type Selector struct {
	Selection
	labels labels.Requirements
	fields []fieldRequirement
	broken bool // The API server would refuse it.
}

type fieldRequirement struct {
	fields.Requirement
	path Path
}

// Parse reads the selectors of a selection.
func (s Selection) Parse() Selector {
	out := Selector{Selection: s}
	var err, other error
	out.labels, err = labels.ParseToRequirements(s.LabelSelector)
	byFields, other := fields.ParseSelector(s.FieldSelector)
	if out.broken = err != nil || other != nil; out.broken {
		return Selector{Selection: s, broken: true}
	}
	for _, r := range byFields.Requirements() {
		out.fields = append(out.fields, fieldRequirement{r, strings.Split(r.Field, ".")})
	}
	return out
}

// holds reports whether the text of a field is as it is required. It is empty for what no selector can name, too.
func (r fieldRequirement) holds(have string, builtin bool) bool {
	if have == "" && builtin && r.Value == strconv.FormatBool(false) {
		have = r.Value // Kubernetes' own types are false where nothing is stored.
	}
	return (have == r.Value) != (r.Operator == selection.NotEquals)
}

// Admits reports whether a list with the selection's namespace and selectors
// has the object, which is of the right resource. A selector that the API
// server would refuse admits nothing.
func (s Selection) Admits(object map[string]any) bool { return s.Parse().Admits(object) }

// Admits is [Selection.Admits].
func (s Selector) Admits(object map[string]any) bool {
	if s.broken || !isIn(s.Namespace, object) {
		return false
	}
	if len(s.labels) > 0 {
		have := LabelsOf(object)
		for i := range s.labels {
			if !s.labels[i].Matches(have) {
				return false
			}
		}
	}
	for _, r := range s.fields {
		value, _ := Lookup(object, r.path)
		if !r.holds(ScalarText(value), s.GVR.Group == "") {
			return false
		}
	}
	return true
}

// Lacks says what the selectors want that the object is not.
func (s Selector) Lacks(object map[string]any) (out []string) {
	lacks := func(selector, what, name, wanted string, path Path) {
		value, there := Lookup(object, path)
		have := fmt.Sprintf("the object has no %s %s", what, name)
		switch {
		case !isScalar(value):
			have = fmt.Sprintf("the %s %s is no text or number", what, name)
		case there && value != nil:
			have = fmt.Sprintf("the %s %s is %q", what, name, fmt.Sprint(value))
		}
		out = append(out, selector+" wants "+wanted+", and "+have)
	}
	for _, r := range s.labels {
		if !r.Matches(LabelsOf(object)) {
			lacks("labelSelector", "label", r.Key(), r.String(), Path{"metadata", "labels", r.Key()})
		}
	}
	for _, r := range s.fields {
		if value, _ := Lookup(object, r.path); !r.holds(ScalarText(value), s.GVR.Group == "") {
			operator := map[bool]string{false: "=", true: "!="}[r.Operator == selection.NotEquals]
			lacks("fieldSelector", "field", r.Field, r.Field+operator+fields.EscapeValue(r.Value), r.path)
		}
	}
	return out
}

// Guarantee is a field that an object has, and the only text that it can be there if that is known, else "".
type Guarantee struct {
	Path Path
	Text string
}

// Guarantees are the fields that all objects of the selection have: labels that its selector asks for, and fields that it compares with
// a value.
func (s Selection) Guarantees() (out []Guarantee) {
	parsed := s.Parse()
	for _, r := range parsed.labels {
		if slices.Contains([]selection.Operator{selection.Equals, selection.DoubleEquals, selection.In, selection.Exists}, r.Operator()) {
			var only string
			if values := r.ValuesUnsorted(); len(values) == 1 {
				only = values[0]
			}
			out = append(out, Guarantee{Path{"metadata", "labels", r.Key()}, only})
		}
	}
	for _, r := range parsed.fields {
		if r.Operator != selection.NotEquals && !slices.Contains([]string{"", "false", "0"}, r.Value) { // These may not be stored.
			out = append(out, Guarantee{r.path, r.Value})
		}
	}
	return out
}

// Overlaps reports whether an object can be in both selections. It may miss that none can,
// never that one can.
func (s Selection) Overlaps(other Selection) bool {
	if s.GVR != other.GVR || s.Namespace != "" && other.Namespace != "" && s.Namespace != other.Namespace {
		return false
	}
	a, b := s.Parse(), other.Parse()
	if a.broken || b.broken {
		return true
	}
	apart := func(r, s labels.Requirement) bool {
		bounds := []selection.Operator{selection.GreaterThan, selection.LessThan}
		if r.Key() != s.Key() || slices.Contains(bounds, r.Operator()) || slices.Contains(bounds, s.Operator()) {
			return false
		}
		both := func(of labels.Set) bool { return r.Matches(of) && s.Matches(of) }
		return !both(nil) && !slices.ContainsFunc(slices.Concat(r.ValuesUnsorted(), s.ValuesUnsorted(), []string{unnamed}),
			func(value string) bool { return both(labels.Set{r.Key(): value}) })
	}
	fieldsApart := func(r, s fieldRequirement) bool {
		return r.Field == s.Field && !slices.ContainsFunc([]string{"", unnamed, r.Value, s.Value},
			func(value string) bool { return r.holds(value, true) && s.holds(value, true) })
	}
	for _, r := range a.labels {
		if slices.ContainsFunc(b.labels, func(s labels.Requirement) bool { return apart(r, s) }) {
			return false
		}
	}
	for _, r := range a.fields {
		if slices.ContainsFunc(b.fields, func(s fieldRequirement) bool { return fieldsApart(r, s) }) {
			return false
		}
	}
	return true
}

// unnamed is a value that no selector can name.
const unnamed = "\x00"

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
