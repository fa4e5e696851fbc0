package cli

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/dyncontroller/dyncontroller/internal/setstatus"
	"github.com/dyncontroller/dyncontroller/pkg/api/v1alpha1"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/trace"
)

// TestStatus holds what status shows of what a controller answers, in each format.
func TestStatus(t *testing.T) {
	wrote := new(metav1.NewTime(time.Now().Add(-90*time.Hour - 30*time.Minute).Local().Truncate(time.Second)))
	ready := func(status metav1.ConditionStatus, reason, message string) []metav1.Condition {
		return []metav1.Condition{{Type: setstatus.Ready, Status: status, Reason: reason, Message: message}}
	}
	restart := plan.Rule{Kind: "RuleSet", Namespace: "shop", Set: "upgrade", Name: "restart"}
	object := func(name string, record trace.Record) trace.Memory {
		record.Rule = restart
		return trace.Memory{Object: trace.Object{Group: "apps", Version: "v1", Resource: "deployments", Namespace: "shop", Name: name}, Records: []trace.Record{record}}
	}
	views := []setstatus.View{
		{Kind: "ClusterRuleSet", Name: "night", File: true, Status: v1alpha1.Status{
			Conditions: ready(metav1.ConditionTrue, setstatus.Running, "1 rule in effect"), Summary: v1alpha1.Summary{Rules: 1, Matched: 14},
			Rules: []v1alpha1.RuleStatus{{Name: "asleep", Matched: 14, Writes: 28, LastWrite: wrote}},
		}},
		{Kind: "RuleSet", Namespace: "shop", Name: "newer", Generation: 3, Status: v1alpha1.Status{
			ObservedGeneration: 2, Conditions: ready(metav1.ConditionTrue, setstatus.Running, "1 rule in effect"), Summary: v1alpha1.Summary{Rules: 1},
			Rules: []v1alpha1.RuleStatus{{Name: "one"}},
		}},
		{Kind: "RuleSet", Namespace: "shop", Name: "quiet", Status: v1alpha1.Status{
			Conditions: ready(metav1.ConditionTrue, setstatus.Running, "1 rule in effect"), Summary: v1alpha1.Summary{Rules: 1},
			Rules: []v1alpha1.RuleStatus{{Name: "one", Standing: setstatus.Suspended}},
		}},
		{Kind: "RuleSet", Namespace: "shop", Name: "typo", Status: v1alpha1.Status{
			Conditions: ready(metav1.ConditionFalse, setstatus.Refused, "spec.rules[0].when: wrong"),
		}},
		{
			Kind: "RuleSet", Namespace: "shop", Name: "upgrade", Status: v1alpha1.Status{
				Conditions: ready(metav1.ConditionFalse, setstatus.Paused, "rule restart is paused: so it is"), Summary: v1alpha1.Summary{Rules: 2, Matched: 203, Errors: 1},
				Rules: []v1alpha1.RuleStatus{
					{Name: "restart", Matched: 200, Writes: 20, Errors: 1, LastError: "no", LastWrite: wrote},
					{Name: "label", Standing: setstatus.Audit, Matched: 3, Contested: 1},
				},
				Paused:   []v1alpha1.Pause{{Rule: "restart"}},
				Rollouts: []v1alpha1.Rollout{{Rule: "restart", Wave: 1, Waves: 3, Objects: 20, Of: 200}},
			},
			Objects: []trace.Memory{
				object("a", trace.Record{Outcome: plan.Matched, Trouble: trace.Trouble{Paused: "the rule is paused"}}),
				object("b", trace.Record{Outcome: plan.Matched, Trouble: trace.Trouble{Wave: "it waits for a later wave"}}),
				object("c", trace.Record{Outcome: plan.Failed, Reason: "it has\nno image", Trouble: trace.Trouble{Quarantined: true}}),
				object("d", trace.Record{Outcome: plan.Waiting, Reason: "when must hold for 1h"}),
				object("e", trace.Record{Outcome: plan.Matched, Trouble: trace.Trouble{Failure: "upgrade.yaml:18:19: spec.rules[0].when: object.status.replicas is absent, and > wants a number; ?? gives a default: (object.status.replicas ?? 0)"}}),
				object("f", trace.Record{Outcome: plan.Matched, Trouble: trace.Trouble{Contest: "kubectl undoes it"}}),
			},
			Troubled: 204,
		},
	}
	asked := ""
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := views
		if asked = r.URL.RawQuery; r.URL.Query().Has("status") {
			answer = views[4:]
		}
		_ = json.NewEncoder(w).Encode(answer)
	}))
	defer server.Close()
	for name, tc := range map[string]struct {
		reason string
		args   []string
		code   int
		asked  string
		want   string
	}{
		"Table": {"All sets.", nil, exitClean, "sets=", `
NAMESPACE   NAME      STATUS      RULES   MATCHED   WRITES   FAILING   PAUSED   LAST WRITE
-           night     Ready       1       14        28       0         0        3d18h
shop        newer     Outdated    1       0         0        0         0        -
shop        quiet     Suspended   1       0         0        0         0        -
shop        typo      Refused     0       0         0        0         0        -
shop        upgrade   Paused      2       203       20       1         1        3d18h
`},
		"Wide": {"All rules, and the set that has none in effect.", []string{"-o", "wide"}, exitClean, "sets=", `
NAMESPACE   RULE              STATUS      MATCHED   WRITES   FAILING   CONTESTED   ROLLOUT       LAST WRITE
-           night/asleep      Active      14        28       0         0           -             3d18h
shop        newer/one         Active      0         0        0         0           -             -
shop        quiet/one         Suspended   0         0        0         0           -             -
shop        typo              Refused     -         -        -         -           -             -
shop        upgrade/restart   Paused      200       20       1         0           wave 2 of 3   3d18h
shop        upgrade/label     Audit       3         0        0         1           -             -
`},
		"Set": {"Its objects are asked for.", []string{"upgrade"}, exitClean, "kind=RuleSet&namespace=shop&set=upgrade&status=", `
RuleSet shop/upgrade: Paused
  rule restart is paused: so it is

NAMESPACE   RULE              STATUS   MATCHED   WRITES   FAILING   CONTESTED   ROLLOUT       LAST WRITE
shop        upgrade/restart   Paused   200       20       1         0           wave 2 of 3   3d18h
shop        upgrade/label     Audit    3         0        0         1           -             -

OBJECT               RULE      STATE         WHY
deployments shop/a   restart   paused        -
deployments shop/b   restart   waiting       it waits for a later wave
deployments shop/c   restart   quarantined   it has\nno image
deployments shop/d   restart   waiting       when must hold for 1h
deployments shop/e   restart   failing       spec.rules[0].when: object.status.replicas is absent,
                                             and > wants a number; ?? gives a default:
                                             (object.status.replicas ?? 0)
deployments shop/f   restart   contested     kubectl undoes it
and 198 objects more
`},
		"Namespace": {"Other sets are left out.", []string{"-n", "other"}, exitClean, "sets=", "\nthere are no rule sets\n"},
		"Unknown":   {"It is near.", []string{"upgrad"}, exitUsage, "sets=", "\ndyncontroller: there is no set \"upgrad\"; did you mean upgrade?\n"},
	} {
		t.Run(name, func(t *testing.T) {
			code, stdout, stderr := invoke(t, append([]string{"status", "--controller", server.Listener.Addr().String()}, tc.args...)...)
			if code != tc.code || asked != tc.asked {
				t.Errorf("%s Want %d and a question for %s, got %d and %s", tc.reason, tc.code, tc.asked, code, asked)
			}
			if diff := cmp.Diff(tc.want, "\n"+stdout+stderr); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
	for format, read := range map[string]func([]byte, any) error{"json": json.Unmarshal, "yaml": func(data []byte, into any) error { return yaml.Unmarshal(data, into) }} {
		var got []setstatus.View
		_, stdout, _ := invoke(t, "status", "--controller", server.Listener.Addr().String(), "-o", format)
		if err := read([]byte(stdout), &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(views, got); diff != "" {
			t.Errorf("as %s (-want +got):\n%s", format, diff)
		}
	}
}

// TestStatusWatch holds that a set is shown again when its status has changed, in any format, that a controller may be away for a while,
// and that the user ends it.
func TestStatusWatch(t *testing.T) {
	for _, format := range []string{formatTable, formatWide, formatJSON, formatYAML} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			ctx, end := context.WithCancel(t.Context())
			defer end()
			asked := 0
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				if asked++; asked == 2 {
					w.WriteHeader(http.StatusBadGateway)
					return
				}
				changing := setstatus.View{Kind: "RuleSet", Namespace: "shop", Name: "changing", Status: v1alpha1.Status{Rules: []v1alpha1.RuleStatus{{Name: "a", Matched: int64(asked / 4)}}}}
				same := setstatus.View{Kind: "RuleSet", Namespace: "shop", Name: "same"}
				_ = json.NewEncoder(w).Encode([]setstatus.View{changing, same})
				if asked == 5 {
					end()
				}
			}))
			defer server.Close()
			var stdout, stderr output
			code := Run(ctx, Process{
				Args:   []string{"status", "--watch", "-o", format, "--controller", server.Listener.Addr().String()},
				Stdout: &stdout, Stderr: &stderr, Version: "v1.2.3",
			})
			out := stdout.String()
			if code != exitClean || strings.Count(out, "changing") != 2 || strings.Count(out, "same") != 1 || strings.Contains(out, "[]") {
				t.Errorf("it ends with %d, and shows\n%s", code, out)
			}
			if got := strings.Count(stderr.String(), "it answers 502 Bad Gateway"); got != 1 { // A port can have 502 in it.
				t.Errorf("an error is shown %d times:\n%s", got, stderr.String())
			}
		})
	}
}
