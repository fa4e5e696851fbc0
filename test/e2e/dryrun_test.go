package e2e

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/dyncontroller/dyncontroller/internal/cli"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// TestDryRunIsTheRunThatFollows holds that both dry runs tell what the run after them does: the same objects, the same
// kinds of change, the same counts, clean-up included; and that diff shows each object as it was and as it is then. Each generated state of cluster and rules has a seed of its own.
func TestDryRunIsTheRunThatFollows(t *testing.T) {
	for seed := range uint64(times(20, 100)) {
		runVirtually(t, fmt.Sprint(seed), func(t *testing.T) {
			s := &dryRunState{random: rand.New(rand.NewPCG(seed, 16)), namespace: cluster(t).Namespace(t), rules: map[string]string{}}
			directory := t.TempDir()
			args := []string{"--namespace", s.namespace, "--instance", s.namespace, "--rules", directory}
			s.makeRules()
			for i := range 1 + s.random.IntN(3) {
				s.makeSource(t, fmt.Sprint("s", i))
			}
			s.writeRules(t, directory)
			if output, code := once(t, args...); code != 0 {
				t.Fatalf("the first run ended with %d:\n%s", code, output)
			}
			s.changeRules()
			s.writeRules(t, directory)
			s.changeObjects(t)
			if s.prune {
				args = append(args, "--prune")
			}
			foreseen := map[string]told{}
			for _, dryRun := range []string{"client", "server"} {
				output, code := once(t, append([]string{"--dry-run=" + dryRun}, args...)...)
				foreseen[dryRun] = toldBy(output, code)
			}
			differences, before := s.diff(t, args...), s.sources(t)
			output, code := once(t, args...)
			s.checkDiff(t, differences, before, s.sources(t))
			for dryRun, got := range foreseen {
				if diff := gocmp.Diff(toldBy(output, code), got); diff != "" {
					t.Errorf("--dry-run=%s tells something else than the run did (-run +dry run):\n%s", dryRun, diff)
				}
			}
			if t.Failed() {
				for _, set := range slices.Sorted(maps.Keys(s.rules)) {
					t.Logf("set %s was and is:\n%s\n%s", set, s.before[set], s.rules[set])
				}
			}
		})
	}
}

// dryRunState is a cluster that rules have settled, and rules that are others now.
type dryRunState struct {
	random    *rand.Rand
	namespace string
	before    map[string]string       // the rules of each set, as they have run
	rules     map[string]string       // as they are now; a set without any is gone
	of        map[string][]dryRunRule // the same, before they are written out
	slots     int
	prune     bool // what sets have left that are gone
}

// dryRunRule is a rule of one of dryRunKinds. Rules of the same slot want the same fields and children.
type dryRunRule struct {
	name, kind, value string
	slot              int
}

func (s *dryRunState) chance(percent int) bool { return s.random.IntN(100) < percent }

// What the generator leaves out, since no dry run can tell it (docs/guide/running.md says so):
//
//	| left out                                                | why                                                       |
//	|---------------------------------------------------------|-----------------------------------------------------------|
//	| a rule that waits for what another one changes or makes | nothing of a dry run is stored                            |
//	| patches that are applied without force                  | the API server refuses them while the old rule owns them  |
//	| admission, quotas, values that are invalid              | only the API server knows them; --dry-run=client does not |
//	| limits that are passed                                  | what is simulated does not count                          |
//	| garbage collection                                      | Kubernetes does that, and no controller manager runs here |

