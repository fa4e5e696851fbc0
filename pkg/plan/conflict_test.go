package plan

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestDeterministicConflict holds that of several disagreements the same one
// is named each time.
func TestDeterministicConflict(t *testing.T) {
	objects := cluster{"x": `{spec: {}}`}
	want := withheldBy("spec.m.a is decided by rule guardrails/a, which comes first", "b")
	for range 50 {
		built := Build(objects.wishes(t, "a merge x {spec: {m: {a: 1, b: 1, c: 1, d: 1}}}", "b merge x {spec: {m: null}}"), Options{})
		if diff := cmp.Diff(want, decided(built.Decisions)); diff != "" {
			t.Fatalf("decisions (-want +got):\n%s", diff)
		}
	}
}
