package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/engine/cleanup"
	"github.com/dyncontroller/dyncontroller/pkg/engine/limit"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/plan/compare"
	"github.com/dyncontroller/dyncontroller/pkg/printable"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
)

// printer shows what is written as it happens, or the deletions first. It is safe for
// concurrent use.
type printer struct {
	engine.NopObserver
	mu      sync.Mutex
	out     io.Writer
	paint   func(text string) string
	json    bool         // an object in each line
	dryRun  bool         // Events are shown too
	sorts   bool         // keep what is no deletion until the end
	cleaned atomic.Int64 // what was cleaned up
	kept    []string     // guarded by mu
}

// cleanedUp shows and counts what is cleaned up after rules that are gone.
func (p *printer) cleanedUp(r cleanup.Report) {
	if !r.Result.Class.Failed() {
		p.print(r.Operation.Target, describeCleanup(r), map[string]any{"action": cleanupVerb(r), "rules": ruleNames(r.Leftover.Rule)}, r.Operation.Type == plan.Delete)
		p.cleaned.Add(1)
	}
}

// Wrote implements [engine.Observer].
func (p *printer) Wrote(_ engine.Key, operation plan.Operation, class write.Class) {
	if class.Failed() {
		return
	}
	p.print(operation.Target, describeWrite(operation, class, p.dryRun), machineWrite(operation, class, p.dryRun), operation.Type == plan.Delete)
}

// machineWrite is a write for programs, but for its object.
func machineWrite(operation plan.Operation, class write.Class, dryRun bool) map[string]any {
	did, remark := describeAction(operation, class, dryRun)
	changes := make([]map[string]any, len(operation.Changes))
	for i, c := range operation.Changes {
		changes[i] = map[string]any{"rule": c.Rule.String(), "path": c.Path.String(), "before": c.Before, "after": c.After}
		if c.Restored {
			changes[i]["restored"] = true
		}
	}
	out := map[string]any{
		"action": did, "type": operation.Type, "subresource": operation.Subresource, "remark": remark, "rules": ruleNames(operation.Rules...), "changes": changes,
	}
	maps.DeleteFunc(out, func(_ string, value any) bool { return value == "" })
	return out
}

// Recorded implements [engine.Observer].
func (p *printer) Recorded(event plan.Event, _ error) {
	if p.dryRun {
		p.print(event.Regarding, describeEvent(event.Type, event.Reason, event.Regarding.String(), "", event.Rule.String(), event.Message),
			map[string]any{"action": "would record", "rules": ruleNames(event.Rule), "event": map[string]string{
				"type": event.Type, "reason": event.Reason, "message": event.Message,
			}}, false)
	}
}

func ruleNames(rules ...plan.Rule) []string {
	out := make([]string, len(rules))
	for i, rule := range rules {
		out[i] = rule.String()
	}
	return out
}

func describeEvent(kind, reason, object, remark, rule, message string) string {
	return printable.Sprintf("would record %s event %s on %s%s\n  %s: %s\n", kind, reason, object, remark, rule, message)
}

