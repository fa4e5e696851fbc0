package telemetry

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestHealth(t *testing.T) {
	t.Parallel()
	good := Check{Name: "rules", State: Ready, Detail: "5 rules"}
	known := Check{Name: "informer pods", State: Degraded, Detail: "cannot list:\n forbidden"}
	bad := Check{Name: "API server", State: NotReady}
	cases := map[string]struct {
		reason string
		target string
		checks []Check
		code   int
		body   string
	}{
		"ready":          {reason: "Nothing to say.", target: "/readyz", checks: []Check{good}, code: http.StatusOK, body: "ok\n"},
		"degraded":       {reason: "A failure that is known holds back only its own rules.", target: "/readyz", checks: []Check{good, known}, code: http.StatusOK, body: "ok\n"},
		"verbose":        {reason: "One line for each check.", target: "/readyz?verbose", checks: []Check{good, known}, code: http.StatusOK, body: "[+]rules: 5 rules\n[!]informer pods: cannot list: forbidden\nok\n"},
		"not ready":      {reason: "Why is said unasked.", target: "/readyz", checks: []Check{good, bad}, code: http.StatusServiceUnavailable, body: "[+]rules: 5 rules\n[-]API server\nnot ready\n"},
		"alive":          {reason: "What is not ready is alive.", target: "/livez", checks: []Check{bad}, code: http.StatusOK, body: "ok\n"},
		"the older name": {reason: "Older probes ask here.", target: "/healthz", checks: []Check{bad}, code: http.StatusOK, body: "ok\n"},
		"another path":   {reason: "Nothing else is served.", target: "/metrics", code: http.StatusNotFound, body: "404 page not found\n"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, body := get(t, Health(func() []Check { return tc.checks }), tc.target)
			if code != tc.code || body != tc.body {
				t.Errorf("%s\nwant %d %q\n got %d %q", tc.reason, tc.code, tc.body, code, body)
			}
		})
	}
}

func TestHealthOnlyAnswersReads(t *testing.T) {
	t.Parallel()
	recorder := httptest.NewRecorder()
	handler := Health(func() []Check { return nil })
	handler.ServeHTTP(recorder, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/readyz", nil))
	if recorder.Code != http.StatusMethodNotAllowed {
		t.Errorf("want %d, got %d", http.StatusMethodNotAllowed, recorder.Code)
	}
}
