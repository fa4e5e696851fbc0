package engine_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	testingclock "k8s.io/utils/clock/testing"

	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/simulate/queue"
)

const (
	restless = `
  - name: counts
    watch: widgets
    actions: [{patch: {merge: {spec: {size: "${object.spec.size + 1}"}}}}]
`
	unsettled = "\na: it does not settle: after 20 rounds of writes its rules still want something else: spec.size of widgets.example.com ns/a: rule set/counts undoes itself"
)

// TestDrain holds what rounds come to, each of them after a step.
func TestDrain(t *testing.T) {
	type step struct {
		do   func(t *testing.T, d *driver)
		want string
	}
	put := func(text string) func(*testing.T, *driver) {
		return func(t *testing.T, d *driver) { t.Helper(); d.put(t, text) }
	}
	later := func(d time.Duration) func(*testing.T, *driver) {
		return func(_ *testing.T, at *driver) {
			at.clock.Step(d)
			at.engine.Wake()
		}
	}
	answers := func(answer func(plan.Operation) *write.Result) func(*testing.T, *driver) {
		return func(_ *testing.T, d *driver) {
			d.answer = answer
			d.touch()
		}
	}
	always := func(class write.Class) func(plan.Operation) *write.Result {
		return func(plan.Operation) *write.Result { return &write.Result{Class: class, Err: errRefused} }
	}
	tests := map[string]struct {
		reason  string
		rules   string
		arrange func(d *cluster)
		steps   []step
		writes  int
	}{
		"Rounds": {
			reason: "Each round reports on itself, and nothing is done in one for which there is no event.",
			rules:  atLeastThree + labelled,
			steps: []step{
				{want: "1 looked at, 1 written"},
				{want: "0 looked at, 0 written"},
				{put(`{metadata: {namespace: ns, name: b}, spec: {size: 5}}`), "1 looked at, 1 written"},
				{put(small), "1 looked at, 1 written"},
				{func(_ *testing.T, d *driver) { d.touch() }, "1 looked at, 0 written"},
			},
			writes: 3,
		},
		"FailsFirst": {
			reason:  "What gets better after a few attempts is no failure, and no time passes.",
			rules:   atLeastThree,
			arrange: func(c *cluster) { c.answer = failures(7) },
			steps:   []step{{want: "1 looked at, 1 written"}},
			writes:  8,
		},
		"GivesUp": {
			reason:  "What does not get better is given up, until there is an event.",
			rules:   atLeastThree,
			arrange: func(c *cluster) { c.answer = always(write.Unreachable) },
			steps: []step{
				{want: "1 looked at, 0 written\na: refused"},
				{want: "0 looked at, 0 written"},
				{answers(nil), "1 looked at, 1 written"},
			},
			writes: 9,
		},
		"GivesUpForAWhile": {
			reason:  "A cluster tries again every five minutes.",
			rules:   atLeastThree,
			arrange: func(c *cluster) { c.answer = always(write.Terminal) },
			steps: []step{
				{want: "1 looked at, 0 written\na: refused"},
				{later(5*time.Minute - 1), "0 looked at, 0 written"},
				{later(1), "1 looked at, 0 written\na: refused"},
				{later(5 * time.Minute), "1 looked at, 0 written\na: refused"},
			},
			writes: 3,
		},
		"Restless": {
			reason: "Rules that undo themselves stop, and may act again after an event.",
			rules:  restless,
			steps: []step{
				{want: "1 looked at, 20 written" + unsettled},
				{want: "0 looked at, 0 written"},
				{func(_ *testing.T, d *driver) { d.touch() }, "1 looked at, 20 written" + unsettled},
			},
			writes: 40,
		},
		"Lasting": {
			reason: "The virtual clock says how long it lasts.",
			rules:  lasting,
			steps: []step{
				{want: "1 looked at, 0 written, 1 waiting"},
				{later(5*time.Minute - 1), "0 looked at, 0 written"},
				{later(1), "1 looked at, 1 written"},
				{later(time.Hour), "0 looked at, 0 written"},
			},
			writes: 1,
		},
		"LastingAgain": {
			reason: "What is interrupted begins anew.",
			rules:  lasting,
			steps: []step{
				{want: "1 looked at, 0 written, 1 waiting"},
				{later(4 * time.Minute), "0 looked at, 0 written"},
				{put(`{metadata: {namespace: ns, name: a}, spec: {size: 9}}`), "1 looked at, 0 written"},
				{put(small), "1 looked at, 0 written, 1 waiting"},
				{later(4 * time.Minute), "0 looked at, 0 written"},
				{later(time.Minute), "1 looked at, 1 written"},
			},
			writes: 1,
		},
		"OnTimeThoughRefused": {
			reason:  "Another rule is given up, and the moment is kept.",
			rules:   labelled + strings.Replace(lasting, "5m", "5s", 1),
			arrange: func(c *cluster) { c.answer = refuses("labelled") },
			steps: []step{
				{want: "1 looked at, 0 written, 1 waiting\na: refused"},
				{later(5 * time.Second), "1 looked at, 1 written\na: refused"},
			},
			writes: 5, // Alone; with the other, and then apart; and again, of what was written.
		},
		"Unseen": {
			reason:  "Caches that do not tell of a write are not waited for.",
			rules:   atLeastThree + labelled,
			arrange: func(c *cluster) { c.lagging = true },
			steps: []step{
				{want: "1 looked at, 1 written\na: the caches do not show the last write"},
				{func(_ *testing.T, d *driver) { d.see(keyOf(d.get("a"))) }, "1 looked at, 0 written"},
			},
			writes: 1,
		},
		"Panics": {
			reason:  "A panic is a failure.",
			rules:   atLeastThree,
			arrange: func(c *cluster) { c.answer = func(plan.Operation) *write.Result { panic("poisoned") } },
			steps:   []step{{want: "1 looked at, 0 written\na: panic: poisoned"}},
			writes:  8,
		},
		"RulesChange": {
			reason: "Other rules take effect in the next round.",
			rules:  atLeastThree,
			steps: []step{
				{want: "1 looked at, 1 written"},
				{func(t *testing.T, d *driver) {
					t.Helper()
					d.engine.SetRules(load(t, labelled))
				}, "1 looked at, 1 written"},
			},
			writes: 2,
		},
		"Goes": {
			reason: "Nothing is remembered of what is gone.",
			rules:  lasting,
			steps: []step{
				{want: "1 looked at, 0 written, 1 waiting"},
				{func(_ *testing.T, d *driver) { d.remove("a") }, "0 looked at, 0 written"},
				{func(t *testing.T, d *driver) {
					t.Helper()
					if next := d.engine.Wake(); !next.IsZero() {
						t.Errorf("it wakes at %s", next)
					}
				}, "0 looked at, 0 written"},
			},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			for _, order := range []queue.Order{queue.FIFO, queue.Reversed} {
				c := newCluster()
				if tc.arrange != nil {
					tc.arrange(c)
				}
				c.put(t, small)
				d := drive(t, c, order, load(t, tc.rules))
				for i, step := range tc.steps {
					if step.do != nil {
						step.do(t, d)
					}
					if diff := cmp.Diff(step.want, summary(d.drain(t))); diff != "" {
						t.Errorf("%s\norder %d, step %d (-want +got):\n%s", tc.reason, order, i, diff)
					}
				}
				if c.count() != tc.writes {
					t.Errorf("%s\norder %d: %d writes were sent, want %d", tc.reason, order, c.count(), tc.writes)
				}
			}
		})
	}
}

