//go:build !operator

package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/pflag"
	"k8s.io/utils/clock"

	"github.com/dyncontroller/dyncontroller/internal/config"
	"github.com/dyncontroller/dyncontroller/pkg/engine/limit"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/printable"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/simulate"
	"github.com/dyncontroller/dyncontroller/pkg/simulate/scenario"
)

// addTimeFlag adds a flag for an instant, which stays zero if the flag is not given.
func addTimeFlag(flags *pflag.FlagSet, into *time.Time, name, usage string) {
	flags.Var(&config.Value{Kind: "TIME", Check: func(text string) (err error) {
		if *into, err = time.Parse(time.RFC3339, text); err != nil {
			return fmt.Errorf(`want a time such as "2026-01-31T12:00:00Z", have %q`, text)
		}
		return nil
	}}, name, usage)
}

// period is what a time line is of. It is zero for an evaluation of one instant.
type period struct {
	from, to time.Time
	last     time.Duration
}

func (p *period) addFlags(flags *pflag.FlagSet) {
	addTimeFlag(flags, &p.from, "from", "where a time line begins, as RFC 3339 (default: --now)")
	addTimeFlag(flags, &p.to, "to", "show a time line: each change until then, as RFC 3339")
	flags.Var(&config.Value{Kind: "DURATION", Check: func(text string) (err error) {
		if p.last, err = value.ParseDuration(text); err == nil && p.last <= 0 {
			err = fmt.Errorf("want a duration longer than zero, have %q", text)
		}
		return err
	}}, "for", `show a time line that is so long, such as "168h" or "1w", instead of --to`)
}

// setPeriod finds out from when to when the rules are evaluated. The end stays zero if it is one instant.
func (e *evaluation) setPeriod(expression bool) error {
	p := &e.period
	if *p != (period{}) {
		switch {
		case expression:
			return errors.New("--from, --to and --for are of --rules; an expression has one instant, which is --now")
		case !p.to.IsZero() && p.last > 0:
			return errors.New("--to and --for both say where the time line ends; leave out one of them")
		case p.to.IsZero() && p.last == 0:
			return errors.New("--from begins a time line; say with --to or --for where it ends")
		case !p.from.IsZero() && !e.now.IsZero():
			return errors.New("--from and --now both say where the time line begins; leave out --now")
		case !p.from.IsZero():
			e.now = p.from
		}
	}
	if e.now.IsZero() {
		if e.now = (clock.RealClock{}).Now(); *p != (period{}) {
			e.now = e.now.Truncate(time.Second)
		}
	}
	if p.last > 0 {
		p.to = e.now.Add(p.last)
	}
	if !p.to.IsZero() && !p.to.After(e.now) {
		return fmt.Errorf("--to is %s, which is not after %s, where the time line begins", p.to.Format(time.RFC3339), e.now.Format(time.RFC3339))
	}
	return nil
}

// tellTimeline shows the time line of one object.
func (e *evaluation) tellTimeline(ctx context.Context, evaluation simulate.Evaluation, first bool) error {
	limits := simulate.DefaultTimelineLimits()
	told, err := evaluation.Timeline(ctx, e.period.to, limits)
	if len(told.Moments) > 0 || err == nil {
		if err := e.show(machineTimeline(told), describeTimeline(told, limits), first); err != nil {
			return err
		}
	}
	if err != nil {
		return withoutTimeline(err)
	}
	var decisions []scenario.Decision
	var writes []scenario.Write
	var failures []scenario.Failure
	for _, m := range told.Moments {
		decisions, writes, failures = append(decisions, m.Decision), append(writes, m.Writes...), append(failures, m.Failures...)
	}
	return e.findings(decisions, writes, failures)
}

// withoutTimeline is why there is no time line. Of rules that do not come to rest it shows the writes.
func withoutTimeline(err error) error {
	if circle, is := errors.AsType[*scenario.RestlessError](err); is {
		return failure{exitFinding, pointedError{err, "  " + strings.Join(printable.Lines(circle.Path), "\n  ") + "\n"}}
	}
	return failure{exitUsage, err}
}

