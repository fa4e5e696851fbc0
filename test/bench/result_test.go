package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTable(t *testing.T) {
	r := result{
		Job: "label", Commit: "abc", Objects: 4000, Bytes: 3000, BytesManaged: 5000, Contenders: []string{"typed", "dyncontroller"},
		Rounds: map[string][]figures{
			"typed":         {{"backlog.cpu": 1}, {"backlog.cpu": 10}, {"backlog.cpu": 2}},
			"dyncontroller": {{"backlog.cpu": 4}, {"backlog.cpu": 5}, {"backlog.cpu": 2}},
		},
	}
	var out strings.Builder
	if err := r.print(&out); err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(out.String(), "figure")
	table, _, _ = strings.Cut(table, "must show")
	var got [][]string
	for line := range strings.Lines("figure" + strings.TrimRight(table, "\n")) {
		got = append(got, strings.Fields(line))
	}
	// The ratio is the median of those of the rounds, 4, 0.5 and 1, as a busy minute is felt by both. That of the medians is 2.
	want := [][]string{
		{"figure", "typed", "dyncontroller", "/", "typed", "/", "bare"},
		{"CPU", "s", "2.00", "(1.00-10.00)", "4.00", "(2.00-5.00)", "1.00", "(0.50-4.00)", "-"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestVerdicts(t *testing.T) {
	r := result{
		Job: "label", Objects: 4000, Contenders: []string{"bare", "typed", "dyncontroller"},
		Rounds: map[string][]figures{
			"typed":         {{"backlog.rate": 100, "backlog.cpu": 2, "latency.p99": 20}, {"backlog.rate": 100, "backlog.cpu": 2, "latency.p99": 30}},
			"dyncontroller": {{"backlog.rate": 110, "backlog.cpu": 2, "latency.p99": 29}, {"backlog.rate": 100, "backlog.cpu": 2, "latency.p99": 30}},
		},
	}
	got := map[string]string{}
	for _, v := range r.verdicts() {
		got[v.figure] = v.word
	}
	want := map[string]string{
		"backlog: objects/s against typed":                   "pass",
		"backlog: objects/s against the bare loop":           "not measured",
		"backlog: CPU against typed":                         "FAIL",
		"irrelevant updates: CPU against typed":              "not measured",
		"settled anonymous memory against typed":             "not measured",
		"p99 from a new object to its change, against typed": "pass",
		"writes when settled":                                "not measured",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