// refuses answers as an API server that lets a rule do nothing.
func refuses(rule string) func(plan.Operation) *write.Result {
	return func(operation plan.Operation) *write.Result {
		if slices.ContainsFunc(operation.Rules, func(r plan.Rule) bool { return r.Name == rule }) {
			return &write.Result{Class: write.Terminal, Err: errRefused}
		}
		return nil
	}
}

// TestLook holds that one look tells what has failed, though it would be tried again.
func TestLook(t *testing.T) {
	c := newCluster()
	c.put(t, small)
	c.answer = func(plan.Operation) *write.Result {
		return &write.Result{Class: write.Ambiguous, Err: apierrors.NewInternalError(errRefused)}
	}
	d := drive(t, c, queue.FIFO, load(t, atLeastThree))
	report := d.engine.Look(t.Context(), engine.Key{GVR: widgets, Namespace: "ns", Name: "a"})
	if len(report.Failures) != 1 || !strings.Contains(report.Failures[0].Err.Error(), errRefused.Error()) {
		t.Errorf("it tells of %v, want what was refused", report.Failures)
	}
}

// TestWake holds that the next moment is told, and each of them in its turn.
func TestWake(t *testing.T) {
	c := newCluster()
	for i, name := range []string{"a", "b", "c"} {
		at := newYear.Add(time.Duration(3-i) * time.Hour).Format(time.RFC3339)
		c.put(t, fmt.Sprintf(`{metadata: {namespace: ns, name: %s}, spec: {at: %q}}`, name, at))
	}
	d := drive(t, c, queue.FIFO, load(t, due))
	if next := d.engine.Wake(); !next.IsZero() {
		t.Errorf("before the first round it wakes at %s", next)
	}
	d.drain(t)
	if next := d.engine.Wake(); !next.Equal(newYear.Add(time.Hour)) {
		t.Errorf("it wakes at %s, want an hour later", next)
	}
	if moments := d.pass(t, 2*time.Hour); moments != 2 {
		t.Errorf("%d moments, want 2", moments)
	}
	if next := d.engine.Wake(); !next.Equal(newYear.Add(3 * time.Hour)) {
		t.Errorf("it wakes at %s, want the last moment", next)
	}
	if moments := d.pass(t, 24*time.Hour); moments != 1 {
		t.Errorf("%d moments, want 1", moments)
	}
	if next := d.engine.Wake(); !next.IsZero() {
		t.Errorf("after the last it wakes at %s", next)
	}
	var order []string
	for _, operation := range c.writes {
		order = append(order, operation.Target.Name)
	}
	if diff := cmp.Diff([]string{"c", "b", "a"}, order); diff != "" {
		t.Errorf("written in the order of the moments (-want +got):\n%s", diff)
	}
}

