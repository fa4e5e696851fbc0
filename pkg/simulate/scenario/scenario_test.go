package scenario_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/simulate/apiserver"
	"github.com/dyncontroller/dyncontroller/pkg/simulate/queue"
	"github.com/dyncontroller/dyncontroller/pkg/simulate/scenario"
)

const (
	one = "{apiVersion: v1, kind: ConfigMap, metadata: {name: one, namespace: a}, data: {num: '1'}}"
	two = "{apiVersion: v1, kind: ConfigMap, metadata: {name: two, namespace: a}, data: {num: '2'}}"
)

// chain has a rule act on what another one wrote.
const chain = `
  - name: first
    watch: configmaps
    when: object.data?.num == "1"
    actions: [{patch: {merge: {data: {num: "2"}}}}]
  - name: second
    watch: configmaps
    when: object.data?.num == "2"
    actions:
    - patch: {merge: {data: {num: "3"}}}
    - event: {reason: Done, message: it is three}
`

func TestSettle(t *testing.T) {
	got := settled(t, chain, one)
	var decided []string
	for _, d := range got.Decisions {
		decided = append(decided, d.Rule+" "+string(d.Outcome))
	}
	want := []string{
		"set/first matched", "set/second not matched",
		"set/first not matched", "set/second matched",
		"set/first not matched", "set/second not matched", // Of the first the reason is another.
	}
	if diff := cmp.Diff(want, decided); diff != "" {
		t.Errorf("each change of mind is told, and nothing else (-want +have):\n%s", diff)
	}
	if len(got.Writes) != 2 || len(got.Events) != 1 || len(got.Objects) != 1 {
		t.Errorf("have %s", shown(t, got))
	}
	data, _ := got.Objects[0].Now["data"].(map[string]any)
	if data["num"] != "3" {
		t.Errorf("have %v", data)
	}
}