// machineTimeline is a time line for programs.
func machineTimeline(t simulate.Timeline) any {
	type moment struct {
		At       time.Time        `json:"at"`
		Rule     string           `json:"rule"`
		Watched  string           `json:"watched,omitempty"`
		Outcome  string           `json:"outcome,omitempty"`
		Mode     string           `json:"mode,omitempty"`
		Reason   string           `json:"reason,omitempty"`
		Writes   []map[string]any `json:"writes,omitempty"`
		Events   []scenario.Event `json:"events,omitempty"`
		Audited  []scenario.Event `json:"auditedEvents,omitempty"`
		Failures []string         `json:"failures,omitempty"`
		Paused   []string         `json:"paused,omitempty"`
		Waiting  []string         `json:"waiting,omitempty"`
	}
	moments := []moment{}
	for _, m := range t.Moments {
		out := moment{
			At: m.At, Rule: m.Rule, Watched: m.Watched, Outcome: string(m.Decision.Outcome), Mode: string(m.Decision.Mode), Reason: m.Decision.Reason,
			Events: m.Events, Audited: m.AuditedEvents,
		}
		for _, f := range m.Failures {
			switch f.Hold {
			case limit.HoldWave:
				out.Waiting = append(out.Waiting, f.Error)
			case limit.HoldPause:
				out.Paused = append(out.Paused, f.Error)
			case limit.HoldNone, limit.HoldPasses:
				out.Failures = append(out.Failures, f.Error)
			}
		}
		for _, w := range m.Writes {
			machine := machineWrite(w.Operation, w.Class, false)
			machine["object"] = w.Object
			if w.Failed {
				machine["refused"] = w.Answer
			}
			out.Writes = append(out.Writes, machine)
		}
		moments = append(moments, out)
	}
	return struct {
		Object  string    `json:"object"`
		From    time.Time `json:"from"`
		To      time.Time `json:"to"`
		Cut     time.Time `json:"cut,omitzero"`
		Moments []moment  `json:"moments"`
	}{t.Object, t.From, t.To, t.Cut, moments}
}

// The widths of a time line, in characters: of all, and of what may be long in it.
const (
	timelineWidth = 100
	ruleWidth     = 26
	changesWidth  = 30
)

// timelineRow is what one action of a rule changes. Of the second action of a rule, time and rule are empty.
type timelineRow struct {
	at, rule, action string
	changes          []string
}

// describeTimeline is a table, with a row for each action.
func describeTimeline(t simulate.Timeline, limits simulate.TimelineLimits) string {
	times := []time.Time{t.From, t.To, t.Cut}
	for _, m := range t.Moments {
		times = append(times, m.At)
	}
	layout := "Mon 2006-01-02 15:04 -07:00"
	if slices.ContainsFunc(times, func(at time.Time) bool { return !at.Equal(at.Truncate(time.Minute)) }) {
		layout = "Mon 2006-01-02 15:04:05.999999999 -07:00"
	}
	var b strings.Builder
	b.WriteString(printable.Sprintf("%s\nfrom %s to %s", t.Object, t.From.Format(layout), t.To.Format(layout)))
	if t.Zone == nil {
		b.WriteString(", each rule in its own time zone\n")
	} else {
		b.WriteString(printable.Sprintf(", %s\n", t.Zone.String()))
	}
	if len(t.Moments) == 0 {
		b.WriteString("nothing changes\n")
	} else {
		writeTimelineRows(&b, timelineRows(t, layout))
	}
	if !t.Cut.IsZero() {
		fmt.Fprintf(&b, "cut at %s; more may change from then on\n", t.Cut.Format(layout))
		fmt.Fprintf(&b, "at most %d moments are shown, and the rules are asked at most %d times: choose an earlier end\n", limits.Moments, limits.Looks)
	}
	return b.String()
}

