package rules

import (
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
)

// cycles notes rules that read what the other writes, and back. Most settle, so it
// is no more than a place to look at first when they do not, and one other rule is
// enough.
func cycles(all []*trail) (out document.Errors) {
	pairs := 0
	for i, a := range all {
		for _, b := range all[:i] {
			if pairs++; pairs > mostPairs || out.Enough() {
				return out
			}
			there, back := b.feeds(a), a.feeds(b)
			if there == "" || back == "" {
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

// feeds names a field that one rule writes and the other reads, "" if there is none.
func (t *trail) feeds(other *trail) string {
	for _, written := range t.footprint.All() {
		for _, read := range other.footprint.All() {
			if written.Resource != read.Resource || written.Writes.All() || read.Reads.All() {
				continue // That it might be any field is no reason to suspect one.
			}
			if paths := written.Writes.Overlap(&read.Reads); len(paths) > 0 {
				return paths[0] + " of " + written.Resource.Resource
			}
		}
	}
	return ""
}
