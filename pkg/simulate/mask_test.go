package simulate_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/simulate"
)

// login holds hunter2, as a value and in a copy that kubectl leaves.
const login = `
apiVersion: v1
kind: Secret
metadata:
  name: login
  annotations:
    kubectl.kubernetes.io/last-applied-configuration: '{"data":{"password":"b2xkLXNlY3JldA=="}}'
    copy: my password is hunter2
data: {password: aHVudGVyMg==, short: MQ==, empty: ""}
stringData: {token: s3cr3t-token}
`

type maskCase struct {
	reason  string
	actions string
	body    any
	message string
}

func TestSecretsAreMasked(t *testing.T) {
	tests := map[string]maskCase{
		"merge": {
			reason: "values are hidden, keys, removals and the rest are not",
			actions: `
    - patch:
        merge:
          data: {new: bmV3LXNlY3JldA==, password: "${nil}"}
          metadata: {labels: {a: b}, annotations: {c: "${object.data.password}"}}
    - event: {reason: New, message: "now it is new-secret"}`,
			body: map[string]any{
				"data": map[string]any{"new": "(masked)", "password": nil},
				"metadata": map[string]any{
					"labels": map[string]any{"a": "b"}, "annotations": map[string]any{"c": "(masked)"},
				},
			},
			message: "(masked)",
		},
		"string data": {
			reason: "both forms of a value are known",
			actions: `
    - patch: {merge: {stringData: {new: new-secret}}}
    - event: {reason: New, message: "encoded it is bmV3LXNlY3JldA=="}`,
			body:    map[string]any{"stringData": map[string]any{"new": "(masked)"}, "metadata": map[string]any{}},
			message: "(masked)",
		},
		"harmless": {
			reason: "what has nothing of a value stays readable, and a short value does not hide the rest",
			actions: `
    - patch: {merge: {metadata: {labels: {one: "1", list: a}}}}
    - event: {reason: New, message: "1 of 2"}`,
			body:    map[string]any{"metadata": map[string]any{"labels": map[string]any{"one": "1", "list": "a"}}},
			message: "1 of 2",
		},
	}
	for name, test := range tests {
		t.Run(name, test.run)
	}
}

func TestSecretsAreMaskedInJSONPatches(t *testing.T) {
	maskCase{
		reason: "a JSON patch shows where it writes, not what",
		actions: `
    - patch:
        json:
        - {op: add, path: /data/new, value: bmV3LXNlY3JldA==}
        - {op: replace, path: /stringData, value: {token: other, none: null}}
        - {op: remove, path: /data/short}
        - {op: add, path: /metadata/finalizers, value: [a.b/c, a.b/hunter2]}
    - event: {reason: New, message: "nothing but other text"}`,
		body: []any{
			map[string]any{"op": "add", "path": "/data/new", "value": "(masked)"},
			map[string]any{"op": "replace", "path": "/stringData", "value": map[string]any{"token": "(masked)", "none": nil}},
			map[string]any{"op": "remove", "path": "/data/short"},
			map[string]any{"op": "add", "path": "/metadata/finalizers", "value": []any{"a.b/c", "(masked)"}},
		},
		message: "(masked)",
	}.run(t)
}

func (test maskCase) run(t *testing.T) {
	t.Helper()
	set := setOf(t, "{version: v1, resource: secrets}", "  - name: rule\n    watch: watched\n    actions:"+test.actions+"\n")
	got, err := simulate.Evaluate(set, objectOf(t, login), instant())
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Writes) != 1 || len(got.Events) != 1 {
		t.Fatalf("%+v", got)
	}
	if diff := cmp.Diff(test.body, withoutGuards(got.Writes[0].Body)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", test.reason, diff)
	}
	if got.Events[0].Message != test.message {
		t.Errorf("%s: the message is %q", test.reason, got.Events[0].Message)
	}
	noSecret(t, got)
}

// noSecret looks for the values of login, and those that the cases write.
func noSecret(t *testing.T, got simulate.Decided) {
	t.Helper()
	data, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{
		"hunter2", "aHVudGVyMg==", "b2xkLXNlY3JldA==", "s3cr3t-token", "new-secret", "bmV3LXNlY3JldA==",
	} {
		if strings.Contains(string(data), secret) {
			t.Errorf("%q is shown in %s", secret, data)
		}
	}
}

func withoutGuards(body any) any {
	if steps, ok := body.([]any); ok {
		return steps[2:]
	}
	fields, _ := body.(map[string]any)
	metadata, _ := fields["metadata"].(map[string]any)
	delete(metadata, "uid")
	delete(metadata, "resourceVersion")
	return body
}

// TestFailureOnSecret says that a failed rule does not show what it failed
// with, neither in its reason nor in its error.
func TestFailureOnSecret(t *testing.T) {
	set := setOf(t, "{version: v1, resource: secrets}", `
  - name: rule
    watch: watched
    actions:
    - event: {reason: "${fromBase64(object.data.password)}", message: x}
`)
	got, err := simulate.Evaluate(set, objectOf(t, login), instant())
	if err != nil {
		t.Fatal(err)
	}
	const want = "spec.rules[0].actions[0].event.reason: the rule has seen a Secret, and the reason may tell a value of it"
	if reason := got.Decisions[0].Reason; reason != want {
		t.Errorf("have %q", reason)
	}
	if err := got.Decisions[0].Err; err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("the error has no place, or shows a value: %v", err)
	}
}

// TestOnlySecretsAreMasked says that other kinds with data are shown.
func TestOnlySecretsAreMasked(t *testing.T) {
	set := setOf(t, "{version: v1, resource: configmaps}", `
  - name: rule
    watch: watched
    actions:
    - patch: {merge: {data: {new: new-value}}}
`)
	got, err := simulate.Evaluate(set, objectOf(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}"), instant())
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"data": map[string]any{"new": "new-value"}, "metadata": map[string]any{}}
	if diff := cmp.Diff(want, withoutGuards(got.Writes[0].Body)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
