package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// result is all that was measured of a job. Its fields are those of the JSON file.
type result struct {
	Job                 string
	Date                time.Time
	Commit              string // of the work tree
	CPUs                int
	Slim                bool // The CRD has no schema.
	Objects             int
	Bytes, BytesManaged int // of an object, without and with managedFields
	Updates, Creations  int
	Workers             int
	GOGC, GOMEMLIMIT    string
	Contenders          []string
	Rounds              map[string][]figures // by contender; one for each round
}

func newResult(ctx context.Context, o options, j job, contenders []contender) result {
	commit, err := exec.CommandContext(ctx, "git", "describe", "--tags", "--always", "--dirty").Output()
	if err != nil {
		commit = []byte("unknown")
	}
	r := result{
		Job: j.name, Date: time.Now().UTC().Truncate(time.Second), Commit: strings.TrimSpace(string(commit)), CPUs: runtime.NumCPU(),
		Slim: o.slim, Objects: o.objects, Updates: o.updates, Creations: o.creations,
		Workers: o.process.workers, GOGC: o.process.gogc, GOMEMLIMIT: o.process.memLimit,
		Rounds: map[string][]figures{},
	}
	for _, c := range contenders {
		r.Contenders = append(r.Contenders, c.name)
	}
	return r
}

func writeJSON(path string, all []result) error {
	data, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(data, '\n'), 0o644)
}

// row is a line of the table.
type row struct {
	key, title string
	digits     int
}

func rows() []row {
	return []row{
		{"backlog.seconds", "backlog: s from start to last", 2},
		{"backlog.first", "s from start to first", 2},
		{"backlog.rate", "objects/s from first to last", 0},
		{"backlog.laterate", "objects/s of the second half", 0},
		{"backlog.server", "CPU s of the API server", 1},
		{"backlog.cpu", "CPU s", 2},
		{"backlog.anonymous", "settled anonymous MiB", 1},
		{"backlog.rss", "settled RSS MiB", 1},
		{"backlog.file", "of it file pages", 1},
		{"backlog.anonymouspeak", "peak anonymous MiB", 1},
		{"backlog.peak", "peak RSS MiB", 1},
		{"backlog.LIST", "LIST requests", 0},
		{"backlog.GET", "GET requests", 0},
		{"backlog.POST", "POST requests", 0},
		{"backlog.PUT", "PUT requests", 0},
		{"backlog.PATCH", "PATCH requests", 0},
		{"backlog.APPLY", "APPLY requests", 0},
		{"backlog.DELETE", "DELETE requests", 0},
		{"backlog.other", "requests for no objects", 0},
		{"irrelevant.cpu", "irrelevant updates: CPU s", 2},
		{"irrelevant.anonymous", "settled anonymous MiB", 1},
		{"latency.p50", "new object: p50 ms", 1},
		{"latency.p99", "p99 ms", 1},
		{"latency.p999", "p99.9 ms", 1},
		{"latency.cpu", "CPU s", 2},
		{"restart.cpu", "restart: CPU s", 2},
		{"restart.anonymous", "settled anonymous MiB", 1},
		{"restart.rss", "settled RSS MiB", 1},
		{"restart.file", "of it file pages", 1},
		{"restart.anonymouspeak", "peak anonymous MiB", 1},
		{"restart.peak", "peak RSS MiB", 1},
		{"restart.heap", "settled live heap MB", 0},
		{"restart.heappeak", "peak live heap MB", 0},
		{"restart.heapratio", "peak / settled live heap", 2},
		{"restart.LIST", "LIST requests", 0},
		{"restart.GET", "GET requests", 0},
		{"restart.other", "requests for no objects", 0},
		{"restart.writes", "writes", 0},
	}
}

// judged is the contender that is compared with others: the last one.
func (r result) judged() string { return r.Contenders[len(r.Contenders)-1] }

// values are those of a contender, one for each round, if the figure was measured.
func (r result) values(contender, key string) []float64 {
	var values []float64
	for _, f := range r.Rounds[contender] {
		if value, is := f[key]; is {
			values = append(values, value)
		}
	}
	return values
}

// ratios are those of two contenders in the same round.
func (r result) ratios(contender, against, key string) []float64 {
	above, below := r.values(contender, key), r.values(against, key)
	var ratios []float64
	for i := range min(len(above), len(below)) {
		if below[i] != 0 {
			ratios = append(ratios, above[i]/below[i])
		}
	}
	return ratios
}

// print writes medians with the least and the most, and the ratios of the last contender, which are of single rounds, too.
// Below are the figures that it has to reach.
func (r result) print(out io.Writer) error {
	schema := ""
	if r.Slim {
		schema = " without a schema"
	}
	fmt.Fprintf(out, "\nJob %s at %s: %d TidbClusters%s of %.1f KB (%.1f with managedFields), %d rounds; %d workers, GOGC=%s, GOMEMLIMIT=%s; %d CPUs, %s\n"+
		"Medians (least-most).\n\n",
		r.Job, r.Commit, r.Objects, schema, float64(r.Bytes)/1000, float64(r.BytesManaged)/1000, len(r.Rounds[r.Contenders[0]]),
		r.Workers, r.GOGC, r.GOMEMLIMIT, r.CPUs, r.Date.Format(time.RFC3339))
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprint(table, "figure")
	for _, name := range r.Contenders {
		fmt.Fprintf(table, "\t%s", name)
	}
	fmt.Fprintln(table, "\t/ typed\t/ bare")
	for _, row := range rows() {
		line, measured := row.title, false
		for _, name := range r.Contenders {
			values := r.values(name, row.key)
			measured = measured || slices.ContainsFunc(values, func(value float64) bool { return value != 0 })
			line += "\t" + format(spreadOf(values), row.digits)
		}
		if !measured {
			continue
		}
		for _, against := range []string{"typed", "bare"} {
			line += "\t" + format(spreadOf(r.ratios(r.judged(), against, row.key)), 2)
		}
		fmt.Fprintln(table, line)
	}
	fmt.Fprintln(table, "\nmust show\ttarget\tmeasured")
	for _, v := range r.verdicts() {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", v.figure, v.target, format(v.measured, 2), v.word)
	}
	return table.Flush()
}

func format(s spread, digits int) string {
	if math.IsNaN(s.Median) {
		return "-"
	}
	if s.Least == s.Most {
		return fmt.Sprintf("%.*f", digits, s.Median)
	}
	return fmt.Sprintf("%.*f (%.*f-%.*f)", digits, s.Median, digits, s.Least, digits, s.Most)
}
