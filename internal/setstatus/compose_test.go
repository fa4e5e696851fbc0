package setstatus

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/pkg/api/v1alpha1"
	"github.com/dyncontroller/dyncontroller/pkg/engine/informer"
	"github.com/dyncontroller/dyncontroller/pkg/engine/limit"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 500, time.UTC)

func need(verb string, of ...plan.Rule) rules.Need {
	return rules.Need{Permission: plan.Permission{Verb: verb, Resource: schema.GroupResource{Resource: "pods"}, Namespace: "shop"}, Rules: of}
}

func mistake(path, message, hint string) *document.Error {
	return &document.Error{File: "RuleSet shop/guard", Line: 7, Column: 3, Path: path, Message: message, Hint: hint}
}

// good is a set without a problem.
func good() Input {
	return Input{
		Generation: 4, Now: noon, Account: types.NamespacedName{Namespace: "shop", Name: "bot"},
		Rules:  []Rule{{ID: ruleA, Counts: Counts{Matched: 3, Writes: 2, Errors: 1, LastError: "no"}, Quarantined: 1, Contested: 2}, {ID: ruleB}},
		Caches: []informer.Status{{Key: informer.Key{GVR: pods, Namespace: "shop"}, Synced: true}},
	}
}

// shown is a line for each condition: type, status, reason, and what it says.
func shown(status v1alpha1.Status) []string {
	var out []string
	for _, c := range status.Conditions {
		out = append(out, fmt.Sprintf("%s=%s %s: %s", c.Type, c.Status, c.Reason, strings.ReplaceAll(c.Message, "\n", " | ")))
	}
	return out
}

const pausedText = "it has written for 3 of 30 objects in 10m, its limit is 10%; look at what it did, then " +
	"put the annotation dyncontroller.dev/resume=a on RuleSet shop/guard, in its file if it has one, or change the rule"

