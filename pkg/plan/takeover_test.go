package plan

import (
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// TestTakeOver holds that what a former manager owns in the place of a rule is the rule's before it applies a child, and that what others
// have added to the child stays theirs.
func TestTakeOver(t *testing.T) {
	// A is the rule that applies, B the same under an earlier name; MARK is the mark of a child.
	expand := strings.NewReplacer("A!", rule("a").FieldManager(), "B!", rule("b").FieldManager(), "SET", rule("a").SetID(),
		"MARK", `"f:labels": {"f:dyncontroller.dev/set": {}}`)
	const (
		child   = `{metadata: {labels: {dyncontroller.dev/set: SET}}, data: {a: "1"}, ports: [{port: 80}], set: [x]}`
		adopted = `{metadata: {labels: {dyncontroller.dev/set: SET}, annotations: {dyncontroller.dev/adopted: "true"}}, data: {a: "1"}, ports: [{port: 80}], set: [x]}`
	)
	tests := map[string]struct {
		reason, body, entries, want string
	}{
		"Renamed": {
			"The rule had another name: all that it owned is the rule's, so that the apply removes what it has no more.", child,
			`{manager: B!, operation: Apply, apiVersion: v1, time: T, fieldsV1: {"f:metadata": {MARK}, "f:data": {"f:a": {}, "f:b": {}}}}`,
			`{manager: A!, operation: Apply, apiVersion: v1, fieldsType: FieldsV1, fieldsV1: {"f:metadata": {MARK}, "f:data": {"f:a": {}, "f:b": {}}}}`,
		},
		"Both": {
			"Both have an entry.", child,
			`{manager: B!, operation: Apply, fieldsV1: {"f:metadata": {MARK}, "f:data": {"f:b": {}}}}, {manager: A!, operation: Apply, apiVersion: v2, time: T, fieldsV1: {"f:metadata": {MARK}, "f:data": {"f:a": {}}}}`,
			`{manager: A!, operation: Apply, apiVersion: v2, time: T, fieldsV1: {"f:metadata": {MARK}, "f:data": {"f:a": {}, "f:b": {}}}}`,
		},
		"Patch": {
			"A rule that patches the child goes on to do so.", child,
			`{manager: B!, operation: Apply, fieldsV1: {"f:data": {"f:a": {}}}}`, ``,
		},
		"Restored": {
			"A client that restored the child wrote the mark too. Finalizers are of those who wait for them.", child,
			`{manager: backup, operation: Update, fieldsV1: {"f:metadata": {MARK, "f:finalizers": {"v:\"x\"": {}}}, "f:data": {"f:b": {}}}}`,
			`{manager: backup, operation: Update, fieldsV1: {"f:metadata": {"f:finalizers": {"v:\"x\"": {}}}}},` +
				`{manager: A!, operation: Apply, apiVersion: v1, fieldsType: FieldsV1, fieldsV1: {"f:metadata": {MARK}, "f:data": {"f:b": {}}}}`,
		},
		"Made": {
			"What others put into what a rule has made is theirs.", child,
			`{manager: A!, operation: Apply, fieldsV1: {"f:metadata": {MARK}, "f:data": {"f:a": {}}}}, {manager: edit, operation: Update, fieldsV1: {"f:data": {"f:a": {}}}}`, ``,
		},
		"Adopted": {
			"What both have is the rule's alone, what the other one has set besides stays.", adopted,
			`{manager: kubectl, operation: Apply, fieldsV1: {"f:data": {".": {}, "f:a": {}, "f:b": {}}, "f:set": {"v:\"x\"": {}, "v:\"y\"": {}},` +
				`"f:ports": {"k:{\"port\":80,\"protocol\":\"TCP\"}": {".": {}, "f:port": {}, "f:protocol": {}}, "k:{\"port\":81}": {".": {}}}}}`,
			`{manager: kubectl, operation: Apply, fieldsV1: {"f:data": {"f:b": {}}, "f:set": {"v:\"y\"": {}},` +
				`"f:ports": {"k:{\"port\":80,\"protocol\":\"TCP\"}": {"f:protocol": {}}, "k:{\"port\":81}": {".": {}}}}},` +
				`{manager: A!, operation: Apply, apiVersion: v1, fieldsType: FieldsV1, fieldsV1: {"f:data": {".": {}, "f:a": {}}, "f:set": {"v:\"x\"": {}},` +
				`"f:ports": {"k:{\"port\":80,\"protocol\":\"TCP\"}": {".": {}, "f:port": {}}}}}`,
		},
		"AdoptedDrops": {
			"An element that the rule has applied, and does not any more, goes as a whole.", adopted,
			`{manager: A!, operation: Apply, fieldsV1: {"f:ports": {"k:{\"port\":80}": {"f:port": {}}, "k:{\"port\":81}": {".": {}, "f:port": {}}}}},` +
				`{manager: kubectl, operation: Update, fieldsV1: {"f:ports": {"k:{\"port\":81}": {".": {}, "f:protocol": {}}}}}`,
			`{manager: A!, operation: Apply, fieldsV1: {"f:ports": {"k:{\"port\":80}": {"f:port": {}}, "k:{\"port\":81}": {".": {}, "f:port": {}, "f:protocol": {}}}}}`,
		},
		"AdoptedScaled": {
			"What a subresource was used for is no matter of who made it, and rules keep what they patch.", adopted,
			`{manager: hpa, operation: Update, subresource: scale, fieldsV1: {"f:data": {"f:a": {}}}}, {manager: B!, operation: Apply, fieldsV1: {"f:data": {"f:a": {}}}}`, ``,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			o := Operation{Type: Apply, Manager: rule("a").FieldManager(), Body: decode[map[string]any](t, expand.Replace(tc.body))}
			o.Target.GVR.Version = "v1"
			stored := decode[map[string]any](t, expand.Replace(`{metadata: {managedFields: [`+tc.entries+`]}}`))
			before := encode(t, stored)
			var got []any
			if steps := o.TakeOver(stored); steps != nil {
				value, _ := Lookup(steps[0], Path{"value"})
				got, _ = value.([]any)
			}
			want := decode[[]any](t, expand.Replace(`[`+tc.want+`]`))
			if diff := cmp.Diff(encode(t, want), encode(t, append([]any{}, got...))); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if encode(t, stored) != before {
				t.Error("the object was changed")
			}
		})
	}
}

