package e2e

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/dyncontroller/dyncontroller/internal/telemetry"
)

// moving has a rule for each way in which a rule can do. The names of objects say which one is meant.
const moving = `
apiVersion: dyncontroller.dev/v1alpha1
kind: RuleSet
metadata: {name: moves, namespace: NAMESPACE}
spec:
  resources:
    configmaps: {version: v1, resource: configmaps}
    services: {version: v1, resource: services}
    widgets: {group: moves.example.com, version: v1, resource: widgets}
  rules:
  - name: paints
    watch: configmaps
    when: object.metadata.name startsWith "paint"
    actions:
    - patch: {merge: {data: {color: red}}}
    - event: {reason: Painted, message: painted}
  - name: reports
    mode: Audit
    watch: configmaps
    when: object.metadata.name startsWith "report"
    actions: [{patch: {merge: {data: {color: red}}}}]
  - name: rests
    suspend: true
    watch: configmaps
    actions: [{patch: {merge: {data: {color: red}}}}]
  - name: without-address
    watch: services
    when: object.metadata.name == "spare"
    actions: [{patch: {merge: {spec: {clusterIP: "${nil}"}}}}]
  - name: fails
    watch: configmaps
    when: object.metadata.name startsWith "fail" && fromJSON(object.data?.text ?? "").a == 1
    actions: [{event: {reason: Never, message: never}}]
  - name: flips
    watch: configmaps
    when: object.metadata.name == "flip"
    actions: [{patch: {merge: {data: {color: "${object.data?.color == 'red' ? 'blue' : 'red'}"}}}}]
  - name: stops
    watch: configmaps
    when: object.metadata.name startsWith "stop"
    limits: {maxObjects: 1, per: 1h}
    actions: [{patch: {merge: {data: {color: red}}}}]
  - name: waits
    watch: widgets
    actions: [{event: {reason: Never, message: never}}]
`

// moved is a process of which the metrics are looked at.
type moved struct {
	t         *testing.T
	namespace string
	address   string
	// seen are the names of metrics that something was expected of.
	seen map[string]bool
	now  map[string]float64 // by series
}

// serves returns what is served beside the metrics.
func (m *moved) serves(path string) string {
	m.t.Helper()
	request, err := http.NewRequestWithContext(m.t.Context(), http.MethodGet, "http://"+m.address+path, nil)
	if err != nil {
		m.t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		m.t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		m.t.Fatalf("%s: %s, %v, %s", path, response.Status, err, body)
	}
	return string(body)
}

var samplePattern = regexp.MustCompile(`(?m)^([a-z_]+)(\{.*\})? ([^ \n]+)$`)

func (m *moved) scrape() {
	m.t.Helper()
	m.now = map[string]float64{}
	for _, sample := range samplePattern.FindAllStringSubmatch(m.serves("/metrics"), -1) {
		value, err := strconv.ParseFloat(sample[3], 64)
		if err != nil {
			m.t.Fatal(err)
		}
		m.now[sample[1]+sample[2]] = value
	}
}

// value is the sum of the series of a metric that have all of these labels.
func (m *moved) value(metric string, labels ...string) (sum float64) {
	for name, value := range m.now {
		base, rest, _ := strings.Cut(name, "{")
		missing := func(label string) bool { return !strings.Contains("{"+rest, label) }
		if base == metric && !slices.ContainsFunc(labels, missing) {
			sum += value
		}
	}
	return sum
}

// expect waits until a metric is as it should.
func (m *moved) expect(what, metric string, is func(float64) bool, labels ...string) {
	m.t.Helper()
	for _, suffix := range []string{"_count", "_sum", "_bucket"} {
		m.seen[strings.TrimSuffix(metric, suffix)] = true
	}
	m.seen[metric] = true
	last := 0.0
	defer func() {
		if m.t.Failed() {
			m.t.Logf("%s%v was %v last", metric, labels, last)
		}
	}()
	eventually(m.t, fmt.Sprintf("%s (%s%v)", what, metric, labels), func() bool {
		m.scrape()
		last = m.value(metric, labels...)
		return is(last)
	})
}

func (m *moved) configMap(name, data string) {
	m.t.Helper()
	create(m.t, configmaps, m.namespace, fmt.Sprintf(`{apiVersion: v1, kind: ConfigMap, metadata: {name: %s}, data: %s}`, name, data))
}

func (m *moved) remove(name string) {
	m.t.Helper()
	if err := client(m.t).Resource(configmaps).Namespace(m.namespace).Delete(m.t.Context(), name, metav1.DeleteOptions{}); err != nil {
		m.t.Fatal(err)
	}
}

func equals(want float64) func(float64) bool { return func(got float64) bool { return got == want } }

func exceeds(limit float64) func(float64) bool { return func(got float64) bool { return got > limit } }

