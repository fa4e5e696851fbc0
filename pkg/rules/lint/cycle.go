package lint

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/footprint"
)

// flow is which of all written fields a rule writes, and which it reads: their indexes in order.
type flow struct{ writes, reads []int }

// cycles notes rules that read what the other writes, and back. Most settle, so it
// is no more than a place to look at first when they do not, and one other rule is
// enough. Rules that write the same field are compared by [terms.conflicts].
func cycles(all []*Rule) (out document.Errors) {
	if len(all) < 2 {
		return nil
	}
	w := &work{leastFed + fedOfEach*len(all)}
	texts, flows := flowsOf(all, w)
	var before []int // Of rules that read and write the same, the first.
	seen := map[string]bool{}
	for i, rule := range all {
		for _, j := range before {
			there, back := common(flows[j].writes, flows[i].reads), common(flows[i].writes, flows[j].reads)
			if w.spend(1) && there >= 0 && back >= 0 && there != back {
				out = append(out, rule.Source.Node().Get("name").Errorf("see in a RuleTest that they settle",
					"the rules %q and %q each read what the other writes: %s and %s",
					all[j].ID.Name, rule.ID.Name, texts[there], texts[back]).Coded(document.CodeCycle).Between(all[j].ID, rule.ID).Note())
				break
			}
		}
		if w.spent() || out.EnoughOf(document.Note) {
			return append(out, gaveUp(rule, "rules that feed each other"))
		}
		if key := fmt.Sprint(flows[i]); !seen[key] {
			seen[key], before = true, append(before, i)
		}
	}
	return out
}

// flowsOf returns the names of all fields that rules write, in order, and what each rule has to do with them. That it might write
// or read any field is no reason to suspect one.
func flowsOf(all []*Rule, w *work) (texts []string, flows []flow) {
	type field struct {
		resource schema.GroupVersionResource
		text     string
	}
	fields, writers := map[field]footprint.Path{}, map[field][]int{}
	for i, rule := range all {
		for _, access := range rule.Footprint.All() {
			if access.Writes.All() {
				continue
			}
			for _, written := range access.Writes.List() {
				f := field{access.Resource, written.Path.String()}
				fields[f], writers[f] = written.Path, append(writers[f], i)
			}
		}
	}
	flows = make([]flow, len(all))
	for _, f := range slices.SortedFunc(maps.Keys(fields), func(a, b field) int {
		return cmp.Or(cmp.Compare(a.resource.String(), b.resource.String()), cmp.Compare(a.text, b.text))
	}) {
		for _, i := range writers[f] {
			flows[i].writes = append(flows[i].writes, len(texts))
		}
		for i, rule := range all {
			if !w.spend(1) {
				break
			}
			if access := rule.Footprint.Lookup(f.resource); access != nil && !access.Reads.All() && access.Reads.Touches(fields[f]) {
				flows[i].reads = append(flows[i].reads, len(texts))
			}
		}
		texts = append(texts, f.text+" of "+f.resource.Resource)
	}
	return texts, flows
}

// common is the first number that is in both, -1 for none.
func common(a, b []int) int {
	if i := slices.IndexFunc(a, func(n int) bool { _, found := slices.BinarySearch(b, n); return found }); i >= 0 {
		return a[i]
	}
	return -1
}
