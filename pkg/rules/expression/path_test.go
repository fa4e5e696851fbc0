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
		"a field":                                  {"object.spec.pd.replicas", int64(3)},
		"a key that is no name":                    {`object.metadata.labels["app.kubernetes.io/name"]`, "tidb"},
		"a key in brackets":                        {`object["spec"]["pd"].replicas`, int64(3)},
		"a keyword as a key":                       {`{"in": 1}.in`, int64(1)},
		"an absent leaf is nil":                    {"object.spec.pd.storage", nil},
		"null is nil":                              {"object.spec.null", nil},
		"an element":                               {"object.spec.ports[1].name", "peer"},
		"an element from the end":                  {"object.spec.ports[-1].name", "peer"},
		"an element by an expression":              {"object.spec.ports[i - 1][key]", int64(2379)},
		"no such element":                          {"object.spec.ports[2]", nil},
		"no such element from the end":             {"object.spec.ports[-3]", nil},
		"no such key":                              {`object.spec.pd["a" + "b"]`, nil},
		"?. on what is there":                      {"object.spec?.pd?.replicas", int64(3)},
		"?. on what is absent":                     {"object.spec.tidb?.replicas", nil},
		"?. ends the whole chain":                  {"object.spec.tidb?.a.b.c", nil},
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
		"labels that are there":                    {"object.metadata.labels.env", "prod"},
		"status reads as an empty map":             {"object.status.phase", nil},
		"status is not nil":                        {"object.status != nil", true},
		"labels of a pod template are no object's": {"object.spec.template.metadata.labels", nil},
		"spec of a pod template is no object's":    {"object.spec.template.spec", nil},
		"a slice":                                  {"object.spec.ports[1:][0].name", "peer"},
		"a slice from the end":                     {"[1, 2, 3, 4][-2:]", []any{int64(3), int64(4)}},
		"a slice up to the end":                    {"[1, 2, 3, 4][1:-1]", []any{int64(2), int64(3)}},
		"a slice of all":                           {"[1, 2][:]", []any{int64(1), int64(2)}},
		"a slice beyond the list":                  {"[1, 2][1:9]", []any{int64(2)}},
		"a slice before the list":                  {"[1, 2][-9:1]", []any{int64(1)}},
		"a slice backwards":                        {"[1, 2, 3][2:1]", []any{}},
		"a slice of what is absent":                {"absent[1:2]", []any{}},
		"a slice of a text":                        {"text[1:3]", "rö"},
		"a slice of a text from the end":           {"text[-2:]", "ße"},
		"a slice of a text backwards":              {"text[3:1]", ""},
		"a slice of a text up to its end":          {"text[3:99]", "ße"},
		"an empty slice of a text":                 {"text[2:2]", ""},
		"a field of a call":                        {"first(object.spec.ports).name", "client"},
		"a field of a literal":                     {"{a: {b: 1}}.a.b", int64(1)},
		"a field of an element":                    {`find(object.spec.ports, .name == "peer").port`, int64(2380)},
		"# with a field":                           {"map(object.spec.ports, #.port)", []any{int64(2379), int64(2380)}},
		"a variable before a default":              {"(let o = object; o.absent.b) ?? 7", int64(7)},
		"a variable with a field":                  {"let p = object.spec.pd; p.replicas", int64(3)},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, mustEval(t, tt.source, names)); diff != "" {
				t.Errorf("%s: (-want +got)\n%s", tt.source, diff)
			}
		})
	}
}

