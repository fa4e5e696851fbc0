package clause_test

import (
	"testing"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/clause"
)

func TestChanges(t *testing.T) {
	tests := []struct {
		reason, text string
		want         bool
	}{
		{"One more.", `object.spec.n + 1`, true},
		{"One less.", `object.spec.n - 1`, true},
		{"The constant may stand first.", `1 + object.spec.n`, true},
		{"However it is written.", `object["spec"]?.n + 1`, true},
		{"With a default.", `(object.spec.n ?? 0) + 1`, true},
		{"By a parameter.", `object.spec.n + params.least`, true},
		{"A text that grows.", `object.spec.n + "x"`, true},
		{"As a number in a text.", `string(int(object.spec.n ?? "0") + 1)`, true},
		{"The opposite.", `!object.spec.n`, true},
		{"With a default, too.", `not (object.spec.n ?? false)`, true},
		{"From a constant, which settles.", `4 - object.spec.n`, false},
		{"Nothing more.", `object.spec.n + 0`, false},
		{"No more text.", `object.spec.n + ""`, false},
		{"A part of what a conversion may cut.", `int(object.spec.n) + 0.5`, false},
		{"Something that is not known.", `object.spec.n + object.spec.m`, false},
		{"Another field.", `object.spec.m + 1`, false},
		{"A field below.", `object.spec.n.m + 1`, false},
		{"The field itself.", `object.spec.n`, false},
		{"A bound.", `min(object.spec.n + 1, 5)`, false},
		{"A quantity, which may be written otherwise.", `quantity(object.spec.n) + 1`, false},
		{"Twice as much.", `object.spec.n * 2`, false},
		{"A comparison.", `!(object.spec.n == 1)`, false},
		{"A circle.", `again + 1`, false},
	}
	for _, tc := range tests {
		if got := clause.Changes(compile(t, tc.text), []string{"spec", "n"}, lets(t)); got != tc.want {
			t.Errorf("%s %q changes the field: %t, want %t", tc.reason, tc.text, got, tc.want)
		}
	}
	if !clause.Changes(compile(t, `replicas + 1`), []string{"spec", "replicas"}, lets(t)) {
		t.Error("a let is not followed")
	}
}

func TestReads(t *testing.T) {
	for text, want := range map[string]bool{
		`object.spec.n`: true, `object.spec.n ?? "a"`: true, `string(object.spec.n)`: true,
		`object.spec.n ?? object.spec.m`: false, `object.spec.m`: false, `lower(object.spec.n)`: false, `"n"`: false,
	} {
		if got := clause.Reads(compile(t, text), []string{"spec", "n"}, lets(t)); got != want {
			t.Errorf("%q reads the field: %t, want %t", text, got, want)
		}
	}
}