// dryRunKinds are the actions of rules. A key stands for the slot of the rule.
var dryRunKinds = map[string]string{
	"merge":    `actions: [{patch: {merge: {metadata: {annotations: {example.com/KEY: VALUE}}}}}]`,
	"json":     `actions: [{patch: {json: [{op: add, path: /data/KEY, value: VALUE}]}}]`,
	"orphan":   `actions: [{patch: {apply: {metadata: {annotations: {example.com/KEY: VALUE}}}, force: true}}]`,
	"remove":   `actions: [{patch: {apply: {data: {KEY: VALUE}}, force: true, release: Remove}}]`,
	"pruned":   `actions: [{apply: {resource: children, manifest: {metadata: {name: "${object.metadata.name}-KEY", labels: {role: child}}, data: {v: VALUE}}, prune: true}}]`,
	"unowned":  `actions: [{apply: {resource: children, manifest: {metadata: {name: "${object.metadata.name}-KEY", labels: {role: child}}, data: {v: VALUE}}, prune: true, owned: false}}]`,
	"selected": `actions: [{when: 'object.data?.wants == "child"', apply: {resource: children, manifest: {metadata: {name: "${object.metadata.name}-KEY", labels: {role: child}}, data: {v: VALUE}}, prune: true}}]`,
	"adopting": `actions: [{apply: {resource: children, manifest: {metadata: {name: "${object.metadata.name}-found-KEY", labels: {role: child}}, data: {v: VALUE}}, prune: true, adopt: true}}]`,
	"kept":     `actions: [{apply: {resource: children, manifest: {metadata: {name: "${object.metadata.name}-KEY", labels: {role: child}}, data: {v: VALUE}}}}]`,
	"created":  `{with: {mine: {resource: children, matchLabels: {copy-of: "${object.metadata.name}-KEY"}}}, when: len(mine) < 1, actions: [{create: {in: mine, manifest: {metadata: {generateName: made-, labels: {role: child, copy-of: "${object.metadata.name}-KEY"}}}}}]}`,
	"deleting": `{with: {doomed: {resource: others, name: "${object.metadata.name}-doomed-KEY"}}, actions: [{when: doomed != nil, delete: {target: doomed}}]}`,
	"other":    `{with: {other: {resource: others, name: "${object.metadata.name}-other-KEY"}}, actions: [{patch: {target: other, apply: {data: {KEY: VALUE}}, force: true}}]}`,
	"holding":  `{onDelete: {actions: [{event: {reason: Going, message: going}}]}, actions: [{event: {reason: Held, message: held}}]}`,
}

func (s *dryRunState) newRule() dryRunRule {
	s.slots++
	kinds := slices.Sorted(maps.Keys(dryRunKinds))
	return dryRunRule{
		name: fmt.Sprintf("r%d", s.slots), kind: kinds[s.random.IntN(len(kinds))], value: s.value(), slot: s.slots,
	}
}

func (s *dryRunState) value() string { return []string{"a", "b", "c"}[s.random.IntN(3)] }

func (s *dryRunState) makeRules() {
	s.of = map[string][]dryRunRule{}
	for _, set := range []string{"one", "two"} {
		for range 1 + s.random.IntN(4) {
			s.of[set] = append(s.of[set], s.newRule())
		}
	}
}

// changeRules removes rules, renames and changes them, and whole sets.
func (s *dryRunState) changeRules() {
	s.before, s.prune = maps.Clone(s.rules), s.chance(60)
	for _, set := range []string{"one", "two"} {
		var now []dryRunRule
		for _, rule := range s.of[set] {
			n := s.random.IntN(100)
			if n < 30 {
				continue // It is gone.
			}
			if n < 55 {
				rule.name += "-renamed"
			}
			if n >= 45 && n < 70 {
				rule.value = s.value()
			}
			now = append(now, rule)
		}
		if s.chance(30) || set == "two" && len(s.of["one"])+len(now) == 0 {
			now = append(now, s.newRule())
		}
		if s.of[set] = now; set == "one" && s.chance(20) {
			s.of[set] = nil
		}
	}
}

// writeRules replaces the files of the sets.
func (s *dryRunState) writeRules(t *testing.T, directory string) {
	t.Helper()
	for _, set := range []string{"one", "two"} {
		text := ""
		for _, rule := range s.of[set] {
			body := strings.NewReplacer("KEY", fmt.Sprint("k", rule.slot), "VALUE", rule.value).Replace(dryRunKinds[rule.kind])
			body = strings.TrimSuffix(strings.TrimPrefix(body, "{"), "}")
			text += fmt.Sprintf("  - {name: %s, watch: sources, %s}\n", rule.name, body)
		}
		if len(s.of[set]) == 0 {
			if s.rules[set] != "" {
				removeFile(t, directory, set+".yaml")
			}
			s.rules[set] = ""
			continue
		}
		s.rules[set] = text
		rulesIn(t, s.namespace, directory, set+".yaml", fmt.Sprintf(dryRunSet, set)+text)
	}
}

const dryRunSet = `
apiVersion: dyncontroller.dev/v1alpha1
kind: RuleSet
metadata: {name: %s, namespace: NAMESPACE}
spec:
  resources:
    sources: {version: v1, resource: configmaps, labelSelector: role=source}
    children: {version: v1, resource: configmaps, labelSelector: role=child}
    others: {version: v1, resource: configmaps, labelSelector: role=other}
  rules:
`

// makeSource makes an object that rules watch, and what some of them find.
func (s *dryRunState) makeSource(t *testing.T, name string) {
	t.Helper()
	wants := ""
	if s.chance(60) {
		wants = "child"
	}
	s.make(t, name, "source", wants)
	for _, set := range []string{"one", "two"} {
		for _, rule := range s.of[set] {
			s.makeFound(t, name, rule)
		}
	}
}

