package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// result is what the comparison of an example says.
type result struct {
	example   example
	scenarios map[int][]step
	cells     map[int][]cell // of each scenario, by columns
	writes    [2]int         // in the quiet time, theirs and ours
}

// compare judges each column of each scenario.
func compare(e example, scenarios map[int][]step, theirs, ours map[int]*outcome) result {
	r := result{example: e, scenarios: scenarios, cells: map[int][]cell{}}
	for number, steps := range scenarios {
		a, b := theirs[number], ours[number]
		for i, c := range e.columns {
			one := judge(e.name+" | "+c.name+" | "+words(steps), steps, a.column(i), b.column(i))
			for _, err := range []error{a.err, b.err} {
				if err != nil {
					one.unknown = append(one.unknown, err.Error())
				}
			}
			r.cells[number] = append(r.cells[number], one)
		}
	}
	return r
}

// different counts the scenarios with differences that nothing explains.
func (r result) different() int {
	n := 0
	for _, cells := range r.cells {
		if slices.ContainsFunc(cells, func(c cell) bool { return len(c.unknown) > 0 }) {
			n++
		}
	}
	return n
}

// print writes the table, a row for each scenario, and what the words in it mean.
func (r result) print(out io.Writer, o options) {
	same, reasoned, unknown := 0, 0, 0
	for _, c := range slices.Concat(slices.Collect(maps.Values(r.cells))...) {
		switch {
		case len(c.unknown) > 0:
			unknown++
		case len(c.why) > 0:
			reasoned++
		default:
			same++
		}
	}
	fmt.Fprintf(out, "%d scenarios. Of the cells, %d are the same, %d differ for a reason below, %d differ otherwise. Writes in the last %.0f seconds: "+
		"kube-controller-manager %d, dyncontroller %d.\n\n", len(r.cells), same, reasoned, unknown, o.quiet.Seconds(), r.writes[0], r.writes[1])
	fmt.Fprint(out, "| | scenario |")
	for _, c := range r.example.columns {
		fmt.Fprintf(out, " %s |", c.name)
	}
	fmt.Fprintf(out, "\n|---|---|%s\n", strings.Repeat("---|", len(r.example.columns)))
	used := map[int]bool{}
	for _, number := range slices.Sorted(maps.Keys(r.cells)) {
		fmt.Fprintf(out, "| %d | %s |", number, words(r.scenarios[number]))
		for _, c := range r.cells[number] {
			fmt.Fprintf(out, " %s |", c)
			for _, i := range c.why {
				used[i] = true
			}
		}
		fmt.Fprintln(out)
	}
	if len(used) > 0 {
		fmt.Fprint(out, "\nWhy:\n\n")
	}
	for _, i := range slices.Sorted(maps.Keys(used)) {
		fmt.Fprintf(out, "- %d: %s\n", i+1, explained()[i].why)
	}
}

func words(steps []step) string {
	var out []string
	for _, s := range steps {
		out = append(out, s.say)
	}
	return strings.Join(out, "; ")
}

func (c cell) String() string {
	var out []string
	if len(c.unknown) > 0 {
		out = append(out, "**different**")
	}
	for _, i := range c.why {
		out = append(out, fmt.Sprintf("why %d", i+1))
	}
	if out == nil {
		return "same"
	}
	return strings.Join(out, ", ")
}

// tell writes the first differences that nothing explains.
func (r result) tell(out io.Writer) {
	for _, number := range slices.Sorted(maps.Keys(r.cells)) {
		told := map[string]bool{}
		for i, c := range r.cells[number] {
			for _, line := range c.unknown[:min(3, len(c.unknown))] {
				if !told[line] { // An error is of all columns.
					fmt.Fprintf(out, "%s %d, %s, %d: %.300s\n", r.example.name, number, r.example.columns[i].name, len(c.unknown), line)
				}
				told[line] = true
			}
		}
	}
}