func TestPathErrors(t *testing.T) {
	names := env{"object": sample(), "absent": nil, "text": "abc", "i": int64(0)}
	tests := map[string]struct {
		source  string
		at      string
		message string
		hint    string
	}{
		"an absent parent": {
			"object.spec.tidb.replicas > 1", "replicas",
			"object.spec.tidb is absent, so object.spec.tidb.replicas cannot be read",
			"write object.spec.tidb?.replicas, which is nil then",
		},
		"an absent parent further up": {
			"object.spec.tidb.service.port", "service",
			"object.spec.tidb is absent, so object.spec.tidb.service cannot be read",
			"write object.spec.tidb?.service, which is nil then",
		},
		"?. saves only its own parent": {
			"object.spec?.tidb.replicas", "replicas",
			"object.spec?.tidb is absent, so object.spec?.tidb.replicas cannot be read",
			"write object.spec?.tidb?.replicas, which is nil then",
		},
		"an absent name": {
			"absent.data.x", "data", "absent is absent, so absent.data cannot be read",
			"write absent?.data, which is nil then",
		},
		"an absent list": {
			"object.spec.nodes[0]", "[", "object.spec.nodes is absent, so object.spec.nodes[0] cannot be read",
			"write object.spec.nodes?.[0], which is nil then",
		},
		"an absent element": {
			"object.spec.ports[7].name", "name", "object.spec.ports[7] is absent, so object.spec.ports[7].name cannot be read",
			"write object.spec.ports[7]?.name, which is nil then",
		},
		"an absent key in brackets": {
			`object.spec["a-b"]["c/d"]`, `"c/d"`, `object.spec["a-b"] is absent, so object.spec["a-b"]["c/d"] cannot be read`,
			`write object.spec["a-b"]?.["c/d"], which is nil then`,
		},
		"an index by a path": {
			"absent[object.spec.pd.replicas]", "[", "absent is absent, so absent[object.spec.pd.replicas] cannot be read",
			"write absent?.[object.spec.pd.replicas], which is nil then",
		},
		"an index by an expression": {
			"absent[i + 1]", "[", "absent is absent, so absent[...] cannot be read", "write absent?.[...], which is nil then",
		},
		"inside a predicate": {
			"all(object.spec.ports, .tls.enabled)", "enabled", "#.tls is absent, so #.tls.enabled cannot be read",
			"write #.tls?.enabled, which is nil then",
		},
		"on a call": {
			"first([]).name", "name", "first(...) is absent, so first(...).name cannot be read", "write first(...)?.name, which is nil then",
		},
		"?? saves paths, not arithmetic": {
			"(object.spec.tidb.replicas + 1) ?? 0", "??",
			"?? has + to its left, which is never nil", "write x + (y ?? z), or (x ?? z) + y",
		},
		"a field of a number": {
			"object.spec.pd.replicas.max", "max", `object.spec.pd.replicas is an integer and has no field "max"`, "",
		},
		"a field of a list": {
			"object.spec.ports.name", "name", `object.spec.ports is a list and has no field "name"`,
			"write map(object.spec.ports, #.name) for all elements, or object.spec.ports[0]?.name for the first",
		},
		"a wrong kind is an error even before ??": {
			"object.spec.ports.name ?? 1", "name", `object.spec.ports is a list and has no field "name"`,
			"write map(object.spec.ports, #.name) for all elements, or object.spec.ports[0]?.name for the first",
		},
		"an element of a text": {
			"text[0]", "[", "text is a string and has no elements", "a character is a slice, as in text[0:1]",
		},
		"an element of a boolean": {
			"object.spec.paused[i]", "[", "object.spec.paused is a boolean and has no elements", "",
		},
		"a list by a text": {
			"object.spec.ports[text]", "text", "the index of a list wants an integer, and text is a string", "write int(text)",
		},
		"a list by a float": {
			"object.spec.ports[0.5]", "0.5", "the index of a list wants an integer, have a float", "write int(...) or round(...)",
		},
		"a map by nil": {
			"object.spec[absent]", "absent", "absent is absent, and the key of a map wants a string", `?? gives a default: (absent ?? "")`,
		},
		"a map by a number": {
			"object.spec[1]", "1", "the key of a map wants a string, have an integer", "write string(...)",
		},
		"a slice of a map": {
			"object.spec[1:]", "[", "object.spec is a map and cannot be sliced", "",
		},
		"a slice by a text": {
			`object.spec.ports["a":]`, `"a"`, "a bound of a slice wants an integer, have a string", "write int(...)",
		},
		"a slice by nil": {
			"object.spec.ports[:absent]", "absent", "absent is absent, and a bound of a slice wants an integer", "?? gives a default: (absent ?? 0)",
		},
		"the operand of an operator is the whole path": {
			"1 - object.spec.ports[i].name", "object.spec.ports[i].name",
			"- wants a number, and object.spec.ports[i].name is a string", "write int(object.spec.ports[i].name)",
		},
		"on an expression in parentheses": {
			"(absent ?? nil).x", "x", "(...) is absent, so (...).x cannot be read", "write (...)?.x, which is nil then",
		},
		"the operand with brackets at the end": {
			`object.spec.pd["storage"] * 2`, `object.spec.pd["storage"]`,
			"object.spec.pd.storage is absent, and * wants a number", "?? gives a default: (object.spec.pd.storage ?? 0)",
		},
		"behind letters of several bytes": {
			`"größe" + object.spec.ratio`, "+",
			"+ has a string on one side and a float on the other", "write string(x) to join texts, or int(x) to add",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := names.eval(tt.source)
			got, at := place(t, tt.source, err)
			if got.Message != tt.message || got.Hint != tt.hint || at != tt.at {
				t.Errorf("%s:\n got %q at %q, hint %q\nwant %q at %q, hint %q",
					tt.source, got.Message, at, got.Hint, tt.message, tt.at, tt.hint)
			}
		})
	}
}
