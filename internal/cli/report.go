//go:build !operator

package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/dyncontroller/dyncontroller/internal/config"
	"github.com/dyncontroller/dyncontroller/internal/operator"
	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/engine/limit"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/printable"
	"github.com/dyncontroller/dyncontroller/pkg/redact"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/footprint"
)

// formatOpenReports is that of https://openreports.io.
const formatOpenReports = "openreports"

func newReport(p Process) *cobra.Command {
	r := &reporter{dryRun: dryRun{Process: p}, found: map[about]*finding{}}
	r.note, r.objects = r.keep, r.count
	command := &cobra.Command{
		Use:   "report (--rules PATH... | --rules-from-cluster)",
		Short: "Show what each rule decides about each object in a cluster",
		Long: `Show each object in a cluster with what each rule decides about it, and what it
would change. As with diff, the API server checks each write and stores nothing.
Rules in mode Audit are shown too, which diff leaves out: what they would change is
known without the API server.

A row is a rule that matched an object, or could not act on it. DECISION is
  would change   it would write
  audited        it would write or record an Event, if it were not in mode Audit
  as wanted      it matched, and all is as it wants it
  reports        it matched, and only records Events
  waiting        its "for" is not over, or its rollout has not come to the object
  paused         the rule has passed its limits, or its rollout has stopped
  withheld       an earlier rule decides otherwise about a field
  refused        it is not allowed to act
  failed         it could not be evaluated, or the API server refuses a write
With --all there are rules that did not match or were skipped too.

The table fits into 100 columns, and of very long details the end is cut. -o json has
all of them.
-o openreports prints a Report of openreports.io/v1alpha1 for each namespace, and a
ClusterReport for objects without one, as YAML for kubectl apply --server-side. Its
results are "fail" for would change and audited, "pass" for what is as wanted, "warn" for
reports, paused and withheld, "error" for refused and failed, and "skip" for the rest.

A summary, and what has no row, is on the standard error. Values of Secrets are
masked. Every setting of run is one of report too, as with diff, which also shows
what is cleaned up after rules that are gone.

Exit code: 0 if nothing would change; 1 if a rule would change something, is paused,
withheld or refused, or fails; 2 if that could not be found out for all objects, or for wrong
rules or usage.`,
		Example: `  dyncontroller report --rules rules/
  dyncontroller report --rules-from-cluster --all --context staging
  dyncontroller report --rules rules/ -o openreports | kubectl apply --server-side -f -`,
	}
	output := addOutputFlag(command, "how it is shown: table, json or openreports", formatTable, formatJSON, formatOpenReports)
	command.Flags().BoolVar(&r.all, "all", false, "also rules that did not match an object")
	return dryRunCommand(command, p, func(ctx context.Context, settings config.Config) error { return r.run(ctx, settings, output.Text) })
}

// reporter is a run of the command report: a dry run of which it keeps what rules decide. It is safe for concurrent use.
type reporter struct {
	engine.NopObserver
	dryRun
	all bool // also what did not match

	mu      sync.Mutex
	found   map[about]*finding // guarded by mu
	changed int                // objects that would change; guarded by mu
}

// about is what a finding is about: an object, without its kind and uid, and a rule.
type about struct {
	object plan.Object
	rule   plan.Rule
}

// finding is what a rule decides about an object.
type finding struct {
	about
	object  plan.Object // as it was seen
	at      time.Time
	outcome plan.Outcome // empty where it only was told that it writes
	reason  string
	audited bool
	writes  []simulated
	events  []plan.Event // that are not recorded in mode Audit, of the last evaluation
	undone  verdict      // failed, waiting for a wave, or paused, whatever was decided; the reason says why
	tells   bool         // the rule can do nothing but record Events
}

// simulated is a write that is not made.
type simulated struct {
	plan.Operation
	class write.Class
}

// keep implements [dryRun.note]: it reports whether a write changes more than what the API server keeps of each.
func (r *reporter) keep(operation plan.Operation, before, answer map[string]any, _ *redact.Values) bool {
	changes := operation.Type == plan.Delete || before == nil || answer["kind"] != before["kind"] ||
		write.Ended(operation.Target, &unstructured.Unstructured{Object: answer}) ||
		!plan.Equal(plan.WithoutMetadata(before, serverFields...), plan.WithoutMetadata(answer, serverFields...))
	if changes {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.changed++
	}
	return changes
}

// count is the number of writes so far.
func (r *reporter) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.changed
}

// of is the finding about an object and a rule. The lock is held.
func (r *reporter) of(object plan.Object, rule plan.Rule) *finding {
	at := about{plan.Object{GVR: object.GVR, Namespace: object.Namespace, Name: object.Name}, rule}
	if r.found[at] == nil {
		r.found[at] = &finding{about: at, object: at.object}
	}
	return r.found[at]
}

