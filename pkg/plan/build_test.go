package plan

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var target = Object{
	GVR:  schema.GroupVersionResource{Group: "pingcap.com", Version: "v1alpha1", Resource: "tidbclusters"},
	Kind: "TidbCluster", Namespace: "tidb", Name: "basic", UID: "u1", ResourceVersion: "7",
}

func rule(name string) Rule { return Rule{Kind: "ClusterRuleSet", Set: "guardrails", Name: name} }

// decode reads YAML as the API server's JSON is read: integers are int64.
func decode[T any](t testing.TB, text string) T {
	t.Helper()
	var out T
	if err := unmarshal([]byte(text), &out); err != nil {
		t.Fatalf("decoding %q: %v", text, err)
	}
	return out
}

func wish(t *testing.T, name string, kind Type, current map[string]any, body string) Wish {
	t.Helper()
	return Wish{Rule: rule(name), Target: target, Current: current, Type: kind, Body: decode[any](t, body)}
}

func TestBuild(t *testing.T) {
	const current = `{spec: {pd: {replicas: 2}, tikv: {replicas: 1}, tags: [a, b]}, metadata: {labels: {x: "1"}}}`
	type asked struct {
		rule, subresource string
		kind              Type
		body              string
	}
	type request struct {
		Type    Type
		Rules   []string
		Body    string
		Manager string
	}
	merge := func(rule, body string) asked { return asked{rule: rule, kind: Merge, body: body} }
	json := func(rule, body string) asked { return asked{rule: rule, kind: JSON, body: body} }
	tests := map[string]struct {
		reason    string
		wishes    []asked
		separate  bool
		want      []request
		decisions []string
	}{
		"Nothing": {reason: "No wishes, no operations."},
		"AlreadySo": {
			reason: "A wish that holds is not written.",
			wishes: []asked{merge("a", `{spec: {pd: {replicas: 2}}}`), merge("b", `{spec: {none: null}}`)},
		},
		"Joined": {
			reason: "Merge patches of several rules travel in one request.",
			wishes: []asked{merge("a", `{spec: {pd: {replicas: 3}}}`), merge("b", `{spec: {tikv: {replicas: 3}}}`)},
			want:   []request{{Merge, []string{"a", "b"}, `{"spec":{"pd":{"replicas":3},"tikv":{"replicas":3}}}`, FieldManager}},
		},
		"Minimal": {
			reason: "Only what differs is sent, so a no-op rule is not named as a cause.",
			wishes: []asked{merge("a", `{spec: {pd: {replicas: 2}}}`), merge("b", `{spec: {pd: {replicas: 2}, tikv: {replicas: 3}}}`)},
			want:   []request{{Merge, []string{"b"}, `{"spec":{"tikv":{"replicas":3}}}`, FieldManager}},
		},
		"Separate": {
			reason:   "On request each rule is sent on its own.",
			separate: true,
			wishes:   []asked{merge("a", `{spec: {pd: {replicas: 3}}}`), merge("b", `{spec: {tikv: {replicas: 3}}}`)},
			want: []request{
				{Merge, []string{"a"}, `{"spec":{"pd":{"replicas":3}}}`, FieldManager},
				{Merge, []string{"b"}, `{"spec":{"tikv":{"replicas":3}}}`, FieldManager},
			},
		},
		"MergeWithJSON": {
			reason: "A merge patch joins a JSON patch as operations.",
			wishes: []asked{
				merge("a", `{spec: {pd: {replicas: 3, image: x}, tags: null}}`),
				json("b", `[{op: replace, path: /spec/tikv/replicas, value: 3}]`),
			},
			want: []request{{JSON, []string{"a", "b"}, `[{"op":"add","path":"/spec/pd/image","value":"x"},` +
				`{"op":"add","path":"/spec/pd/replicas","value":3},{"op":"remove","path":"/spec/tags"},` +
				`{"op":"replace","path":"/spec/tikv/replicas","value":3}]`, FieldManager}},
		},
		"JSONNoOp": {
			reason: "A JSON patch that changes nothing is not sent.",
			wishes: []asked{json("a", `[{op: replace, path: /spec/pd/replicas, value: 2}]`)},
		},
		"JSONEscapes": {
			reason: "A key with a slash or a tilde becomes a valid pointer.",
			wishes: []asked{
				merge("a", `{metadata: {labels: {"a/b~c": "1"}}}`),
				json("a", `[{op: replace, path: /spec/tikv/replicas, value: 3}]`),
			},
			want: []request{{JSON, []string{"a"}, `[{"op":"add","path":"/metadata/labels/a~1b~0c","value":"1"},` +
				`{"op":"replace","path":"/spec/tikv/replicas","value":3}]`, FieldManager}},
		},
		"JSONFails": {
			reason:    "A rule whose patch cannot be applied is left out, the others go on.",
			wishes:    []asked{json("a", `[{op: remove, path: /spec/none}]`), merge("b", `{spec: {tikv: {replicas: 3}}}`)},
			want:      []request{{Merge, []string{"b"}, `{"spec":{"tikv":{"replicas":3}}}`, FieldManager}},
			decisions: []string{"guardrails/a failed: operation 0 of the json patch, remove: there is no spec.none"},
		},
		"Conflict": {
			reason:    "The earlier rule wins, and all of the later one is withheld.",
			wishes:    []asked{merge("a", `{spec: {pd: {replicas: 3}}}`), merge("b", `{spec: {pd: {replicas: 5}, x: 1}}`)},
			want:      []request{{Merge, []string{"a"}, `{"spec":{"pd":{"replicas":3}}}`, FieldManager}},
			decisions: []string{"guardrails/b withheld: spec.pd.replicas is decided by rule guardrails/a, which comes first"},
		},
		"ConflictWithWhatHolds": {
			reason:    "A rule whose wish holds already still wins, or the two would take turns.",
			wishes:    []asked{merge("a", `{spec: {pd: {replicas: 2}}}`), merge("b", `{spec: {pd: {replicas: 5}}}`)},
			decisions: []string{"guardrails/b withheld: spec.pd.replicas is decided by rule guardrails/a, which comes first"},
		},
		"ConflictAbove": {
			reason:    "Removing a parent contradicts a value below it.",
			wishes:    []asked{merge("a", `{spec: {pd: {replicas: 3}}}`), merge("b", `{spec: {pd: null}}`)},
			want:      []request{{Merge, []string{"a"}, `{"spec":{"pd":{"replicas":3}}}`, FieldManager}},
			decisions: []string{"guardrails/b withheld: spec.pd.replicas is decided by rule guardrails/a, which comes first"},
		},
		"ConflictBelow": {
			reason:    "A value below a removed parent contradicts the removal.",
			wishes:    []asked{merge("a", `{spec: {pd: null}}`), merge("b", `{spec: {pd: {replicas: 3}}}`)},
			want:      []request{{Merge, []string{"a"}, `{"spec":{"pd":null}}`, FieldManager}},
			decisions: []string{"guardrails/b withheld: spec.pd.replicas is decided by rule guardrails/a, which comes first"},
		},
		"Agree": {
			reason: "Two rules may want the same, one of them as part of a whole.",
			wishes: []asked{
				json("a", `[{op: add, path: /spec/pd, value: {replicas: 3, image: x}}]`),
				merge("b", `{spec: {pd: {replicas: 3}}}`),
			},
			want: []request{{JSON, []string{"a", "b"}, `[{"op":"add","path":"/spec/pd","value":{"image":"x","replicas":3}}]`, FieldManager}},
		},
		"Agreeing": {
			reason: "A rule that agrees with an earlier one is carried by its request, and fails with it.",
			wishes: []asked{merge("a", `{spec: {pd: {replicas: 3}}}`), merge("b", `{spec: {pd: {replicas: 3}}}`)},
			want:   []request{{Merge, []string{"a", "b"}, `{"spec":{"pd":{"replicas":3}}}`, FieldManager}},
		},
		"OwnLaterClaimWins": {
			reason: "What a rule takes back itself contradicts nobody.",
			wishes: []asked{
				merge("a", `{spec: {pd: null}}`), merge("a", `{spec: {pd: {replicas: 3}}}`), merge("b", `{spec: {pd: {replicas: 3}}}`),
			},
			want: []request{{Merge, []string{"a", "b"}, `{"spec":{"pd":{"replicas":3}}}`, FieldManager}},
		},
		"MoveFromAList": {
			reason: "Moving an element moves those behind it: the index is of the list as it was read.",
			wishes: []asked{
				json("a", `[{op: move, from: /spec/tags/0, path: /spec/first}]`),
				json("b", `[{op: replace, path: /spec/tags/1, value: B}]`),
			},
			want: []request{{JSON, []string{"a", "b"}, `[{"from":"/spec/tags/0","op":"move","path":"/spec/first"},` +
				`{"op":"replace","path":"/spec/tags/0","value":"B"}]`, FieldManager}},
		},
		"NumbersAsKeys": {
			reason: "A number that is the key of a map moves nothing.",
			wishes: []asked{
				json("a", `[{op: add, path: /metadata/labels/80, value: a}]`),
				json("b", `[{op: add, path: /metadata/labels/443, value: b}]`),
			},
			want: []request{{JSON, []string{"a", "b"}, `[{"op":"add","path":"/metadata/labels/80","value":"a"},` +
				`{"op":"add","path":"/metadata/labels/443","value":"b"}]`, FieldManager}},
		},
		"CopyBomb": {
			reason:    "Copies of copies do not fill the memory.",
			wishes:    []asked{json("a", copyBomb(40))},
			decisions: []string{"guardrails/a failed: operation 47 of the json patch, copy: it would add more than 3145728 bytes to the object"},
		},
		"LoserOfAFailure": {
			reason: "A rule whose patch cannot be applied wins no conflict.",
			wishes: []asked{
				json("a", `[{op: replace, path: /spec/pd/replicas, value: 5}, {op: remove, path: /spec/none}]`),
				merge("b", `{spec: {pd: {replicas: 3}}}`),
			},
			want:      []request{{Merge, []string{"b"}, `{"spec":{"pd":{"replicas":3}}}`, FieldManager}},
			decisions: []string{"guardrails/a failed: operation 1 of the json patch, remove: there is no spec.none"},
		},
		"ListsMove": {
			reason: "Two rules may move the elements of one list: each counts as the list was read.",
			wishes: []asked{
				json("a", `[{op: add, path: /spec/tags/0, value: c}]`),
				json("b", `[{op: remove, path: /spec/tags/0}, {op: remove, path: /spec/tags/0}]`),
			},
			want: []request{{JSON, []string{"a", "b"}, `[{"op":"add","path":"/spec/tags/0","value":"c"},` +
				`{"op":"remove","path":"/spec/tags/1"},{"op":"remove","path":"/spec/tags/1"}]`, FieldManager}},
		},
		"OwnLaterActionWins": {
			reason: "Within a rule the actions are in order, and the last one holds.",
			wishes: []asked{merge("a", `{spec: {pd: {replicas: 3}}}`), merge("a", `{spec: {pd: {replicas: 5}}}`)},
			want:   []request{{Merge, []string{"a"}, `{"spec":{"pd":{"replicas":5}}}`, FieldManager}},
		},
		"Cancelled": {
			reason: "Actions that undo each other leave nothing to send.",
			wishes: []asked{merge("a", `{spec: {pd: {replicas: 3}}}`), merge("a", `{spec: {pd: {replicas: 2}}}`)},
		},
		"Order": {
			reason: "A wish does not overtake what its rule asked for before it.",
			wishes: []asked{
				merge("a", `{spec: {pd: {replicas: 3}}}`),
				{rule: "a", kind: Merge, subresource: "status", body: `{status: {seen: true}}`},
				merge("a", `{spec: {tikv: {replicas: 3}}}`),
				merge("b", `{spec: {b: 1}}`),
			},
			want: []request{
				{Merge, []string{"a"}, `{"spec":{"pd":{"replicas":3}}}`, FieldManager},
				{Merge, []string{"a"}, `{"status":{"seen":true}}`, FieldManager},
				{Merge, []string{"a", "b"}, `{"spec":{"b":1,"tikv":{"replicas":3}}}`, FieldManager},
			},
		},
		"ApplyPerRule": {
			reason: "Each rule applies under a manager of its own, all of its fields at once, whatever it does in between.",
			wishes: []asked{
				{rule: "a", kind: Apply, body: `{spec: {x: 1}}`},
				{rule: "a", kind: Merge, subresource: "status", body: `{status: {seen: true}}`},
				{rule: "a", kind: Apply, body: `{spec: {w: 1}}`},
				{rule: "b", kind: Apply, body: `{spec: {z: 1}}`},
			},
			want: []request{
				{Apply, []string{"a"}, `{"spec":{"w":1,"x":1}}`, rule("a").FieldManager()},
				{Merge, []string{"a"}, `{"status":{"seen":true}}`, FieldManager},
				{Apply, []string{"b"}, `{"spec":{"z":1}}`, rule("b").FieldManager()},
			},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			object := decode[map[string]any](t, current)
			var wishes []Wish
			for _, a := range tc.wishes {
				w := wish(t, a.rule, a.kind, object, a.body)
				w.Subresource = a.subresource
				wishes = append(wishes, w)
			}
			built := Build(wishes, Options{Separate: tc.separate})
			var got []request
			for _, o := range built.Operations {
				got = append(got, request{o.Type, ruleNames(o.Rules), encode(t, o.Body), o.Manager})
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\noperations (-want +got):\n%s", tc.reason, diff)
			}
			var decisions []string
			for _, d := range built.Decisions {
				decisions = append(decisions, d.Rule.String()+" "+string(d.Outcome)+": "+d.Reason)
			}
			if diff := cmp.Diff(tc.decisions, decisions); diff != "" {
				t.Errorf("%s\ndecisions (-want +got):\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(decode[map[string]any](t, current), object); diff != "" {
				t.Errorf("the snapshot was changed (-before +after):\n%s", diff)
			}
		})
	}
}