// startMoved runs the rules with one worker, as a leader.
func startMoved(t *testing.T, namespace, rules string) *moved {
	t.Helper()
	p := start(t, "--rules", rules, "--metrics-bind-address", "127.0.0.1:0", "--workers", "1",
		"--leader-elect", "--leader-elect-resource-namespace", namespace)
	pattern := regexp.MustCompile(`what=metrics address=(\S+)`)
	eventually(t, "the metrics are served", func() bool {
		select {
		case <-p.done:
			t.Fatal("it has ended")
		default:
		}
		return pattern.MatchString(p.output.String())
	})
	return &moved{
		t: t, namespace: namespace, address: pattern.FindStringSubmatch(p.output.String())[1],
		seen: map[string]bool{}, now: map[string]float64{},
	}
}

// TestEveryMetricMoves holds that each metric says what it is there for. One that nobody moves here is missing from
// the list at the end.
func TestEveryMetricMoves(t *testing.T) {
	alongside(t)
	namespace := cluster(t).Namespace(t)
	text := strings.ReplaceAll(moving, "NAMESPACE", namespace)
	path := rulesFile(t, namespace, text)
	m := startMoved(t, namespace, path)
	m.expect("it runs", "dyncontroller_build_info", equals(1), `version="test"`)
	m.expectStates()
	m.expectWork()
	m.expectTroubles()
	m.expectCaches()
	m.expectKubernetes()
	m.expectMemory()
	m.expectReloads(path, text)

	var want, got []string
	for _, d := range telemetry.NewMetrics("", func() telemetry.Snapshot { return telemetry.Snapshot{} }).Descriptions() {
		want = append(want, d.Name)
		if m.seen[d.Name] {
			got = append(got, d.Name)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("metrics that nothing moves (-want +got):\n%s", diff)
	}
}

func (m *moved) expectStates() {
	m.expect("the rules act", "dyncontroller_rules", equals(6), `state="active"`)
	m.expect("one reports", "dyncontroller_rules", equals(1), `state="audited"`)
	m.expect("one rests", "dyncontroller_rules", equals(1), `state="suspended"`)
	m.expect("there are caches", "dyncontroller_informers", equals(2), `synced="true"`)
	m.expect("one has nothing to list", "dyncontroller_informers", equals(1), `synced="false"`)
}

// expectWork holds what is told of rules that do what they are there for.
func (m *moved) expectWork() {
	m.configMap("paint-0", "{}")
	m.expect("it is painted", "dyncontroller_writes_total", equals(1), `class="written"`, `resource="configmaps"`)
	m.expect("which is told", "dyncontroller_events_total", exceeds(0), `result="success"`)
	m.expect("and counted", "dyncontroller_evaluations_total", exceeds(0), `rule="paints"`, `outcome="matched"`)
	m.expect("its rules have done with it", "dyncontroller_settle_duration_seconds_count", exceeds(0), `resource="configmaps"`)
	m.expect("the condition holds still", "dyncontroller_rule_matched", equals(1), `rule="paints"`, `mode="Enforce"`)

	for _, name := range []string{"report-1", "report-2", "report-3"} {
		m.configMap(name, "{}")
	}
	m.expect("Audit is told", "dyncontroller_rule_matched", equals(3), `set="moves"`, `rule="reports"`, `mode="Audit"`)
	m.expect("each would be written", "dyncontroller_writes_total", equals(3), `class="audited"`)
	m.remove("report-2")
	m.expect("one is gone", "dyncontroller_rule_matched", equals(2), `rule="reports"`)
	edit(m.t, configmaps, m.namespace, "report-1", `{"data":{"color":"red"}}`)
	m.expect("to be as wanted is no matter of when", "dyncontroller_rule_matched", equals(2), `rule="reports"`)

	create(m.t, services, m.namespace, `{apiVersion: v1, kind: Service, metadata: {name: spare}, spec: {ports: [{port: 80}]}}`)
	m.expect("it changes nothing", "dyncontroller_writes_total", exceeds(0), `class="unchanged"`, `resource="services"`)
	edit(m.t, services, m.namespace, "spare", `{"metadata":{"labels":{"again":"yes"}}}`)
	m.expect("so it is not sent again", "dyncontroller_noops_avoided_total", exceeds(0), `resource="services"`)

	for i := range 150 {
		m.configMap(fmt.Sprint("paint-more-", i), "{}")
	}
	for i := range 150 {
		edit(m.t, configmaps, m.namespace, fmt.Sprint("paint-more-", i), `{"data":{"color":"green"}}`)
	}
	m.expectQueue()
}

// expectQueue holds that what waits is counted: a new rule set looks at all objects, with one worker.
func (m *moved) expectQueue() {
	done, stop := context.WithCancel(m.t.Context())
	defer stop()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		objects := client(m.t).Resource(configmaps).Namespace(m.namespace)
		for i := 0; done.Err() == nil; i++ { // Faster than one worker, who writes each twice as often.
			name := fmt.Sprint("paint-more-", i%150)
			_, _ = objects.Patch(done, name, "application/merge-patch+json", []byte(`{"data":{"color":"green"}}`), metav1.PatchOptions{})
		}
	}()
	m.expect("objects wait", "dyncontroller_queue_length", exceeds(0))
	stop()
	<-ended
	m.expect("none does any more", "dyncontroller_queue_length", equals(0))
}