// Looked implements [engine.Observer]. It may be called more than once for an object, of which the last is right.
func (r *reporter) Looked(snapshot rules.Snapshot, decisions []plan.Decision) {
	if snapshot.Object == nil { // It is gone, or would be.
		return
	}
	object := snapshot.Identity()
	object.Kind = cmp.Or(object.Kind, snapshot.Kinds[snapshot.GVR].Name)
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, decision := range decisions {
		one := r.of(object, decision.Rule)
		one.object, one.at = object, snapshot.Now
		one.outcome, one.reason, one.audited, one.events = decision.Outcome, decision.Reason, decision.Audited, nil
	}
}

// Wrote implements [engine.Observer].
func (r *reporter) Wrote(key engine.Key, operation plan.Operation, class write.Class) {
	if class != write.Simulated && class != write.Audited {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, rule := range operation.Rules {
		one := r.of(plan.Object{GVR: key.GVR, Namespace: key.Namespace, Name: key.Name}, rule)
		one.writes = append(one.writes, simulated{operation, class})
	}
}

// Audited implements [engine.Observer].
func (r *reporter) Audited(key engine.Key, event plan.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	one := r.of(plan.Object{GVR: key.GVR, Namespace: key.Namespace, Name: key.Name}, event.Rule)
	one.events = append(one.events, event)
}

func (r *reporter) run(ctx context.Context, settings config.Config, format string) error {
	settled, inEffect, err := r.settle(ctx, settings, func(options *operator.Options) {
		options.Observers, options.Explain = append(options.Observers, r), r.all
	})
	if err != nil {
		return err
	}
	r.learn(&settled.report, inEffect)
	all := r.list()
	unknown := failureLines(settled.report, settled.refused)
	switch format {
	case formatJSON:
		err = r.showJSON(settled.report.Objects, all, unknown)
	case formatOpenReports:
		err = showReports(r.Stdout, all)
	default:
		err = showTable(r.Stdout, all)
	}
	if err != nil {
		return err
	}
	for _, line := range unknown {
		fmt.Fprintf(r.Stderr, "dyncontroller: %s\n", line)
	}
	settled.report.Waiting = 0 // They have a row.
	fmt.Fprint(r.Stderr, describeIdle(settled.report, len(unknown) > 0 || len(all) > 0))
	counts := map[verdict]int{}
	for _, one := range all {
		counts[one.verdict()]++
	}
	fmt.Fprint(r.Stderr, counted(settled.report.Objects, counts, len(unknown)))
	switch {
	case len(unknown) > 0:
		return failure{code: exitUsage}
	case slices.ContainsFunc(all, (*finding).counts):
		return errFinding
	default:
		return nil
	}
}

// learn takes what a report of the engine says of findings out of it, and finds out which rules only record Events.
func (r *reporter) learn(report *engine.Report, inEffect *rules.Set) {
	r.mu.Lock()
	defer r.mu.Unlock()
	take := func(f engine.Failure) bool {
		for _, rule := range f.Rules {
			one := r.of(plan.Object{GVR: f.Key.GVR, Namespace: f.Key.Namespace, Name: f.Key.Name}, rule)
			if !one.outcome.Troubled() {
				one.undone, one.reason = verdict(limit.HoldOf(f.Err).String()), f.Err.Error()
			}
		}
		return len(f.Rules) > 0
	}
	report.Deferred = slices.DeleteFunc(report.Deferred, take)
	report.Failures = slices.DeleteFunc(report.Failures, take) // What fails is told rather than what waits.
	writes := map[plan.Rule]bool{}
	for _, rule := range inEffect.Rules() {
		writes[rule.ID] = slices.ContainsFunc(rule.Footprint().All(), func(a *footprint.Access) bool {
			return a.Writable() && a.Resource.Resource != "events"
		})
	}
	for _, one := range r.found {
		one.tells = !writes[one.rule]
	}
}

// list returns the findings that are shown, by object and rule.
func (r *reporter) list() []*finding {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := slices.SortedFunc(maps.Values(r.found), func(a, b *finding) int {
		return cmp.Or(
			strings.Compare(a.object.Namespace, b.object.Namespace), strings.Compare(plan.ResourceName(a.object.GVR), plan.ResourceName(b.object.GVR)),
			strings.Compare(a.object.Name, b.object.Name), a.rule.Compare(b.rule),
		)
	})
	return slices.DeleteFunc(out, func(one *finding) bool {
		return !r.all && slices.Contains([]verdict{verdictUnmatched, verdictSkipped}, one.verdict())
	})
}

// verdict is a decision in the words of a report.
type verdict string

// The decisions, as they are counted.
const (
	verdictChange    verdict = "would change"
	verdictAudited   verdict = "audited"
	verdictWanted    verdict = "as wanted"
	verdictReports   verdict = "reports"
	verdictWaiting   verdict = "waiting"
	verdictPaused    verdict = "paused"
	verdictWithheld  verdict = "withheld"
	verdictRefused   verdict = "refused"
	verdictFailed    verdict = "failed"
	verdictUnmatched verdict = "not matched"
	verdictSkipped   verdict = "skipped"
)

// verdict says what a finding comes to.
func (f *finding) verdict() verdict {
	switch {
	case f.undone != "":
		return f.undone
	case f.outcome.Troubled(): // What came before may be written.
		return verdict(f.outcome)
	case len(f.writes) > 0 && f.audited:
		return verdictAudited
	case len(f.writes) > 0:
		return verdictChange
	case f.outcome != plan.Matched:
		return verdict(f.outcome)
	case f.tells && len(f.events) > 0: // Only of a rule in mode Audit.
		return verdictAudited
	case f.tells && !f.audited:
		return verdictReports
	default:
		return verdictWanted
	}
}

// counts reports whether something would change, or cannot. An Event changes nothing.
func (f *finding) counts() bool {
	switch f.verdict() {
	case verdictAudited:
		return len(f.writes) > 0
	case verdictChange, verdictPaused, verdictWithheld, verdictRefused, verdictFailed:
		return true
	default:
		return false
	}
}

// detail is what would change, or why nothing does.
func (f *finding) detail() string {
	switch f.verdict() {
	case verdictWanted:
		return "all is as the rule wants it"
	case verdictReports:
		return "it only records Events"
	case verdictChange, verdictAudited:
		var parts []string
		for _, w := range f.writes {
			parts = append(parts, f.describe(w))
		}
		if len(f.writes) == 0 {
			for _, e := range f.events {
				parts = append(parts, fmt.Sprintf("record %s event %s: %s", e.Type, e.Reason, e.Message))
			}
		}
		return printable.Line(strings.Join(slices.Compact(parts), "; "))
	default:
		return printable.Line(withoutPosition(f.reason))
	}
}

// describe says in a line what the rule has a write change.
func (f *finding) describe(w simulated) string {
	did, _ := describeAction(w.Operation, w.class, true)
	target := plan.Object{GVR: w.Target.GVR, Namespace: w.Target.Namespace, Name: w.Target.Name}
	itself := target == f.about.object
	if target.Namespace == f.object.Namespace {
		target.Namespace = ""
	}
	what := strings.TrimPrefix(did, "would ") + " " + target.String()
	_, ownership := ownershipOf(w.Operation)
	var fields []string
	for _, change := range telling(w.Changes) {
		if change.Rule == f.rule && !slices.Contains(ownership, change.Path.String()) {
			fields = append(fields, describeChange(change)...)
		}
	}
	switch {
	case w.Type == plan.Delete || len(fields) == 0 || w.Target.UID == "" && !itself:
		return what
	case itself:
		return strings.Join(fields, ", ")
	default:
		return what + ": " + strings.Join(fields, ", ")
	}
}

// showTable has a row for each finding.
func showTable(out io.Writer, all []*finding) error {
	header := []string{"OBJECT", "RULE", "DECISION", "DETAILS"}
	if len(all) == 0 {
		return nil
	}
	var rows [][]string
	for _, one := range all {
		rows = append(rows, []string{one.object.String(), one.rule.String(), string(one.verdict()), one.detail()})
	}
	return put(out, "the report", table(header, rows))
}

// showJSON has all of the findings, what could not be found out, and the number of objects.
func (r *reporter) showJSON(objects int, all []*finding, failures []string) error {
	findings := make([]map[string]any, len(all))
	for i, one := range all {
		writes := make([]map[string]any, len(one.writes))
		for j, w := range one.writes {
			writes[j] = machineWrite(w.Operation, w.class, true)
			writes[j]["resource"], writes[j]["name"] = plan.ResourceName(w.Target.GVR), w.Target.Name
			if w.Target.Namespace != "" {
				writes[j]["namespace"] = w.Target.Namespace
			}
		}
		findings[i] = map[string]any{
			"resource": plan.ResourceName(one.object.GVR), "kind": one.object.Kind, "namespace": one.object.Namespace, "name": one.object.Name,
			"uid": string(one.object.UID), "rule": one.rule, "decision": one.verdict(), "outcome": string(one.outcome), "reason": one.reason,
			"details": one.detail(), "audited": one.audited, "writes": writes,
		}
		maps.DeleteFunc(findings[i], func(_ string, value any) bool { return slices.Contains([]any{"", false}, value) })
	}
	return writeJSON(r.Stdout, map[string]any{"objects": objects, "findings": findings, "failures": append([]string{}, failures...)})
}

// counted sums up findings.
func counted(objects int, counts map[verdict]int, failures int) string {
	var parts []string
	for _, one := range []verdict{verdictChange, verdictAudited, verdictWanted, verdictReports, verdictWaiting, verdictPaused, verdictWithheld, verdictRefused, verdictFailed, verdictUnmatched, verdictSkipped} {
		if n := counts[one]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, one))
		}
	}
	if len(parts) == 0 {
		parts = []string{"no rule matches"}
	}
	if failures > 0 {
		parts = append(parts, document.Count(failures, "failure"))
	}
	return fmt.Sprintf("%s looked at: %s\n", document.Count(objects, "object"), strings.Join(parts, ", "))
}
