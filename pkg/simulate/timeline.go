package simulate

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/redact"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/simulate/scenario"
)

// Timeline is what rules do about an object from one instant to another. Its times are in Zone.
type Timeline struct {
	Object   string
	From, To time.Time
	// Zone is the one time zone that the rules ask in: UTC if they name none, and nil if they name several. Then the moments
	// of each rule are in its own.
	Zone    *time.Location
	Moments []Moment
	// Cut is the moment from which on there may be more than is told, zero if all is told.
	Cut time.Time
}

// Moment is a moment at which what a rule decides about the object changes, or at which it does something about it.
type Moment struct {
	At   time.Time
	Rule string
	// Watched is the object that the rule watches, if it is another one, and changes this one.
	Watched string
	// Decision is the one that the first write or Event follows, or a later one that troubles the rule, and else the last one
	// of the moment.
	Decision scenario.Decision
	// Writes have the changes of this rule only.
	Writes []scenario.Write
	Events []scenario.Event
	// AuditedEvents are those of a rule in mode Audit, which are not recorded.
	AuditedEvents []scenario.Event
	// Failures are what kept the rule from something, beside what the decision and the writes say.
	Failures []scenario.Failure

	evaluation int // the first one
}

// TimelineLimits bound a time line.
type TimelineLimits struct {
	// Moments is how many are told, and Looks at how many after the first one the rules are asked.
	Moments, Looks int
}

// DefaultTimelineLimits are enough for a rule that acts every half an hour of a week, and for one that is asked every half a
// minute.
func DefaultTimelineLimits() TimelineLimits { return TimelineLimits{Moments: 400, Looks: 21_000} }

// Timeline lets the rules act on all objects from [Evaluation.Now] on, and tells what they do about the one object until an
// instant. Time goes from one moment at which the rules have to be asked again to the next. Of the first moment, decisions of
// rules that do not apply are left out. It is an error if no rule watches the object. Of rules that do not come to rest at a moment, the
// time line ends there, and the error says so.
func (e Evaluation) Timeline(ctx context.Context, to time.Time, most TimelineLimits) (Timeline, error) {
	if to.After(latest()) {
		return Timeline{}, fmt.Errorf("%s is too late for a time line: the last instant is %s", to.UTC().Format(time.RFC3339), latest().Format(time.RFC3339))
	}
	t := timeline{zones: map[string]string{}, last: map[string]scenario.Decision{}, failed: map[string]map[string]bool{}}
	s, object, err := e.start(ctx, t.evaluated)
	if err != nil {
		return Timeline{}, err
	}
	t.Object, t.From, t.To = object.String(), e.Now, to
	var times []time.Time
	at, changes := e.Now, 0
	for err = s.Settle(ctx); err == nil && !at.IsZero(); {
		if times = append(times, at); changes > most.Moments || len(times) > most.Looks {
			t.Cut = at
			break
		}
		before := s.Version()
		if at, err = s.Next(ctx, to); s.Version() != before {
			changes++
		}
	}
	if err != nil {
		t.To, err = at, fmt.Errorf("at %s: %w", at.UTC().Format(time.RFC3339Nano), err)
	}
	t.hidden = s.Hidden()
	for i, phase := range s.Phases() { // Not before the end: what is masked in them is known only then.
		t.add(times[i], phase)
	}
	if len(t.Moments) > most.Moments {
		t.Moments, t.Cut = t.Moments[:most.Moments], t.Moments[most.Moments].At
	}
	return t.Timeline, cmp.Or(err, t.locate())
}

// timeline is a time line that is being made.
type timeline struct {
	Timeline
	objects []string                     // that each evaluation was of
	zones   map[string]string            // in which rules have asked about the object
	last    map[string]scenario.Decision // of each rule about the object
	failed  map[string]map[string]bool   // what each rule has failed with since it decided or wrote something else
	hidden  *redact.Values
}

// evaluated is told of each evaluation.
func (t *timeline) evaluated(snapshot rules.Snapshot, decisions []plan.Decision) {
	of := snapshot.Identity().String()
	t.objects = append(t.objects, of)
	for _, d := range decisions {
		if d.Zone != "" && of == t.Object {
			t.zones[d.Rule.String()] = d.Zone
		}
	}
}

