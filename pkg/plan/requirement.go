package plan

import (
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
)

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
