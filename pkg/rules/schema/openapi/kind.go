package openapi

import (
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
)

// kindsByType are the kinds of values by the type of a schema.
var kindsByType = map[string]value.Kind{
	"object":  value.Map,
	"array":   value.List,
	"string":  value.String,
	"integer": value.Int,
	"number":  value.Number,
	"boolean": value.Bool,
}

// kindsOf returns the kinds of values that a schema allows, 0 where it does not say.
func kindsOf(s map[string]any) value.Kind {
	if flag(s["x-kubernetes-int-or-string"]) {
		return value.Int | value.String
	}
	if name, ok := s["type"].(string); ok {
		return kindsByType[name]
	}
	if kinds := kindsOfAny(s["anyOf"]); kinds != 0 {
		return kinds
	}
	return kindsOfAny(s["oneOf"])
}

// kindsOfAny returns the kinds of alternatives that are nothing but types, as of
// integer and string. Maps and lists are none of them: nothing more is said of their
// parts.
func kindsOfAny(of any) value.Kind {
	alternatives, _ := of.([]any)
	var kinds value.Kind
	for _, alternative := range alternatives {
		s, _ := alternative.(map[string]any)
		name, _ := s["type"].(string)
		kind := kindsByType[name] &^ (value.Map | value.List)
		if len(s) != 1 || kind == 0 {
			return 0
		}
		kinds |= kind
	}
	return kinds
}

// quantityPattern is how the pattern begins that generators of
// CustomResourceDefinitions write for a quantity.
const quantityPattern = `^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|`

func (r *Reader) formatOf(s map[string]any) string {
	pattern, _ := s["pattern"].(string)
	if strings.HasPrefix(pattern, quantityPattern) && flag(s["x-kubernetes-int-or-string"]) {
		return schema.Quantity
	}
	format, _ := s["format"].(string)
	if format == "byte" && r.components != nil {
		return schema.Bytes // The API server stores what []byte holds, not the text that came.
	}
	return format
}

// flag reads what is true or false, and false where it is neither.
func flag(v any) bool {
	on, _ := v.(bool)
	return on
}

// limitsOf returns nil where a schema does not limit values. What is not of the right type limits nothing.
func limitsOf(s map[string]any) *schema.Limits {
	var limits schema.Limits
	err := runtime.DefaultUnstructuredConverter.FromUnstructured(s, &limits)
	if err != nil || reflect.ValueOf(limits).IsZero() {
		return nil
	}
	return &limits
}
