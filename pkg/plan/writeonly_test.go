package plan

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// TestStringData holds that what is wanted of stringData is wanted of data, which is all that
// the API server shows of it.
func TestStringData(t *testing.T) {
	secrets := schema.GroupVersionResource{Version: "v1", Resource: "secrets"}
	owning := func(rest string) string {
		return `{metadata: {managedFields: [{manager: ` + rule("a").FieldManager() + `, operation: Apply, fieldsV1: {"f:data": {"f:k": {}}}}]}, ` + rest + `}`
	}
	tests := map[string]struct {
		reason  string
		of      schema.GroupVersionResource // default: secrets
		current string
		lines   []string
		want    []string
		refused []string
	}{
		"Applied": {reason: "It is there.", current: owning(`data: {k: b25l}`), lines: []string{`a apply x {stringData: {k: one}}`}},
		"Drift": {
			reason: "Somebody has changed it.", current: owning(`data: {k: dHdv}`), lines: []string{`a apply x {stringData: {k: one}}`},
			want: []string{`apply x a {"data":{"k":"b25l"}}`},
		},
		"Less": {
			reason: "The rule gives a key up.", current: owning(`data: {k: b25l}`), lines: []string{`a apply x {stringData: {l: one}}`},
			want: []string{`apply x a {"data":{"l":"b25l"}}`},
		},
		"Wins": {
			reason: "It wins over data.", current: `{}`, lines: []string{`a merge x {data: {k: dHdv, l: eA==}, stringData: {k: one}}`},
			want: []string{`merge x a {"data":{"k":"b25l","l":"eA=="}}`},
		},
		"Merged":  {reason: "It is there.", current: `{data: {k: b25l}}`, lines: []string{`a merge x {stringData: {k: one, gone: null}}`}},
		"Nothing": {reason: "Nothing is to be removed.", current: `{data: {k: b25l}}`, lines: []string{`a merge x {stringData: null}`}},
		"Instead": {
			reason: "All else goes first.", current: `{data: {k: b25l, l: b25l}}`, lines: []string{`a merge x {data: null, stringData: {k: one}}`},
			want: []string{`merge x a {"data":{"l":null}}`},
		},
		"Steps": {
			reason: "The body of a JSON patch is sent as it is.", current: `{data: {k: dHdv}}`, lines: []string{`a json x [{op: add, path: /stringData, value: {k: one}}]`},
			want: []string{`json x a [{"op":"add","path":"/stringData","value":{"k":"one"}}]`},
		},
		"StepsDone": {reason: "It is there.", current: `{data: {k: b25l}}`, lines: []string{`a json x [{op: add, path: /stringData, value: {k: one}}]`}},
		"Create":    {reason: "So it is in what is new.", lines: []string{`a create - {stringData: {k: one}}`}, want: []string{`create - a {"data":{"k":"b25l"}}`}},
		"Conflict": {
			reason: "Two rules want the same key in two ways.", current: `{}`, lines: []string{`a merge x {data: {k: b25l}}`, `b merge x {stringData: {k: two}}`},
			want: []string{`merge x a {"data":{"k":"b25l"}}`}, refused: []string{"b"},
		},
		"NoText": {
			reason: "The API server says what it thinks of it.", current: `{}`, lines: []string{`a merge x {stringData: {k: 1}}`},
			want: []string{`merge x a {"stringData":{"k":1}}`},
		},
		"OtherKind": {
			reason: "It is a field like any other.", of: schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "secrets"},
			current: `{}`, lines: []string{`a merge x {stringData: {k: one}}`}, want: []string{`merge x a {"stringData":{"k":"one"}}`},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			objects := cluster{}
			if tc.current != "" {
				objects["x"] = tc.current
			}
			wishes := objects.wishes(t, tc.lines...)
			for i := range wishes {
				if wishes[i].Target.GVR = tc.of; tc.of.Empty() {
					wishes[i].Target.GVR = secrets
				}
			}
			built := Build(wishes, Options{})
			if diff := cmp.Diff(tc.want, written(t, built.Operations)); diff != "" {
				t.Errorf("%s\noperations (-want +got):\n%s", tc.reason, diff)
			}
			var refused []string
			for _, decision := range built.Decisions {
				refused = append(refused, decision.Rule.Name)
			}
			if diff := cmp.Diff(tc.refused, refused); diff != "" {
				t.Errorf("%s\nrefused (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
