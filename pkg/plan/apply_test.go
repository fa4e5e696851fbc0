package plan

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestApplyInTurns holds that a rule that applies to an object twice, with
// something else in between, keeps what it applied first, and comes to rest.
func TestApplyInTurns(t *testing.T) {
	lines := []string{"a apply x {spec: {a: 1}}", "a merge x/status {status: {seen: true}}", "a apply x {spec: {b: 1}}"}
	owning := func(fields, rest string) string {
		return `{metadata: {managedFields: [{manager: ` + rule("a").FieldManager() + `, operation: Apply, fieldsV1: {"f:spec": ` + fields + `}}]}, ` + rest + `}`
	}
	tests := map[string]struct {
		reason  string
		current string
		want    []string
	}{
		"New": {
			reason:  "The second request repeats what the first one owns.",
			current: `{spec: {}}`,
			want:    []string{`apply x a {"spec":{"a":1}}`, `merge x a {"status":{"seen":true}}`, `apply x a {"spec":{"a":1,"b":1}}`},
		},
		"Interrupted": {
			reason:  "What the first one did is not done again.",
			current: owning(`{"f:a": {}}`, `spec: {a: 1}`),
			want:    []string{`merge x a {"status":{"seen":true}}`, `apply x a {"spec":{"a":1,"b":1}}`},
		},
		"Done": {
			reason:  "Where all is applied the first would take a field back.",
			current: owning(`{"f:a": {}, "f:b": {}}`, `spec: {a: 1, b: 1}, status: {seen: true}`),
		},
		"Undone": {
			reason:  "What somebody changed is applied again.",
			current: owning(`{"f:a": {}, "f:b": {}}`, `spec: {a: 1, b: 2}, status: {seen: true}`),
			want:    []string{`apply x a {"spec":{"a":1}}`, `apply x a {"spec":{"a":1,"b":1}}`},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			built := Build(cluster{"x": tc.current}.wishes(t, lines...), Options{})
			if diff := cmp.Diff(tc.want, written(t, built.Operations)); diff != "" {
				t.Errorf("%s\noperations (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestApplyRelease holds that of two policies of a rule the one that destroys
// nothing holds.
func TestApplyRelease(t *testing.T) {
	tests := map[string]struct {
		reason string
		given  []ReleasePolicy
		want   ReleasePolicy
	}{
		"None":        {"What is all ours is applied as a whole.", []ReleasePolicy{"", ""}, ""},
		"Remove":      {"A policy is kept.", []ReleasePolicy{RemoveFields, RemoveFields}, RemoveFields},
		"One":         {"One of two that says so is enough.", []ReleasePolicy{"", RemoveFields}, RemoveFields},
		"OrphanFirst": {"Values that are to stay stay.", []ReleasePolicy{OrphanFields, RemoveFields}, OrphanFields},
		"OrphanLast":  {"Whichever comes first.", []ReleasePolicy{RemoveFields, OrphanFields}, OrphanFields},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			wishes := cluster{"x": `{}`}.wishes(t, "a apply x {spec: {a: 1}}", "a apply x {spec: {b: 1}}")
			for i := range wishes {
				wishes[i].Release = tc.given[i]
			}
			if got := Build(wishes, Options{}).Operations[0].Release; got != tc.want {
				t.Errorf("%s got %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}