func TestComposeConditions(t *testing.T) {
	unsynced := func(err error) []informer.Status {
		return []informer.Status{{Key: informer.Key{GVR: pods, Namespace: "shop"}, Err: err}}
	}
	cases := map[string]struct {
		reason string
		change func(*Input)
		want   []string
		kind   string // as kstatus computes it
	}{
		"good": {
			reason: "One condition says it.", change: func(*Input) {},
			want: []string{"Ready=True Running: 2 rules in effect"}, kind: "Current",
		},
		"doubts": {
			reason: "Warnings stop nothing.",
			change: func(in *Input) {
				in.Warnings, in.Rules = 1, in.Rules[:1]
				in.Mistakes = document.Errors{mistake("spec", "unused", "").Warn()}
			},
			want: []string{"Ready=True Running: 1 rule in effect, with 1 warning that validate tells"}, kind: "Current",
		},
		"refused": {
			reason: "It says where, in the object.",
			change: func(in *Input) {
				in.Rules, in.Caches = nil, nil
				in.Mistakes = document.Errors{mistake("spec.rules[2].when", "unknown name pd", "did you mean pod?"), mistake("", "no kind", "")}
			},
			want: []string{
				"Ready=False Refused: spec.rules[2].when: unknown name pd; did you mean pod? | no kind",
				"Stalled=True Refused: spec.rules[2].when: unknown name pd; did you mean pod? | no kind",
			}, kind: "Failed",
		},
		"refused later": {
			reason: "What runs is another version.",
			change: func(in *Input) { in.Mistakes, in.LastGood = document.Errors{mistake("spec.let", "a circle", "")}, true },
			want: []string{
				"Ready=False Refused: spec.let: a circle | the version before stays in effect",
				"Stalled=True Refused: spec.let: a circle | the version before stays in effect",
			}, kind: "Failed",
		},
		"not allowed": {
			reason: "An administrator has to want it.",
			change: func(in *Input) { in.NotAllowed = errors.New("rule a writes secrets: --allow-sensitive=secrets") },
			want: []string{
				"Ready=False NotAllowed: rule a writes secrets: --allow-sensitive=secrets",
				"Stalled=True NotAllowed: rule a writes secrets: --allow-sensitive=secrets",
			}, kind: "Failed",
		},
		"not allowed later": {
			reason: "What runs is another version.",
			change: func(in *Input) { in.NotAllowed, in.LastGood = errors.New("rule a writes secrets"), true },
			want: []string{
				"Ready=False NotAllowed: rule a writes secrets | the version before stays in effect",
				"Stalled=True NotAllowed: rule a writes secrets | the version before stays in effect",
			}, kind: "Failed",
		},
		"no account": {
			reason: "What it may do is not asked then.",
			change: func(in *Input) {
				in.NoAccount, in.Unreviewed = errors.New("ServiceAccount shop/bot does not exist"), true
			},
			want: []string{
				"Ready=False NoServiceAccount: ServiceAccount shop/bot does not exist",
				"Stalled=True NoServiceAccount: ServiceAccount shop/bot does not exist",
			}, kind: "Failed",
		},
		"paused": {
			reason: "Somebody has to look, and is told what to do then.",
			change: func(in *Input) {
				in.Paused = []limit.Pause{{Rule: ruleA, Pause: v1alpha1.Pause{Objects: 3, Of: 30, Limit: "10%", Per: "10m"}}}
			},
			want: []string{
				"Ready=False Paused: rule a is paused: " + pausedText,
				"Stalled=True Paused: rule a is paused: " + pausedText,
			}, kind: "Failed",
		},
		"permissions": {
			reason: "Each is named, with who needs it; those of others are not.",
			change: func(in *Input) {
				other := ruleA
				other.Set = "other"
				in.Missing = []rules.Need{need("list", ruleA), need("patch", ruleA, ruleB, other), need("watch", other)}
			},
			want: []string{
				"Ready=False Degraded: rule a may not list pods in namespace shop (as shop/bot) | rules a, b may not patch pods in namespace shop (as shop/bot)",
				"Stalled=True Degraded: rule a may not list pods in namespace shop (as shop/bot) | rules a, b may not patch pods in namespace shop (as shop/bot)",
			}, kind: "Failed",
		},
		"no identity": {
			reason: "The process's own needs no name.",
			change: func(in *Input) {
				in.Account = types.NamespacedName{}
				in.Missing = []rules.Need{need("list", ruleA)}
			},
			want: []string{
				"Ready=False Degraded: rule a may not list pods in namespace shop",
				"Stalled=True Degraded: rule a may not list pods in namespace shop",
			}, kind: "Failed",
		},
		"unreviewed": {
			reason: "It is asked.", change: func(in *Input) { in.Unreviewed = true },
			want: []string{
				"Ready=False Syncing: it is not known yet what shop/bot may do",
				"Reconciling=True Syncing: it is not known yet what shop/bot may do",
			}, kind: "InProgress",
		},
		"moving": {
			reason: "They have a deadline.", change: func(in *Input) { in.Moving = true },
			want: []string{
				"Ready=False Syncing: requests of the ServiceAccount that the set had before are under way",
				"Reconciling=True Syncing: requests of the ServiceAccount that the set had before are under way",
			}, kind: "InProgress",
		},
		"syncing": {
			reason: "It passes.", change: func(in *Input) { in.Caches = unsynced(nil) },
			want: []string{"Ready=False Syncing: listing pods.v1 -n shop", "Reconciling=True Syncing: listing pods.v1 -n shop"},
			kind: "InProgress",
		},
		"not served": {
			reason: "Somebody has to install it.", change: func(in *Input) { in.Caches = unsynced(errNotServed()) },
			want: []string{
				"Ready=False Unreachable: cannot list or watch pods.v1 -n shop: the server could not find the requested resource",
				"Stalled=True Unreachable: cannot list or watch pods.v1 -n shop: the server could not find the requested resource",
			}, kind: "Failed",
		},
		"refused reads": {
			reason: "As does one who may not read it.",
			change: func(in *Input) {
				in.Caches = unsynced(apierrors.NewForbidden(pods.GroupResource(), "", errors.New("no")))
			},
			want: []string{
				"Ready=False Unreachable: cannot list or watch pods.v1 -n shop: pods is forbidden: no",
				"Stalled=True Unreachable: cannot list or watch pods.v1 -n shop: pods is forbidden: no",
			}, kind: "Failed",
		},
		"unreachable": {
			reason: "It is tried again.", change: func(in *Input) { in.Caches = unsynced(errors.New("connection\nrefused")) },
			want: []string{
				"Ready=False Unreachable: cannot list or watch pods.v1 -n shop: connection refused",
				"Reconciling=True Unreachable: cannot list or watch pods.v1 -n shop: connection refused",
			}, kind: "InProgress",
		},
		"not recorded": {
			reason: "It is tried again.", change: func(in *Input) { in.NotRecorded = errors.New("conflict") },
			want: []string{
				"Ready=False NotRecorded: rules wait until the inventory is written: conflict",
				"Reconciling=True NotRecorded: rules wait until the inventory is written: conflict",
			}, kind: "InProgress",
		},
		"mistyped": {
			reason: "What is mistyped is told, and what stays because of that.",
			change: func(in *Input) {
				of := func(resource string) schema.GroupVersionResource {
					return schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: resource}
				}
				in.Unserved = []rules.Unserved{{GVR: of("widgts"), Near: of("widgets")}}
				in.Kept = errors.New("what rules have left stays until rule a can work")
			},
			want: []string{
				"Ready=False Unreachable: the API server has no resource widgts.v1.example.com; did you mean widgets.v1.example.com? | what rules have left stays until rule a can work",
				"Stalled=True Unreachable: the API server has no resource widgts.v1.example.com; did you mean widgets.v1.example.com? | what rules have left stays until rule a can work",
			}, kind: "Failed",
		},
		"several": {
			reason: "Ready says all, the others their part.",
			change: func(in *Input) {
				in.Missing, in.NotRecorded, in.Caches = []rules.Need{need("list", ruleB)}, errors.New("conflict"), unsynced(nil)
			},
			want: []string{
				"Ready=False Degraded: rule b may not list pods in namespace shop (as shop/bot) | rules wait until the inventory is written: conflict | listing pods.v1 -n shop",
				"Stalled=True Degraded: rule b may not list pods in namespace shop (as shop/bot)",
				"Reconciling=True NotRecorded: rules wait until the inventory is written: conflict | listing pods.v1 -n shop",
			}, kind: "Failed",
		},
		"deleted": {
			reason: "Nothing else counts any more.",
			change: func(in *Input) { in.Deleting, in.Mistakes = true, document.Errors{mistake("spec", "x", "")} },
			want: []string{
				"Ready=False CleaningUp: what the rules have left is being cleaned up",
				"Reconciling=True CleaningUp: what the rules have left is being cleaned up",
			}, kind: "InProgress",
		},
		"not cleaned": {
			reason: "It says what holds the object.",
			change: func(in *Input) { in.Deleting, in.NotCleaned = true, errors.New("pods is forbidden") },
			want: []string{
				"Ready=False CleaningUp: what the rules have left cannot be cleaned up: pods is forbidden",
				"Stalled=True CleaningUp: what the rules have left cannot be cleaned up: pods is forbidden",
			}, kind: "Failed",
		},
		"nobody cleans": {
			reason: "It is done as the account.",
			change: func(in *Input) {
				in.Deleting, in.NoAccount = true, errors.New("ServiceAccount shop/bot does not exist")
			},
			want: []string{
				"Ready=False CleaningUp: what the rules have left cannot be cleaned up: ServiceAccount shop/bot does not exist",
				"Stalled=True CleaningUp: what the rules have left cannot be cleaned up: ServiceAccount shop/bot does not exist",
			}, kind: "Failed",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			in := good()
			tc.change(&in)
			got := Compose(in)
			if diff := cmp.Diff(tc.want, shown(got)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if kind := kstatus(in.Generation, got); kind != tc.kind {
				t.Errorf("%s kstatus: %s, want %s", tc.reason, kind, tc.kind)
			}
			for _, c := range got.Conditions {
				if c.ObservedGeneration != 4 || !c.LastTransitionTime.Equal(&metav1.Time{Time: noon.Truncate(time.Second)}) {
					t.Errorf("%+v", c)
				}
			}
		})
	}
}

