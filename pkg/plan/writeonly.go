package plan

import (
	"encoding/base64"
	"maps"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// writeOnly are the kinds of Kubernetes with fields that the API server accepts and never
// returns, as it turns them into others. What a wish says of such a field is said of what
// it becomes: the field itself cannot be compared with what is there, and its field manager
// does not own what it becomes.
var writeOnly = map[schema.GroupVersionResource]func(fields map[string]any) map[string]any{
	{Version: "v1", Resource: "secrets"}: foldStringData,
}

// returned are the fields of an object, or of a patch of it, as the API server returns them.
func (o Object) returned(fields map[string]any) map[string]any {
	if fold := writeOnly[o.GVR]; fold != nil {
		return fold(fields)
	}
	return fields
}

// foldStringData puts stringData into data, where it wins. What is not text the API server
// refuses, so it stays, as does what cannot be folded into a patch that removes data.
func foldStringData(fields map[string]any) map[string]any {
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
