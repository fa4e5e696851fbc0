package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unicode"

	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/engine/cleanup"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/plan/compare"
)

// printer prints what is written as it happens, or the deletions first. It is safe for
// concurrent use.
type printer struct {
	engine.NopObserver
	mu      sync.Mutex
	out     io.Writer
	body    bool         // show what is sent too, and Events: it is a dry run
	sorts   bool         // keep what is no deletion until the end
	cleaned atomic.Int64 // what was cleaned up
	kept    []string     // guarded by mu
}

// cleanedUp prints and counts what is cleaned up after rules that are gone.
func (p *printer) cleanedUp(r cleanup.Report) {
	if !r.Result.Class.Failed() {
		p.print(describeCleanup(r), r.Operation.Type == plan.Delete)
		p.cleaned.Add(1)
	}
}

// Wrote implements [engine.Observer].
func (p *printer) Wrote(operation plan.Operation, class write.Class) {
	if !class.Failed() {
		p.print(describeWrite(operation, class, p.body), operation.Type == plan.Delete)
	}
}

// Recorded implements [engine.Observer].
func (p *printer) Recorded(event plan.Event, _ error) {
	if p.body {
		p.print(describeEvent(event.Type, event.Reason, event.Regarding.String(), event.Rule.String(), event.Message), false)
	}
}

func describeEvent(kind, reason, object, rule, message string) string {
	return fmt.Sprintf("would record %s event %s on %s\n  %s: %s\n", kind, reason, object, rule, printable(message))
}

func (p *printer) print(text string, deletion bool) {
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
	written := count(report.Written, "write")
	if dryRun {
		written = count(report.Simulated, "write") + " (dry run, nothing is stored)"
	}
	if report.Audited > 0 {
		written += fmt.Sprintf(", %d in mode Audit not made", report.Audited)
	}
	fmt.Fprintf(&b, "%s, %s\n", written, count(len(failures), "failure"))
	if cleaned > 0 {
		fmt.Fprintf(&b, "%s after rules that are gone\n", count(cleaned, "cleanup"))
	}
	// What the only write was to may be gone, by a rule that deleted it.
	b.WriteString(describeIdle(report, len(failures)+report.Written+report.Simulated+report.Audited+cleaned > 0))
	return b.String()
}

// describeIdle says of what nothing came: objects that wait, and rules for which there are none.
func describeIdle(report engine.Report, cameOf bool) string {
	out := ""
	if report.Waiting > 0 {
		out = fmt.Sprintf("%s not waited for: a rule with \"for\" acts only once its condition has held for so long\n", count(report.Waiting, "object"))
	}
	if report.Objects == 0 && !cameOf {
		out += "no object is selected: check the namespaces and selectors of the rules\n"
	}
	return out
}

