package controlplane

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// someMetrics is in the server's format, with the labels in its order.
func someMetrics() string {
	var out strings.Builder
	sample := func(code, dryRun, group, resource, scope, subresource, verb, version, value string) {
		fmt.Fprintf(&out, "apiserver_request_total{code=%q,component=\"apiserver\",dry_run=%q,group=%q,resource=%q,"+
			"scope=%q,subresource=%q,verb=%q,version=%q} %s\n",
			code, dryRun, group, resource, scope, subresource, verb, version, value)
	}
	out.WriteString("# HELP apiserver_request_total [STABLE] Counter of apiserver requests.\n")
	out.WriteString("# TYPE apiserver_request_total counter\n")
	sample("200", "", "", "pods", "resource", "status", "PATCH", "v1", "3")
	sample("200", "", "pingcap.com", "tidbclusters", "resource", "", "APPLY", "v1alpha1", "2")
	sample("200", "", "pingcap.com", "tidbclusters", "namespace", "", "LIST", "v1alpha1", "7")
	sample("200", "", "pingcap.com", "tidbclusters", "cluster", "", "LIST", "v1alpha1", "1")
	sample("200", "All", "pingcap.com", "tidbclusters", "resource", "", "PATCH", "v1alpha1", "5")
	sample("201", "", "authorization.k8s.io", "selfsubjectaccessreviews", "resource", "", "POST", "v1", "4")
	sample("409", "", "pingcap.com", "tidbclusters", "resource", "", "PATCH", "v1alpha1", "1.2e+01 1700000000000")
	out.WriteString("apiserver_request_total_other{verb=\"PATCH\"} 99\n")
	out.WriteString("apiserver_requested_deprecated_apis{group=\"\",verb=\"GET\"} 1\n")
	return out.String()
}

func parsed(t *testing.T) Requests {
	t.Helper()
	requests, err := parseRequests([]byte(someMetrics()))
	if err != nil {
		t.Fatal(err)
	}
	return requests
}

func tidb(verb, code string) Request {
	return Request{Verb: verb, Group: "pingcap.com", Version: "v1alpha1", Resource: "tidbclusters", Code: code}
}

func TestParseRequests(t *testing.T) {
	dry := tidb("PATCH", "200")
	dry.DryRun = "All"
	want := Requests{
		{Verb: "PATCH", Version: "v1", Resource: "pods", Subresource: "status", Code: "200"}: 3,
		tidb("APPLY", "200"): 2,
		tidb("LIST", "200"):  8, // The scopes are summed.
		dry:                  5,
		tidb("PATCH", "409"): 12,
		{Verb: "POST", Group: "authorization.k8s.io", Version: "v1", Resource: "selfsubjectaccessreviews", Code: "201"}: 4,
	}
	if diff := cmp.Diff(want, parsed(t)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestParseRequestsErrors(t *testing.T) {
	tests := map[string]struct {
		reason, text, want string
	}{
		"cut":          {"A body that was cut off must not count as less.", `apiserver_request_total{verb="GET"`, "no label"},
		"no value":     {"So must a line.", `apiserver_request_total{verb="GET"}`, "no count"},
		"no quotes":    {"Labels are quoted.", `apiserver_request_total{verb=GET} 1`, "no label"},
		"backquotes":   {"Other quotes of Go mean nothing here, but hurt nobody.", "apiserver_request_total{verb=`GET`} x", "no count"},
		"fraction":     {"Requests are whole.", `apiserver_request_total{verb="GET"} 1.5`, "no count"},
		"negative":     {"A counter only grows.", `apiserver_request_total{verb="GET"} -1`, "no count"},
		"not a number": {"Some metrics are NaN; a count is not.", `apiserver_request_total{verb="GET"} NaN`, "no count"},
		"infinite":     {"Nor without end.", `apiserver_request_total{verb="GET"} +Inf`, "no count"},
		"second line":  {"The message must say where.", "x 1\n" + `apiserver_request_total{} x`, "line 2 of the metrics"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := parseRequests([]byte(tc.text))
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s\ngot %v, %v; want an error with %q", tc.reason, got, err, tc.want)
			}
		})
	}
}

func TestCount(t *testing.T) {
	tests := map[string]struct {
		reason  string
		pattern Request
		want    int
	}{
		"all":         {"No condition, no limit.", Request{}, 34},
		"verb":        {"Over all resources and dry runs.", Request{Verb: "PATCH"}, 20},
		"code":        {"Conflicts only.", Request{Code: "409"}, 12},
		"resource":    {"Of a group.", Request{Group: "pingcap.com", Resource: "tidbclusters"}, 27},
		"subresource": {"A status patch.", Request{Resource: "pods", Subresource: "status"}, 3},
		"dry run":     {"Asked for expressly.", Request{DryRun: "All"}, 5},
		"version":     {"Another version is another request.", Request{Resource: "tidbclusters", Version: "v1"}, 0},
		"both":        {"All conditions hold at once.", Request{Verb: "LIST", Code: "409"}, 0},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := parsed(t).Count(tc.pattern); got != tc.want {
				t.Errorf("%s\nCount(%+v) = %d, want %d", tc.reason, tc.pattern, got, tc.want)
			}
		})
	}
}

func TestWritesLeaveOutReadsReviewsAndDryRuns(t *testing.T) {
	all := parsed(t)
	want := Requests{
		{Verb: "PATCH", Version: "v1", Resource: "pods", Subresource: "status", Code: "200"}: 3,
		tidb("APPLY", "200"): 2,
		tidb("PATCH", "409"): 12,
	}
	if diff := cmp.Diff(want, all.Writes()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if diff := cmp.Diff(parsed(t), all); diff != "" {
		t.Errorf("Writes changed what it was called on:\n%s", diff)
	}
}

func TestSince(t *testing.T) {
	earlier := Requests{tidb("GET", "200"): 3, tidb("LIST", "200"): 1}
	later := Requests{tidb("GET", "200"): 5, tidb("LIST", "200"): 1, tidb("PATCH", "409"): 1}
	want := Requests{tidb("GET", "200"): 2, tidb("PATCH", "409"): 1}
	if diff := cmp.Diff(want, later.Since(earlier)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestRequestsString(t *testing.T) {
	want := `3 PATCH v1/pods/status 200
4 POST authorization.k8s.io/v1/selfsubjectaccessreviews 201
2 APPLY pingcap.com/v1alpha1/tidbclusters 200
8 LIST pingcap.com/v1alpha1/tidbclusters 200
5 PATCH pingcap.com/v1alpha1/tidbclusters (dry run) 200
12 PATCH pingcap.com/v1alpha1/tidbclusters 409
`
	if diff := cmp.Diff(want, parsed(t).String()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func FuzzParseRequests(f *testing.F) {
	f.Add(someMetrics())
	f.Add(`apiserver_request_total{verb="\"\\\n"} 1`)
	f.Add(`apiserver_request_total{} 9223372036854775808`)
	f.Add("apiserver_request_total{a=\"\"")
	f.Fuzz(func(t *testing.T, text string) {
		requests, err := parseRequests([]byte(text))
		if err != nil {
			return
		}
		if requests.Count(Request{}) < requests.Writes().Count(Request{}) {
			t.Errorf("more writes than requests in %q", text)
		}
		if since := requests.Since(requests); len(since) > 0 {
			t.Errorf("something happened since the same moment: %v", since)
		}
	})
}
