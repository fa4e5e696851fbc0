package events_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/pkg/engine/events"
	"github.com/dyncontroller/dyncontroller/pkg/engine/guard"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
)

var (
	one     = plan.Rule{Set: "s", Name: "one"}
	errDown = errors.New("it is down")
)

// server is an API server without an object. It implements what [events.API] needs.
type server struct {
	recorded []string
	told     int
	record   func() error // nil for no error
	read     error
	there    map[string]any
}

func (s *server) api() events.API {
	return events.API{Recorder: s, Live: s, Observer: s, Guard: free{}}
}

// free holds nothing back.
type free struct{}

func (free) Admit(plan.Event) *guard.Delay { return nil }
func (free) Recorded(plan.Event)           {}

// notify returns why an Event could not be recorded.
func notify(t *testing.T, e *events.Episodes, a *guard.Attempt, api events.API) error {
	t.Helper()
	var outcome guard.Outcome
	e.Notify(t.Context(), a, api, &outcome)
	for _, failure := range outcome.Failures {
		return failure.Err
	}
	return nil
}

func (s *server) Record(_ context.Context, event plan.Event, again bool) error {
	if s.record != nil {
		if err := s.record(); err != nil {
			return err
		}
	}
	text := event.Reason
	if again {
		text += " again"
	}
	s.recorded = append(s.recorded, text)
	return nil
}

func (s *server) Get(context.Context, schema.GroupVersionResource, string, string) (map[string]any, error) {
	return s.there, s.read
}

func (s *server) Recorded(plan.Event, error) { s.told++ }

// look is an attempt in which the rule wants Events.
func look(outcome plan.Outcome, reasons ...string) *guard.Attempt {
	a := &guard.Attempt{Generation: 1, Since: map[plan.Rule]int{one: 1}, Log: slog.New(slog.DiscardHandler)}
	a.Rules = guard.NewRules(&rules.Set{})
	a.Plan.Decisions = []plan.Decision{{Rule: one, Outcome: outcome}}
	for _, reason := range reasons {
		a.Plan.Events = append(a.Plan.Events, plan.Event{Rule: one, Reason: reason})
	}
	return a
}

// stopped is an attempt that the rule has not carried out.
func stopped(a *guard.Attempt) *guard.Attempt {
	a.Stopped = true
	return a
}

// inDoubt is one of which the deletion may have been carried out.
func inDoubt(a *guard.Attempt, others ...plan.Operation) *guard.Attempt {
	deletion := plan.Operation{Type: plan.Delete, Rules: []plan.Rule{one}, Target: plan.Object{UID: "a"}}
	a.Doubtful, a.Undone = []plan.Operation{deletion}, append(others, deletion)
	return stopped(a)
}

// wrote is one in which the rule has written.
func wrote(a *guard.Attempt) *guard.Attempt {
	a.Wrote = map[plan.Rule]bool{one: true}
	return a
}

func warned(a *guard.Attempt) *guard.Attempt {
	a.Warnings = []guard.Warning{{Rule: one, Reason: "Warned"}}
	return a
}