// TestTakenOverIsPredicted holds that an apply is predicted as the manager of what it takes over before: it removes that.
func TestTakenOverIsPredicted(t *testing.T) {
	const mark = `"f:metadata": {"f:labels": {"f:dyncontroller.dev/set": {}}}`
	var owned map[string]any
	o := Options{Applied: func(_ schema.GroupVersionResource, _, manager string, object, body map[string]any) map[string]any {
		owned = ownedFields(object, manager, "")
		return mergePatched(object, body)
	}}
	current := decode[map[string]any](t, `{metadata: {managedFields: [{manager: `+rule("b").FieldManager()+`, operation: Apply, fieldsV1: {`+mark+`, "f:data": {"f:a": {}, "f:b": {}}}}]}, data: {a: "1", b: "1"}}`)
	wish := Wish{
		Rule: rule("a"), Type: Apply, Force: true, Current: current,
		Body: decode[map[string]any](t, `{metadata: {labels: {dyncontroller.dev/set: `+rule("a").SetID()+`}}, data: {a: "1"}}`),
	}
	all := Build([]Wish{wish}, o).Operations
	if diff := cmp.Diff(`{"f:data":{"f:a":{},"f:b":{}},"f:metadata":{"f:labels":{"f:dyncontroller.dev/set":{}}}}`, encode(t, owned)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if entries := elements(all[0].Predicted, managedFieldsPath...); len(entries) != 1 || entries[0]["manager"] != rule("b").FieldManager() {
		t.Errorf("it predicts other entries: %v", entries)
	}
}

// TestEmptiedMap holds that an apply to a custom resource leaves out an empty map in which the manager owns something: the API server
// would make it null, and refuse that. The next apply adds the empty map.
func TestEmptiedMap(t *testing.T) {
	tests := map[string]struct{ reason, group, owned, body, want string }{
		"Emptied":  {"It goes with the last that was in it.", "example.com", `{"f:spec": {"f:m": {"f:a": {}}, "f:o": {}}}`, `{spec: {m: {}, o: 1}}`, `{"spec":{"o":1}}`},
		"Nested":   {"So does what has nothing else in it.", "example.com", `{"f:spec": {"f:m": {"f:a": {"f:b": {}}}}}`, `{spec: {m: {a: {}}, o: 1}}`, `{"spec":{"o":1}}`},
		"InList":   {"The same holds in an element of a list.", "example.com", `{"f:l": {"k:{\"name\":\"x\"}": {".": {}, "f:name": {}, "f:m": {"f:a": {}}}}}`, `{l: [{name: x, m: {}}]}`, `{"l":[{"name":"x"}]}`},
		"Empty":    {"One that was empty is applied so.", "example.com", `{"f:spec": {"f:m": {}, "f:o": {}}}`, `{spec: {m: {}, o: 2}}`, `{"spec":{"m":{},"o":2}}`},
		"Itself":   {"Also if another manager has filled it.", "example.com", `{"f:spec": {"f:m": {".": {}}}}`, `{spec: {m: {}, o: 2}}`, `{"spec":{"m":{},"o":2}}`},
		"Built-in": {"Null is no map to resources of Kubernetes, as it is stored.", "apps", `{"f:spec": {"f:m": {"f:a": {}}}}`, `{spec: {m: {}, o: 1}}`, `{"spec":{"m":{},"o":1}}`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			for _, manager := range []string{"a", "b"} { // The rule itself, and its former name.
				mark, marks := "", ""
				if manager == "b" {
					mark = `"f:metadata": {"f:labels": {"f:dyncontroller.dev/set": {}}}, `
					marks = `metadata: {labels: {dyncontroller.dev/set: ` + rule("a").SetID() + `}}, `
				}
				wish := Wish{Rule: rule("a"), Type: Apply, Force: true, Body: decode[map[string]any](t, `{`+marks+tc.body[1:])}
				wish.Target.GVR.Group = tc.group
				wish.Current = decode[map[string]any](t, `{metadata: {managedFields: [{manager: `+rule(manager).FieldManager()+`, operation: Apply, fieldsV1: {`+mark+tc.owned[1:]+`}]}}`)
				before := encode(t, wish.Body)
				all := Build([]Wish{wish}, Options{Applied: func(_ schema.GroupVersionResource, _, _ string, _, body map[string]any) map[string]any {
					return decode[map[string]any](t, strings.ReplaceAll(encode(t, body), "{}", "null"))
				}}).Operations
				body := maps.Clone(all[0].Body.(map[string]any))
				delete(body, "metadata")
				if diff := cmp.Diff(tc.want, encode(t, body)); diff != "" {
					t.Errorf("%s of %s (-want +got):\n%s", tc.reason, manager, diff)
				}
				if encode(t, wish.Body) != before {
					t.Error("the wish was changed")
				}
			}
		})
	}
}

