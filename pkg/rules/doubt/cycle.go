package doubt

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/clause"
	"github.com/dyncontroller/dyncontroller/pkg/rules/footprint"
)

// cycles notes rules that read what the other writes, and back. Most settle, so it
// is no more than a place to look at first when they do not, and one other rule is
// enough. Rules that write the same field are compared by [compare].
func cycles(all []*Rule) (out document.Errors) {
	f := newFeeding(all)
	var before []int // Of rules that read and write the same, the first.
	for i, a := range all {
		for _, j := range before {
			there := f.path(j, i)
			if there == "" {
				continue
			}
			back := f.path(i, j)
			if back == "" || back == there {
				continue
			}
			n := a.Source.Node().Get("name")
			out = append(out, n.Errorf("see in a RuleTest that they settle",
				"the rules %q and %q each read what the other writes: %s and %s",
				all[j].ID.Name, a.ID.Name, there, back).Coded(document.CodeCycle).Note())
			break
		}
		if f.work.Spent() || out.EnoughOf(document.Note) {
			return append(out, gaveUp(a, "rules that feed each other"))
		}
		if f.first(i) {
			before = append(before, i)
		}
	}
	return out
}

// feeding compares what rules write with what others read. Many rules read and write
// the same, and are compared once.
type feeding struct {
	writes, reads [][]reach // by rule
	known         map[[2]int]string
	alike         map[string]bool
	work          *clause.Work
}

// reach is some fields of a resource, with a number by which equal ones are known.
type reach struct {
	of     schema.GroupVersionResource
	tree   *footprint.Tree
	number int
	size   int
	mask   uint64
}

// overlapping is how many steps it takes at least to compare two trees.
const overlapping = 10

func newFeeding(all []*Rule) *feeding {
	f := &feeding{known: map[[2]int]string{}, alike: map[string]bool{}, work: clause.NewWork(leastFed + fedOfEach*len(all))}
	numbers := map[string]int{}
	numbered := func(of schema.GroupVersionResource, tree *footprint.Tree) []reach {
		if tree.Empty() || tree.All() {
			return nil // That it might be any field is no reason to suspect one.
		}
		paths := tree.Paths()
		text := of.String() + "\n" + strings.Join(paths, "\n")
		if _, known := numbers[text]; !known {
			numbers[text] = len(numbers)
		}
		return []reach{{of, tree, numbers[text], len(paths), tree.Mask()}}
	}
	for _, t := range all {
		var writes, reads []reach
		for _, access := range t.Footprint.All() {
			writes = append(writes, numbered(access.Resource, &access.Writes)...)
			reads = append(reads, numbered(access.Resource, &access.Reads)...)
		}
		f.writes, f.reads = append(f.writes, writes), append(f.reads, reads)
	}
	return f
}

// first reports whether a rule is the first of those that read and write the same.
func (f *feeding) first(i int) bool {
	var key []int
	for _, of := range [][]reach{f.writes[i], f.reads[i]} {
		for _, r := range of {
			key = append(key, r.number)
		}
		key = append(key, -1)
	}
	alike := fmt.Sprint(key)
	seen := f.alike[alike]
	f.alike[alike] = true
	return !seen
}

// path names a field that one rule writes and the other reads, "" if there is none.
func (f *feeding) path(from, to int) string {
	for _, written := range f.writes[from] {
		for _, read := range f.reads[to] {
			if !f.work.Spend(1) {
				return ""
			}
			if written.of != read.of || written.mask&read.mask == 0 {
				continue
			}
			pair := [2]int{written.number, read.number}
			path, known := f.known[pair]
			if !known && f.work.Spend(written.size+overlapping) {
				if paths := written.tree.Overlap(read.tree); len(paths) > 0 {
					path = paths[0] + " of " + written.of.Resource
				}
				f.known[pair] = path
			}
			if path != "" {
				return path
			}
		}
	}
	return ""
}
