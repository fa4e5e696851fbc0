package openapi

import (
	"strings"

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
	if format == "byte" && r.dialect == Go {
		return schema.Bytes // The API server stores what []byte holds, not the text that came.
	}
	return format
}

// flag reads what is true or false, and false where it is neither.
func flag(v any) bool {
	on, _ := v.(bool)
	return on
}

// limitKeys are what a schema may say to limit values. What is not of the right type
// limits nothing.
var limitKeys = map[string]func(*schema.Limits, any){
	"enum":             func(l *schema.Limits, v any) { l.Enum, _ = v.([]any) },
	"pattern":          func(l *schema.Limits, v any) { l.Pattern, _ = v.(string) },
	"minLength":        func(l *schema.Limits, v any) { l.MinLength = whole(v) },
	"maxLength":        func(l *schema.Limits, v any) { l.MaxLength = whole(v) },
	"minimum":          func(l *schema.Limits, v any) { l.Minimum = number(v) },
	"maximum":          func(l *schema.Limits, v any) { l.Maximum = number(v) },
	"exclusiveMinimum": func(l *schema.Limits, v any) { l.ExclusiveMinimum = flag(v) },
	"exclusiveMaximum": func(l *schema.Limits, v any) { l.ExclusiveMaximum = flag(v) },
	"multipleOf":       func(l *schema.Limits, v any) { l.MultipleOf = number(v) },
	"minItems":         func(l *schema.Limits, v any) { l.MinItems = whole(v) },
	"maxItems":         func(l *schema.Limits, v any) { l.MaxItems = whole(v) },
	"minProperties":    func(l *schema.Limits, v any) { l.MinProperties = whole(v) },
	"maxProperties":    func(l *schema.Limits, v any) { l.MaxProperties = whole(v) },
	"uniqueItems":      func(l *schema.Limits, v any) { l.UniqueItems = flag(v) },
}

// limitsOf returns nil where a schema does not limit values.
func limitsOf(s map[string]any) *schema.Limits {
	var limits *schema.Limits
	for key, value := range s {
		set := limitKeys[key]
		if set == nil {
			continue
		}
		if limits == nil {
			limits = &schema.Limits{}
		}
		set(limits, value)
	}
	return limits
}

// number returns nil for what is no number.
func number(v any) *float64 {
	switch v := v.(type) {
	case int64:
		return new(float64(v))
	case float64:
		return &v
	default:
		return nil
	}
}

// whole returns nil for what is no integer.
func whole(v any) *int64 {
	if i, ok := v.(int64); ok {
		return &i
	}
	return nil
}
