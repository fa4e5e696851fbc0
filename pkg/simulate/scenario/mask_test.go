package scenario_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/simulate/queue"
	"github.com/dyncontroller/dyncontroller/pkg/simulate/scenario"
)

// login holds hunter2-hunter2, as a value and in a copy that kubectl leaves.
const login = `
apiVersion: v1
kind: Secret
metadata:
  name: login
  namespace: a
  annotations:
    kubectl.kubernetes.io/last-applied-configuration: '{"data":{"password":"b2xkLXNlY3JldA=="}}'
    copy: my password is hunter2-hunter2
data: {password: aHVudGVyMi1odW50ZXIy, short: MQ==, empty: ""}
stringData: {token: s3cr3t-token}
`

// canaries are the values of login and those that the cases write, as they are and in
// base64.
func canaries() []string {
	return []string{
		"hunter2", "aHVudGVyMi1odW50ZXIy", "b2xkLXNlY3JldA==", "s3cr3t-token", "new-secret", "bmV3LXNlY3JldA==",
		"later-secret", "bGF0ZXItc2VjcmV0", "audited-secret", "YXVkaXRlZC1zZWNyZXQ=", "step-secret", "c3RlcC1zZWNyZXQ=",
	}
}

func noSecret(t *testing.T, text string) {
	t.Helper()
	for _, secret := range canaries() {
		if strings.Contains(text, secret) {
			t.Errorf("%q is shown in\n%s", secret, text)
		}
	}
}

func TestSecretsAreMasked(t *testing.T) {
	tests := map[string]struct {
		reason, actions string
		body            any
		message         string
	}{
		"merge": {
			reason: "values are hidden, keys, removals and the rest are not",
			actions: `
    - patch:
        merge:
          data: {new: bmV3LXNlY3JldA==, password: "${nil}"}
          metadata: {labels: {a: b}, annotations: {c: "${object.data?.password ?? ''}"}}
    - event: {reason: New, message: "now it is new-secret"}`,
			body: map[string]any{
				"data":     map[string]any{"new": "(masked 5e3b5cf3)", "password": nil},
				"metadata": map[string]any{"labels": map[string]any{"a": "b"}, "annotations": map[string]any{"c": "(masked 5b8e2d1c)"}},
			},
			message: "now it is (masked ",
		},
		"string data": {
			reason: "both forms of a value are known",
			actions: `
    - patch: {merge: {stringData: {new: new-secret}}}
    - event: {reason: New, message: "encoded it is bmV3LXNlY3JldA=="}`,
			body:    map[string]any{"data": map[string]any{"new": "(masked)"}},
			message: "encoded it is (masked ",
		},
		"harmless": {
			reason: "what has nothing of a value stays readable, and a short value does not hide the rest",
			actions: `
    - patch: {merge: {metadata: {labels: {one: "1", list: a}}}}
    - event: {reason: New, message: "1 of 2"}`,
			body:    map[string]any{"metadata": map[string]any{"labels": map[string]any{"one": "1", "list": "a"}}},
			message: "1 of 2",
		},
		"json": {
			reason: "a JSON patch shows where it writes, not what",
			actions: `
    - patch:
        json:
        - {op: add, path: /data/new, value: bmV3LXNlY3JldA==}
        - {op: remove, path: /data/short}
        - {op: add, path: /metadata/finalizers, value: [a.b/c, a.b/hunter2-hunter2]}
    - event: {reason: New, message: "nothing but other text"}`,
			body: []any{
				map[string]any{"op": "add", "path": "/data/new", "value": "(masked)"},
				map[string]any{"op": "remove", "path": "/data/short"},
				map[string]any{"op": "add", "path": "/metadata/finalizers", "value": []any{"a.b/c", "a.b/(masked)"}},
			},
			message: "nothing but other text",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := settled(t, "  - name: rule\n    watch: secrets\n    when: object.metadata.labels?.done == nil\n    actions:"+test.actions+
				"\n    - patch: {merge: {metadata: {labels: {done: x}}}}\n", login)
			if diff := cmp.Diff(unmarked(test.body), unmarked(withoutGuards(got.Writes[0].Body))); diff != "" {
				t.Errorf("%s (-want +have):\n%s", test.reason, diff)
			}
			if !strings.HasPrefix(got.Events[0].Message, test.message) {
				t.Errorf("%s: the message is %q", test.reason, got.Events[0].Message)
			}
			noSecret(t, shown(t, got))
		})
	}
}

