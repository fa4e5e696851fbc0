package expression

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPaths(t *testing.T) {
	names := env{
		"object": sample(), "absent": nil, "i": int64(1), "key": "port", "text": "größe",
		"pods": []any{sample(), map[string]any{"metadata": map[string]any{}}},
	}
	tests := map[string]struct {
		source string
		want   any
	}{
		"a key that is no name":                    {`object.metadata.labels["app.kubernetes.io/name"]`, "tidb"},
		"a keyword as a key":                       {`{"in": 1}.in`, int64(1)},
		"an absent leaf is nil":                    {"object.spec.pd.storage", nil},
		"null is nil":                              {"object.spec.null", nil},
		"an element by an expression":              {"object.spec.ports[i - 1][key]", int64(2379)},
		"no such element":                          {"object.spec.ports[2]", nil},
		"no such element from the end":             {"object.spec.ports[-3]", nil},
		"no such key":                              {`object.spec.pd["a" + "b"]`, nil},
		"?. ends brackets too":                     {`object.spec.tidb?.a[0]["b"].c`, nil},
		"?. ends brackets in parentheses too":      {`(object.spec.tidb?.a)[0]`, nil},
		"?. ends slices too":                       {"object.spec.tidb?.a[1:].b", nil},
		"?.[ ]":                                    {"object.spec.tidb?.[i]", nil},
		"?.[ ] on what is there":                   {"object.spec.ports?.[i].name", "peer"},
		"the index after ?. is not evaluated":      {"absent?.[1 + absent]", nil},
		"?? saves the whole path":                  {"object.spec.tidb.service.port ?? 4000", int64(4000)},
		"?? saves elements":                        {"object.spec.tidb.ports[0].port ?? 4000", int64(4000)},
		"?? saves both of a chain":                 {"object.spec.a.b ?? object.spec.c.d ?? 1", int64(1)},
		"?? saves the branches of a condition":     {"(i == 1 ? object.spec.a.b : object.spec.c.d) ?? 1", int64(1)},
		"?? saves a slice":                         {"object.spec.a.b[1:] ?? 1", int64(1)},
		"metadata.labels is a map":                 {"object.spec.template != nil && pods[1].metadata.labels == nil", true},
		"annotations read as an empty map":         {"object.metadata.annotations", map[string]any{}},
		"annotations of another object":            {"pods[0].metadata.annotations.x", nil},
		"annotations of an element":                {`map(pods[:1], .metadata.annotations["x"])`, []any{nil}},
		"annotations in brackets":                  {`object["metadata"]["annotations"]`, map[string]any{}},
		"status reads as an empty map":             {"object.status.phase", nil},
		"status is not nil":                        {"object.status != nil", true},
		"labels of a pod template are no object's": {"object.spec.template.metadata.labels", nil},
		"spec of a pod template is no object's":    {"object.spec.template.spec", nil},
		"a slice from the end":                     {"[1, 2, 3, 4][-2:]", []any{int64(3), int64(4)}},
		"a slice up to the end":                    {"[1, 2, 3, 4][1:-1]", []any{int64(2), int64(3)}},
		"a slice beyond the list":                  {"[1, 2][1:9]", []any{int64(2)}},
		"a slice before the list":                  {"[1, 2][-9:1]", []any{int64(1)}},
		"a slice backwards":                        {"[1, 2, 3][2:1]", []any{}},
		"a slice of what is absent":                {"absent[1:2]", []any{}},
		"a slice of a text":                        {"text[1:3]", "rö"},
		"a slice of a text from the end":           {"text[-2:]", "ße"},
		"a slice of a text backwards":              {"text[3:1]", ""},
		"a slice of a text up to its end":          {"text[3:99]", "ße"},
		"an empty slice of a text":                 {"text[2:2]", ""},
		"a variable before a default":              {"(let o = object; o.absent.b) ?? 7", int64(7)},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, mustEval(t, tt.source, names)); diff != "" {
				t.Errorf("%s: (-want +got)\n%s", tt.source, diff)
			}
		})
	}
}
