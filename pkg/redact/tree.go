package redact

import "fmt"

// Body masks an object as it is stored, or a body that is written to one: a map, or the
// steps of a JSON patch. Of a Secret, it masks all values whether they were learned or not,
// and tells which there are. The body is not changed.
func (v *Values) Body(secret bool, body any) any {
	switch body := body.(type) {
	case map[string]any:
		return v.fields(true, secret, body)
	case []any:
		out := make([]any, len(body))
		for i, step := range body {
			out[i] = v.step(secret, step)
		}
		return out
	default:
		return v.Tree(body)
	}
}

// Tree masks the values in all texts of a value as JSON has it, which is not changed. A
// Secret in it is masked as [Values.Body] does.
func (v *Values) Tree(value any) any {
	switch value := value.(type) {
	case string:
		return v.Text(value)
	case []any:
		out := make([]any, len(value))
		for i, element := range value {
			out[i] = v.Tree(element)
		}
		return out
	case map[string]any:
		return v.fields(IsSecret(value), IsSecret(value), value)
	default:
		return value
	}
}

// IsSecret reports whether an object says that it is a Secret.
func IsSecret(object map[string]any) bool {
	return object["kind"] == "Secret" && object["apiVersion"] == "v1"
}

// step masks a step of a JSON patch.
func (v *Values) step(secret bool, step any) any {
	fields, ok := step.(map[string]any)
	if !ok {
		return v.Tree(step)
	}
	out := make(map[string]any, len(fields))
	for key, value := range fields {
		text, isText := value.(string)
		switch {
		case key == "op":
			out[key] = value
		case isText && (key == "path" || key == "from"):
			out[key] = v.Key(text)
		default:
			out[key] = v.Tree(value)
		}
	}
	if field, value := written(step); secret && isData(field) {
		out["value"] = v.data(value)
	}
	if _, there := fields["value"]; !there {
		delete(out, "value")
	}
	return out
}

// fields masks the fields of a map, which may be an object as a whole, or what is written to one.
func (v *Values) fields(object, secret bool, content map[string]any) map[string]any {
	out := make(map[string]any, len(content))
	for key, value := range content {
		text, isText := value.(string)
		switch {
		case secret && isData(key):
			out[key] = v.data(value)
		case object && (key == "apiVersion" || key == "kind"):
			out[key] = value
		case isText && key == LastApplied:
			out[v.Key(key)] = v.Mask(text)
		default:
			out[v.Key(key)] = v.Tree(value)
		}
	}
	return out
}

// data masks every value but not which ones there are. A null says that one is to be
// removed.
func (v *Values) data(value any) any {
	switch value := value.(type) {
	case nil:
		return nil
	case map[string]any:
		out := make(map[string]any, len(value))
		for key, element := range value {
			out[key] = v.data(element)
		}
		return out
	default:
		return v.Mask(fmt.Sprint(value))
	}
}

// Whole masks a value whatever it is, but shows that there is none, and words that are shown as they are.
func (v *Values) Whole(value any) any {
	text := fmt.Sprint(value)
	if value == nil || v.except[folded(text)] {
		return value
	}
	return v.Mask(text)
}
