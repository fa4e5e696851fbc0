package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// change is a field that has another value than before; nil is a field that is not there.
type change struct {
	rule          string // empty if unknown
	field         string
	before, after any
}

// compare lists the fields in which two versions of an object differ, but for what the API server itself keeps. A list
// is one field.
func compare(before, after map[string]any) []change {
	changes := differences(nil, before, after)
	return slices.DeleteFunc(changes, func(c change) bool {
		return slices.ContainsFunc([]string{"managedFields", "resourceVersion", "generation"}, func(own string) bool {
			return isAt(c.field, "metadata."+own)
		})
	})
}

func differences(path plan.Path, before, after map[string]any) []change {
	var out []change
	keys := slices.AppendSeq(slices.Collect(maps.Keys(before)), maps.Keys(after))
	slices.Sort(keys)
	for _, key := range slices.Compact(keys) {
		old, value := before[key], after[key]
		at := append(slices.Clip(path), key)
		oldMap, oldIsMap := old.(map[string]any)
		newMap, newIsMap := value.(map[string]any)
		switch {
		case reflect.DeepEqual(old, value):
		case newIsMap && (oldIsMap || old == nil && len(newMap) > 0):
			out = append(out, differences(at, oldMap, newMap)...)
		default:
			out = append(out, change{field: at.String(), before: old, after: value})
		}
	}
	return out
}

// isAt reports whether a field is another one, or lies in it.
func isAt(field, other string) bool {
	rest, found := strings.CutPrefix(field, other)
	return found && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// attribute names the rule that caused each change, as the log of the writes has it, in the order of that. What no
// write accounts for comes last.
func attribute(changes []change, writes []record) []change {
	var out []change
	left := slices.Clone(changes)
	for _, write := range writes {
		for _, written := range write.changed() {
			for _, c := range changes {
				if at := slices.Index(fields(left), c.field); at >= 0 && isAt(c.field, written.field) {
					c.rule = written.rule
					out = append(out, c)
					left = slices.Delete(left, at, at+1)
				}
			}
		}
	}
	return append(out, left...)
}

func fields(changes []change) []string {
	out := make([]string, len(changes))
	for i, c := range changes {
		out[i] = c.field
	}
	return out
}

// unattributed are the fields that no rule is known to have changed.
func unattributed(changes []change) []string {
	return fields(slices.DeleteFunc(slices.Clone(changes), func(c change) bool { return c.rule != "" }))
}

// String shows the elements that a list gained or lost, and any other value as it was and as it is.
func (c change) String() string {
	before, wasList := c.before.([]any)
	after, isList := c.after.([]any)
	if !wasList || !isList {
		return showValue(c.before) + " -> " + showValue(c.after)
	}
	var parts []string
	for _, element := range lacking(before, after) {
		parts = append(parts, "lost "+showValue(element))
	}
	for _, element := range lacking(after, before) {
		parts = append(parts, "gained "+showValue(element))
	}
	if len(parts) == 0 {
		return "another order"
	}
	return strings.Join(parts, ", ")
}

// lacking returns what a list has and another has not.
func lacking(list, other []any) []any {
	return slices.DeleteFunc(slices.Clone(list), func(element any) bool {
		return slices.ContainsFunc(other, func(o any) bool { return reflect.DeepEqual(o, element) })
	})
}

// showValue writes a value as YAML would on one line.
func showValue(value any) string {
	switch value := value.(type) {
	case nil:
		return "none"
	case string:
		if value == "" {
			return `""`
		}
		return value
	case map[string]any:
		var parts []string
		for _, key := range slices.Sorted(maps.Keys(value)) {
			parts = append(parts, key+": "+showValue(value[key]))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case []any:
		var parts []string
		for _, element := range value {
			parts = append(parts, showValue(element))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	default:
		data, err := json.Marshal(value)
		if err != nil {
			return fmt.Sprint(value)
		}
		return string(data)
	}
}
