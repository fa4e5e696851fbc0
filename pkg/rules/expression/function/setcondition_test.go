package function_test

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

func TestSetCondition(t *testing.T) {
	type m = map[string]any
	const since, now = "2025-06-01T00:00:00Z", "2026-01-01T00:00:00Z"
	ready := m{"type": "Ready", "status": "True", "reason": "Up", "lastTransitionTime": since}
	synced := m{"type": "Synced", "status": "True"}
	tests := map[string]struct {
		reason    string
		list      any
		condition any
		want      any
		same      bool // The result is the list itself.
	}{
		"new": {
			reason: "Others stay, and a new condition begins now.",
			list:   list(synced), condition: m{"type": "Ready", "status": "False"},
			want: list(synced, m{"type": "Ready", "status": "False", "lastTransitionTime": now}),
		},
		"first": {
			reason:    "An absent list is an empty one.",
			condition: m{"type": "Ready", "status": "Unknown"},
			want:      list(m{"type": "Ready", "status": "Unknown", "lastTransitionTime": now}),
		},
		"flipped": {
			reason: "The time is that of the flip; nothing of the old condition stays.",
			list:   list(ready, synced), condition: m{"type": "Ready", "status": "False", "message": "no"},
			want: list(m{"type": "Ready", "status": "False", "message": "no", "lastTransitionTime": now}, synced),
		},
		"another reason": {
			reason: "The time is that of the status, which has not changed.",
			list:   list(synced, ready), condition: m{"type": "Ready", "status": "True", "reason": "StillUp"},
			want: list(synced, m{"type": "Ready", "status": "True", "reason": "StillUp", "lastTransitionTime": since}),
		},
		"the same": {
			reason: "Where nothing changes, nothing must be written.",
			list:   list(ready, synced), condition: m{"type": "Ready", "status": "True", "reason": "Up"},
			want: list(ready, synced), same: true,
		},
		"the same, without a time": {
			reason: "Whoever wrote the condition knew no time, and none has come.",
			list:   list(synced), condition: m{"type": "Synced", "status": "True"},
			want: list(synced), same: true,
		},
		"the same, with nothing more": {
			reason: "No condition holds null.",
			list:   list(ready), condition: m{"type": "Ready", "status": "True", "reason": "Up", "message": nil},
			want: list(ready), same: true,
		},
		"the same, with a time of its own": {
			reason: "A time that does not stand for a change is not taken.",
			list:   list(ready), condition: m{"type": "Ready", "status": "True", "reason": "Up", "lastTransitionTime": now},
			want: list(ready), same: true,
		},
		"the same number": {
			reason: "The generation that was read is an integer either way.",
			list:   list(m{"type": "Ready", "status": "True", "observedGeneration": int64(3)}), condition: m{"type": "Ready", "status": "True", "observedGeneration": 3.0},
			want: list(m{"type": "Ready", "status": "True", "observedGeneration": int64(3)}), same: true,
		},
		"flipped, with a time of its own": {
			reason: "Who knows when it happened may say so.",
			list:   list(ready), condition: m{"type": "Ready", "status": "False", "lastTransitionTime": "2025-12-31T23:59:00Z"},
			want: list(m{"type": "Ready", "status": "False", "lastTransitionTime": "2025-12-31T23:59:00Z"}),
		},
		"with a stamp": {
			reason: "A stamp is for whoever writes the list.",
			list:   list(ready), condition: m{"type": "Ready", "status": "True", "reason": "Up", "lastProbeTime": value.Stamp{}},
			want: list(m{"type": "Ready", "status": "True", "reason": "Up", "lastProbeTime": value.Stamp{}, "lastTransitionTime": since}),
		},
		"nil": {
			reason: "A condition that is not known changes nothing.",
			list:   list(ready), want: list(ready), same: true,
		},
		"twice": {
			reason: "Of two of a type, the first counts, as everywhere.",
			list:   list(synced, synced), condition: m{"type": "Synced", "status": "False"},
			want: list(m{"type": "Synced", "status": "False", "lastTransitionTime": now}, synced),
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			before := reflect.ValueOf(tt.list)
			got, next, err := evalAt("setCondition(list, condition)", newYear, tt.list, tt.condition)
			if err != nil || !next.IsZero() {
				t.Fatalf("announced %v, %v", next, err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.reason, diff)
			}
			if same := tt.list == nil && got == nil || tt.list != nil && before.Pointer() == reflect.ValueOf(got).Pointer(); same != tt.same {
				t.Errorf("the same list: %v, want %v: %s", same, tt.same, tt.reason)
			}
		})
	}
	if ready["status"] != "True" || len(ready) != 4 || len(synced) != 2 {
		t.Errorf("a condition that was given has changed: %v, %v", ready, synced)
	}
}

// TestSetConditions holds that several conditions are set one after the other.
func TestSetConditions(t *testing.T) {
	got, _, err := evalAt(`setCondition([{type: "A", status: "True"}], nil, {type: "B", status: "True"}, {type: "A", status: "False"}, {type: "B", status: "False"})`,
		newYear, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	const now = "2026-01-01T00:00:00Z"
	want := []any{
		map[string]any{"type": "A", "status": "False", "lastTransitionTime": now},
		map[string]any{"type": "B", "status": "False", "lastTransitionTime": now},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestSetConditionErrors(t *testing.T) {
	const example = `; write {type: "Ready", status: "True", reason: "AllUp"}`
	const status = `the status of a condition must be "True", "False" or "Unknown"; `
	tests := map[string]struct{ source, want string }{
		"no type":          {`setCondition([], {status: "True"})`, "a condition needs a type" + example},
		"an empty type":    {`setCondition([], {type: "", status: "True"})`, "a condition needs a type" + example},
		"nothing":          {`setCondition([], {})`, "a condition needs a type" + example},
		"no status":        {`setCondition([], {type: "A"})`, status + "quote it and begin with a capital letter"},
		"a boolean":        {`setCondition([], {type: "A", status: true})`, status + `write status: ready ? "True" : "False"`},
		"a small letter":   {`setCondition([], {type: "A", status: "true"})`, status + "quote it and begin with a capital letter"},
		"no conditions":    {`setCondition(["A"], {type: "A", status: "True"})`, "element 0 of the list must be a condition, and is a string"},
		"not a list":       {`setCondition("A", {type: "A", status: "True"})`, "setCondition wants a list, have a string"},
		"not a condition":  {`setCondition([], "A")`, "setCondition wants a map, have a string"},
		"a deep condition": {`setCondition([{type: "A", status: "True", x: reduce(1..300, [#acc])}], {type: "A", status: "True", x: reduce(1..300, [#acc])})`, "the value nests deeper than 256 levels"},
	}
	for name, tt := range tests {
		if v, _, err := evalAt(tt.source, newYear); err == nil || err.Error() != tt.want {
			t.Errorf("%s: %v, error %v, want %s", name, v, err, tt.want)
		}
	}
	if _, _, err := evalAt(`setCondition([], {type: "A", status: "True"})`, newYear.AddDate(8000, 0, 0)); err == nil {
		t.Error("the year 10026 has been written")
	}
}