// TestTakesOver holds that an apply looks for former managers where a cache cannot tell that there are none, and only there: it takes a
// read of the object.
func TestTakesOver(t *testing.T) {
	const mark = `"f:metadata": {"f:labels": {"f:dyncontroller.dev/set": {}}}`
	own := `{manager: ` + rule("a").FieldManager() + `, operation: Apply, fieldsV1: {` + mark + `, "f:data": {"f:a": {}, "f:b": {}}}}`
	marks := `labels: {dyncontroller.dev/set: ` + rule("a").SetID() + `}`
	tests := map[string]struct {
		reason, body, current string
		want                  bool
	}{
		"New":     {"There is nothing yet.", `metadata: {` + marks + `}, data: {a: "1"}`, `null`, false},
		"Ours":    {"The rule made it.", `metadata: {` + marks + `}, data: {a: "2"}`, `{metadata: {managedFields: [{}, ` + own + `]}}`, false},
		"First":   {"The rule has applied nothing yet to what is there.", `metadata: {` + marks + `}, data: {a: "2"}`, `{metadata: {managedFields: [{}]}}`, true},
		"Renamed": {"Another rule made it as well.", `metadata: {` + marks + `}`, `{metadata: {managedFields: [` + own + `, ` + strings.Replace(own, rule("a").FieldManager(), rule("b").FieldManager(), 1) + `]}}`, true},
		"Drops":   {"Its former manager may have it too.", `metadata: {` + marks + `, annotations: {dyncontroller.dev/adopted: "true"}}`, `{metadata: {managedFields: [` + own + `]}}`, true},
		"Patch":   {"A patch is of just these fields.", `data: {a: "2"}`, `{metadata: {managedFields: [{}]}}`, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			wish := Wish{Rule: rule("a"), Type: Apply, Force: true, Body: decode[map[string]any](t, `{`+tc.body+`}`), Current: decode[map[string]any](t, tc.current)}
			all := Build([]Wish{wish}, Options{}).Operations
			if len(all) != 1 || all[0].TakesOver != tc.want {
				t.Errorf("%s got %+v", tc.reason, all)
			}
		})
	}
}

