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

// Selects reports whether the object, which is of the right resource, is among
// the answers. What asks for nothing, such as no labels at all, has none.
func (r Read) Selects(object map[string]any) bool {
	return r.Matches(object) && slices.ContainsFunc(r.From, func(s Selection) bool { return s.Admits(object) })
}

// Matches is Selects for an object of which the API server has said that it is
// among what From selects.
func (r Read) Matches(object map[string]any) bool {
	return (r.Namespace == "" || r.Namespace == Text(object, "metadata", "namespace")) && r.matches(object)
}

func (r Read) matches(object map[string]any) bool {
	switch r.By {
	case ByAll:
		return true
	case ByName:
		return slices.Contains(r.Names, Text(object, "metadata", "name"))
	case ByLabels:
		return r.Labels != "" && matchesLabels(r.Labels, object)
	case ByFields:
		return len(r.Fields) > 0 && !slices.ContainsFunc(r.Fields, func(field FieldValue) bool { return !field.holds(object) })
	case ByOwner:
		uid := ControllerUID(object)
		return uid != "" && slices.Contains(r.Owners, uid)
	default:
		return false
	}
}

func (f FieldValue) holds(object map[string]any) bool {
	value, exists := Lookup(object, f.Path)
	return exists && equal(value, f.Value)
}

// Admits reports whether a list with the selection's namespace and selectors
// has the object, which is of the right resource. A selector that the API
// server would refuse admits nothing.
func (s Selection) Admits(object map[string]any) bool {
	return (s.Namespace == "" || s.Namespace == Text(object, "metadata", "namespace")) &&
		matchesLabels(s.LabelSelector, object) && s.matchesFields(object)
}

func matchesLabels(selector string, object map[string]any) bool {
	if selector == "" {
		return true
	}
	parsed, err := labels.Parse(selector)
	if err != nil {
		return false
	}
	found, _ := Lookup(object, Path{"metadata", "labels"})
	given, _ := found.(map[string]any)
	have := make(labels.Set, len(given))
	for key := range given {
		have[key] = Text(given, key)
	}
	return parsed.Matches(have)
}

func (s Selection) matchesFields(object map[string]any) bool {
	if s.FieldSelector == "" {
		return true
	}
	parsed, err := fields.ParseSelector(s.FieldSelector)
	if err != nil {
		return false
	}
	return !slices.ContainsFunc(parsed.Requirements(), func(want fields.Requirement) bool {
		have := scalarText(object, want.Field)
		if have == "" && s.GVR.Group == "" && want.Value == strconv.FormatBool(false) {
			have = want.Value // Kubernetes' own types are false where nothing is stored.
		}
		return (have == want.Value) != (want.Operator != selection.NotEquals)
	})
}

// scalarText is empty for what is absent and for what is not a scalar, which
// no selector can name.
func scalarText(object map[string]any, field string) string {
	value, _ := Lookup(object, strings.Split(field, "."))
	switch value := value.(type) {
	case nil, map[string]any, []any:
		return ""
	default:
		return fmt.Sprint(value)
	}
}
