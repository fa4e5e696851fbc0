package plan

import "maps"

// CameTrue reports whether the object that came back is as predicted, apart
// from what the API server alone writes. Where it is not, admission or another
// writer had a hand in it, and what else was planned may be wrong.
//
// Some subresources, such as scale, answer with an object of another kind, of
// which nothing is predicted.
//
// Into what is new the API server fills defaults that nobody here knows, so
// everything asked for must be there but more may be. Of what is deleted
// nothing is predicted: it is gone, or on its way.
func (o Operation) CameTrue(object map[string]any) bool {
	switch {
	case o.Type == Delete, o.answeredByAnother(object):
		return true
	case o.Type == Create, o.Type == Apply && o.Target.UID == "":
		return covers(object, o.Predicted)
	default:
		return Equal(withoutBookkeeping(o.Predicted), withoutBookkeeping(object))
	}
}

// answeredByAnother reports whether what came back is not the target.
func (o Operation) answeredByAnother(object map[string]any) bool {
	return o.Subresource != "" && object["kind"] != o.Predicted["kind"]
}

func withoutBookkeeping(object map[string]any) map[string]any {
	out := maps.Clone(object)
	if out == nil {
		out = map[string]any{}
	}
	metadata, _ := object["metadata"].(map[string]any)
	metadata = maps.Clone(metadata)
	for _, key := range []string{"resourceVersion", "generation", "managedFields"} {
		delete(metadata, key)
	}
	// The API server stores no labels as none, not as an empty map.
	maps.DeleteFunc(metadata, func(_ string, value any) bool { return isEmpty(value) })
	out["metadata"] = metadata
	return out
}

func isEmpty(value any) bool {
	switch value := value.(type) {
	case map[string]any:
		return len(value) == 0
	case []any:
		return len(value) == 0
	default:
		return false
	}
}

// covers reports whether have is want, with more fields at most. What is empty
// or null may be absent.
func covers(have, want any) bool {
	switch want := want.(type) {
	case map[string]any:
		haveMap, _ := have.(map[string]any)
		for key, value := range want {
			if !covers(haveMap[key], value) {
				return false
			}
		}
		return have == nil || haveMap != nil
	case []any:
		haveList, _ := have.([]any)
		if len(haveList) != len(want) {
			return false
		}
		for i, value := range want {
			if !covers(haveList[i], value) {
				return false
			}
		}
		return true
	default:
		return Equal(have, want)
	}
}