// unmarked has all masks look alike, and leaves out what every case writes.
func unmarked(value any) any {
	switch value := value.(type) {
	case string:
		before, _, found := strings.Cut(value, "(masked ")
		if found {
			return before + "(masked)"
		}
		return value
	case []any:
		out := make([]any, len(value))
		for i, element := range value {
			out[i] = unmarked(element)
		}
		return out
	case map[string]any:
		out := map[string]any{}
		for key, element := range value {
			out[key] = unmarked(element)
		}
		return out
	default:
		return value
	}
}

func withoutGuards(body any) any {
	if steps, ok := body.([]any); ok {
		var out []any
		for _, step := range steps {
			fields, _ := step.(map[string]any)
			at, _ := fields["path"].(string)
			if at != "/metadata/uid" && at != "/metadata/resourceVersion" && !strings.HasPrefix(at, "/metadata/labels") {
				out = append(out, step)
			}
		}
		return out
	}
	fields, _ := body.(map[string]any)
	metadata, _ := fields["metadata"].(map[string]any)
	labels, _ := metadata["labels"].(map[string]any)
	for _, in := range []struct {
		of   map[string]any
		keys []string
	}{{labels, []string{"done"}}, {metadata, []string{"uid", "resourceVersion"}}} {
		for _, key := range in.keys {
			delete(in.of, key)
		}
	}
	if len(labels) == 0 {
		delete(metadata, "labels")
	}
	if len(metadata) == 0 {
		delete(fields, "metadata")
	}
	return fields
}

// TestFailureOnSecret says that a failed rule does not show what it failed with, neither
// in its reason nor in its error.
func TestFailureOnSecret(t *testing.T) {
	got := settled(t, `
  - name: rule
    watch: secrets
    actions:
    - event: {reason: "${fromBase64(object.data?.password ?? '')}", message: x}
`, login)
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
	got := settled(t, "  - {name: rule, watch: configmaps, actions: [{patch: {merge: {data: {new: new-value}}}}]}\n",
		"{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: a}}")
	if diff := cmp.Diff(map[string]any{"data": map[string]any{"new": "new-value"}}, withoutGuards(got.Writes[0].Body)); diff != "" {
		t.Errorf("-want +have:\n%s", diff)
	}
}

// leaky shows all that it knows of Secrets wherever rules can.
const leaky = `
  - name: spreads
    watch: configmaps
    with:
      login: {resource: secrets, name: login}
      every: {resource: secrets, all: true}
    let:
      known: fromBase64(login?.data?.password ?? "") + (object.data?.note ?? "")
    when: object.metadata.name == "spread"
    actions:
    - patch:
        merge:
          data: {"${known != '' ? known : 'none'}": "${known}", list: "${toJSON(map(every, .data))}", note: "${known != '' ? 'later-secret' : 'none'}"}
    - event: {reason: Leaked, message: "it is ${known} of ${toYAML(map(every, .data))}"}
  - name: reasons
    watch: configmaps
    when: object.data?.note == "x"
    actions: [{event: {reason: Never, message: never}}]
  - name: audits
    watch: secrets
    mode: Audit
    actions:
    - patch: {merge: {stringData: {audited: audited-secret}, metadata: {annotations: {seen: "audited-secret ${toJSON(object.data ?? {})}"}}}}
  - name: writes
    watch: secrets
    when: object.metadata.name == "made" && object.data?.more == nil
    actions:
    - patch: {merge: {stringData: {more: new-secret}}}
    - event: {reason: Wrote, message: "wrote new-secret"}
  - name: names
    watch: configmaps
    with: {login: {resource: secrets, name: login}}
    let: {password: "fromBase64(login?.data?.password ?? '')"}
    when: password != "" && object.metadata.name in ["spread", password]
    actions:
    - apply: {resource: configmaps, owned: false, manifest: {metadata: {name: "${password}", labels: {"${password}": "${password}"}}}}
    - apply: {resource: configmaps, owned: false, manifest: {metadata: {name: "${upper(password)} ", namespace: a}}}
`

