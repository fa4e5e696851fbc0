package informer

import (
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/client-go/tools/cache"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// maxEntries bounds how many entries of an index one question looks up because it
// offers several values for each of several labels.
const maxEntries = 256

// trait is something of an object that a question asks for. An index is over all the
// traits of a question at once, so that its entry holds what matches and nothing else,
// however common each of the traits is.
type trait struct {
	name string // the same for the same of
	// of is the value that an object has; ok is false where it cannot match, whatever
	// is asked for. It takes objects of any shape. Values that are equal to a
	// question have the same text; others may have it too.
	of func(object map[string]any) (value string, ok bool)
	// values are those that are asked for.
	values []string
}

// entries is a question to an index, which gives for it the union of these entries
// as they are at one moment.
type entries []string

// indexOf is an index over the traits. It must not fail, which client-go answers with
// a panic.
func indexOf(traits []trait) cache.IndexFunc {
	of := make([]func(map[string]any) (string, bool), len(traits))
	for i, t := range traits {
		of[i] = t.of
	}
	return func(object any) ([]string, error) {
		if asked, ok := object.(entries); ok {
			return asked, nil
		}
		u, ok := object.(*unstructured.Unstructured)
		if !ok {
			return nil, nil
		}
		values := make([]string, len(of))
		for i := range of {
			if values[i], ok = of[i](u.Object); !ok {
				return nil, nil
			}
		}
		return []string{entry(values...)}, nil
	}
}

// wanted are the entries that have what is asked for.
func wanted(traits []trait) []string {
	out := []string{""}
	for i, t := range traits {
		var longer []string
		for _, start := range out {
			for _, value := range t.values {
				if i > 0 {
					value = entry(start, value)
				}
				longer = append(longer, value)
			}
		}
		out = longer
	}
	return out
}

func entry(values ...string) string { return strings.Join(values, "\x00") }

// traitsOf are those that objects must have to match; possible is false where none can.
func traitsOf(q plan.Read) (traits []trait, possible bool) {
	switch q.By {
	case plan.ByAll:
		return nil, true
	case plan.ByName:
		return []trait{{"name", textAt("metadata", "name"), q.Names}}, len(q.Names) > 0
	case plan.ByOwner:
		owners := make([]string, len(q.Owners))
		for i, uid := range q.Owners {
			owners[i] = string(uid)
		}
		return []trait{{"owner", controller, owners}}, len(owners) > 0
	case plan.ByLabels:
		return ofLabels(q.Labels)
	case plan.ByFields:
		return ofFields(q.Fields), len(q.Fields) > 0
	default:
		return nil, false
	}
}

func ofNamespace(namespace string) trait {
	return trait{"namespace", textAt("metadata", "namespace"), []string{namespace}}
}

// ofLabels has no traits for what a label must not be, nor for so many offers that
// there would be too many entries to look up.
func ofLabels(selector string) (traits []trait, possible bool) {
	parsed, err := labels.Parse(selector)
	if err != nil || selector == "" {
		return nil, false
	}
	requirements, _ := parsed.Requirements()
	lookups := 1
	for _, requirement := range requirements {
		key := requirement.Key()
		switch requirement.Operator() {
		case selection.Equals, selection.DoubleEquals, selection.In:
			values := requirement.ValuesUnsorted()
			if lookups*len(values) > maxEntries {
				continue
			}
			lookups *= len(values)
			traits = append(traits, trait{"label " + strconv.Quote(key), label(key), values})
		case selection.Exists, selection.DoesNotExist:
			has := strconv.FormatBool(requirement.Operator() == selection.Exists)
			traits = append(traits, trait{"has label " + strconv.Quote(key), hasLabel(key), []string{has}})
		default:
		}
	}
	return traits, true
}

func ofFields(fields []plan.FieldValue) []trait {
	traits := make([]trait, len(fields))
	for i, field := range fields {
		path := slices.Clone(field.Path)
		traits[i] = trait{
			name: "field " + strconv.Quote(path.Pointer()),
			of: func(object map[string]any) (string, bool) {
				value, ok := plan.Lookup(object, path)
				return scalar(value), ok
			},
			values: []string{scalar(field.Value)},
		}
	}
	return traits
}