// TestEvaluationsAreNumbered holds that it can be said of all that is told which evaluation
// it is of, and that Looked is told of the same ones.
func TestEvaluationsAreNumbered(t *testing.T) {
	server, err := apiserver.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	looks := 0
	s, err := scenario.Start(t.Context(), scenario.Setup{
		Rules: setOf(t, chain+`
  - {name: audited, watch: configmaps, mode: Audit, when: 'object.data?.num == "2"', actions: [{patch: {merge: {data: {num: "9"}}}}]}
`), Server: server, Now: instant(), Order: queue.FIFO, Objects: []map[string]any{objectOf(t, one)},
		Looked: func(rules.Snapshot, []plan.Decision) { looks++ },
	})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := s.Settle(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	phases := s.Phases()
	var decided []int
	for _, d := range phases[0].Decisions {
		decided = append(decided, d.Evaluation)
	}
	var done []int
	for _, w := range slices.Concat(phases[0].Writes, phases[0].Audited) {
		done = append(done, w.Evaluation)
	}
	for _, e := range phases[0].Events {
		done = append(done, e.Evaluation)
	}
	if diff := cmp.Diff([]int{1, 1, 1, 2, 2, 2, 3, 3, 3}, decided); diff != "" {
		t.Errorf("of decisions (-want +have):\n%s", diff)
	}
	if diff := cmp.Diff([]int{1, 2, 2, 2}, done); diff != "" {
		t.Errorf("of two writes, one that is audited and an Event (-want +have):\n%s", diff)
	}
	if looks != 3 || phases[0].Evaluations != looks || phases[1].Evaluations != looks {
		t.Errorf("there were %d, and by the ends of the phases %d and %d", looks, phases[0].Evaluations, phases[1].Evaluations)
	}
}

func TestNothingIsToldTwice(t *testing.T) {
	s := start(t, queue.FIFO, chain, one)
	for range 2 {
		if err := s.Settle(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	phases := s.Phases()
	want := scenario.Phase{
		Decisions: []scenario.Decision{}, Writes: []scenario.Write{}, Events: []scenario.Event{}, Evaluations: phases[0].Evaluations,
	}
	if diff := cmp.Diff(want, phases[1]); diff != "" {
		t.Errorf("what rests is of no interest (-want +have):\n%s", diff)
	}
	if rest := s.Phases(); len(rest) > 0 {
		t.Errorf("phases are taken once, have %d more", len(rest))
	}
}

func TestTheSameStoryEveryTime(t *testing.T) {
	const makes = `
  - name: makes
    watch: configmaps
    with: {made: {resource: pods, matchLabels: {of: "${object.metadata.name}"}}}
    when: len(made) < 3
    actions:
    - create:
        in: made
        manifest: {apiVersion: v1, kind: Pod, metadata: {generateName: p-, labels: {of: "${object.metadata.name}"}}, spec: {containers: [{name: main, image: nginx}]}}
`
	first := shown(t, settled(t, makes, one, two))
	if !strings.Contains(first, "pods a/p-") {
		t.Fatalf("no pod was made: %s", first)
	}
	for range 3 {
		if diff := cmp.Diff(first, shown(t, settled(t, makes, one, two))); diff != "" {
			t.Fatalf("it differs (-first +then):\n%s", diff)
		}
	}
}

func TestOrdered(t *testing.T) {
	tests := map[string]struct {
		reason  string
		objects []string
		ordered bool
	}{
		"one": {"of one object there is no order", []string{one}, false},
		"two": {"either of two may be first", []string{one, two}, true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := start(t, queue.FIFO, chain, test.objects...)
			if err := s.Settle(t.Context()); err != nil {
				t.Fatal(err)
			}
			if s.Ordered() != test.ordered {
				t.Errorf("%s: have %t", test.reason, s.Ordered())
			}
		})
	}
}

func TestStateDoesNotDependOnHowItCameAbout(t *testing.T) {
	states := map[queue.Order]string{}
	for _, order := range []queue.Order{queue.FIFO, queue.Reversed} {
		s := start(t, order, chain, one, two)
		if err := s.Settle(t.Context()); err != nil {
			t.Fatal(err)
		}
		states[order] = shown(t, s.States())
	}
	if diff := cmp.Diff(states[queue.FIFO], states[queue.Reversed]); diff != "" {
		t.Errorf("(-in order +reversed):\n%s", diff)
	}
}

func TestAdvanceStopsWhereSomethingIsDue(t *testing.T) {
	const hourly = `
  - name: hourly
    watch: configmaps
    when: inWindow("0 * * * *", "1m", "UTC")
    actions: [{event: {reason: Hour, message: a new hour}}]
`
	s := start(t, queue.FIFO, hourly, one)
	if err := s.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.Advance(t.Context(), 4*time.Hour); err != nil {
		t.Fatal(err)
	}
	if err := s.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	phases := s.Phases()
	if events := phases[1].Events; len(events) != 4 || events[0].Again || !events[1].Again {
		t.Errorf("have %s", shown(t, events))
	}
	if next := phases[1].LookAgainAt; len(next) != 1 || next[0].At != "2026-02-03T09:00:00Z" {
		t.Errorf("have %v", next)
	}
}

func TestNext(t *testing.T) {
	const hourly = `
  - name: hourly
    watch: configmaps
    when: inWindow("0 * * * *", "1m", "UTC")
    actions: [{event: {reason: Hour, message: a new hour}}]
`
	s := start(t, queue.FIFO, hourly, one)
	if err := s.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	var at []string
	for {
		next, err := s.Next(t.Context(), instant().Add(2*time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		if next.IsZero() {
			break
		}
		at = append(at, next.Format("15:04"))
	}
	if diff := cmp.Diff([]string{"05:00", "05:01", "06:00", "06:01"}, at); diff != "" {
		t.Errorf("each moment is a phase, until the end (-want +have):\n%s", diff)
	}
	if phases := s.Phases(); len(phases) != 5 || len(phases[1].Events) != 1 || len(phases[2].Events) != 0 {
		t.Errorf("have %s", shown(t, phases))
	}
}

func TestAdvanceEnds(t *testing.T) {
	const everyMinute = `
  - {name: minutes, watch: configmaps, when: 'inWindow("* * * * *", "1s", "UTC")', actions: [{event: {reason: Minute, message: one more}}]}
`
	s := start(t, queue.FIFO, everyMinute, one)
	if err := s.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(scenario.LimitMoments(100))
	if err := s.Advance(t.Context(), 24*time.Hour); err == nil || !strings.Contains(err.Error(), "more than 100 moments") {
		t.Errorf("a day of minutes is refused, have %v", err)
	}
}

func TestLook(t *testing.T) {
	s := start(t, queue.FIFO, chain, one, two)
	if err := s.Look(t.Context(), schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}, "a", "one"); err != nil {
		t.Fatal(err)
	}
	got := s.Phases()[0]
	if len(got.Decisions) != 2 || len(got.Writes) != 1 || got.Decisions[0].Outcome != plan.Matched || got.Decisions[0].Object != "configmaps a/one" {
		t.Errorf("one look at one object, have %s", shown(t, got))
	}
}

func TestStartRefusesUnknownKinds(t *testing.T) {
	server := start(t, queue.FIFO, chain) // Without objects it is fine.
	if err := server.Settle(t.Context()); err != nil {
		t.Error(err)
	}
	if err := server.Apply(t.Context(), objectOf(t, "{apiVersion: x/v1, kind: X, metadata: {name: a}}")); err == nil {
		t.Error("nothing defines the kind")
	}
}

// BenchmarkSettle is one case from its beginning to its end.
func BenchmarkSettle(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		settled(b, chain, one)
	}
}
