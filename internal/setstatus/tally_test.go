package setstatus

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/engine/guard"
	"github.com/dyncontroller/dyncontroller/pkg/engine/limit"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
)

var (
	pods  = schema.GroupVersionResource{Version: "v1", Resource: "pods"}
	ruleA = plan.Rule{Kind: "RuleSet", Namespace: "shop", Set: "guard", Name: "a"}
	ruleB = plan.Rule{Kind: "RuleSet", Namespace: "shop", Set: "guard", Name: "b"}
)

func pod(name string) engine.Key { return engine.Key{GVR: pods, Namespace: "shop", Name: name} }

// look tells a tally what rules say of a pod, by rule.
func look(tally *Tally, name string, outcomes map[plan.Rule]plan.Outcome) {
	var decisions []plan.Decision
	for rule, outcome := range outcomes {
		decisions = append(decisions, plan.Decision{Rule: rule, Outcome: outcome})
	}
	tally.Looked(rules.Snapshot{GVR: pods, Object: map[string]any{
		"metadata": map[string]any{"name": name, "namespace": "shop", "uid": "u"},
	}}, decisions)
}

// fail tells a tally that a rule fails on a pod.
func fail(tally *Tally, name string, rule plan.Rule, text string) {
	tally.Concluded(pod(name), []guard.Failure{{Rules: []plan.Rule{rule}, Err: errors.New(text)}})
}

func newTally() *Tally {
	var last uint64
	return NewTally(clocktesting.NewFakePassiveClock(noon), func() uint64 {
		last++
		return last
	})
}