// makeFound makes what a rule finds beside a source. What it would delete is not there at first.
func (s *dryRunState) makeFound(t *testing.T, source string, rule dryRunRule) {
	t.Helper()
	switch {
	case rule.kind == "other":
		s.make(t, fmt.Sprintf("%s-other-k%d", source, rule.slot), "other", "")
	case rule.kind == "adopting" && s.chance(70):
		s.make(t, fmt.Sprintf("%s-found-k%d", source, rule.slot), "child", "")
	}
}

func (s *dryRunState) make(t *testing.T, name, role, wants string) {
	t.Helper()
	create(t, configmaps, s.namespace, fmt.Sprintf(
		`{apiVersion: v1, kind: ConfigMap, metadata: {name: %s, labels: {role: %s}}, data: {wants: "%s"}}`, name, role, wants))
}

// changeObjects is what somebody does while nothing runs.
func (s *dryRunState) changeObjects(t *testing.T) {
	t.Helper()
	all := client(t).Resource(configmaps).Namespace(s.namespace)
	for _, name := range names(t, configmaps, s.namespace, "role=source") {
		switch n := s.random.IntN(100); {
		case n < 15:
			if err := all.Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
			continue
		case n < 30:
			edit(t, configmaps, s.namespace, name, `{"metadata": {"labels": {"role": "none"}}}`)
			continue
		case n < 50:
			edit(t, configmaps, s.namespace, name, fmt.Sprintf(`{"data": {"wants": "%s"}}`, []string{"child", "none"}[s.random.IntN(2)]))
		}
		for _, set := range []string{"one", "two"} {
			for _, rule := range s.of[set] {
				if rule.kind == "deleting" && s.chance(60) {
					s.make(t, fmt.Sprintf("%s-doomed-k%d", name, rule.slot), "other", "")
				}
			}
		}
	}
	for _, name := range names(t, configmaps, s.namespace, "role=child,!copy-of") {
		switch n := s.random.IntN(100); {
		case n < 10:
			if err := all.Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
		case n < 25:
			edit(t, configmaps, s.namespace, name, `{"data": {"v": "drifted"}}`)
		}
	}
	if s.chance(30) {
		s.makeSource(t, "late")
	}
}

// told is what a run says that it does, or would do.
type told struct {
	Code    int
	Changes []string // in order of their text, as runs and dry runs have another
	Sum     []string
}

var (
	dryRunVerbs = strings.NewReplacer(
		"would patch ", "patched ", "would create ", "created ", "would delete ", "deleted ", "would release ", "released ",
		"would take a finalizer off ", "took a finalizer off ", "would give up fields of ", "gave up fields of ",
		" (dry run, nothing is stored)", "",
	)
	dryRunName   = regexp.MustCompile(`\bmade-[a-z0-9]+`)
	dryRunChange = regexp.MustCompile(`^(patched|created|deleted|released|took a finalizer off|gave up fields of|failed) `)
	dryRunField  = regexp.MustCompile(`^  [a-z]+/[a-z0-9-]+: `)
	dryRunSum    = regexp.MustCompile(`^[0-9]+ (write|cleanup|object)`)
)

// toldBy reads what a run has printed. The names of objects without one are chosen anew by each run.
func toldBy(output string, code int) told {
	out := told{Code: code}
	inChange := false // and not in an event
	for line := range strings.Lines(dryRunVerbs.Replace(output)) {
		line = dryRunName.ReplaceAllString(strings.TrimSuffix(line, "\n"), "made-NAME")
		change := dryRunChange.MatchString(line)
		inChange = change || inChange && strings.HasPrefix(line, " ")
		switch {
		case change:
			out.Changes = append(out.Changes, line)
		case inChange && dryRunField.MatchString(line):
			out.Changes[len(out.Changes)-1] += "\n" + line
		case dryRunSum.MatchString(line):
			out.Sum = append(out.Sum, line)
		}
	}
	slices.Sort(out.Changes)
	return out
}

// difference is an object before and after; nil for none.
type difference struct{ Before, After map[string]any }

