package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/engine/cleanup"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// printer prints what is written as it happens, or the deletions first. It is safe for
// concurrent use.
type printer struct {
	engine.NopObserver
	mu    sync.Mutex
	out   io.Writer
	body  bool // show what is sent too, and Events: it is a dry run
	sorts bool // keep what is no deletion until the end
	// cleaned counts what was cleaned up, guarded by mu.
	cleaned int
	kept    []string // guarded by mu
}

// cleanedUp prints and counts what is cleaned up after rules that are gone.
func (p *printer) cleanedUp(r cleanup.Report) {
	if r.Result.Class.Failed() {
		return
	}
	p.print(describeCleanup(r), r.Operation.Type == plan.Delete)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cleaned++
}

func (p *printer) cleanups() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cleaned
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
		p.event(event)
	}
}

// Record implements [engine.Recorder] for a dry run.
func (p *printer) Record(_ context.Context, event plan.Event, _ bool) error {
	p.event(event)
	return nil
}

func (p *printer) event(event plan.Event) {
	p.print(fmt.Sprintf("would record %s event %s on %s\n  %s: %s\n",
		event.Type, event.Reason, event.Regarding, event.Rule, printable(event.Message)), false)
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
	if report.Waiting > 0 {
		fmt.Fprintf(&b, "%s not waited for: a rule with \"for\" acts only once its condition has held for so long\n", count(report.Waiting, "object"))
	}
	// What the only write was to may be gone, by a rule that deleted it.
	acted := report.Written+report.Simulated+report.Audited+cleaned > 0
	if report.Objects == 0 && len(failures) == 0 && !acted {
		fmt.Fprintln(&b, "no object is selected: check the namespaces and selectors of the rules")
	}
	return b.String()
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