// expectTroubles holds what is told of rules that cannot do it.
func (m *moved) expectTroubles() {
	m.configMap("fail-1", `{text: "{"}`)
	m.configMap("fail-2", `{text: "{"}`)
	m.expect("it fails on both", "dyncontroller_rule_failing", equals(2), `rule="fails"`)
	m.expect("and is not tried all the time", "dyncontroller_quarantined_objects", equals(2), `rule="fails"`)
	edit(m.t, configmaps, m.namespace, "fail-1", `{"data":{"text":"{}"}}`)
	m.expect("one is right now", "dyncontroller_quarantined_objects", equals(1), `rule="fails"`)
	m.expect("so it fails on one", "dyncontroller_rule_failing", equals(1), `rule="fails"`)

	m.configMap("flip", "{}")
	m.expect("it undoes itself", "dyncontroller_contested_objects", equals(1), `rule="flips"`, `rival="itself"`)
	m.remove("flip")

	m.expect("it acts", "dyncontroller_rule_paused", equals(0), `rule="stops"`)
	for _, name := range []string{"stop-1", "stop-2", "stop-3"} {
		m.configMap(name, "{}")
	}
	m.expect("it has come to its limits", "dyncontroller_rule_paused", equals(1), `rule="stops"`)
	m.expect("which is told of it", "dyncontroller_rules", equals(1), `state="paused"`)
}

func (m *moved) expectCaches() {
	m.scrape()
	const resource = `resource="configmaps"`
	objects := m.value("dyncontroller_cached_objects", resource)
	bytes := m.value("dyncontroller_cached_bytes", resource)
	heard := m.value("dyncontroller_watch_last_heard_timestamp_seconds", resource)
	if age := time.Since(time.UnixMilli(int64(heard * 1000))); age > 10*time.Minute || age < -time.Minute {
		m.t.Errorf("heard %s ago", age)
	}
	m.configMap("large", `{text: "`+strings.Repeat("x", 100_000)+`"}`)
	m.expect("there is one more", "dyncontroller_cached_objects", equals(objects+1), resource)
	m.expect("which takes room", "dyncontroller_cached_bytes", exceeds(bytes+99_000), resource)
	m.expect("and was heard of", "dyncontroller_watch_last_heard_timestamp_seconds", exceeds(heard), resource)
	m.remove("large")
	m.expect("it is gone", "dyncontroller_cached_objects", equals(objects), resource)
	m.expect("and its room", "dyncontroller_cached_bytes", func(got float64) bool { return got < bytes+50_000 }, resource)
}

// expectKubernetes holds that there is what the client counts, by the names that dashboards know.
func (m *moved) expectKubernetes() {
	m.expect("requests are counted", "rest_client_requests_total", exceeds(0), `method="PATCH"`, `code="200"`)
	m.expect("and timed", "rest_client_request_duration_seconds_count", exceeds(0), `verb="PATCH"`)
	m.expect("it leads", "leader_election_master_status", exceeds(0), `name="dyncontroller"`)
	m.expect("what is queued is counted", "workqueue_adds_total", exceeds(0), `name="objects"`)
	m.expect("and timed", "workqueue_queue_duration_seconds_count", exceeds(0), `name="objects"`)
	if strings.Contains(m.serves("/metrics"), m.namespace+"/") {
		m.t.Error("the paths of requests are told")
	}
}

// expectMemory holds that the process tells what it remembers.
func (m *moved) expectMemory() {
	got := m.serves("/explain?version=v1&resource=configmaps&namespace=" + m.namespace + "&name=fail-2")
	for _, want := range []string{`"name":"fails"`, `"outcome":"failed"`, `"quarantined":true`, `"since":`} {
		if !strings.Contains(got, want) {
			m.t.Errorf("want %s in %s", want, got)
		}
	}
}

// expectReloads holds what is told of files that change, and that rules which are gone leave no series behind.
func (m *moved) expectReloads(path, text string) {
	writeFile(m.t, path, strings.Replace(text, "watch:", "wacth:", 1))
	m.expect("they are wrong", "dyncontroller_rules_reload_failed", equals(1))
	m.expect("which is counted", "dyncontroller_rules_reload_total", equals(1), `result="failure"`)
	start, end := strings.Index(text, "  - name: reports"), strings.Index(text, "  - name: rests")
	writeFile(m.t, path, text[:start]+text[end:])
	m.expect("they are right", "dyncontroller_rules_reload_failed", equals(0))
	m.expect("which is counted", "dyncontroller_rules_reload_total", exceeds(0), `result="success"`)
	m.expect("one is gone", "dyncontroller_rules", equals(0), `state="audited"`)
	eventually(m.t, "it has no series", func() bool {
		m.scrape()
		for name := range m.now {
			if strings.Contains(name, `rule="reports"`) {
				return false
			}
		}
		return true
	})
}
