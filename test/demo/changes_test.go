package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCompare(t *testing.T) {
	type object = map[string]any
	tests := map[string]struct {
		reason        string
		before, after object
		want          []change
	}{
		"same":    {"What is the same is no change.", object{"a": int64(1)}, object{"a": int64(1)}, nil},
		"value":   {"A leaf has its whole path.", object{"a": object{"b": int64(1)}}, object{"a": object{"b": int64(2)}}, []change{{field: "a.b", before: int64(1), after: int64(2)}}},
		"added":   {"A new map is told by its leaves.", object{}, object{"a": object{"b/c": "x"}}, []change{{field: `a["b/c"]`, after: "x"}}},
		"removed": {"A map that is gone is one field.", object{"a": object{"b": "x"}}, object{}, []change{{field: "a", before: object{"b": "x"}}}},
		"emptied": {"An empty map is a value.", object{}, object{"a": object{}}, []change{{field: "a", after: object{}}}},
		"list": {
			"A list is one field.",
			object{"a": []any{"x"}},
			object{"a": []any{"x", "y"}},
			[]change{{field: "a", before: []any{"x"}, after: []any{"x", "y"}}},
		},
		"bookkeeping": {
			"What the API server keeps is nobody's change, what a user may set is.",
			object{"metadata": object{"generation": int64(1), "resourceVersion": "1"}},
			object{"metadata": object{"generation": int64(2), "resourceVersion": "2", "managedFields": []any{}, "labels": object{"generation": "x"}}},
			[]change{{field: "metadata.labels.generation", after: "x"}},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, compare(tc.before, tc.after), cmp.AllowUnexported(change{})); diff != "" {
				t.Errorf("%s\n%s", tc.reason, diff)
			}
		})
	}
}

func TestIsAt(t *testing.T) {
	tests := map[string]struct {
		reason       string
		field, other string
		want         bool
	}{
		"itself":     {"A field is at itself.", "spec.pd", "spec.pd", true},
		"below":      {"A leaf lies in its map.", "spec.pd.replicas", "spec.pd", true},
		"quoted key": {"Keys may be quoted.", `metadata.labels["a/b"]`, "metadata.labels", true},
		"above":      {"A map does not lie in its leaf.", "spec.pd", "spec.pd.replicas", false},
		"similar":    {"A common beginning is not enough.", "spec.pdAddresses", "spec.pd", false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := isAt(tc.field, tc.other); got != tc.want {
				t.Errorf("%s\nisAt(%q, %q) = %v", tc.reason, tc.field, tc.other, got)
			}
		})
	}
}

func TestAttribute(t *testing.T) {
	changes := []change{{field: "metadata.labels.team"}, {field: "spec.pd.replicas"}, {field: "spec.version"}}
	tests := map[string]struct {
		reason string
		writes []record
		want   []change
	}{
		"none": {"Without a write no rule is known.", nil, changes},
		"joined": {
			"Each change of a request has its rule, in the order of the log.",
			[]record{{Changes: []string{"s/pd: spec.pd.replicas", "s/team: metadata.labels"}}},
			[]change{{rule: "pd", field: "spec.pd.replicas"}, {rule: "team", field: "metadata.labels.team"}, {field: "spec.version"}},
		},
		"one rule": {
			"A rule alone wrote all of them.",
			[]record{{Changes: []string{"s/a: spec.pd.replicas", "s/a: spec.version"}}},
			[]change{{rule: "a", field: "spec.pd.replicas"}, {rule: "a", field: "spec.version"}, {field: "metadata.labels.team"}},
		},
		"twice": {
			"A field that was written again is the first rule's.",
			[]record{{Changes: []string{"s/a: spec.version"}}, {Changes: []string{"s/b: spec.version"}}},
			[]change{{rule: "a", field: "spec.version"}, {field: "metadata.labels.team"}, {field: "spec.pd.replicas"}},
		},
		"undone": {
			"A field that was written but is as before is no change.",
			[]record{{Changes: []string{"s/a: spec.timezone"}}},
			changes,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := attribute(changes, tc.writes)
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(change{})); diff != "" {
				t.Errorf("%s\n%s", tc.reason, diff)
			}
		})
	}
	if changes[0].rule != "" || changes[0].field != "metadata.labels.team" {
		t.Error("the input was changed")
	}
}

func TestUnattributed(t *testing.T) {
	got := unattributed([]change{{field: "a"}, {field: "b", rule: "r"}, {field: "c"}})
	if diff := cmp.Diff([]string{"a", "c"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestChangeString(t *testing.T) {
	tests := map[string]struct {
		reason        string
		before, after any
		want          string
	}{
		"number":  {"Values are shown as they are.", int64(2), int64(3), "2 -> 3"},
		"added":   {"What was not there is none.", nil, "v8", "none -> v8"},
		"removed": {"What is not there any more is none.", true, nil, "true -> none"},
		"empty":   {"Empty text is not nothing.", "", "x", `"" -> x`},
		"map": {
			"A map is on one line, in order.", nil,
			map[string]any{"b": []any{int64(1), 1.5}, "a": nil},
			"none -> {a: none, b: [1, 1.5]}",
		},
		"list gains": {"Of a list, only what is new is of interest.", []any{"a"}, []any{"a", map[string]any{"k": "b"}}, "gained {k: b}"},
		"list both":  {"What is lost comes first.", []any{"a", "b"}, []any{"b", "c"}, "lost a, gained c"},
		"list order": {"The same elements may come otherwise.", []any{"a", "b"}, []any{"b", "a"}, "another order"},
		"new list":   {"A list that was not there is shown whole.", nil, []any{"a"}, "none -> [a]"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := (change{before: tc.before, after: tc.after}).String(); got != tc.want {
				t.Errorf("%s\nhave %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}
