package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/test/controlplane"
)

func TestCountRequests(t *testing.T) {
	tests := map[string]struct {
		reason string
		types  []string
		want   string
	}{
		"none": {"Nothing is said to be nothing.", nil, "no rule matched, no request was sent"},
		"one":  {"One has no plural.", []string{"merge"}, "1 request, a merge patch"},
		"two":  {"Each is named.", []string{"json", "apply"}, "2 requests, a JSON patch and a server-side apply"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var writes []record
			for _, kind := range tc.types {
				writes = append(writes, record{Type: kind})
			}
			if got := countRequests(writes); got != tc.want {
				t.Errorf("%s\nhave %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}

func TestWritesOf(t *testing.T) {
	patch := controlplane.Request{Verb: "PATCH", Group: "pingcap.com", Resource: "tidbclusters", Code: "200"}
	refused := controlplane.Request{Verb: "APPLY", Group: "pingcap.com", Resource: "tidbclusters", Code: "409"}
	event := controlplane.Request{Verb: "POST", Group: "events.k8s.io", Resource: "events", Code: "201"}
	requests := controlplane.Requests{
		patch: 1, refused: 2, event: 3,
		{Verb: "PUT", Group: "coordination.k8s.io", Resource: "leases", Code: "200"}:   4,
		{Verb: "LIST", Group: "pingcap.com", Resource: "tidbclusters", Code: "200"}:    5,
		{Verb: "PATCH", Group: "pingcap.com", Resource: "tidbclusters", DryRun: "All"}: 6,
	}
	want := controlplane.Requests{patch: 1, refused: 2, event: 3}
	if diff := cmp.Diff(want, writesOf(requests)); diff != "" {
		t.Error(diff)
	}
}

func TestChangeTable(t *testing.T) {
	if got := changeTable(nil); got != "" {
		t.Errorf("a cluster without changes has the table %q", got)
	}
	got := changeTable([]change{{rule: "pd-quorum", field: "spec.pd.replicas", before: int64(2), after: int64(3)}})
	want := "RULE       FIELD             BEFORE -> AFTER\npd-quorum  spec.pd.replicas  2 -> 3\n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
