package docs_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/internal/telemetry"
)

// described lists our own metrics.
func described() []telemetry.Description {
	return telemetry.NewMetrics("v0.0.0", func() telemetry.Snapshot { return telemetry.Snapshot{} }).Descriptions()
}

func metricsReference() string {
	var b strings.Builder
	b.WriteString(`# Metrics

Generated from the tables in ` + "`internal/telemetry`" + ` by ` + "`make generate`" + `.
[Watching dyncontroller](../guide/metrics.md#metrics) says what their labels mean, and which others there are.

| metric | kind | labels | meaning |
|---|---|---|---|
`)
	for _, d := range described() {
		var labels []string
		for _, label := range d.Labels {
			labels = append(labels, "`"+label+"`")
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", d.Name, d.Kind, strings.Join(labels, ", "), strings.ReplaceAll(d.Help, "|", `\|`))
	}
	return b.String()
}

var (
	metricPattern   = regexp.MustCompile(`(dyncontroller_[a-z_]+)(?:\{([^}]*)\})?`)
	selectorPattern = regexp.MustCompile(`([a-z_]+) *(?:=~|!~|!=|=|,|$)`)
)

// targetLabels are what Prometheus adds.
var targetLabels = []string{"instance", "job", "namespace", "pod"}

// TestMetricNames says that there are the metrics and labels of which the documents, the
// alerts and the dashboard speak.
func TestMetricNames(t *testing.T) {
	texts := map[string]string{}
	for _, p := range pages(t) {
		texts[p.path] = p.prose
		for _, b := range p.blocks {
			texts[p.path] += b.text
		}
	}
	for name, expressions := range monitored(t) {
		texts[name] = strings.Join(expressions, "\n")
	}
	for path, text := range texts {
		for _, problem := range unknownMetrics(text) {
			t.Errorf("%s: %s", path, problem)
		}
	}
}

// unknownMetrics lists what a text says of metrics that is not so.
func unknownMetrics(text string) []string {
	labels := map[string][]string{}
	for _, d := range described() {
		labels[d.Name] = d.Labels
		if d.Kind == "histogram" {
			labels[d.Name+"_bucket"] = append([]string{"le"}, d.Labels...)
			labels[d.Name+"_sum"], labels[d.Name+"_count"] = d.Labels, d.Labels
		}
	}
	var out []string
	for _, match := range metricPattern.FindAllStringSubmatch(text, -1) {
		name := match[1]
		if strings.HasSuffix(name, "_") {
			continue // The beginning of them.
		}
		known, is := labels[name]
		if !is {
			out = append(out, "there is no metric "+name)
			continue
		}
		for _, selector := range selectorPattern.FindAllStringSubmatch(withoutStrings(match[2]), -1) {
			if !slices.Contains(known, selector[1]) && !slices.Contains(targetLabels, selector[1]) {
				out = append(out, name+" has no label "+selector[1])
			}
		}
	}
	return out
}

func withoutStrings(text string) string {
	return regexp.MustCompile(`"[^"]*"`).ReplaceAllString(text, "")
}

func TestUnknownMetrics(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason, text string
		want         []string
	}{
		"known":     {"All of it is there.", `sum by (le) (rate(dyncontroller_settle_duration_seconds_bucket{le="1",group!="a=b"}[5m]))`, nil},
		"named":     {"As the issue has it.", `dyncontroller_rule_matched{set,rule}`, nil},
		"beginning": {"It is no name.", "`dyncontroller_`", nil},
		"unknown":   {"Nobody counts that.", `dyncontroller_rule_match{set="a"}`, []string{"there is no metric dyncontroller_rule_match"}},
		"no sum":    {"A counter has none.", `dyncontroller_writes_total_sum`, []string{"there is no metric dyncontroller_writes_total_sum"}},
		"label":     {"It has other labels.", `dyncontroller_writes_total{class="a",set=~"b"}`, []string{"dyncontroller_writes_total has no label set"}},
	} {
		if diff := cmp.Diff(tc.want, unknownMetrics(tc.text)); diff != "" {
			t.Errorf("%s: %s (-want +got):\n%s", name, tc.reason, diff)
		}
	}
}
