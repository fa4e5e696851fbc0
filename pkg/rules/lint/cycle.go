package lint

import (
	"cmp"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/footprint"
)

// cycles notes rules that read what the other writes, and back. Most settle, so it
// is no more than a place to look at first when they do not, and one other rule is
// enough. Rules that write the same field are compared by [terms.conflicts].
func cycles(all []*Rule) (out document.Errors) {
	if len(all) < 2 {
		return nil
	}
	w := &work{leastFed + fedOfEach*len(all)}
	read := readOf(all, w)
	for i, rule := range all {
		for _, j := range slices.Sorted(maps.Keys(read[i])) {
			there, back := read[i][j], read[j][i]
			if w.spend(1) && j < i && back != "" && there != back {
				out = append(out, rule.Source.Node().Get("name").Errorf("see in a RuleTest that they settle",
					"the rules %q and %q each read what the other writes: %s and %s",
					all[j].ID.Name, rule.ID.Name, there, back).Coded(document.CodeCycle).Note())
				break
			}
		}
		if w.spent() || out.EnoughOf(document.Note) {
			return append(out, gaveUp(rule, "rules that feed each other"))
		}
	}
	return out
}

// readOf returns for each rule a field of each other one that writes it and that this one reads. That a rule might write or read any
// field is no reason to suspect one.
func readOf(all []*Rule, w *work) []map[int]string {
	type field struct {
		resource schema.GroupVersionResource
		text     string
	}
	paths, writers := map[field]footprint.Path{}, map[field][]int{}
	for i, rule := range all {
		for _, access := range rule.Footprint.All() {
			if access.Writes.All() {
				continue
			}
			for _, written := range access.Writes.List() {
				f := field{access.Resource, written.Path.String()}
				paths[f], writers[f] = written.Path, append(writers[f], i)
			}
		}
	}
	read := make([]map[int]string, len(all))
	for _, f := range slices.SortedFunc(maps.Keys(paths), func(a, b field) int {
		return cmp.Or(cmp.Compare(a.resource.String(), b.resource.String()), cmp.Compare(a.text, b.text))
	}) {
		for i, rule := range all {
			access := rule.Footprint.Lookup(f.resource)
			if !w.spend(1) || access == nil || access.Reads.All() || !access.Reads.Touches(paths[f]) || !w.spend(len(writers[f])) {
				continue
			}
			for _, j := range writers[f] {
				if read[i] == nil {
					read[i] = map[int]string{}
				}
				read[i][j] = cmp.Or(read[i][j], f.text+" of "+f.resource.Resource)
			}
		}
	}
	return read
}
