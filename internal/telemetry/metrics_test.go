package telemetry

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/engine/informer"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

func get(t *testing.T, handler http.Handler, target string) (int, string) {
	t.Helper()
	recorder := httptest.NewRecorder()
	handler.ServeHTTP(recorder, httptest.NewRequestWithContext(t.Context(), http.MethodGet, target, nil))
	return recorder.Code, recorder.Body.String()
}

func noInformers() []informer.Status { return nil }

// samples returns the lines of our own metrics.
func samples(t *testing.T, m *Metrics) []string {
	t.Helper()
	code, body := get(t, m.Handler(), "/metrics")
	if code != http.StatusOK {
		t.Fatalf("status %d: %s", code, body)
	}
	var out []string
	for line := range strings.Lines(body) {
		if strings.HasPrefix(line, namespace+"_") {
			out = append(out, strings.TrimSpace(line))
		}
	}
	return out
}

func expectSamples(t *testing.T, m *Metrics, want ...string) {
	t.Helper()
	have := samples(t, m)
	for _, line := range want {
		if !slices.Contains(have, line) {
			t.Errorf("want %s in:\n%s", line, strings.Join(have, "\n"))
		}
	}
}

func TestMetrics(t *testing.T) {
	t.Parallel()
	informers := []informer.Status{{Synced: true}, {Synced: true}, {Err: errors.New("forbidden")}}
	m := NewMetrics("v1.2.3", func() []informer.Status { return informers })
	rule := plan.Rule{Kind: "ClusterRuleSet", Set: "guardrails", Name: "odd"}
	other := plan.Rule{Kind: "ClusterRuleSet", Set: "guardrails", Name: "even"}

	m.Evaluated(engine.Key{}, plan.Decision{Rule: rule, Outcome: plan.Matched})
	m.Evaluated(engine.Key{}, plan.Decision{Rule: rule, Outcome: plan.Matched})
	m.Evaluated(engine.Key{}, plan.Decision{Rule: other, Outcome: plan.Failed, Err: errors.New("nil")})
	m.Evaluated(engine.Key{}, plan.Decision{Rule: other, Outcome: plan.Waiting})
	m.Evaluated(engine.Key{}, plan.Decision{Rule: rule, Outcome: plan.Refused, Audited: true})
	gvr := schema.GroupVersionResource{Group: "pingcap.com", Version: "v1alpha1", Resource: "tidbclusters"}
	m.Wrote(plan.Operation{Target: plan.Object{GVR: gvr}}, write.OwnedByAnother)
	m.Wrote(plan.Operation{Target: plan.Object{GVR: gvr}}, write.Audited)
	m.Queued(7)
	m.RulesChanged(2, nil)
	m.Reloaded(errors.New("line 3"))
	expectSamples(t, m,
		`dyncontroller_evaluations_total{mode="Enforce",outcome="matched",rule="odd",set="guardrails"} 2`,
		`dyncontroller_evaluations_total{mode="Enforce",outcome="failed",rule="even",set="guardrails"} 1`,
		`dyncontroller_evaluations_total{mode="Enforce",outcome="waiting",rule="even",set="guardrails"} 1`,
		`dyncontroller_evaluations_total{mode="Audit",outcome="refused",rule="odd",set="guardrails"} 1`,
		`dyncontroller_writes_total{class="owned by another",group="pingcap.com",resource="tidbclusters"} 1`,
		`dyncontroller_writes_total{class="audited",group="pingcap.com",resource="tidbclusters"} 1`,
		`dyncontroller_queue_length 7`,
		`dyncontroller_rules{state="active"} 2`,
		`dyncontroller_rules_reload_total{result="failure"} 1`,
		`dyncontroller_rules_reload_total{result="success"} 0`,
		`dyncontroller_rules_reload_failed 1`,
		`dyncontroller_informers{synced="true"} 2`,
		`dyncontroller_informers{synced="false"} 1`,
	)

	informers = informers[:1]
	m.Reloaded(nil)
	m.RulesChanged(1, []plan.Rule{other})
	expectSamples(t, m,
		`dyncontroller_rules{state="active"} 1`,
		`dyncontroller_rules_reload_failed 0`,
		`dyncontroller_rules_reload_total{result="success"} 1`,
		`dyncontroller_informers{synced="false"} 0`,
	)
	for _, line := range samples(t, m) {
		if strings.Contains(line, `rule="even"`) {
			t.Errorf("a removed rule is not scraped any more, have %s", line)
		}
	}
}

func TestMetricsAreStandard(t *testing.T) {
	t.Parallel()
	m := NewMetrics("v1.2.3", noInformers)
	m.Evaluated(engine.Key{}, plan.Decision{})
	m.Wrote(plan.Operation{}, write.Written)
	m.RulesChanged(1, nil)
	_, body := get(t, m.Handler(), "/metrics")
	for _, standard := range []string{"go_goroutines ", "process_start_time_seconds ", `dyncontroller_build_info{`, `version="v1.2.3"} 1`} {
		if !strings.Contains(body, standard) {
			t.Errorf("want %q", standard)
		}
	}
	problems, err := promlint.New(strings.NewReader(body)).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range problems {
		t.Errorf("%s: %s", problem.Metric, problem.Text)
	}
}

func TestMetricsDoNotShareARegistry(t *testing.T) {
	t.Parallel()
	one, two := NewMetrics("a", noInformers), NewMetrics("b", noInformers)
	one.Queued(3)
	expectSamples(t, two, `dyncontroller_queue_length 0`)
}
