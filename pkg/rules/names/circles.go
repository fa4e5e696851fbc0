package names

import (
	"slices"
	"strings"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
)

// circles finds those of the names that are defined by themselves. What was
// defined before them uses none of them.
func (g *Graph) circles(from []*Definition) document.Errors {
	byName := make(map[string]*Definition, len(from))
	for _, d := range from {
		byName[d.Name] = d
	}
	c := &circles{byName: byName, open: map[*Definition]int{}, done: map[*Definition]bool{}}
	for _, d := range from {
		c.visit(d)
	}
	return c.errors
}

// circles looks for them, depth first.
type circles struct {
	byName map[string]*Definition
	path   []string            // from the start to where the search is
	open   map[*Definition]int // the places on the path
	done   map[*Definition]bool
	errors document.Errors
}

func (c *circles) visit(d *Definition) {
	if at, open := c.open[d]; open {
		c.report(d, append(slices.Clone(c.path[at:]), d.Name))
		return
	}
	if c.done[d] || c.errors.Enough() {
		return
	}
	c.open[d] = len(c.path)
	c.path = append(c.path, d.Name)
	for _, name := range d.Uses() {
		if next := c.byName[name]; next != nil {
			c.visit(next)
		}
	}
	c.path = c.path[:len(c.path)-1]
	delete(c.open, d)
	c.done[d] = true
}

// report shows a long way only in part.
func (c *circles) report(d *Definition, way []string) {
	const most = 10
	hint := "let one of them do without the next"
	if len(way) == 2 {
		hint = "a name cannot use itself"
	}
	if len(way) > most {
		way = slices.Concat(way[:most-2], []string{"..."}, way[len(way)-1:])
	}
	c.errors = append(c.errors, d.Node.Errorf(hint, "%q is defined by itself: %s", d.Name, strings.Join(way, " -> ")))
}
