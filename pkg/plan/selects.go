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
	if r.By == ByLabels && r.Labels != "" {
		parsed, err := labels.Parse(r.Labels)
		if err != nil {
			parsed = labels.Nothing()
		}
		return func(object map[string]any) bool { return parsed.Matches(LabelsOf(object)) }
	}
	required, possible := r.Requirements() // A filter does not keep the rest of the question.
	if r.By == ByFields {
		values := r.Fields
		return func(object map[string]any) bool {
			return possible && !slices.ContainsFunc(values, func(field FieldValue) bool { return !field.holds(object) })
		}
	}
	return func(object map[string]any) bool {
		return possible && !slices.ContainsFunc(required, func(r Requirement) bool {
			value, has := r.Value(object)
			return !has || !slices.Contains(r.Values, value)
		})
	}
}

func (f FieldValue) holds(object map[string]any) bool {
	value, exists := Lookup(object, f.Path)
	return exists && Equal(value, f.Value)
}

// Selector is a [Selection] that is parsed: for who asks often, or of many objects. It is safe for concurrent use.
type Selector struct {
	Selection
	required []required
	broken   bool // The API server would refuse it.
}

// required is what a selector requires of one label or field.
type required struct {
	selector, what, name string // such as labelSelector, label, app
	path                 Path
	wanted               func() string
	holds                func(object map[string]any) bool
	values               []string // that it names
	present              bool     // The object has one of the values, or any if there are none.
}

// Parse reads the selectors of a selection.
func (s Selection) Parse() Selector {
	out := Selector{Selection: s}
	byLabels, err := labels.ParseToRequirements(s.LabelSelector)
	byFields, other := fields.ParseSelector(s.FieldSelector)
	if out.broken = err != nil || other != nil; out.broken {
		return out
	}
	for _, r := range byLabels {
		out.required = append(out.required, required{
			selector: "labelSelector", what: "label", name: r.Key(), path: Path{"metadata", "labels", r.Key()}, wanted: r.String,
			holds:   func(object map[string]any) bool { return r.Matches(LabelsOf(object)) },
			values:  r.ValuesUnsorted(),
			present: slices.Contains([]selection.Operator{selection.Equals, selection.DoubleEquals, selection.In, selection.Exists}, r.Operator()),
		})
	}
	for _, r := range byFields.Requirements() {
		path, operator := Path(strings.Split(r.Field, ".")), "="
		if r.Operator == selection.NotEquals {
			operator = "!="
		}
		out.required = append(out.required, required{
			selector: "fieldSelector", what: "field", name: r.Field, path: path,
			wanted: func() string { return r.Field + operator + fields.EscapeValue(r.Value) },
			holds: func(object map[string]any) bool {
				value, _ := Lookup(object, path)
				have := ScalarText(value) // It is empty for what no selector can name, too.
				if have == "" && s.GVR.Group == "" && r.Value == strconv.FormatBool(false) {
					have = r.Value // Kubernetes' own types are false where nothing is stored.
				}
				return (have == r.Value) == (operator == "=")
			},
			values:  []string{r.Value},
			present: operator == "=" && !slices.Contains([]string{"", "false", "0"}, r.Value), // These may not be stored.
		})
	}
	return out
}

// Admits reports whether a list with the selection's namespace and selectors
// has the object, which is of the right resource. A selector that the API
// server would refuse admits nothing.
func (s Selection) Admits(object map[string]any) bool { return s.Parse().Admits(object) }

// Admits is [Selection.Admits].
func (s Selector) Admits(object map[string]any) bool {
	return !s.broken && isIn(s.Namespace, object) && !slices.ContainsFunc(s.required, func(r required) bool { return !r.holds(object) })
}

// Lacks says what the selectors want that the object is not.
func (s Selector) Lacks(object map[string]any) (out []string) {
	for _, r := range s.required {
		if r.holds(object) {
			continue
		}
		have := fmt.Sprintf("the object has no %s %s", r.what, r.name)
		switch value, _ := Lookup(object, r.path); {
		case !isScalar(value):
			have = fmt.Sprintf("the %s %s is no text or number", r.what, r.name)
		case value != nil:
			have = fmt.Sprintf("the %s %s is %q", r.what, r.name, fmt.Sprint(value))
		}
		out = append(out, r.selector+" wants "+r.wanted()+", and "+have)
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
	for _, r := range s.Parse().required {
		g := Guarantee{Path: r.path}
		if len(r.values) == 1 {
			g.Text = r.values[0]
		}
		if r.present {
			out = append(out, g)
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
	for _, r := range a.required {
		for _, o := range b.required {
			if !slices.Equal(r.path, o.path) {
				continue
			}
			some := func(holds func(object map[string]any) bool) bool { // Of a bound, such as a>1, it is false.
				return holds(nil) || slices.ContainsFunc(slices.Concat(r.values, o.values, []string{unnamed}), func(value string) bool {
					return holds(nested(r.path, value))
				})
			}
			if some(r.holds) && some(o.holds) && !some(func(object map[string]any) bool { return r.holds(object) && o.holds(object) }) {
				return false
			}
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
