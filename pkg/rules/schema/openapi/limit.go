package openapi

import (
	"encoding/json"
	"math"

	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
)

// limitKeys are what a schema may say to limit values. What is not of the right type
// limits nothing.
var limitKeys = map[string]func(*schema.Limits, any){
	"enum":             func(l *schema.Limits, v any) { l.Enum, _ = normal(v).([]any) },
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

// normal returns a decoded value with numbers of the two types that Kubernetes has.
func normal(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, element := range v {
			out[key] = normal(element)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, element := range v {
			out[i] = normal(element)
		}
		return out
	default:
		return normalNumber(v)
	}
}

// normalNumber makes an integer of a float without a fraction: that is what
// encoding/json reads an integer as.
func normalNumber(v any) any {
	switch v := v.(type) {
	case int:
		return int64(v)
	case uint64:
		if v <= math.MaxInt64 {
			return int64(v)
		}
		return float64(v)
	case float64:
		const exact = 1 << 53
		if v == math.Trunc(v) && math.Abs(v) <= exact {
			return int64(v)
		}
		return v
	case json.Number:
		if i, err := v.Int64(); err == nil {
			return i
		}
		f, _ := v.Float64()
		return f
	default:
		return v
	}
}

// number returns nil for what is no number.
func number(v any) *float64 {
	switch v := normalNumber(v).(type) {
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
	if i, ok := normalNumber(v).(int64); ok {
		return &i
	}
	return nil
}