// kstatus computes the status of an object that is not being deleted by the rules of
// sigs.k8s.io/cli-utils/pkg/kstatus, in their order: what was observed, then the first
// of Reconciling and Stalled that is true, as they are listed, then Ready.
func kstatus(generation int64, status v1alpha1.Status) string {
	if status.ObservedGeneration != generation {
		return "InProgress"
	}
	for _, c := range status.Conditions {
		switch {
		case c.Type == "Reconciling" && c.Status == metav1.ConditionTrue:
			return "InProgress"
		case c.Type == "Stalled" && c.Status == metav1.ConditionTrue:
			return "Failed"
		}
	}
	for _, c := range status.Conditions {
		if c.Type == "Ready" && c.Status != metav1.ConditionTrue {
			return "InProgress"
		}
	}
	return "Current"
}

func TestComposeRules(t *testing.T) {
	in := good()
	in.Missing = []rules.Need{need("list", ruleB)}
	in.Previous.Inventory = []v1alpha1.Leftover{{Rule: "a", Kind: "Child"}}
	in.Previous.Paused = []v1alpha1.Pause{{Rule: "a"}}
	before := metav1.NewTime(noon.Add(-time.Hour).Truncate(time.Second))
	in.Previous.Rules = []v1alpha1.RuleStatus{{Name: "gone"}, {Name: "a", LastWrite: &before}, {Name: "b", LastWrite: &before}}
	in.Rules[0].LastWrite, in.Rules[1].Standing = noon, Suspended
	got := Compose(in)
	got.Conditions = nil
	want := v1alpha1.Status{
		ObservedGeneration: 4,
		Inventory:          []v1alpha1.Leftover{{Rule: "a", Kind: "Child"}},
		Paused:             []v1alpha1.Pause{{Rule: "a"}},
		Summary:            v1alpha1.Summary{Rules: 2, Matched: 3, Errors: 1},
		Rules: []v1alpha1.RuleStatus{
			{Name: "a", Matched: 3, Writes: 2, LastWrite: new(metav1.NewTime(noon.Truncate(time.Second))), Errors: 1, LastError: "no", Quarantined: 1, Contested: 2},
			{Name: "b", Standing: Suspended, LastWrite: &before, Missing: []v1alpha1.Permission{{Verb: "list", Resource: "pods", Namespace: "shop"}}},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestComposeTimes(t *testing.T) {
	before := metav1.NewTime(noon.Add(-time.Hour).Truncate(time.Second))
	cases := map[string]struct {
		reason   string
		previous []metav1.Condition
		moves    bool
	}{
		"new":           {"There was none.", nil, true},
		"same":          {"Only the status counts, not what it says.", []metav1.Condition{{Type: Ready, Status: "True", Reason: "x", LastTransitionTime: before}}, false},
		"other":         {"It has flipped.", []metav1.Condition{{Type: Ready, Status: "False", LastTransitionTime: before}}, true},
		"other type":    {"It is of another.", []metav1.Condition{{Type: Stalled, Status: "True", LastTransitionTime: before}}, true},
		"without since": {"A condition has a time.", []metav1.Condition{{Type: Ready, Status: "True"}}, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			in := good()
			in.Previous.Conditions = tc.previous
			got := Compose(in)
			if moved := !got.Conditions[0].LastTransitionTime.Equal(&before); moved != tc.moves || len(got.Conditions) != 1 {
				t.Errorf("%s Got %+v", tc.reason, got.Conditions)
			}
			in.Previous, in.Now = got, in.Now.Add(time.Hour)
			if diff := cmp.Diff(got, Compose(in)); diff != "" {
				t.Errorf("it changes with time alone (-before +after):\n%s", diff)
			}
		})
	}
}

// TestComposeBounds holds that a message fits into an object, and tells what is left out.
func TestComposeBounds(t *testing.T) {
	in := good()
	for i := range 15 {
		in.Mistakes = append(in.Mistakes, mistake(fmt.Sprintf("spec.rules[%d]", i), strings.Repeat("日本", 10_000), ""))
	}
	for _, c := range Compose(in).Conditions {
		lines := strings.Split(c.Message, "\n")
		if len(c.Message) > longestMessage || len(lines) != maxLines+1 || lines[maxLines] != "and 5 more" || len(lines[0]) > longestLine {
			t.Errorf("%d bytes, %d lines, the last %q", len(c.Message), len(lines), lines[len(lines)-1])
		}
	}
	in.Mistakes = nil
	for i := range 12 {
		rule := plan.Rule{Name: fmt.Sprint("r", i)}
		in.Rules = append(in.Rules, Rule{ID: rule, Counts: Counts{LastError: strings.Repeat("x", 10_000)}})
		in.Missing = append(in.Missing, need(fmt.Sprint("v", i), rule))
		in.Caches = append(in.Caches, informer.Status{Key: informer.Key{GVR: pods, Namespace: fmt.Sprint("n", i)}})
	}
	all := need("all")
	for _, rule := range in.Rules {
		all.Rules = append(all.Rules, rule.ID)
	}
	in.Missing = append([]rules.Need{all}, in.Missing...)
	got := Compose(in)
	for _, part := range []string{"rules a, b, r0, r1, r2, r3, r4, r5, r6, r7, and 4 more may not all", "and 3 more\n", "listing pods.v1 -n n9\nand 2 more"} {
		if !strings.Contains(got.Conditions[0].Message, part) {
			t.Errorf("%q is not in %s", part, got.Conditions[0].Message)
		}
	}
	if len(got.Rules[13].LastError) > longestError || len(in.Caches) != 13 {
		t.Errorf("an error has %d bytes", len(got.Rules[13].LastError))
	}
}
