package plan

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/apimachinery/pkg/types"
)

// Selection is one list of the API server, which evaluates it. It is
// comparable.
type Selection struct {
	GVR           schema.GroupVersionResource
	Namespace     string // empty for all
	LabelSelector string
	FieldSelector string
}

// String names the list in logs and reports, as kubectl would be asked.
func (s Selection) String() string {
	parts := []string{ResourceName(s.GVR)}
	for _, flag := range [...]struct{ name, value string }{{"-n", s.Namespace}, {"-l", s.LabelSelector}, {"--field-selector", s.FieldSelector}} {
		if flag.value != "" {
			parts = append(parts, flag.name, flag.value)
		}
	}
	return strings.Join(parts, " ")
}

// Kind is what the API server says of a resource.
type Kind struct {
	Name       string
	Namespaced bool
}

// By says how a [Read] finds objects.
type By string

// The ways to find related objects.
const (
	ByName   By = "name"
	ByLabels By = "labels"
	ByFields By = "fields"
	ByOwner  By = "owner"
	ByAll    By = "all"
)

// Read is a question about other objects that an evaluation asked: which of
// those that From declares are in Namespace and match. The answer is kept even
// where it is empty, because an object that appears later changes it.
type Read struct {
	From      []Selection // of one GVR; an object that none of them selects is absent
	Namespace string      // empty for all that From selects, and for cluster-scoped objects
	By        By
	Names     []string     // of ByName, in the order asked
	Labels    string       // of ByLabels, a label selector
	Fields    []FieldValue // of ByFields, in the order of their paths
	Owners    []types.UID  // of ByOwner, in order
}

// FieldValue is a field and the scalar that it must equal.
type FieldValue struct {
	Path  Path
	Value any
}

// Key is the same for the same question, and for no other. The order of From
// does not matter to a question.
func (r Read) Key() string { return string(r.AppendKey(make([]byte, 0, 256))) }

// AppendKey appends the key.
func (r Read) AppendKey(b []byte) []byte {
	b = append(b, r.By...)
	from := r.From
	if len(from) > 1 {
		from = slices.Clone(from)
		slices.SortFunc(from, func(a, b Selection) int { return bytes.Compare(a.appendKey(nil), b.appendKey(nil)) })
		from = slices.Compact(from)
	}
	for _, selection := range from {
		b = append(selection.appendKey(append(b, " from("...)), ')')
	}
	b = strconv.AppendQuote(append(b, " in "...), r.Namespace)
	for _, name := range r.Names {
		b = strconv.AppendQuote(append(b, " name "...), name)
	}
	if r.Labels != "" {
		b = strconv.AppendQuote(append(b, " labels "...), r.Labels)
	}
	for _, field := range r.Fields {
		b = strconv.AppendQuote(append(b, " field "...), field.Path.Pointer())
		b = append(append(b, '='), scalarKey(field.Value)...)
	}
	for _, owner := range r.Owners {
		b = strconv.AppendQuote(append(b, " owner "...), string(owner))
	}
	return b
}

func (s Selection) appendKey(b []byte) []byte {
	for _, part := range [...]string{s.GVR.Group, s.GVR.Version, s.GVR.Resource, s.Namespace, s.LabelSelector, s.FieldSelector} {
		b = append(strconv.AppendQuote(b, part), ' ')
	}
	return b
}

// scalarKey is the same for what [Equal] holds for the same, and for nothing else.
func scalarKey(value any) string {
	if text, ok := value.(string); ok {
		return strconv.Quote(text)
	}
	if text := ScalarText(value); text != "" {
		return text
	}
	return fmt.Sprintf("%T(%v)", value, value)
}

// Distinct keeps each question once.
func Distinct(reads []Read) []Read {
	if len(reads) < 2 {
		return reads
	}
	seen := make(map[string]bool, len(reads))
	var out []Read
	for _, read := range reads {
		if key := read.Key(); !seen[key] {
			seen[key] = true
			out = append(out, read)
		}
	}
	return out
}

// IsSecret reports whether the answer has values that must not be shown.
func (r Read) IsSecret() bool {
	return len(r.From) > 0 && Object{GVR: r.From[0].GVR}.IsSecret()
}

// IndexKey names something of which an object has one value or none, for indexes.
type IndexKey struct {
	By  By     // ByName, ByLabels, ByFields or ByOwner
	Of  string // the label, or the JSON pointer to the field
	Has bool   // the value is "true" or "false": whether there is such a label
}

// String is the same for the same key, and for no other.
func (k IndexKey) String() string {
	text := string(k.By)
	if k.Of != "" {
		text += " " + strconv.Quote(k.Of)
	}
	if k.Has {
		return "has " + text
	}
	return text
}

// Requirement is one of those that a question makes: an object that answers it has one of the values.
type Requirement struct {
	Key    IndexKey
	Path   Path // of ByFields
	Values []string
}

// Value is what an object of any shape has; has is false where no value would do. Values that are equal to each other have
// the same text; others may have it too.
func (r Requirement) Value(object map[string]any) (value string, has bool) {
	switch {
	case r.Key.By == ByName:
		return Text(object, "metadata", "name"), true
	case r.Key.By == ByOwner:
		uid := string(ControllerUID(object))
		return uid, uid != ""
	case r.Key.Has:
		return strconv.FormatBool(LabelsOf(object).Has(r.Key.Of)), true
	case r.Key.By == ByLabels:
		return LabelsOf(object).Lookup(r.Key.Of)
	default:
		found, has := Lookup(object, r.Path)
		return ScalarText(found), has
	}
}

// Requirements are what an index can find answers by. They are necessary: [Read.Matches] decides. possible is false where no
// object answers.
func (r Read) Requirements() (all []Requirement, possible bool) {
	add := func(of string, has bool, values ...string) {
		all = append(all, Requirement{Key: IndexKey{r.By, of, has}, Values: values})
	}
	switch r.By {
	case ByAll:
		return nil, true
	case ByName:
		add("", false, r.Names...)
	case ByOwner:
		owners := make([]string, len(r.Owners))
		for i, uid := range r.Owners {
			owners[i] = string(uid)
		}
		add("", false, owners...)
	case ByFields:
		for _, field := range r.Fields {
			all = append(all, Requirement{IndexKey{By: ByFields, Of: field.Path.Pointer()}, field.Path, []string{ScalarText(field.Value)}})
		}
	case ByLabels:
		parsed, err := labels.Parse(r.Labels)
		if err != nil || r.Labels == "" {
			return nil, false
		}
		requirements, _ := parsed.Requirements()
		for _, required := range requirements {
			switch required.Operator() {
			case selection.In, selection.Equals, selection.DoubleEquals:
				add(required.Key(), false, required.ValuesUnsorted()...)
			case selection.Exists, selection.GreaterThan, selection.LessThan:
				add(required.Key(), true, "true")
			case selection.DoesNotExist:
				add(required.Key(), true, "false")
			default: // What a value must not be says nothing of what it is.
			}
		}
		return all, true
	}
	return all, len(all) > 0 && !slices.ContainsFunc(all, func(r Requirement) bool { return len(r.Values) == 0 })
}

// InNamespace is what objects of a namespace have.
func InNamespace(namespace string) Requirement {
	return Requirement{IndexKey{By: ByFields, Of: "/metadata/namespace"}, Path{"metadata", "namespace"}, []string{namespace}}
}