// TestNothingTellsASecret follows values through a whole story: into other objects, events,
// reasons, answers and errors, before they are in a Secret and after it is gone.
func TestNothingTellsASecret(t *testing.T) {
	secrets := schema.GroupVersionResource{Version: "v1", Resource: "secrets"}
	maps := schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
	s := start(t, queue.FIFO, leaky, login, "{apiVersion: v1, kind: ConfigMap, metadata: {name: spread, namespace: a}, data: {note: later-secret}}")
	var told []string
	steps := []func() error{
		func() error { return nil },
		func() error {
			return s.Apply(t.Context(), objectOf(t, "{apiVersion: v1, kind: Secret, metadata: {name: made, namespace: a}, stringData: {later: later-secret}}"))
		},
		func() error {
			return s.Patch(t.Context(), plan.Object{GVR: secrets, Namespace: "a", Name: "made"}, "", types.MergePatchType, []byte(`{"stringData":{"step":"step-secret"}}`))
		},
		func() error {
			return s.Patch(t.Context(), plan.Object{GVR: secrets, Namespace: "a", Name: "made"}, "", types.MergePatchType, []byte(`{"type":"step-secret"}`))
		},
		func() error {
			return s.Patch(t.Context(), plan.Object{GVR: maps, Namespace: "a", Name: "spread"}, "", types.MergePatchType, []byte(`{"data":{"hunter2-hunter2 !":"x"}}`))
		},
		func() error { return s.Delete(t.Context(), plan.Object{GVR: secrets, Namespace: "a", Name: "login"}) },
		func() error { return s.Delete(t.Context(), plan.Object{GVR: secrets, Namespace: "a", Name: "made"}) },
		func() error {
			return s.Patch(t.Context(), plan.Object{GVR: maps, Namespace: "a", Name: "spread"}, "", types.MergePatchType, []byte(`{"data":{"note":"hunter2-hunter2"}}`))
		},
	}
	for _, step := range steps {
		if err := step(); err != nil {
			told = append(told, err.Error())
		}
		if err := s.Settle(t.Context()); err != nil {
			told = append(told, err.Error())
		}
	}
	if len(told) < 2 {
		t.Errorf("no step was refused: %q", told)
	}
	state, phases := s.States(), s.Phases()
	noSecret(t, strings.Join(told, "\n"))
	noSecret(t, shown(t, state))
	noSecret(t, shown(t, phases))
	for _, want := range []string{"(masked ", "Leaked", "Wrote", `"audited":`} {
		if !strings.Contains(shown(t, phases), want) {
			t.Errorf("%q is missing: the story does not tell enough", want)
		}
	}
}

// TestCyclesTellNoSecret says the same of the path of rules that do not settle, also
// while time goes on.
func TestCyclesTellNoSecret(t *testing.T) {
	const circles = `
  - name: turns
    watch: configmaps
    with:
      login: {resource: secrets, name: login}
    when: olderThan(object.metadata.creationTimestamp, "1h")
    actions:
    - patch: {merge: {data: {turn: "${object.data?.turn == 'hunter2-hunter2' ? 'none' : fromBase64(login?.data?.password ?? '')}"}}}
`
	tests := map[string]struct {
		reason, created string
		act             func(*scenario.Scenario) error
	}{
		"at once": {"while settling", "2026-01-01T00:00:00Z", func(s *scenario.Scenario) error { return s.Settle(t.Context()) }},
		"later": {"and while time goes on", "2026-02-03T04:05:06Z", func(s *scenario.Scenario) error {
			return errors.Join(s.Settle(t.Context()), s.Advance(t.Context(), 2*time.Hour))
		}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := start(t, queue.FIFO, circles, login,
				"{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: a, creationTimestamp: "+`"`+test.created+`"`+"}}")
			err := test.act(s)
			var restless *scenario.RestlessError
			if !errors.As(err, &restless) || len(restless.Path) == 0 {
				t.Fatalf("%s: have %v", test.reason, err)
			}
			noSecret(t, err.Error()+strings.Join(restless.Path, "\n"))
			if !strings.Contains(strings.Join(restless.Path, "\n"), "(masked ") {
				t.Errorf("%s: the path tells nothing: %q", test.reason, restless.Path)
			}
		})
	}
}

// TestReasonsTellNoSecret says that a reason, which quotes what is in an object, does not
// quote the copy of a value.
func TestReasonsTellNoSecret(t *testing.T) {
	got := settled(t, `
  - name: reads
    watch: configmaps
    when: object.data?.copy == "x"
    actions: [{event: {reason: Never, message: never}}]
`, `{apiVersion: v1, kind: Secret, metadata: {name: s, namespace: a}, stringData: {v: 'pa"ss\word-hunter'}}`,
		`{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: a}, data: {copy: 'pa"ss\word-hunter'}}`)
	if reason := got.Decisions[0].Reason; !strings.HasPrefix(reason, `object.data?.copy == "x" is false; object.data?.copy is "(masked `) {
		t.Errorf("have %q", reason)
	}
}