// diff runs the command and returns what it shows, by the names of the objects.
func (s *dryRunState) diff(t *testing.T, args ...string) map[string]difference {
	t.Helper()
	var out, errOut buffer
	code := cli.Run(t.Context(), cli.Process{
		Args:  append([]string{"diff", "--kubeconfig", cluster(t).Kubeconfig(), "--output=json"}, args...),
		Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errOut, Version: "test", Transport: transport(t),
	})
	var shown struct{ Changes []difference }
	if err := json.Unmarshal([]byte(out.String()), &shown); err != nil || code > 1 || (code == 1) != (len(shown.Changes) > 0) {
		t.Fatalf("diff ended with %d: %v\n%s%s", code, err, out.String(), errOut.String())
	}
	differences := map[string]difference{}
	for _, change := range shown.Changes {
		differences[sourceName(change.Before, change.After)] = change
	}
	return differences
}

// sourceName is the name of an object; of one whose name was generated, what it is a copy of.
func sourceName(versions ...map[string]any) string {
	for _, object := range versions {
		if object != nil {
			return cmp.Or(plan.Label(object, "copy-of"), plan.Text(object, "metadata", "name"))
		}
	}
	return ""
}

// sources are all objects of the rules, without what the API server counts up.
func (s *dryRunState) sources(t *testing.T) map[string]map[string]any {
	t.Helper()
	list, err := client(t).Resource(configmaps).Namespace(s.namespace).List(t.Context(), metav1.ListOptions{LabelSelector: "role"})
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]map[string]any{}
	for _, object := range list.Items {
		metadata := object.Object["metadata"].(map[string]any)
		for _, name := range []string{"managedFields", "resourceVersion", "generation", "uid", "creationTimestamp"} {
			delete(metadata, name)
		}
		out[sourceName(object.Object)] = object.Object
	}
	return out
}

// checkDiff holds that what was shown is what has changed. What is cleaned up shows no texts, and generated names are others.
func (s *dryRunState) checkDiff(t *testing.T, shown map[string]difference, before, after map[string]map[string]any) {
	t.Helper()
	changed := map[string]difference{}
	for name := range before {
		if after[name] == nil {
			changed[name] = difference{Before: identified(before[name], nil)}
		} else if was, is := changedFields(before[name], after[name]); len(was)+len(is) > 0 {
			changed[name] = difference{identified(before[name], was), identified(after[name], is)}
		}
	}
	for name := range after {
		if before[name] == nil {
			changed[name] = difference{After: after[name]}
		}
	}
	texts := gocmp.FilterValues(func(a, b string) bool {
		return strings.HasPrefix(a, "(masked)") || strings.HasPrefix(b, "(masked)") || strings.HasPrefix(a, "made-") && strings.HasPrefix(b, "made-")
	}, gocmp.Ignore())
	if diff := gocmp.Diff(changed, shown, texts); diff != "" {
		t.Errorf("diff shows something else than the run did (-run +diff):\n%s", diff)
	}
}

// identified are fields of an object with those that say which it is.
func identified(object, fields map[string]any) map[string]any {
	out, metadata := maps.Clone(fields), map[string]any{}
	if out == nil {
		out = map[string]any{}
	}
	if more, is := out["metadata"].(map[string]any); is {
		metadata = maps.Clone(more)
	}
	metadata["name"], metadata["namespace"] = plan.Text(object, "metadata", "name"), plan.Text(object, "metadata", "namespace")
	out["apiVersion"], out["kind"], out["metadata"] = object["apiVersion"], object["kind"], metadata
	return out
}

// changedFields leaves out of both what is equal.
func changedFields(before, after map[string]any) (was, is map[string]any) {
	was, is = map[string]any{}, map[string]any{}
	for _, key := range slices.Concat(slices.Collect(maps.Keys(before)), slices.Collect(maps.Keys(after))) {
		a, there := before[key]
		b, still := after[key]
		below, isMap := a.(map[string]any)
		other, areMaps := b.(map[string]any)
		list, isList := a.([]any)
		others, areLists := b.([]any)
		switch {
		case gocmp.Equal(a, b):
			continue
		case isMap && areMaps:
			old, now := changedFields(below, other)
			if len(old) > 0 {
				was[key] = old
			}
			if len(now) > 0 {
				is[key] = now
			}
			continue
		case isList && areLists:
			if gone := notIn(list, others); len(gone) > 0 {
				was[key] = gone
			}
			if added := notIn(others, list); len(added) > 0 {
				is[key] = added
			}
			continue
		}
		if there {
			was[key] = a
		}
		if still {
			is[key] = b
		}
	}
	return was, is
}

func notIn(list, others []any) []any {
	out := []any{}
	for _, element := range list {
		if !slices.ContainsFunc(others, func(other any) bool { return gocmp.Equal(element, other) }) {
			out = append(out, element)
		}
	}
	return out
}
