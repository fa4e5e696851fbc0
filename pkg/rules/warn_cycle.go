package rules

import (
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/footprint"
)

// cycles notes rules that read what the other writes, and back. Most settle, so it
// is no more than a place to look at first when they do not, and one other rule is
// enough. Rules that write the same field are compared by [conflicts].
func cycles(all []*trail) (out document.Errors) {
	f := newFeeding(all)
	pairs := 0
	for i, a := range all {
		for j, b := range all[:i] {
			if pairs++; pairs > mostFeedings || f.compared > mostPairs || out.Enough() {
				return out
			}
			there := f.path(j, i)
			if there == "" {
				continue
			}
			back := f.path(i, j)
			if back == "" || back == there {
				continue
			}
			n := a.rule.source.Node().Get("name")
			out = append(out, n.Errorf("see in a RuleTest that they settle",
				"the rules %q and %q each read what the other writes: %s and %s",
				b.rule.ID.Name, a.rule.ID.Name, there, back).Coded(document.CodeCycle).Note())
			break
		}
	}
	return out
}

// mostFeedings bounds the work on rules that have nothing to do with each other.
const mostFeedings = 100_000

// feeding compares what rules write with what others read. Many rules read and write
// the same, and are compared once.
type feeding struct {
	writes, reads [][]reach // by rule
	known         map[[2]int]string
	compared      int
}

// reach is some fields of a resource, with a number by which equal ones are known.
type reach struct {
	of     schema.GroupVersionResource
	tree   *footprint.Tree
	number int
}

func newFeeding(all []*trail) *feeding {
	f := &feeding{known: map[[2]int]string{}}
	numbers := map[string]int{}
	numbered := func(of schema.GroupVersionResource, tree *footprint.Tree) []reach {
		if tree.Empty() || tree.All() {
			return nil // That it might be any field is no reason to suspect one.
		}
		text := of.String() + "\n" + strings.Join(tree.Paths(), "\n")
		if _, known := numbers[text]; !known {
			numbers[text] = len(numbers)
		}
		return []reach{{of, tree, numbers[text]}}
	}
	for _, t := range all {
		var writes, reads []reach
		for _, access := range t.accesses {
			writes = append(writes, numbered(access.Resource, &access.Writes)...)
			reads = append(reads, numbered(access.Resource, &access.Reads)...)
		}
		f.writes, f.reads = append(f.writes, writes), append(f.reads, reads)
	}
	return f
}

// path names a field that one rule writes and the other reads, "" if there is none.
func (f *feeding) path(from, to int) string {
	for _, written := range f.writes[from] {
		for _, read := range f.reads[to] {
			if written.of != read.of {
				continue
			}
			pair := [2]int{written.number, read.number}
			path, known := f.known[pair]
			if !known {
				f.compared++
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
