package plan

import (
	"encoding/base64"
	"maps"
)

// returned are the fields of an object, or of a patch of it, as the API server returns them. It accepts stringData of a Secret and
// turns it into data, where it wins: the field itself cannot be compared with what is there, and its field manager
// does not own what it becomes. What is not text the API server
// refuses, so it stays, as does what cannot be folded into a patch that removes data.
func (o Object) returned(fields map[string]any) map[string]any {
	if !o.IsSecret() {
		return fields
	}
	given, there := fields["stringData"]
	texts, isMap := given.(map[string]any)
	data, hasData := fields["data"].(map[string]any)
	if _, set := fields["data"]; !there || given != nil && !isMap || set && !hasData {
		return fields
	}
	folded := map[string]any{}
	maps.Copy(folded, data)
	for key, value := range texts {
		switch value := value.(type) {
		case nil:
		case string:
			folded[key] = base64.StdEncoding.EncodeToString([]byte(value))
		default:
			return fields
		}
	}
	out := maps.Clone(fields)
	delete(out, "stringData")
	if hasData || len(folded) > 0 {
		out["data"] = folded
	}
	return out
}
