//go:build !operator

package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/internal/config"
	"github.com/dyncontroller/dyncontroller/internal/operator"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/plan/compare"
	"github.com/dyncontroller/dyncontroller/pkg/printable"
	"github.com/dyncontroller/dyncontroller/pkg/redact"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
)

func newDiff(p Process) *cobra.Command {
	command := &cobra.Command{
		Use:   "diff [--rules PATH]... [--rules-from-cluster]",
		Short: "Show what rules would change in a cluster",
		Long: `Show what run would change in a cluster now, object by object, as a unified
diff: what rules write, create and delete, what is pruned, and what is cleaned up
after rules that are gone. The API server checks each write and stores nothing.

What one write leads to in other rules is shown as far as a dry run can tell: a rule
that reads an object which another rule would create does not see it.

The differences are on the standard output, a summary and what went wrong on the
standard error. Of an object that is changed, the fields that change are shown with
those next to them; how many others stay as they are is counted, as in
"# 12 unchanged". A deletion is one line. Values of Secrets are masked, and if rules
read Secrets, all that stays is only counted. managedFields and what else the API
server sets are left out. If KUBECTL_EXTERNAL_DIFF is set, that program is run on
two directories instead, as by kubectl diff.

Every setting of run is one of diff too, so that --config and the environment of a
process can be used as they are. What is about servers and leases has no effect.

Exit code: 0 if nothing would change, 1 if something would, 2 if that could not be
found out for all objects, or for wrong rules or usage.`,
		Example: `  dyncontroller diff --rules rules/
  dyncontroller diff --rules rules/ --prune --context staging
  dyncontroller diff --rules rules/ -o json
  KUBECTL_EXTERNAL_DIFF="diff -N -u -w" dyncontroller diff --rules rules/`,
	}
	output := addOutputFlag(command, "how differences are shown: diff or json", formatDiff, formatJSON)
	return dryRunCommand(command, p, func(ctx context.Context, settings config.Config) error {
		return newDiffer(p, output.Text == formatJSON).run(ctx, settings)
	})
}

// formatDiff is a unified diff.
const formatDiff = "diff"

// differ is a run of the command diff: a dry run of which it keeps what becomes of objects. It is safe for concurrent use.
type differ struct {
	dryRun
	json bool

	mu      sync.Mutex
	changed map[written]*difference // guarded by mu
}

func newDiffer(p Process, json bool) *differ {
	d := &differ{dryRun: dryRun{Process: p}, json: json, changed: map[written]*difference{}}
	d.note, d.objects = d.keep, d.count
	return d
}

// count is the number of objects that would change.
func (d *differ) count() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.changed)
}

func (d *differ) run(ctx context.Context, settings config.Config) error {
	settled, _, err := d.settle(ctx, settings, func(*operator.Options) {})
	if err != nil {
		return err
	}
	all := d.list(settled.secrets)
	if err := d.show(ctx, all); err != nil {
		return err
	}
	failures := failureLines(settled.report, settled.refused)
	for _, line := range failures {
		fmt.Fprintf(d.Stderr, "dyncontroller: %s\n", line)
	}
	fmt.Fprint(d.Stderr, describeIdle(settled.report, len(failures) > 0 || len(all) > 0))
	fmt.Fprint(d.Stderr, summary(settled.report.Objects, all, len(failures)))
	switch {
	case len(failures) > 0:
		return failure{code: exitUsage}
	case len(all) > 0:
		return errFinding
	default:
		return nil
	}
}

