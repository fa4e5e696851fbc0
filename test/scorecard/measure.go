package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/dyncontroller/dyncontroller/test/floors"
)

// parts are the folders whose lines are counted one by one, and programs those that users get.
var (
	programs = []string{"pkg/rules", "pkg/engine", "pkg/plan", "pkg/simulate", "pkg/api", "pkg/redact", "internal", "cmd"}
	parts    = append(slices.Clip(programs), "test", "tools")
)

// row is a line of the table: what is measured, and its value, empty where it is not known.
type row struct{ what, value string }

// card is what was measured of one side, always in the same order.
type card []row

func (c *card) add(what string, value any) {
	*c = append(*c, row{what: what, value: fmt.Sprint(value)})
}

// measure takes everything but benchmarks of the repository at dir.
func measure(ctx context.Context, dir string) (card, error) {
	var c card
	lines, err := countLines(ctx, dir)
	if err != nil {
		return nil, err
	}
	all := 0
	for _, part := range programs {
		all += lines[part]
		c.add("lines, "+part, lines[part])
	}
	c.add("lines, all of these", all)
	c.add("lines, test and tools", lines["test"]+lines["tools"])

	packages, err := floors.Load(ctx, dir, "./pkg/engine/...")
	if err != nil {
		return nil, err
	}
	references := floors.Refer(packages)
	against := ""
	layers, err := floors.Layers(dir)
	if err == nil {
		found, _ := floors.Against(references, layers)
		against = fmt.Sprint(len(found))
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	c.add("pkg/engine, references against the layers of its files", against)
	circles := floors.Circles(references)
	members, largest := 0, 0
	for _, circle := range circles {
		members, largest = members+len(circle), max(largest, len(circle))
	}
	c.add("pkg/engine, declarations in circles", members)
	c.add("pkg/engine, declarations in the largest circle", largest)
	fields, methods := floors.Sizes(packages)
	c.add("pkg/engine, fields of the largest struct", largestOf(fields))
	c.add("pkg/engine, methods of the largest type", largestOf(methods))

	seconds, err := os.ReadFile(filepath.Join(dir, "bin", "test-seconds"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	c.add("make test, seconds when it passed last", strings.TrimSpace(string(seconds)))
	return c, nil
}

func largestOf(sizes []floors.Size) string {
	if len(sizes) == 0 {
		return ""
	}
	return fmt.Sprintf("%d, %s", sizes[0].N, strings.TrimPrefix(sizes[0].Type, "./pkg/"))
}

// countLines counts the lines of code of each part: of Go files that git knows or would take, and that are neither tests
// nor generated.
func countLines(ctx context.Context, dir string) (map[string]int, error) {
	files, err := git(ctx, dir, append([]string{"ls-files", "-z", "--cached", "--others", "--exclude-standard", "--"}, parts...)...)
	if err != nil {
		return nil, err
	}
	lines := map[string]int{}
	for name := range strings.SplitSeq(files, "\x00") {
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || strings.Contains(name, "zz_generated") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, name))
		if errors.Is(err, fs.ErrNotExist) { // Deleted, but not in git yet.
			continue
		} else if err != nil {
			return nil, err
		}
		for _, part := range parts {
			if strings.HasPrefix(name, part+"/") {
				lines[part] += codeLines(string(text))
			}
		}
	}
	return lines, nil
}

// codeLines counts the lines that are neither blank nor a comment.
func codeLines(text string) int {
	count, inComment := 0, false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		inComment = inComment || strings.HasPrefix(line, "/*")
		switch {
		case inComment:
			inComment = !strings.Contains(line, "*/")
		case line != "" && !strings.HasPrefix(line, "//"):
			count++
		}
	}
	return count
}

func printCards(out io.Writer, sides []side, cards []card) error {
	table := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	fmt.Fprint(table, "what")
	for _, s := range sides {
		fmt.Fprint(table, "\t", s.name)
	}
	fmt.Fprintln(table)
	for i, r := range cards[0] {
		fmt.Fprint(table, r.what)
		for _, c := range cards {
			value := c[i].value
			if value == "" {
				value = "-"
			}
			fmt.Fprint(table, "\t", value)
		}
		fmt.Fprintln(table)
	}
	return table.Flush()
}