// print shows what happened to an object, in one form or the other.
func (p *printer) print(of plan.Object, text string, machine map[string]any, deletion bool) {
	if p.json {
		machine["resource"], machine["namespace"], machine["name"] = plan.ResourceName(of.GVR), of.Namespace, of.Name
		maps.DeleteFunc(machine, func(_ string, value any) bool { return value == "" })
		data, err := json.Marshal(machine)
		if err != nil {
			return // Nothing in it that JSON does not have.
		}
		text = string(data) + "\n"
	}
	if !p.json {
		text = p.paint(text)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.sorts && !deletion {
		p.kept = append(p.kept, text)
		return
	}
	// Whoever reads this may have gone; the log still tells.
	_, _ = io.WriteString(p.out, text)
}

// finish prints what was kept.
func (p *printer) finish() {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, _ = io.WriteString(p.out, strings.Join(p.kept, "")) // As above.
	p.kept = nil
}

// describeReport sums up what settling came to, with what was not even begun and why, and
// how much was cleaned up.
func describeReport(report engine.Report, refused []error, cleaned int, dryRun bool) string {
	var b strings.Builder
	failures := failureLines(report, refused)
	for _, line := range failures {
		fmt.Fprintln(&b, line)
	}
	written := document.Count(report.Written, "write")
	if dryRun {
		written = document.Count(report.Simulated, "write") + " (dry run, nothing is stored)"
	}
	if report.Audited > 0 {
		written += fmt.Sprintf(", %d in mode Audit not made", report.Audited)
	}
	summary := written + ", " + document.Count(len(failures), "failure")
	if deferred := lines(report.Deferred); len(deferred) > 0 {
		b.WriteString(strings.Join(document.Few(deferred, mostDeferred), "\n") + "\n")
		summary += fmt.Sprintf(", %d waiting", len(deferred))
	}
	b.WriteString(summary + "\n")
	if cleaned > 0 {
		fmt.Fprintf(&b, "%s after rules that are gone\n", document.Count(cleaned, "cleanup"))
	}
	// What the only write was to may be gone, by a rule that deleted it.
	report.Deferred = nil // It is told already.
	b.WriteString(describeIdle(report, len(failures)+report.Written+report.Simulated+report.Audited+cleaned > 0))
	return b.String()
}

// describeIdle says of what nothing came: objects that wait, and rules for which there are none.
func describeIdle(report engine.Report, cameOf bool) string {
	out := ""
	if report.Waiting > 0 {
		out = fmt.Sprintf("%s not waited for: a rule with \"for\" acts only once its condition has held for so long\n", document.Count(report.Waiting, "object"))
	}
	if n := len(lines(report.Deferred)); n > 0 {
		out += fmt.Sprintf("%s not waited for: a rule with \"rollout\" writes for them in a later wave\n", document.Count(n, "object"))
	}
	if report.Objects == 0 && !cameOf {
		out += "no object is selected: check the namespaces and selectors of the rules\n"
	}
	return out
}

// failureLines has each failure once, however often it was tried.
func failureLines(report engine.Report, refused []error) []string {
	out := lines(report.Failures)
	for _, status := range report.Unlisted {
		out = append(out, fmt.Sprintf("failed listing %s: %v", status.Key, status.Err))
	}
	for _, err := range refused {
		out = append(out, fmt.Sprintf("failed %v", err))
	}
	if report.Unkept != nil {
		out = append(out, fmt.Sprintf("failed housekeeping: %v", report.Unkept))
	}
	out = printable.Lines(out)
	slices.Sort(out)
	return slices.Compact(out)
}

// mostDeferred is how many objects are named that wait for a wave: there may be many, and nothing is wrong with them.
const mostDeferred = 10

// lines say what could not be done, or not yet, each once.
func lines(failures []engine.Failure) []string {
	var out []string
	for _, failure := range failures {
		object := plan.Object{GVR: failure.Key.GVR, Namespace: failure.Key.Namespace, Name: failure.Key.Name}
		parts := []string{limit.HoldOf(failure.Err).String() + " " + object.String()}
		for _, rule := range failure.Rules {
			parts = append(parts, rule.String())
		}
		out = append(out, strings.Join(append(parts, failure.Err.Error()), ": "))
	}
	out = printable.Lines(out)
	slices.Sort(out)
	return slices.Compact(out)
}

// describeCleanup says what was done to one object, and nothing of what was not:
// that may be repeated, and is an error in the end.
func describeCleanup(r cleanup.Report) string {
	if r.Result.Class.Failed() {
		return ""
	}
	return printable.Sprintf("%s %s (%s)\n", cleanupVerb(r), r.Operation.Target, r.Leftover.Rule)
}

func cleanupVerb(r cleanup.Report) string {
	did, would := "released", "would release"
	switch {
	case r.Operation.Type == plan.Delete:
		did, would = "deleted", "would delete"
	case r.Leftover.Kind == plan.LeftFinalizer:
		did, would = "took a finalizer off", "would take a finalizer off"
	case r.Leftover.Kind == plan.LeftFields:
		did, would = "gave up fields of", "would give up fields of"
	case r.Leftover.Kind == plan.LeftChanges:
		did, would = "restored fields of", "would restore fields of"
	}
	if r.Result.Class == write.Simulated {
		return would
	}
	return did
}

// changeColors are those of lines of what rules decide, and what is written.
var changeColors = []lineColor{
	{green, []string{"  matched "}},
	{red, []string{"  failed ", "  withheld ", "  refused ", "refused: ", "failed ", "paused "}},
	{bold, []string{"would ", "patched ", "created ", "deleted "}},
}

// widest bounds a value in a summary, in characters.
const widest = 100

// describeAction is what a write does, and what there is to know of it.
func describeAction(operation plan.Operation, class write.Class, dryRun bool) (did, remark string) {
	would, did := "patch", "patched"
	switch {
	case operation.Type == plan.Delete:
		would, did = "delete", "deleted"
	case operation.Type == plan.Create, operation.Target.UID == "": // An apply to what has no uid makes it.
		would, did = "create", "created"
	}
	if dryRun || class == write.Audited {
		did = "would " + would
	}
	// Where a resource has the status subresource, the API server drops what a plain patch says of status.
	aboutStatus := slices.ContainsFunc(operation.Changes, func(c plan.Change) bool { return c.Path[0] == "status" })
	switch {
	case class == write.Audited:
		remark = "in mode Audit, so not sent"
	case class != write.Unchanged:
	case aboutStatus && operation.Subresource == "":
		remark = "accepted, but nothing changed; a status may need subresource: status"
	case operation.Type == plan.Delete:
		remark = "it was gone already"
	default:
		remark = "accepted, but nothing changed"
	}
	return did, remark
}

// describeWrite shows a request: the object, and the fields with their rules.
func describeWrite(operation plan.Operation, class write.Class, dryRun bool) string {
	did, remark := describeAction(operation, class, dryRun)
	kind := string(operation.Type)
	if operation.Subresource != "" {
		kind += ", " + operation.Subresource
	}
	if remark != "" {
		remark = ": " + remark
	}
	var b strings.Builder
	b.WriteString(printable.Sprintf("%s %s (%s)%s\n", did, operation.Target, kind, remark))
	if len(operation.Changes) == 0 && len(operation.Rules) > 0 { // It is deleted.
		b.WriteString(printable.Sprintf("  %s\n", strings.Join(ruleNames(operation.Rules...), ", ")))
	}
	ownership, fields := ownershipOf(operation)
	for _, change := range operation.Changes {
		lines := describeChange(change)
		switch slices.Index(fields, change.Path.String()) {
		case -1:
		case 0:
			lines = []string{ownership}
		default:
			continue
		}
		for _, line := range lines {
			b.WriteString(printable.Sprintf("  %s: %s\n", change.Rule, line))
		}
	}
	return b.String()
}

// ownershipOf is what makes the target the child of a rule.
func ownershipOf(operation plan.Operation) (words string, fields []string) {
	added := map[string]string{}
	for _, change := range operation.Changes {
		if change.Before == nil && (operation.Type == plan.Apply || operation.Type == plan.Create) {
			added[change.Path.String()] = compare.Show(change.After)
		}
	}
	return compare.Ownership(added)
}

// describeChange shows a field before and after. Of a list, only the elements that change.
func describeChange(change plan.Change) []string {
	if what := change.Bookkeeping(); what != "" {
		return []string{what}
	}
	restored := ""
	if change.Restored {
		restored = " (restored)"
	}
	_, isList := change.Before.([]any)
	if _, both := change.After.([]any); isList && both {
		return compare.Changes(change.Path, change.Before, change.After)
	}
	return []string{fmt.Sprintf("%s: %s -> %s%s", change.Path, shown(change.Before), shown(change.After), restored)}
}

// shown is one value on one line; nil is a field that is not there.
func shown(value any) string {
	if value == nil {
		return "none"
	}
	text := []rune(compare.Show(value))
	if len(text) > widest {
		return string(text[:widest]) + "..."
	}
	return string(text)
}