// keep adds a write. The API server has judged each by itself, on the object as it is stored, so whether something differs in the end
// is known when all are there.
func (d *differ) keep(operation plan.Operation, before, answer map[string]any, hidden *redact.Values) bool {
	target := operation.Target
	name := cmp.Or(target.Name, plan.Text(answer, "metadata", "name")) // The API server may have generated it.
	key := written{Object: plan.Object{GVR: target.GVR, Namespace: target.Namespace, Name: name}}
	if operation.Subresource != "" && answer["kind"] != before["kind"] { // It is a Scale, of which only the changes are known.
		key.subresource, before = operation.Subresource, answer
		for _, change := range operation.Changes {
			before = plan.WithField(before, change.Path, change.Before)
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	known := d.changed[key]
	switch {
	case known == nil:
		known = &difference{written: key, before: before, after: before}
		d.changed[key] = known
	case versionOf(known.before) != versionOf(before) && known.after != nil: // Somebody has changed it meanwhile.
		known.after, _ = compare.Merge(known.before, known.after, before).(map[string]any)
		known.before = before
	}
	switch {
	case operation.Type == plan.Delete:
		deletion, _ := operation.Body.(plan.Deletion)
		known.after, known.orphans = nil, deletion.PropagationPolicy == string(metav1.DeletePropagationOrphan)
		known.finalizers = (&unstructured.Unstructured{Object: before}).GetFinalizers()
	case before != nil && write.Ended(target, &unstructured.Unstructured{Object: answer}):
		known.after = nil
	case before == nil && known.after == nil:
		known.after = answer
	case known.after != nil:
		known.after, _ = compare.Merge(before, known.after, answer).(map[string]any)
	}
	for _, rule := range operation.Rules {
		if !slices.Contains(known.rules, rule) {
			known.rules = append(known.rules, rule)
		}
	}
	known.hidden, known.derived = append(known.hidden, hidden), known.derived.With(operation.Derived...)
	known.secret = known.secret || slices.ContainsFunc(operation.Reads, func(q plan.Read) bool {
		return slices.ContainsFunc(q.From, func(s plan.Selection) bool { return plan.Object{GVR: s.GVR}.IsSecret() })
	})
	if body, isMap := operation.Body.(map[string]any); isMap && operation.Type == plan.Apply {
		known.applied = append(known.applied, applyOf{body, answer})
	}
	return true
}

// list returns what differs, in the order of resources and names, as it may be shown.
func (d *differ) list(secrets bool) []*difference {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, one := range d.changed {
		slices.SortFunc(one.rules, plan.Rule.Compare) // Workers note them as they come.
	}
	d.countOwned()
	out := slices.SortedFunc(maps.Values(d.changed), func(a, b *difference) int {
		return cmp.Or(
			strings.Compare(plan.ResourceName(a.GVR), plan.ResourceName(b.GVR)), strings.Compare(a.Namespace, b.Namespace),
			strings.Compare(a.Name, b.Name), strings.Compare(a.subresource, b.subresource),
		)
	})
	return slices.DeleteFunc(out, func(one *difference) bool { // Perhaps only the owners of fields change.
		return d.json && !one.prepare(compare.Only) || !d.json && !one.forReading(secrets)
	})
}

// countOwned counts, for each object that is deleted, those that it owns among the others.
func (d *differ) countOwned() {
	owned := map[types.UID]int{}
	for _, one := range d.changed {
		for _, owner := range (&unstructured.Unstructured{Object: one.before}).GetOwnerReferences() {
			if one.after == nil {
				owned[owner.UID]++
			}
		}
	}
	for _, one := range d.changed {
		one.owns = owned[types.UID(plan.Text(one.before, "metadata", "uid"))]
	}
}

// show writes the differences.
func (d *differ) show(ctx context.Context, all []*difference) error {
	external := strings.Fields(d.env("KUBECTL_EXTERNAL_DIFF"))
	switch {
	case d.json:
		return writeJSON(d.Stdout, forMachines(all))
	case len(external) > 0 && len(all) > 0:
		return d.runExternal(ctx, external, all)
	}
	var out strings.Builder
	for _, one := range all {
		text, err := one.text()
		if err != nil {
			return err
		}
		out.WriteString(text)
	}
	return put(d.Stdout, "the differences", d.painted(out.String(), diffColors))
}

// diffColors are those of git.
var diffColors = []lineColor{{bold, []string{"--- ", "+++ "}}, {cyan, []string{"@@"}}, {red, []string{"-", "delete "}}, {green, []string{"+"}}}

// change is what becomes of the object.
func (d *difference) change() string {
	switch {
	case d.before == nil:
		return "create"
	case d.after == nil:
		return "delete"
	default:
		return "update"
	}
}

// forMachines has before and after of the fields that change. What does not apply is left out.
func forMachines(all []*difference) map[string]any {
	out := make([]map[string]any, len(all))
	for i, one := range all {
		out[i] = map[string]any{
			"change": one.change(), "resource": plan.ResourceName(one.GVR), "subresource": one.subresource, "namespace": one.Namespace,
			"name": one.Name, "rules": ruleNames(one.rules...), "before": one.before, "after": one.after,
		}
		maps.DeleteFunc(out[i], func(_ string, value any) bool {
			object, is := value.(map[string]any)
			return is && object == nil || value == ""
		})
	}
	return map[string]any{"changes": out}
}

// summary counts what would become of objects.
func summary(looked int, all []*difference, failures int) string {
	kinds := map[string]int{}
	for _, one := range all {
		kinds[one.change()]++
	}
	parts := []string{}
	for _, each := range []struct{ kind, would string }{{"create", "be created"}, {"update", "change"}, {"delete", "be deleted"}} {
		if n := kinds[each.kind]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d would %s", n, each.would))
		}
	}
	if len(parts) == 0 {
		parts = []string{"nothing would change"}
	}
	if failures > 0 {
		parts = append(parts, document.Count(failures, "failure"))
	}
	return fmt.Sprintf("%s looked at: %s\n", document.Count(looked, "object"), strings.Join(parts, ", "))
}

// safe is an argument of an external program as kubectl takes it, so that the variable runs nothing else.
var safe = regexp.MustCompile(`^[a-zA-Z0-9-=]+$`)

// runExternal runs another program on two directories, as kubectl diff does, with a file for each object in both.
func (d *differ) runExternal(ctx context.Context, words []string, all []*difference) error {
	arguments := slices.DeleteFunc(slices.Clone(words[1:]), func(word string) bool { return !safe.MatchString(word) })
	parent, err := os.MkdirTemp("", "dyncontroller-diff-")
	if err != nil {
		return internal(fmt.Errorf("making a directory for %s: %w", words[0], err))
	}
	defer func() { _ = os.RemoveAll(parent) }() // What is left in a temporary directory harms nobody.
	for _, side := range []string{"LIVE", "MERGED"} {
		directory := filepath.Join(parent, side)
		if err := os.Mkdir(directory, 0o700); err != nil {
			return internal(fmt.Errorf("making a directory for %s: %w", words[0], err))
		}
		taken := map[string]int{}
		for _, one := range all {
			name := strings.Join([]string{plan.ResourceName(one.GVR), one.Namespace, one.Name, one.subresource}, ".")
			name = strings.ReplaceAll(strings.TrimSuffix(name, "."), string(filepath.Separator), "-")
			if taken[name]++; taken[name] > 1 { // Masked names are alike.
				name = fmt.Sprintf("%s.%d", name, taken[name])
			}
			text, after, err := one.yaml()
			if err != nil {
				return err
			}
			if side == "MERGED" {
				text = after
			}
			if text == "" {
				continue
			}
			if err := os.WriteFile(filepath.Join(directory, name), []byte(text), 0o600); err != nil {
				return internal(fmt.Errorf("writing for %s: %w", words[0], err))
			}
		}
		arguments = append(arguments, directory)
	}
	external := exec.CommandContext(ctx, words[0], arguments...)
	external.Stdout, external.Stderr, external.Env = d.Stdout, d.Stderr, d.Env
	if out, is := d.Stdout.(*printable.Writer); is { // It may colour what it shows.
		external.Stdout = out.Unwrap()
	}
	var exit *exec.ExitError
	if err := external.Run(); err != nil && (!errors.As(err, &exit) || exit.ExitCode() != exitFinding) {
		return internal(fmt.Errorf("running %s: %w", words[0], err))
	}
	return nil
}
