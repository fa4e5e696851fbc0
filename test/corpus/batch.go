package corpus

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
)

// Batch is a file with the rules of many cases: loading a rule takes less time than loading a file.
type Batch struct {
	File  document.File
	Cases []Case
	lines []int // Where each rule begins.
}

// Batches makes files of cases. No two rules of a file write the same field, or one of them a part of what the other
// does, which would be worth a warning.
func Batches(r *schema.Resource, cases []Case) []Batch {
	var batches []Batch
	for len(cases) > 0 {
		var now, later []Case
		for _, c := range cases {
			if len(now) < Most && !overlap(now, c) {
				now = append(now, c)
			} else {
				later = append(later, c)
			}
		}
		batches = append(batches, newBatch(r, now))
		cases = later
	}
	return batches
}

func overlap(cases []Case, c Case) bool {
	for _, other := range cases {
		if c.Writes != "" && other.Writes != "" && (inside(c.Writes, other.Writes) || inside(other.Writes, c.Writes)) {
			return true
		}
		if c.others && other.others {
			return true // Both would make the same object.
		}
	}
	return false
}

func inside(path, parent string) bool { return strings.HasPrefix(path+".", parent+".") }

const indent = "    "

func newBatch(r *schema.Resource, cases []Case) Batch {
	b := Batch{Cases: cases}
	var out strings.Builder
	out.WriteString("apiVersion: dyncontroller.dev/v1alpha1\nkind: ClusterRuleSet\nmetadata: {name: corpus}\nspec:\n  resources:\n")
	fmt.Fprintf(&out, "    it: {group: %q, version: %s, resource: %s}\n", r.Group, r.Version, r.Resource)
	if overlap(cases, Case{others: true}) {
		other := "configmaps"
		if r.Resource == other {
			other = "secrets"
		}
		fmt.Fprintf(&out, "    others: {version: v1, resource: %s}\n", other)
	}
	out.WriteString("  rules:\n")
	for i, c := range cases {
		fmt.Fprintf(&out, "  - name: r%d\n", i+1)
		b.lines = append(b.lines, strings.Count(out.String(), "\n")+1)
		for line := range strings.Lines(c.Rule) {
			out.WriteString(indent + line)
		}
	}
	b.File = document.File{Name: r.Resource + "." + r.Version + "." + r.Group + ".yaml", Data: []byte(out.String())}
	return b
}

// Case returns which case has a line of the file, and which of its lines that is, from 1.
func (b Batch) Case(line int) (index, inRule int) {
	for i, first := range slices.Backward(b.lines) {
		if line >= first {
			return i, line - first + 1
		}
	}
	return -1, 0
}

// Says reports whether an error says what is wrong with the rule: that it has one of the codes, is where the mistake is,
// and names in its hint what was meant.
func (m Mistake) Says(err *document.Error, lineOfRule int) error {
	column := err.Column - len(indent)
	switch {
	case lineOfRule != m.at.line || column < m.at.from || column >= m.at.to:
		return fmt.Errorf("it is said of %d:%d, not of %d:%d to %d", lineOfRule, column, m.at.line, m.at.from, m.at.to-1)
	case !slices.Contains(m.Codes, err.Code):
		return fmt.Errorf("its code is %q, not one of %q", err.Code, m.Codes)
	case !strings.Contains(err.Hint, m.Suggests):
		return fmt.Errorf("its hint does not name %q", m.Suggests)
	default:
		return nil
	}
}