// add tells of what has happened at a moment, rule by rule.
func (t *timeline) add(at time.Time, phase scenario.Phase) {
	var found []*Moment
	of := func(rule, watched string, evaluation int) *Moment {
		if watched = t.hidden.Text(watched); watched == t.Object {
			watched = ""
		}
		i := slices.IndexFunc(found, func(m *Moment) bool { return m.Rule == rule && m.Watched == watched })
		if i < 0 {
			i, found = len(found), append(found, &Moment{At: at, Rule: rule, Watched: watched, evaluation: evaluation})
		}
		found[i].evaluation = min(found[i].evaluation, evaluation)
		return found[i]
	}
	decided := map[string][]scenario.Decision{}
	for _, d := range phase.Decisions {
		if d.Object == t.Object {
			of(d.Rule, d.Object, d.Evaluation)
			decided[d.Rule] = append(decided[d.Rule], d)
			delete(t.failed, d.Rule)
		}
	}
	for _, w := range slices.Concat(phase.Writes, phase.Audited) {
		watched := t.objects[w.Evaluation-1]
		if watched != t.Object && w.Object != t.Object {
			continue
		}
		for _, rule := range w.Operation.Rules {
			if w.Failed && t.again(rule.String(), w.Object+" "+w.Answer) {
				continue
			}
			if !w.Failed {
				delete(t.failed, rule.String())
			}
			m := of(rule.String(), watched, w.Evaluation)
			m.Writes = append(m.Writes, partOf(w, rule))
		}
	}
	tell := func(events []scenario.Event, of func(event scenario.Event) *[]scenario.Event) {
		for _, event := range events {
			if t.objects[event.Evaluation-1] == t.Object {
				to := of(event)
				*to = append(*to, event)
			}
		}
	}
	tell(phase.Events, func(e scenario.Event) *[]scenario.Event { return &of(e.Rule, t.Object, e.Evaluation).Events })
	tell(phase.AuditedEvents, func(e scenario.Event) *[]scenario.Event { return &of(e.Rule, t.Object, e.Evaluation).AuditedEvents })
	for _, failure := range phase.NotDone() {
		if rule := strings.Join(failure.Rules, ", "); failure.Object == t.Object && !t.again(rule, failure.Error) {
			m := of(rule, failure.Object, phase.Evaluations)
			m.Failures = append(m.Failures, failure)
		}
	}
	slices.SortStableFunc(found, func(a, b *Moment) int { return cmp.Compare(a.evaluation, b.evaluation) })
	for _, m := range found {
		if t.decide(m, decided[m.Rule]) {
			t.Moments = append(t.Moments, *m)
		}
	}
}

// again reports whether a rule has failed with the same already, and notes it: what fails is tried again and again.
func (t *timeline) again(rule, with string) bool {
	if t.failed[rule] == nil {
		t.failed[rule] = map[string]bool{}
	}
	before := t.failed[rule][with]
	t.failed[rule][with] = true
	return before
}

// decide gives a moment the decision of its rule, and reports whether there is anything to tell.
func (t *timeline) decide(m *Moment, decisions []scenario.Decision) bool {
	acts := m.acts()
	if m.Watched != "" {
		return true // The rule has another object to decide about.
	}
	before, known := t.last[m.Rule]
	if !known {
		before.Outcome = plan.Unmatched
	}
	m.Decision = before
	for _, d := range decisions {
		t.last[m.Rule] = d
		if acts == 0 || d.Evaluation <= acts || d.Outcome.Troubled() {
			m.Decision = d
		}
	}
	now := m.Decision
	switch {
	case acts > 0 || len(m.Failures) > 0:
		return true
	case now.Outcome == plan.Unmatched || now.Outcome == plan.Skipped: // Also for another reason than before.
		return known && now.Outcome != before.Outcome
	default:
		return now.Outcome != before.Outcome || now.Reason != before.Reason || now.Mode != before.Mode
	}
}

// acts is the evaluation after which the rule acted first, 0 for none.
func (m *Moment) acts() (first int) {
	for _, w := range slices.Backward(m.Writes) {
		first = w.Evaluation
	}
	if len(m.Events) > 0 && (first == 0 || m.Events[0].Evaluation < first) {
		first = m.Events[0].Evaluation
	}
	return first
}

// partOf is what one rule has in a write.
func partOf(w scenario.Write, rule plan.Rule) scenario.Write {
	w.Operation.Rules = []plan.Rule{rule}
	w.Operation.Changes = slices.DeleteFunc(slices.Clone(w.Operation.Changes), func(c plan.Change) bool { return c.Rule != rule })
	return w
}

// locate puts the times into the zones of the rules.
func (t *timeline) locate() error {
	zones := map[string]*time.Location{"": time.UTC}
	t.Zone = time.UTC
	for _, name := range t.zones {
		zone, err := time.LoadLocation(name)
		if err != nil {
			return fmt.Errorf("loading a time zone that a rule has asked in: %w", err)
		}
		zones[name], t.Zone = zone, zone
	}
	if len(zones) > 2 {
		t.Zone = nil
	}
	t.From, t.To = t.in(t.From, time.UTC), t.in(t.To, time.UTC)
	if !t.Cut.IsZero() {
		t.Cut = t.in(t.Cut, time.UTC)
	}
	for i := range t.Moments {
		m := &t.Moments[i]
		m.At = t.in(m.At, zones[t.zones[m.Rule]])
	}
	return nil
}

// in is a time in the zone of all rules, or else in another one.
func (t *timeline) in(at time.Time, other *time.Location) time.Time {
	return at.In(cmp.Or(t.Zone, other))
}