func timelineRows(t simulate.Timeline, layout string) []timelineRow {
	rows := []timelineRow{{"TIME", "RULE", "ACTION", []string{"CHANGES"}}}
	for _, m := range t.Moments {
		at, rule := m.At.Format(layout), m.Rule
		add := func(action string, changes []string) {
			rows = append(rows, timelineRow{at, rule, action, changes})
			at, rule = "", ""
		}
		for _, w := range m.Writes {
			add(describeTimelineWrite(t.Object, m, w))
		}
		for _, event := range m.Events {
			add("event", []string{fmt.Sprintf("%s %s: %s", event.Type, event.Reason, event.Message)})
		}
		for _, event := range m.AuditedEvents {
			add("would record", []string{fmt.Sprintf("%s %s: %s", event.Type, event.Reason, event.Message)})
		}
		for _, f := range m.Failures {
			add(f.Hold.String(), []string{f.Error})
		}
		if d := m.Decision; d.Outcome.Troubled() || len(m.Writes)+len(m.Events)+len(m.AuditedEvents)+len(m.Failures) == 0 {
			reason := d.Reason
			if d.Mode != "" {
				reason = strings.TrimSuffix(fmt.Sprintf("in mode %s: %s", d.Mode, reason), ": ")
			}
			add(string(d.Outcome), []string{reason})
		}
	}
	return rows
}

// describeTimelineWrite is what a write does, and the changes of one rule in it. Its bookkeeping is left out where there is more.
func describeTimelineWrite(object string, m simulate.Moment, w scenario.Write) (action string, changes []string) {
	action, remark := describeAction(w.Operation, w.Class, false)
	created := action == "created" // All of the object is in the other formats.
	if created || w.Object != object {
		changes = append(changes, w.Object)
	}
	if m.Watched != "" {
		changes = append(changes, "because of "+m.Watched)
	}
	all := telling(w.Operation.Changes)
	if len(all) > 0 && !slices.ContainsFunc(all, func(c plan.Change) bool { return !c.Restored }) {
		action = "restored"
		for i := range all {
			all[i].Restored = false // The action says so.
		}
	}
	for _, change := range all {
		if !created {
			changes = append(changes, describeChange(change)...)
		}
	}
	if w.Failed {
		return "refused", append(changes, w.Answer)
	}
	if remark != "" {
		changes = append(changes, remark)
	}
	return action, changes
}

// telling are the changes without bookkeeping, which is told only where there is nothing else.
func telling(all []plan.Change) []plan.Change {
	out := slices.DeleteFunc(slices.Clone(all), func(c plan.Change) bool { return c.Bookkeeping() != "" })
	if len(out) == 0 {
		return slices.Clone(all)
	}
	return out
}

// writeTimelineRows aligns the columns. What is too long for its column goes on in the next line.
func writeTimelineRows(b *strings.Builder, rows []timelineRow) {
	var at, rule, action int
	for i := range rows {
		row := &rows[i]
		row.changes = printable.Lines(row.changes)
		at, action = max(at, len(row.at)), max(action, len(row.action))
		rule = min(max(rule, utf8.RuneCountInString(row.rule)), ruleWidth)
	}
	rest := max(timelineWidth-at-rule-action-3*len("  "), changesWidth)
	for _, row := range rows {
		var changes []string
		for _, change := range row.changes {
			changes = append(changes, folded(change, rest, " /,")...)
		}
		rules := folded(row.rule, ruleWidth, "/-")
		cell := func(of []string, i int) string {
			if i < len(of) {
				return of[i]
			}
			return ""
		}
		for i := range max(len(changes), len(rules)) {
			line := fmt.Sprintf("%-*s  %-*s  %-*s  %s", at, cell([]string{row.at}, i), rule, cell(rules, i), action, cell([]string{row.action}, i), cell(changes, i))
			b.WriteString(strings.TrimRight(line, " ") + "\n")
		}
	}
}

// folded is a text in lines of a width, which end after one of the signs if that leaves more than a third.
func folded(text string, width int, signs string) []string {
	var out []string
	for rest := []rune(text); ; {
		if len(rest) <= width {
			return append(out, string(rest))
		}
		end := width
		for i := width + 1; i > width/3; i-- { // The blank after a line goes.
			if at := rest[i-1]; strings.ContainsRune(signs, at) && (i <= width || at == ' ') {
				end = i
				break
			}
		}
		out, rest = append(out, strings.TrimRight(string(rest[:end]), " ")), rest[end:]
	}
}
