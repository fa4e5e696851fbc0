package telemetry

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

func get(t *testing.T, handler http.Handler, target string) (int, string) {
	t.Helper()
	recorder := httptest.NewRecorder()
	handler.ServeHTTP(recorder, httptest.NewRequestWithContext(t.Context(), http.MethodGet, target, nil))
	return recorder.Code, recorder.Body.String()
}

func nothing() Snapshot { return Snapshot{} }

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

func ruleOf(set, name string) plan.Rule {
	return plan.Rule{Kind: "ClusterRuleSet", Set: set, Name: name}
}

var tidbclusters = schema.GroupVersionResource{Group: "pingcap.com", Version: "v1alpha1", Resource: "tidbclusters"}

func TestMetrics(t *testing.T) {
	t.Parallel()
	rule, other := ruleOf("guardrails", "odd"), ruleOf("guardrails", "even")
	namesake := plan.Rule{Kind: "RuleSet", Namespace: "shop", Set: "guardrails", Name: "even"}
	m := NewMetrics("v1.2.3", func() Snapshot { return state(rule, other, namesake) })

	m.Evaluated(engine.Key{}, plan.Decision{Rule: rule, Outcome: plan.Matched})
	m.Evaluated(engine.Key{}, plan.Decision{Rule: rule, Outcome: plan.Matched})
	m.Evaluated(engine.Key{}, plan.Decision{Rule: other, Outcome: plan.Failed, Err: errors.New("nil")})
	m.Evaluated(engine.Key{}, plan.Decision{Rule: other, Outcome: plan.Waiting})
	m.Evaluated(engine.Key{}, plan.Decision{Rule: namesake, Outcome: plan.Waiting})
	m.Evaluated(engine.Key{}, plan.Decision{Rule: rule, Outcome: plan.Refused, Audited: true})
	m.Wrote(engine.Key{}, plan.Operation{Target: plan.Object{GVR: tidbclusters}}, write.OwnedByAnother)
	m.Wrote(engine.Key{}, plan.Operation{Target: plan.Object{GVR: tidbclusters}}, write.Audited)
	m.Recorded(plan.Event{}, nil)
	m.Recorded(plan.Event{}, errors.New("refused"))
	m.Spared(engine.Key{GVR: tidbclusters}, 3)
	m.Spared(engine.Key{GVR: tidbclusters}, 1)
	m.Settled(engine.Key{GVR: tidbclusters}, 1500*time.Millisecond)
	m.Reloaded(errors.New("line 3"))
	expectSamples(t, m,
		`dyncontroller_evaluations_total{mode="Enforce",outcome="matched",rule="odd",set="guardrails",set_namespace=""} 2`,
		`dyncontroller_evaluations_total{mode="Enforce",outcome="failed",rule="even",set="guardrails",set_namespace=""} 1`,
		`dyncontroller_evaluations_total{mode="Enforce",outcome="waiting",rule="even",set="guardrails",set_namespace=""} 1`,
		`dyncontroller_evaluations_total{mode="Enforce",outcome="waiting",rule="even",set="guardrails",set_namespace="shop"} 1`,
		`dyncontroller_evaluations_total{mode="Audit",outcome="refused",rule="odd",set="guardrails",set_namespace=""} 1`,
		`dyncontroller_writes_total{class="owned by another",group="pingcap.com",resource="tidbclusters"} 1`,
		`dyncontroller_writes_total{class="audited",group="pingcap.com",resource="tidbclusters"} 1`,
		`dyncontroller_events_total{result="success"} 1`,
		`dyncontroller_events_total{result="failure"} 1`,
		`dyncontroller_noops_avoided_total{group="pingcap.com",resource="tidbclusters"} 4`,
		`dyncontroller_settle_duration_seconds_count{group="pingcap.com",resource="tidbclusters"} 1`,
		`dyncontroller_settle_duration_seconds_sum{group="pingcap.com",resource="tidbclusters"} 1.5`,
		`dyncontroller_rules_reload_total{result="failure"} 1`,
		`dyncontroller_rules_reload_total{result="success"} 0`,
		`dyncontroller_rules_reload_failed 1`,
	)

	m.Reloaded(nil)
	expectSamples(t, m,
		`dyncontroller_rules_reload_failed 0`,
		`dyncontroller_rules_reload_total{result="success"} 1`,
	)
}

// TestDescriptions holds that the reference lists what is registered, as it is.
func TestDescriptions(t *testing.T) {
	t.Parallel()
	m := NewMetrics("v1.2.3", nothing)
	descs := make(chan *prometheus.Desc)
	go func() {
		defer close(descs)
		m.registry.Describe(descs)
	}()
	registered := map[string]bool{}
	for desc := range descs {
		registered[desc.String()] = true
	}
	var last string
	for _, d := range m.Descriptions() {
		desc := prometheus.NewDesc(d.Name, d.Help, d.Labels, nil).String()
		if !registered[desc] {
			t.Errorf("%s is described, and not registered", desc)
		}
		delete(registered, desc)
		if d.Name <= last {
			t.Errorf("%s comes after %s", d.Name, last)
		}
		last = d.Name
	}
	for desc := range registered {
		if strings.Contains(desc, `"`+namespace+`_`) {
			t.Errorf("%s is registered, and not described", desc)
		}
	}
}

func TestMetricsAreStandard(t *testing.T) {
	t.Parallel()
	m := NewMetrics("v1.2.3", full)
	m.Evaluated(engine.Key{}, plan.Decision{Rule: full().Rules[0].ID})
	m.Wrote(engine.Key{}, plan.Operation{}, write.Written)
	m.Spared(engine.Key{}, 1)
	m.Settled(engine.Key{}, time.Second)
	_, body := get(t, m.Handler(), "/metrics")
	for _, d := range m.Descriptions() {
		if !strings.Contains(body, "# TYPE "+d.Name+" "+d.Kind+"\n") {
			t.Errorf("%s is not linted: it has no series", d.Name)
		}
	}
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
		if !strings.HasPrefix(problem.Metric, namespace+"_") {
			continue // Kubernetes has its own.
		}
		t.Errorf("%s: %s", problem.Metric, problem.Text)
	}
}

func TestMetricsDoNotShareARegistry(t *testing.T) {
	t.Parallel()
	one, two := NewMetrics("a", nothing), NewMetrics("b", nothing)
	one.Reloaded(errors.New("line 3"))
	expectSamples(t, one, `dyncontroller_rules_reload_failed 1`)
	expectSamples(t, two, `dyncontroller_rules_reload_failed 0`)
}