// TestDrainEnds holds that rules end for which somebody else makes an object each time that they write.
func TestDrainEnds(t *testing.T) {
	c := newCluster()
	c.put(t, small)
	c.after = func(_ plan.Operation, result write.Result) write.Result {
		c.put(t, fmt.Sprintf(`{metadata: {namespace: ns, name: x%d}, spec: {size: 1}}`, c.count()))
		return result
	}
	d := drive(t, c, queue.FIFO, load(t, atLeastThree))
	report, err := d.engine.Drain(t.Context())
	if err == nil || !strings.Contains(err.Error(), "do not come to rest: after 1020 turns") {
		t.Errorf("err %v, want that there is no end", err)
	}
	if report.Written < 100 {
		t.Errorf("%d written, want what was done all the same", report.Written)
	}
}

func TestDrainIsCancelled(t *testing.T) {
	c := newCluster()
	for _, name := range []string{"a", "b", "c"} {
		c.put(t, fmt.Sprintf(`{metadata: {namespace: ns, name: %s}, spec: {size: 1}}`, name))
	}
	d := drive(t, c, queue.FIFO, load(t, atLeastThree))
	ctx, cancel := context.WithCancelCause(t.Context())
	c.answer = func(plan.Operation) *write.Result {
		cancel(errRefused)
		return nil
	}
	report, err := d.engine.Drain(ctx)
	if !errors.Is(err, errRefused) || report.Written != 1 {
		t.Errorf("err %v, %d written; want the reason of the end after one write", err, report.Written)
	}
	if report := d.drain(t); report.Written != 2 {
		t.Errorf("%d written, want the rest", report.Written)
	}
}

// TestExplain holds that rules that do not match say why, if that is asked for.
func TestExplain(t *testing.T) {
	for explain, want := range map[bool]string{
		false: "a: at-least-three not matched ",
		true:  "a: at-least-three not matched object.spec.size < 3 is false; object.spec.size is 5",
	} {
		c := newCluster()
		c.put(t, `{metadata: {namespace: ns, name: a}, spec: {size: 5}}`)
		d := drive(t, c, queue.FIFO, load(t, atLeastThree))
		options := d.options(queue.New[engine.Key](queue.FIFO))
		options.Explain = explain
		c.restart()
		d.engine = engine.New(options)
		if err := d.engine.Start(load(t, atLeastThree)); err != nil {
			t.Fatal(err)
		}
		d.drain(t)
		if diff := cmp.Diff([]string{want}, d.decided); diff != "" {
			t.Errorf("decisions, explain: %v (-want +got):\n%s", explain, diff)
		}
	}
}

// TestStartRefuses holds what cannot be driven, and what can only be driven.
func TestStartRefuses(t *testing.T) {
	d := &driver{cluster: newCluster(), clock: testingclock.NewFakeClock(newYear)}
	without, house := d.options(nil), d.options(queue.New[engine.Key](queue.FIFO))
	house.Housekeeping = (&shelf{}).house(false)
	for want, options := range map[string]engine.Options{"does not block": without, "housekeeping": house} {
		if err := engine.New(options).Start(load(t, labelled)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("err %v, want one of %q", err, want)
		}
	}
	_, err := engine.New(d.options(queue.New[engine.Key](queue.FIFO))).Settle(t.Context(), load(t, labelled))
	if err == nil || !strings.Contains(err.Error(), "driven by the caller") {
		t.Errorf("err %v, want that it does not settle by itself", err)
	}
	d.unsynced[allWidgets] = true
	d.onWant = func() { d.handler.Troubled(allWidgets, errRefused) }
	if err := engine.New(d.options(queue.New[engine.Key](queue.FIFO))).Start(load(t, labelled)); !errors.Is(err, errRefused) {
		t.Errorf("err %v, want that of the caches", err)
	}
}