func TestTally(t *testing.T) {
	stale := apierrors.NewConflict(pods.GroupResource(), "x", errors.New("changed"))
	matched := map[plan.Rule]plan.Outcome{ruleA: plan.Matched, ruleB: plan.Matched}
	cases := map[string]struct {
		reason string
		do     func(*Tally)
		a, b   Counts
	}{
		"nothing": {reason: "Nobody has looked.", do: func(*Tally) {}},
		"outcomes": {
			reason: "A condition holds also where the rule may not act, yet or at all.",
			do: func(tally *Tally) {
				for name, outcome := range map[string]plan.Outcome{
					"a": plan.Matched, "b": plan.Waiting, "c": plan.Withheld, "d": plan.Refused,
					"e": plan.Unmatched, "f": plan.Skipped, "g": plan.Failed,
				} {
					look(tally, name, map[plan.Rule]plan.Outcome{ruleA: outcome})
				}
			},
			a: Counts{Matched: 4},
		},
		"where": {
			reason: "Who sees the object does not see the lines that it was read as.",
			do: func(tally *Tally) {
				wrong := &document.Error{File: "RuleSet shop/guard", Line: 30, Column: 28, Path: "spec.rules[0].when", Message: "no", Hint: "yes"}
				tally.Concluded(pod("x"), []guard.Failure{{Rules: []plan.Rule{ruleA}, Err: fmt.Errorf("trying: %w", wrong)}})
			},
			a: Counts{Errors: 1, LastError: "trying: spec.rules[0].when: no; yes"},
		},
		"again": {
			reason: "An object counts once, however often it is looked at.",
			do: func(tally *Tally) {
				for range 3 {
					look(tally, "x", matched)
				}
			},
			a: Counts{Matched: 1}, b: Counts{Matched: 1},
		},
		"no more": {
			reason: "It is what holds now.",
			do: func(tally *Tally) {
				look(tally, "x", matched)
				look(tally, "x", map[plan.Rule]plan.Outcome{ruleA: plan.Unmatched, ruleB: plan.Matched})
			},
			b: Counts{Matched: 1},
		},
		"left": {
			reason: "A rule that does not select the object any more is not asked.",
			do: func(tally *Tally) {
				look(tally, "x", matched)
				fail(tally, "x", ruleA, "no")
				look(tally, "x", map[plan.Rule]plan.Outcome{ruleB: plan.Matched})
			},
			b: Counts{Matched: 1},
		},
		"gone": {
			reason: "What is forgotten counts no more.",
			do: func(tally *Tally) {
				look(tally, "x", matched)
				look(tally, "y", matched)
				fail(tally, "x", ruleA, "no")
				tally.Forgot(pod("x"))
				tally.Forgot(pod("nobody"))
			},
			a: Counts{Matched: 1}, b: Counts{Matched: 1},
		},
		"gone under its uid": {
			reason: "Rules prune for it, and what has its name is another.",
			do: func(tally *Tally) {
				look(tally, "x", matched)
				gone := pod("x")
				gone.UID = "old"
				tally.Looked(rules.Snapshot{GVR: pods, Gone: plan.Object{GVR: pods, Namespace: "shop", Name: "x", UID: "old"}},
					[]plan.Decision{{Rule: ruleA, Outcome: plan.Skipped}})
				tally.Concluded(gone, []guard.Failure{{Rules: []plan.Rule{ruleA}, Err: errors.New("no")}})
				tally.Forgot(gone)
			},
			a: Counts{Matched: 1}, b: Counts{Matched: 1},
		},
		"fails": {
			reason: "Each object counts, and the first stays shown.",
			do: func(tally *Tally) {
				fail(tally, "x", ruleA, "x fails")
				fail(tally, "y", ruleA, "y fails")
				fail(tally, "y", ruleA, "y fails again")
			},
			a: Counts{Errors: 2, LastError: "x fails"},
		},
		"fails otherwise": {
			reason: "The text is that of now.",
			do: func(tally *Tally) {
				fail(tally, "x", ruleA, "x fails")
				fail(tally, "x", ruleA, "x fails otherwise")
			},
			a: Counts{Errors: 1, LastError: "x fails otherwise"},
		},
		"recovers": {
			reason: "The text is of one that fails.",
			do: func(tally *Tally) {
				fail(tally, "x", ruleA, "x fails")
				fail(tally, "y", ruleA, "y fails")
				tally.Concluded(pod("x"), nil)
			},
			a: Counts{Errors: 1, LastError: "y fails"},
		},
		"all recover": {
			reason: "There is nothing to tell then.",
			do: func(tally *Tally) {
				fail(tally, "x", ruleA, "x fails")
				fail(tally, "x", ruleB, "x fails b")
				tally.Concluded(pod("x"), nil)
			},
		},
		"many fail": {
			reason: "Of most only the number is kept.",
			do: func(tally *Tally) {
				for i := range 100 {
					fail(tally, fmt.Sprint(i), ruleA, "fails")
				}
				for i := range 99 {
					tally.Concluded(pod(fmt.Sprint(i)), nil)
				}
			},
			a: Counts{Errors: 1, LastError: "fails"},
		},
		"out of date": {
			reason: "A conflict is a matter of course.",
			do: func(tally *Tally) {
				tally.Concluded(pod("x"), []guard.Failure{{Rules: []plan.Rule{ruleA}, Err: stale}, {Rules: []plan.Rule{ruleA}}})
			},
		},
		"unrecorded": {
			reason: "It waits for the inventory, and the condition says what is wrong with that.",
			do: func(tally *Tally) {
				err := fmt.Errorf("no: %w", guard.ErrUnrecorded)
				tally.Concluded(pod("x"), []guard.Failure{{Rules: []plan.Rule{ruleA}, Err: err}})
			},
		},
		"busy": {
			reason: "It waits for a moment, for other writes.",
			do: func(tally *Tally) {
				tally.Concluded(pod("x"), []guard.Failure{{Rules: []plan.Rule{ruleA}, Err: limit.ErrBusy}})
			},
		},
		"wave": {
			reason: "Its turn comes.",
			do: func(tally *Tally) {
				for i, err := range []error{&limit.RolloutError{}, limit.ErrUnseen, limit.ErrUnstored} {
					tally.Concluded(pod(fmt.Sprint(i)), []guard.Failure{{Rules: []plan.Rule{ruleA}, Err: err}})
				}
			},
		},
		"paused": {
			reason: "What a paused rule does not do is undone until somebody has looked.",
			do: func(tally *Tally) {
				tally.Concluded(pod("x"), []guard.Failure{{Rules: []plan.Rule{ruleA}, Err: &limit.PausedError{}}})
			},
			a: Counts{Errors: 1, LastError: (&limit.PausedError{}).Error()},
		},
		"nobody's": {
			reason: "Where the object could not be read, rules have not looked.",
			do: func(tally *Tally) {
				fail(tally, "x", ruleA, "no")
				tally.Concluded(pod("x"), []guard.Failure{{Err: errors.New("cannot read")}})
			},
			a: Counts{Errors: 1, LastError: "no"},
		},
		"writes": {
			reason: "Only what has changed something, for each rule that asked for it.",
			do: func(tally *Tally) {
				for _, class := range []write.Class{write.Written, write.Unchanged, write.Simulated, write.Audited, write.Stale, write.Terminal} {
					tally.Wrote(engine.Key{}, plan.Operation{Rules: []plan.Rule{ruleA, ruleB}}, class)
				}
				tally.Wrote(engine.Key{}, plan.Operation{Rules: []plan.Rule{ruleB}}, write.Written)
			},
			a: Counts{Writes: 1, LastWrite: noon}, b: Counts{Writes: 2, LastWrite: noon},
		},
		"rule gone": {
			reason: "The engine may still tell of it.",
			do: func(tally *Tally) {
				look(tally, "x", matched)
				fail(tally, "x", ruleB, "no")
				tally.Wrote(engine.Key{}, plan.Operation{Rules: []plan.Rule{ruleA, ruleB}}, write.Written)
				tally.Follow([]plan.Rule{ruleA})
				look(tally, "x", matched)
				fail(tally, "y", ruleB, "no")
				tally.Wrote(engine.Key{}, plan.Operation{Rules: []plan.Rule{ruleB}}, write.Written)
			},
			a: Counts{Matched: 1, Writes: 1, LastWrite: noon},
		},
		"rule back": {
			reason: "It begins anew.",
			do: func(tally *Tally) {
				look(tally, "x", matched)
				tally.Follow([]plan.Rule{ruleA})
				tally.Follow([]plan.Rule{ruleA, ruleB})
			},
			a: Counts{Matched: 1},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			tally := newTally()
			tally.Follow([]plan.Rule{ruleA, ruleB})
			tc.do(tally)
			if diff := cmp.Diff([]Counts{tc.a, tc.b}, []Counts{tally.Counts(ruleA), tally.Counts(ruleB)}); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestTallyForgets holds that nothing is kept of what is gone, or of no interest.
func TestTallyForgets(t *testing.T) {
	tally := newTally()
	tally.Follow([]plan.Rule{ruleA})
	for i := range 1000 {
		name := fmt.Sprint(i)
		look(tally, name, map[plan.Rule]plan.Outcome{ruleA: plan.Unmatched, ruleB: plan.Matched})
		look(tally, name, map[plan.Rule]plan.Outcome{ruleA: plan.Matched})
		fail(tally, name, ruleA, strings.Repeat("long ", 1000))
	}
	if n := len(tally.rules[ruleA].failing); n != maxSamples {
		t.Errorf("of %d objects the error is kept", n)
	}
	if n := len(tally.Counts(ruleA).LastError); n > longestError {
		t.Errorf("the error has %d bytes", n)
	}
	for i := range 1000 {
		tally.Forgot(pod(fmt.Sprint(i)))
	}
	if len(tally.objects)+len(tally.rules[ruleA].failing) > 0 || len(tally.rules) != 1 {
		t.Errorf("left are %d objects, %d errors, %d rules", len(tally.objects), len(tally.rules[ruleA].failing), len(tally.rules))
	}
}

// TestTallyConcurrent is for the race detector.
func TestTallyConcurrent(t *testing.T) {
	tally := newTally()
	var all sync.WaitGroup
	for worker := range 8 {
		all.Go(func() {
			for i := range 200 {
				name := fmt.Sprint(worker, "-", i)
				tally.Follow([]plan.Rule{ruleA, ruleB})
				look(tally, name, map[plan.Rule]plan.Outcome{ruleA: plan.Matched})
				fail(tally, name, ruleB, "no")
				tally.Wrote(engine.Key{}, plan.Operation{Rules: []plan.Rule{ruleA}}, write.Written)
				tally.Counts(ruleA)
				tally.Forgot(pod(name))
			}
		})
	}
	all.Wait()
	if diff := cmp.Diff([]Counts{{Writes: 1600, LastWrite: noon}, {}}, []Counts{tally.Counts(ruleA), tally.Counts(ruleB)}); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestBounded(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "short": "short", "exactly 10": "exactly 10", "more than 10": "more th...", "日本日本": "日本...",
		"a\xffb": "a\ufffdb",
	} {
		got := bounded(text, 10)
		if got != want || !utf8.ValidString(got) {
			t.Errorf("%q gives %q, want %q", text, got, want)
		}
	}
	if got := bounded("long", 2); got != "..." {
		t.Errorf("got %q", got)
	}
}

// errNotServed is what an API server answers that does not have a resource.
func errNotServed() error {
	return apierrors.NewGenericServerResponse(http.StatusNotFound, "list", schema.GroupResource{}, "", "404 page not found", 0, true)
}
