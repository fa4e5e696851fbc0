package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
)

// rounds is how often each benchmark runs. The least time counts, as other programs only add to it. The sides take
// turns, so that a busy minute is felt by both.
const rounds = 3

// result has the values of one benchmark by their units, such as ns/op.
type result map[string]float64

// results are by the package and the name of the benchmark.
type results map[string]result

// benchmark runs the benchmarks of every side.
func benchmark(ctx context.Context, sides []side, pattern string) ([]results, error) {
	all := make([]results, len(sides))
	for i := range all {
		all[i] = results{}
	}
	for range rounds {
		for i, s := range sides {
			var folders []string
			for _, folder := range []string{"pkg", "internal"} {
				if _, err := os.Stat(filepath.Join(s.dir, folder)); err == nil {
					folders = append(folders, "./"+folder+"/...")
				}
			}
			out, err := output(ctx, s.dir, "go", append([]string{"test", "-run", "^$", "-benchmem", "-bench", pattern}, folders...)...)
			if err != nil {
				return nil, fmt.Errorf("the benchmarks of %s: %w", s.name, err)
			}
			all[i].read(out)
		}
	}
	return all, nil
}

// read takes what go test has printed. Of a value that is known already, the smaller one stays.
func (r results) read(out string) {
	folder := ""
	for line := range strings.Lines(out) {
		if path, is := strings.CutPrefix(line, "pkg: "); is {
			_, folder, _ = strings.Cut(strings.TrimSpace(path), "/dyncontroller/dyncontroller/")
		}
		words := strings.Fields(line)
		if len(words) < 4 || !strings.HasPrefix(words[0], "Benchmark") {
			continue
		}
		name := strings.TrimPrefix(words[0], "Benchmark")
		if cut := strings.LastIndex(name, "-"); cut > 0 { // The number of processors.
			if _, err := strconv.Atoi(name[cut+1:]); err == nil {
				name = name[:cut]
			}
		}
		name = folder + " " + name
		if r[name] == nil {
			r[name] = result{}
		}
		for pair := range slices.Chunk(words[2:], 2) {
			value, err := strconv.ParseFloat(pair[0], 64)
			if err != nil || len(pair) < 2 {
				continue
			}
			if known, is := r[name][pair[1]]; !is || value < known {
				r[name][pair[1]] = value
			}
		}
	}
}

// printBenchmarks prints a row for each unit of each benchmark. With two sides, the last column is how many times the
// second value is the first.
func printBenchmarks(out io.Writer, sides []side, all []results) error {
	table := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	fmt.Fprint(table, "\nbenchmark\tunit")
	for _, s := range sides {
		fmt.Fprint(table, "\t", s.name)
	}
	fmt.Fprintln(table)
	rows := map[string]map[string]bool{}
	for _, r := range all {
		for name, values := range r {
			if rows[name] == nil {
				rows[name] = map[string]bool{}
			}
			for unit := range values {
				rows[name][unit] = true
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(rows)) {
		for _, unit := range slices.Sorted(maps.Keys(rows[name])) {
			fmt.Fprintf(table, "%s\t%s", name, unit)
			for _, r := range all {
				if value, is := r[name][unit]; is {
					fmt.Fprintf(table, "\t%.4g", value)
				} else {
					fmt.Fprint(table, "\t-")
				}
			}
			if first, last := all[0][name][unit], all[len(all)-1][name][unit]; len(all) > 1 && first > 0 && last > 0 {
				fmt.Fprintf(table, "\tx %.2f", last/first)
			}
			fmt.Fprintln(table)
		}
	}
	return table.Flush()
}