func ruleNames(rules []Rule) []string {
	var out []string
	for _, r := range rules {
		out = append(out, r.Name)
	}
	return out
}

func TestCameTrue(t *testing.T) {
	tests := map[string]struct {
		reason string
		object string
		want   bool
	}{
		"AsPredicted": {
			reason: "What the API server keeps for itself does not count.",
			object: `{spec: {a: 1}, metadata: {name: n, resourceVersion: "8", generation: 2, managedFields: [{}]}}`,
			want:   true,
		},
		"Admission": {
			reason: "A field that admission added may be one that a later operation reads.",
			object: `{spec: {a: 1, b: 1}, metadata: {name: n}}`,
		},
		"Label": {reason: "Labels are read by rules.", object: `{spec: {a: 1}, metadata: {name: n, labels: {x: y}}}`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			o := Operation{Predicted: decode[map[string]any](t, `{spec: {a: 1}, metadata: {name: n, resourceVersion: "7"}}`)}
			if got := o.CameTrue(decode[map[string]any](t, tc.object)); got != tc.want {
				t.Errorf("%s: got %v", tc.reason, got)
			}
		})
	}
}

func TestForbiddenField(t *testing.T) {
	tests := map[string]struct {
		kind Type
		body string
		want string
	}{
		"UID":             {Merge, `{metadata: {uid: x}}`, "metadata.uid"},
		"RemovedMetadata": {Merge, `{metadata: null}`, "metadata.name"},
		"Finalizers":      {Merge, `{metadata: {finalizers: []}}`, ""},
		"Labels":          {Merge, `{metadata: {labels: {name: x}}}`, ""},
		"Kind":            {Apply, `{kind: X}`, "kind"},
		"SpecKind":        {Apply, `{spec: {kind: X}}`, ""},
		"JSON":            {JSON, `[{op: add, path: /spec/a, value: 1}, {op: remove, path: /metadata/managedFields}]`, "metadata.managedFields"},
		"JSONParent":      {JSON, `[{op: replace, path: /metadata, value: {}}]`, "metadata.name"},
		"JSONMoveFrom":    {JSON, `[{op: move, from: /metadata/uid, path: /spec/a}]`, "metadata.uid"},
		"JSONTest":        {JSON, `[{op: test, path: /metadata/uid, value: x}]`, ""},
		"JSONFine":        {JSON, `[{op: add, path: /metadata/labels/a, value: x}]`, ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := ForbiddenField(tc.kind, decode[any](t, tc.body)).String(); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestValidateJSONPatch(t *testing.T) {
	tests := map[string]struct{ body, want string }{
		"NotAList":   {`{op: add}`, "a json patch must be a list of operations"},
		"NotAMap":    {`[1]`, "operation 0 of the json patch: want a map with op and path"},
		"Op":         {`[{op: set, path: /a}]`, "operation 0 of the json patch: op must be add, remove, replace, move, copy or test, have \"set\""},
		"NoOp":       {`[{path: /a}]`, "operation 0 of the json patch: op must be add, remove, replace, move, copy or test, have \"\""},
		"NoValue":    {`[{op: add, path: /a}]`, `operation 0 of the json patch: "add" needs a value`},
		"NullValue":  {`[{op: add, path: /a, value: null}]`, ""},
		"NoFrom":     {`[{op: move, path: /a}]`, `operation 0 of the json patch: "move" needs from, a JSON pointer such as /spec/replicas`},
		"DottedPath": {`[{op: remove, path: spec.a}]`, "operation 0 of the json patch: path must be a JSON pointer such as /spec/replicas"},
		"Whole":      {`[{op: replace, path: "", value: {}}]`, "operation 0 of the json patch: path must be a JSON pointer such as /spec/replicas"},
		"Extra":      {`[{op: remove, path: /a, value: 1}]`, `operation 0 of the json patch: "remove" has no field "value"`},
		"Negative":   {`[{op: remove, path: /a/-1}]`, `operation 0 of the json patch: "-1" is no index: count from the start, or write - for behind the last element`},
		"Second":     {`[{op: remove, path: /a}, {op: remove}]`, "operation 1 of the json patch: path must be a JSON pointer such as /spec/replicas"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := ""
			if err := ValidateJSONPatch(decode[any](t, tc.body)); err != nil {
				got = err.Error()
			}
			if got != tc.want {
				t.Errorf("\n got %q\nwant %q", got, tc.want)
			}
		})
	}
}
