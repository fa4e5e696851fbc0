package docs_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

var (
	groupingPattern = regexp.MustCompile(`\b(?:by|on|without|ignoring|group_left) ?\(([^)]*)\)`)
	legendPattern   = regexp.MustCompile(`\{\{ *(?:\$labels\.)?([a-z_]+) *\}\}`)
)

// TestMonitoring says that alerts and panels are whole, and that they group by labels that
// what they ask for has.
func TestMonitoring(t *testing.T) {
	for name, expressions := range monitored(t) {
		if len(expressions) < 5 {
			t.Errorf("%s: want expressions, have %q", name, expressions)
		}
		for _, expression := range expressions {
			if strings.Count(expression, "(") != strings.Count(expression, ")") || strings.Count(expression, "{") != strings.Count(expression, "}") {
				t.Errorf("%s: a bracket is missing: %s", name, expression)
			}
			for _, grouping := range groupingPattern.FindAllStringSubmatch(expression, -1) {
				for label := range strings.SplitSeq(grouping[1], ",") {
					if label = strings.TrimSpace(label); label != "" && !hasLabel(expression, label) {
						t.Errorf("%s: nothing has the label %s: %s", name, label, expression)
					}
				}
			}
		}
	}
}

// othersPattern matches the metrics of the Kubernetes client, which other processes have too.
var othersPattern = regexp.MustCompile(`\b(?:workqueue|rest_client|leader_election)_[a-z_]+(?:\{([^}]*)\})?`)

// TestMonitoringOfOurs says that what others count as well is asked of dyncontroller alone.
func TestMonitoringOfOurs(t *testing.T) {
	for name, expressions := range monitored(t) {
		found := 0
		for _, expression := range expressions {
			found += len(othersPattern.FindAllString(expression, -1))
			for _, problem := range foreign(expression) {
				t.Errorf("%s: %s counts others too: %s", name, problem, expression)
			}
		}
		if found == 0 {
			t.Errorf("%s asks for nothing that the Kubernetes client counts", name)
		}
	}
}

// foreignPattern matches the same with what tells whose they are, a process that tells its build.
var foreignPattern = regexp.MustCompile(othersPattern.String() + `(?:\[[^]]*\]\))?( and on \(job, instance\) dyncontroller_build_info)?`)

// foreign lists the metrics of an expression that are taken of any process.
func foreign(expression string) []string {
	var out []string
	for _, match := range foreignPattern.FindAllStringSubmatch(expression, -1) {
		if !strings.Contains(match[1], `job=~"$job"`) && match[2] == "" {
			out = append(out, match[0])
		}
	}
	return out
}

func TestForeign(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason, expression string
		want               []string
	}{
		"ours":     {"Nobody else has it.", `sum(dyncontroller_rules)`, nil},
		"anybody":  {"The kubelet has it.", `sum(rate(rest_client_requests_total{code="500"}[10m]))`, []string{`rest_client_requests_total{code="500"}[10m])`}},
		"selected": {"The dashboard asks for jobs that tell their build.", `sum(rate(rest_client_requests_total{job=~"$job"}[10m]))`, nil},
		"joined":   {"Of processes that tell their build.", `sum by (name) (leader_election_master_status and on (job, instance) dyncontroller_build_info)`, nil},
		"a rate":   {"The same of a rate.", `sum(rate(rest_client_requests_total[10m]) and on (job, instance) dyncontroller_build_info)`, nil},
		"one of two": {
			"The other counts everybody.", `sum(rate(rest_client_requests_total[1m]) and on (job, instance) dyncontroller_build_info) / sum(workqueue_depth)`,
			[]string{"workqueue_depth"},
		},
	} {
		if diff := cmp.Diff(tc.want, foreign(tc.expression)); diff != "" {
			t.Errorf("%s: %s (-want +got):\n%s", name, tc.reason, diff)
		}
	}
}

// hasLabel reports whether a metric of an expression has a label. Those of Kubernetes are
// taken at their word, and so is what Prometheus adds.
func hasLabel(expression, label string) bool {
	if slices.Contains(targetLabels, label) || !strings.Contains(expression, "dyncontroller_") || othersPattern.MatchString(expression) {
		return true
	}
	for _, match := range metricPattern.FindAllStringSubmatch(expression, -1) {
		for _, d := range described() {
			if rest, is := strings.CutPrefix(match[1], d.Name); is && (slices.Contains(d.Labels, label) || rest == "_bucket" && label == "le") {
				return true
			}
		}
	}
	return false
}

// monitored are the expressions of alerts and panels, by file.
func monitored(t *testing.T) map[string][]string {
	t.Helper()
	return map[string][]string{"alerts.yaml": alerts(t), "dashboard.json": panels(t)}
}

func deployed(t *testing.T, name string, into any) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, "deploy", "monitoring", name))
	if err != nil {
		t.Fatal(err)
	}
	if strings.HasSuffix(name, ".json") {
		err = json.Unmarshal(data, into)
	} else {
		err = yaml.UnmarshalStrict(data, into)
	}
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

func alerts(t *testing.T) []string {
	t.Helper()
	var file struct {
		APIVersion string
		Kind       string
		Metadata   map[string]any
		Spec       struct {
			Groups []struct {
				Name  string
				Rules []struct {
					Alert, Expr, For    string
					Labels, Annotations map[string]string
				}
			}
		}
	}
	deployed(t, "alerts.yaml", &file)
	var out []string
	seen := map[string]bool{}
	for _, group := range file.Spec.Groups {
		for _, rule := range group.Rules {
			if rule.Alert == "" || seen[rule.Alert] || !slices.Contains([]string{"info", "warning", "critical"}, rule.Labels["severity"]) {
				t.Errorf("an alert has a name of its own and a severity: %+v", rule)
			}
			seen[rule.Alert] = true
			for _, text := range []string{"summary", "description"} {
				if rule.Annotations[text] == "" {
					t.Errorf("%s has no %s", rule.Alert, text)
				}
				for _, label := range legendPattern.FindAllStringSubmatch(rule.Annotations[text], -1) {
					if !hasLabel(rule.Expr, label[1]) {
						t.Errorf("%s tells of %s, which nothing has: %s", rule.Alert, label[1], rule.Expr)
					}
				}
			}
			out = append(out, rule.Expr)
		}
	}
	return out
}

func panels(t *testing.T) []string {
	t.Helper()
	var board struct {
		Title, UID string
		Panels     []struct {
			ID          int
			Title, Type string
			Description string
			Targets     []struct{ Expr, LegendFormat string }
		}
	}
	deployed(t, "dashboard.json", &board)
	var out []string
	seen := map[int]bool{}
	for _, panel := range board.Panels {
		if panel.Type == "row" {
			continue
		}
		if panel.Title == "" || panel.Description == "" || seen[panel.ID] || len(panel.Targets) == 0 {
			t.Errorf("a panel has a number of its own, a title, a description and something to ask: %+v", panel)
		}
		seen[panel.ID] = true
		for _, target := range panel.Targets {
			for _, label := range legendPattern.FindAllStringSubmatch(target.LegendFormat, -1) {
				if !hasLabel(target.Expr, label[1]) {
					t.Errorf("%s tells of %s, which nothing has: %s", panel.Title, label[1], target.Expr)
				}
			}
			out = append(out, target.Expr)
		}
	}
	return out
}
