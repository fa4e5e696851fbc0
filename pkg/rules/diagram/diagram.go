// Package diagram draws rules and the resources that they read and write.
//
//	rules.Set -> Of -> Diagram -> Text: for Graphviz or Mermaid
//
// It is pure.
package diagram

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/printable"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
)

// The languages of a diagram.
const (
	Dot     = "dot"     // https://graphviz.org/doc/info/lang.html
	Mermaid = "mermaid" // https://mermaid.js.org/syntax/flowchart.html
)

// Diagram has a node for each rule and resource, and an arrow for what a rule reads or writes.
type Diagram struct {
	nodes  []node
	arrows []arrow
}

type node struct {
	name string
	rule bool
	// mark says that a rule is in a conflict or in a cycle.
	mark string
}

type arrow struct {
	from, to int
	label    string
}

// Of draws the rules of a set. Events are left out, and what apply needs to check owners.
func Of(set *rules.Set) *Diagram {
	d := &Diagram{}
	for _, rule := range set.Rules() {
		from := d.node(node{rule.ID.String(), true, strings.Join(marks(set, rule), ", ")})
		for _, access := range rule.Footprint().All() {
			var reads, writes []string
			for _, verb := range access.Verbs() {
				switch {
				case slices.Contains([]string{"get", "list", "watch"}, verb.Name):
					reads = append(reads, verb.Name)
				case verb.Subresource != "finalizers":
					writes = append(writes, verb.String())
				}
			}
			if access.Resource.Group == "events.k8s.io" {
				continue
			}
			to := d.node(node{name: plan.ResourceName(access.Resource)})
			if slices.Contains(rule.Watched(), access.Resource) {
				d.arrow(to, from, "watches", access.Reads.Paths())
			} else if len(reads) > 0 {
				d.arrow(to, from, "reads", access.Reads.Paths())
			}
			if len(writes) > 0 {
				d.arrow(from, to, strings.Join(writes, ", "), access.Writes.Paths())
			}
		}
	}
	return d
}

// marks are the codes of what [rules.Set.Warnings] says of the rule beside others, such as that they are in a conflict.
func marks(set *rules.Set, rule *rules.Rule) []string {
	var marks []string
	for _, found := range set.Warnings() {
		if code := string(found.Code); slices.Contains(found.Rules, rule.ID.String()) && !slices.Contains(marks, code) {
			marks = append(marks, code)
		}
	}
	slices.Sort(marks)
	return marks
}

func (d *Diagram) node(n node) int {
	at := slices.IndexFunc(d.nodes, func(other node) bool { return other.name == n.name && other.rule == n.rule })
	if at < 0 {
		at, d.nodes = len(d.nodes), append(d.nodes, n)
	}
	return at
}

// mostFields is how many fields an arrow names.
const mostFields = 4

// arrow names the fields but for those by which dyncontroller knows what it has made.
func (d *Diagram) arrow(from, to int, what string, fields []string) {
	lines := []string{what}
	for _, field := range printable.Lines(fields) {
		if !strings.Contains(field, `"dyncontroller.dev/`) {
			lines = append(lines, field)
		}
	}
	d.arrows = append(d.arrows, arrow{from, to, strings.Join(document.Few(lines, 1+mostFields), "\n")})
}

// language is how the parts of a diagram are written, each with its numbers and its label.
type language struct {
	begin, rule, resource, mark, arrow, end string
	quote                                   func(text string) string
}

var languages = map[string]language{
	Dot: {
		"digraph rules {\n  rankdir=LR\n", "  n%d [label=%s, shape=ellipse]\n", "  n%d [label=%s, shape=box]\n", "  n%d [color=red, fontcolor=red]\n",
		"  n%d -> n%d [label=%s]\n", "}\n", strconv.Quote,
	},
	Mermaid: {
		"flowchart LR\n", "  n%d([%s])\n", "  n%d[%s]\n", "  style n%d stroke:red,color:red\n", "  n%[1]d -->|%[3]s| n%[2]d\n", "",
		func(text string) string {
			return `"` + strings.NewReplacer(`"`, "#quot;", "<", "#lt;", ">", "#gt;", "\n", "<br/>").Replace(text) + `"`
		},
	},
}

// Text writes the diagram in a language.
func (d *Diagram) Text(name string) string {
	in := languages[name]
	var b strings.Builder
	b.WriteString(in.begin)
	for i, n := range d.nodes {
		form := in.resource
		if n.rule {
			form = in.rule
		}
		fmt.Fprintf(&b, form, i, in.quote(strings.TrimSuffix(printable.Line(n.name)+"\n"+n.mark, "\n")))
		if n.mark != "" {
			fmt.Fprintf(&b, in.mark, i)
		}
	}
	for _, a := range d.arrows {
		fmt.Fprintf(&b, in.arrow, a.from, a.to, in.quote(a.label))
	}
	b.WriteString(in.end)
	return b.String()
}