// failureLines has each failure once, however often it was tried.
func failureLines(report engine.Report, refused []error) []string {
	var out []string
	for _, failure := range report.Failures {
		object := plan.Object{GVR: failure.Key.GVR, Namespace: failure.Key.Namespace, Name: failure.Key.Name}
		parts := []string{"failed " + object.String()}
		for _, rule := range failure.Rules {
			parts = append(parts, rule.String())
		}
		out = append(out, strings.Join(append(parts, failure.Err.Error()), ": "))
	}
	for _, status := range report.Unlisted {
		out = append(out, fmt.Sprintf("failed listing %s: %v", status.Key, status.Err))
	}
	for _, err := range refused {
		out = append(out, fmt.Sprintf("failed %v", err))
	}
	if report.Unkept != nil {
		out = append(out, fmt.Sprintf("failed housekeeping: %v", report.Unkept))
	}
	for i := range out {
		out[i] = printable(out[i])
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// describeCleanup says what was done to one object, and nothing of what was not:
// that may be repeated, and is an error in the end.
func describeCleanup(r cleanup.Report) string {
	if r.Result.Class.Failed() {
		return ""
	}
	did, would := "released", "would release"
	switch {
	case r.Operation.Type == plan.Delete:
		did, would = "deleted", "would delete"
	case r.Leftover.Kind == plan.LeftFinalizer:
		did, would = "took a finalizer off", "would take a finalizer off"
	case r.Leftover.Kind == plan.LeftFields:
		did, would = "gave up fields of", "would give up fields of"
	}
	if r.Result.Class == write.Simulated {
		did = would
	}
	return fmt.Sprintf("%s %s (%s)\n", did, r.Operation.Target, r.Leftover.Rule)
}

// widest bounds a value in a summary, in characters.
const widest = 100

// hidden stands for a value of a Secret.
const hidden = "***"

// describeWrite shows a request: the object, the fields with their rules, and
// with body what is sent.
func describeWrite(operation plan.Operation, class write.Class, body bool) string {
	would, did := "patch", "patched"
	switch {
	case operation.Type == plan.Delete:
		would, did = "delete", "deleted"
	case operation.Type == plan.Create, operation.Target.UID == "": // An apply to what has no uid makes it.
		would, did = "create", "created"
	}
	if class == write.Simulated || class == write.Audited {
		did = "would " + would
	}
	// Where a resource has the status subresource, the API server drops what a plain patch says of status.
	aboutStatus := slices.ContainsFunc(operation.Changes, func(c plan.Change) bool { return c.Path[0] == "status" })
	remark := ""
	switch {
	case class == write.Audited:
		remark = ": in mode Audit, so not sent"
	case class != write.Unchanged:
	case aboutStatus && operation.Subresource == "":
		remark = ": accepted, but nothing changed; a status may need subresource: status"
	case operation.Type == plan.Delete:
		remark = ": it was gone already"
	default:
		remark = ": accepted, but nothing changed"
	}
	kind := string(operation.Type)
	if operation.Subresource != "" {
		kind += ", " + operation.Subresource
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s (%s)%s\n", did, operation.Target, kind, remark)
	secret := operation.Target.IsSecret()
	for _, change := range operation.Changes {
		for _, line := range describeChange(change, secret) {
			fmt.Fprintf(&b, "  %s: %s\n", change.Rule, line)
		}
	}
	if body {
		sent := operation.Body
		if secret {
			sent = masked(sent)
		}
		fmt.Fprintf(&b, "  body: %s\n", compact(sent))
	}
	return b.String()
}

// describeChange shows a field before and after. Of a list, only the elements that change.
func describeChange(change plan.Change, secret bool) []string {
	_, isList := change.Before.([]any)
	if _, both := change.After.([]any); isList && both && !secret {
		return compare.Changes(change.Path, change.Before, change.After)
	}
	return []string{fmt.Sprintf("%s: %s -> %s", change.Path, shown(change.Before, secret), shown(change.After, secret))}
}

// shown is one value on one line; nil is a field that is not there.
func shown(value any, secret bool) string {
	switch {
	case value == nil:
		return "none"
	case secret:
		return hidden
	}
	text := []rune(compact(value))
	if len(text) > widest {
		return string(text[:widest]) + "..."
	}
	return string(text)
}

// compact is JSON that a person can read and a terminal shows as it is.
func compact(value any) string {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return fmt.Sprintf("(cannot be shown: %v)", err)
	}
	return printable(strings.TrimSuffix(b.String(), "\n"))
}

// printable replaces what a terminal would obey.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsGraphic(r) || r == '\n' {
			return r
		}
		return unicode.ReplacementChar
	}, text)
}

// masked hides every value but null, which removes a field. Of a step of a JSON
// patch, only what it is about stays.
func masked(value any) any {
	switch value := value.(type) {
	case nil:
		return nil
	case map[string]any:
		out := make(map[string]any, len(value))
		for key, element := range value {
			out[key] = masked(element)
		}
		return out
	case []any:
		out := make([]any, len(value))
		for i, element := range value {
			out[i] = masked(element)
			step, _ := element.(map[string]any)
			for _, key := range []string{"op", "path", "from"} {
				if fields, ok := out[i].(map[string]any); ok && step["op"] != nil && step[key] != nil {
					fields[key] = step[key]
				}
			}
		}
		return out
	default:
		return hidden
	}
}