// TestEpisodes holds which Events are recorded.
func TestEpisodes(t *testing.T) {
	down := func() error { return errDown }
	forbidden := apierrors.NewForbidden(schema.GroupResource{}, "a", errDown)
	type step struct {
		attempt *guard.Attempt
		server  server
		fails   bool
	}
	unasked := look(plan.Matched)
	unasked.Plan.Decisions, unasked.Unasked = nil, []plan.Rule{one}
	unaskedOnce := look(plan.Failed)
	unaskedOnce.Unasked = []plan.Rule{one}
	reloaded := look(plan.Matched)
	reloaded.Plan.Decisions, reloaded.Generation, reloaded.Since = nil, 2, nil
	cameBack := look(plan.Matched, "A")
	cameBack.Generation, cameBack.Since[one] = 3, 3
	gone := warned(look(plan.Matched))
	gone.Key.UID = "a"
	tests := map[string]struct {
		reason string
		steps  []step
		want   []string
	}{
		"Once":        {"It wants it still.", []step{{attempt: look(plan.Matched, "A")}, {attempt: look(plan.Matched, "A")}}, []string{"A"}},
		"Again":       {"It did not want it in between.", []step{{attempt: look(plan.Matched, "A")}, {attempt: look(plan.Unmatched)}, {attempt: look(plan.Matched, "A")}}, []string{"A", "A again"}},
		"Other":       {"One episode ends, and the other does not.", []step{{attempt: look(plan.Matched, "A", "B")}, {attempt: look(plan.Matched, "B", "C")}}, []string{"A", "B", "C again"}},
		"Failed":      {"An episode goes on.", []step{{attempt: look(plan.Matched, "A")}, {attempt: look(plan.Failed)}, {attempt: look(plan.Matched, "A")}}, []string{"A"}},
		"NotDone":     {"What it wanted before is not known.", []step{{attempt: stopped(look(plan.Matched, "A"))}, {attempt: look(plan.Matched, "A")}}, []string{"A"}},
		"Unasked":     {"The same.", []step{{attempt: unasked}, {attempt: look(plan.Matched, "A")}}, []string{"A"}},
		"UnaskedOnce": {"One cache of several has answered.", []step{{attempt: unaskedOnce}, {attempt: look(plan.Matched, "A")}}, []string{"A"}},
		"Later":       {"It wanted nothing before.", []step{{attempt: look(plan.Unmatched)}, {attempt: look(plan.Matched, "A")}}, []string{"A again"}},
		"Gone":        {"A rule that comes back is another.", []step{{attempt: look(plan.Matched, "A")}, {attempt: reloaded}, {attempt: cameBack}}, []string{"A", "A"}},
		"Down":        {"It is recorded later.", []step{{attempt: look(plan.Matched, "A"), server: server{record: down}, fails: true}, {attempt: look(plan.Matched, "A")}}, []string{"A"}},
		"Warned":      {"A guard wants it.", []step{{attempt: warned(look(plan.Unmatched))}, {attempt: warned(look(plan.Unmatched))}}, []string{"Warned", "Warned again"}},
		"NotWarned":   {"Who may not record it need not.", []step{{attempt: warned(look(plan.Unmatched)), server: server{record: func() error { return forbidden }}}, {attempt: look(plan.Matched, "A")}}, []string{"A again"}},
		"WarnedGone":  {"Nobody would see it.", []step{{attempt: gone}}, nil},
		"Landed":      {"It was written.", []step{{attempt: inDoubt(look(plan.Matched, "A"))}, {attempt: look(plan.Unmatched)}}, []string{"A"}},
		"NotLanded":   {"It was not, and is not wanted any more.", []step{{attempt: inDoubt(look(plan.Matched, "A")), server: server{there: map[string]any{"metadata": map[string]any{"uid": "a"}}}}, {attempt: look(plan.Unmatched)}}, nil},
		"NoneLanded": {
			"What the rule wants then is not known to be wanted again.",
			[]step{{attempt: inDoubt(look(plan.Matched, "A", "B")), server: server{there: map[string]any{"metadata": map[string]any{"uid": "a"}}}}, {attempt: look(plan.Matched, "A")}},
			[]string{"A"},
		},
		"LandedLater": {
			"That is found out later, and it is told of once.",
			[]step{{inDoubt(look(plan.Matched, "A")), server{read: errDown}, true}, {inDoubt(look(plan.Matched, "A")), server{read: errDown}, true}, {attempt: look(plan.Unmatched)}},
			[]string{"A"},
		},
		"Certain": {
			"It is written again, and nothing has to be read.",
			[]step{{inDoubt(look(plan.Matched, "A")), server{read: errDown}, true}, {attempt: wrote(look(plan.Matched, "A")), server: server{read: errDown}}},
			[]string{"A"},
		},
		"Overwritten": {
			"Nobody can tell any more what it was.",
			[]step{{inDoubt(look(plan.Matched, "A")), server{read: errDown}, true}, {attempt: wrote(look(plan.Matched, "B"))}},
			[]string{"B"},
		},
		"Unreadable": {"Who may not read it is not told.", []step{{attempt: inDoubt(look(plan.Matched, "A")), server: server{read: forbidden}}}, nil},
		"More":       {"It has left more undone.", []step{{attempt: inDoubt(look(plan.Matched, "A"), plan.Operation{Rules: []plan.Rule{one}})}}, nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var e events.Episodes
			var got []string
			for _, s := range tc.steps {
				err := notify(t, &e, s.attempt, s.server.api())
				if (err != nil) != s.fails {
					t.Errorf("the error is %v", err)
				}
				got = append(got, s.server.recorded...)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestBegin holds that an Event beside those of a rule is one of an episode too.
func TestBegin(t *testing.T) {
	var e events.Episodes
	var s server
	refused := plan.Event{Rule: one, Reason: "Refused"}
	for i := range 2 {
		a := stopped(look(plan.Matched))
		if isNew := e.Begin(a, refused); isNew != (i == 0) {
			t.Errorf("look %d: it is new: %t", i, isNew)
		}
		if err := notify(t, &e, a, s.api()); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]string{"Refused"}, s.recorded); diff != "" || s.told != 1 {
		t.Errorf("told %d times (-want +got):\n%s", s.told, diff)
	}
}

// TestBounds holds that what cannot be recorded does not pile up, and is logged once.
func TestBounds(t *testing.T) {
	var e events.Episodes
	var log bytes.Buffer
	s := server{record: func() error { return errDown }}
	for i := range 22 {
		a := look(plan.Matched, strings.Repeat("x", i+1))
		a.Log = slog.New(slog.NewTextHandler(&log, nil))
		if err := notify(t, &e, a, s.api()); !errors.Is(err, errDown) {
			t.Fatalf("have %v", err)
		}
	}
	s.record = nil
	if err := notify(t, &e, look(plan.Matched), s.api()); err != nil || len(s.recorded) != 20 || s.recorded[0] != "xxx again" {
		t.Errorf("recorded are %d, %v", len(s.recorded), err)
	}
	if told := log.String(); strings.Count(told, "events were not recorded") != 1 || strings.Count(told, "events are dropped") != 2 {
		t.Errorf("the log is:\n%s", told)
	}
}

// TestTargets holds that an action with a list of targets tells each of them, though the text is the same, also where it is not
// known yet whether a write of the rule has landed.
func TestTargets(t *testing.T) {
	for name, as := range map[string]func(*guard.Attempt) *guard.Attempt{
		"Done":    func(a *guard.Attempt) *guard.Attempt { return a },
		"InDoubt": func(a *guard.Attempt) *guard.Attempt { return inDoubt(a) },
	} {
		t.Run(name, func(t *testing.T) {
			a := look(plan.Matched)
			for _, uid := range []types.UID{"a", "b", "c"} {
				a.Plan.Events = append(a.Plan.Events, plan.Event{Rule: one, Reason: "A", Regarding: plan.Object{Name: string(uid), UID: uid}})
			}
			var e events.Episodes
			s := &server{}
			if err := notify(t, &e, as(a), s.api()); err != nil {
				t.Fatal(err)
			}
			if len(s.recorded) != 3 {
				t.Errorf("recorded %v, want one Event for each of the three targets", s.recorded)
			}
		})
	}
}