// TestReversion holds that all entries of a version name another one, and that a manager has one entry then, as the API server wants it.
func TestReversion(t *testing.T) {
	const entries = `[
		{manager: a, operation: Update, apiVersion: x/v1beta1, fieldsV1: {"f:a": {}}}, {manager: b, operation: Apply, apiVersion: x/v1beta1},
		{manager: a, operation: Update, apiVersion: x/v1, fieldsV1: {"f:b": {}}}, {manager: a, operation: Update, subresource: status, apiVersion: x/v1beta1}]`
	stored := decode[map[string]any](t, `{metadata: {managedFields: `+entries+`}}`)
	want := decode[[]any](t, `[{op: replace, path: /metadata/managedFields, value: [
		{manager: a, operation: Update, apiVersion: x/v1, fieldsV1: {"f:a": {}, "f:b": {}}}, {manager: b, operation: Apply, apiVersion: x/v1},
		{manager: a, operation: Update, subresource: status, apiVersion: x/v1}]}]`)
	if diff := cmp.Diff(encode(t, want), encode(t, Reversion(stored, "x/v1beta1", "x/v1"))); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if diff := cmp.Diff(decode[map[string]any](t, `{metadata: {managedFields: `+entries+`}}`), stored); diff != "" {
		t.Errorf("the object was changed: %s", diff)
	}
	if got := Reversion(stored, "x/v2", "x/v1"); got != nil {
		t.Errorf("got %v", got)
	}
}

// TestAppliedInAVersion holds that what was applied in another version is applied again, so that the entry names the version of the rule.
func TestAppliedInAVersion(t *testing.T) {
	for version, want := range map[string]int{"v1": 0, "v1beta1": 1} {
		wish := Wish{Rule: rule("a"), Type: Apply, Body: map[string]any{"spec": map[string]any{"a": int64(1)}}}
		wish.Target.GVR.Version = "v1"
		wish.Current = decode[map[string]any](t, `{spec: {a: 1}, metadata: {managedFields: [{manager: `+rule("a").FieldManager()+`, operation: Apply, apiVersion: `+version+`, fieldsV1: {"f:spec": {"f:a": {}}}}]}}`)
		if got := len(Build([]Wish{wish}, Options{}).Operations); got != want {
			t.Errorf("in %s: %d operations, want %d", version, got, want)
		}
	}
}
