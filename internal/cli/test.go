//go:build !operator

package cli

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"k8s.io/utils/clock"

	"github.com/dyncontroller/dyncontroller/internal/config"
	"github.com/dyncontroller/dyncontroller/internal/source"
	"github.com/dyncontroller/dyncontroller/pkg/printable"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/simulate"
	"github.com/dyncontroller/dyncontroller/pkg/simulate/coverage"
	"github.com/dyncontroller/dyncontroller/pkg/simulate/junit"
)

const formatJUnit = "junit"

// tests is what `test` was asked for.
type tests struct {
	Process

	paths                            []string
	crds                             *[]string
	output                           *config.Value
	only                             string
	update, verbose, watch, coverage bool
}

func newTest(p Process) *cobra.Command {
	t := &tests{Process: p}
	command := &cobra.Command{
		Use:   "test PATH...",
		Short: "Run the tests of rules, without a cluster",
		Long: `Run the cases of RuleTest documents: have the rules act on a simulated cluster
with the objects of each case, until nothing changes any more and again after
each of its steps, and compare what they decide, write and record, and what the
objects look like then, with its golden file or with what the case expects. Below
the differences is why: what the rules that decided otherwise looked at and change.
A PATH is a file, or a directory, which is searched with all its folders.

A case without a golden is an error until --update has written one: read it
before you keep it. With CI=true in the environment, --update is refused.

The rules are checked as by validate, with the CRDs of --crds; warnings are on the
standard error.

With --coverage, a rule that matches in no case is an error. The report lists the
conditions of when that were never true, or never false.

With --watch, the tests run again whenever a file changes that they have read,
until Ctrl-C.

Exit code: 0 if every case passed, 1 if not, 2 if a directory has no tests. With
--watch, it is that of the last run.`,
		Example: `  dyncontroller test rules/
  dyncontroller test rules/ --run pd-quorum
  dyncontroller test rules/ --crds crds/
  dyncontroller test rules/pd_test.yaml --update
  dyncontroller test rules/ --watch
  dyncontroller test rules/ --coverage -o junit > report.xml`,
		Args: paths,
		RunE: func(command *cobra.Command, args []string) error {
			t.paths = args
			if err := t.check(); err != nil {
				return err
			}
			p.silence()
			if t.watch {
				return t.again(command.Context())
			}
			files, err := newDisk(t.paths...)
			if err != nil {
				return internal(err)
			}
			return t.run(command.Context(), files)
		},
	}
	flags := command.Flags()
	flags.BoolVar(&t.update, "update", false, "write the goldens instead of comparing with them")
	t.crds = addCRDsFlag(flags)
	flags.StringVar(&t.only, "run", "", "run only the cases whose test/case matches `REGEXP`")
	flags.BoolVar(&t.watch, "watch", false, "run again whenever a file changes that was read")
	flags.BoolVar(&t.coverage, "coverage", false, "tell which rules and conditions the cases exercise; a rule that none does is an error")
	flags.BoolVarP(&t.verbose, "verbose", "v", false, "show skipped cases, and whole diffs")
	t.output = addOutputFlag(command, "how the results are shown: text, json or junit", formatText, formatJSON, formatJUnit)
	return command
}

// check refuses what cannot be done together.
func (t *tests) check() error {
	switch {
	case slices.Contains(t.paths, source.Stdin):
		return errors.New("a test names files beside it, so it is not read from standard input, -")
	case t.coverage && t.only != "":
		return errors.New("--coverage is of all cases; leave --run out")
	case t.watch && t.output.Text == formatJUnit:
		return errors.New("--watch goes on and on, and a JUnit report is of one run; leave one of them out")
	case t.watch && slices.Contains(*t.crds, source.Stdin):
		return errors.New("--watch reads files again, and standard input, -, can be read only once")
	case t.update && t.inCI():
		return failure{exitUsage, simulate.ErrUpdateInCI}
	}
	if _, err := regexp.Compile(t.only); err != nil {
		return fmt.Errorf("--run: %w", err)
	}
	return nil
}

// garbage is by how many per cent memory grows before it is collected. Thousands of small
// clusters come and go: to look after them less often saves a quarter of the time.
const garbage = 400

// run runs all cases once.
func (t *tests) run(ctx context.Context, files simulate.Files) error {
	defer debug.SetGCPercent(debug.SetGCPercent(garbage))
	options := simulate.Options{Files: files, Update: t.update, CI: t.inCI()}
	if t.only != "" {
		options.Only = regexp.MustCompile(t.only) // Compiled once before, in check.
	}
	if t.coverage {
		options.Coverage = new(coverage.Recorder)
	}
	var err error
	if options.Definitions, err = t.readCRDs(*t.crds, nil); err != nil {
		return err
	}
	report, err := simulate.Run(ctx, t.paths, options)
	if err != nil {
		return failure{exitUsage, err}
	}
	io.WriteString(t.Stderr, report.Warnings.Render())
	switch t.output.Text {
	case formatJSON:
		err = writeJSON(t.Stdout, report)
	case formatJUnit:
		err = junit.Write(t.Stdout, report)
	default:
		err = put(t.Stdout, "the report", t.painted(report.Text(t.verbose), testColors))
	}
	if err != nil {
		return internal(err)
	}
	if !report.Passed() {
		return errFinding
	}
	return nil
}

// testColors are those of the lines of a report.
var testColors = []lineColor{{green, []string{"PASS "}}, {red, []string{"FAIL ", "ERROR "}}}

// mostChanged is how many paths that have changed are named.
const mostChanged = 3

// again runs all cases, and again whenever a file has changed that was read, until
// the context is done. It returns what became of the last run.
func (t *tests) again(ctx context.Context) error {
	files, err := newDisk(slices.Concat(t.paths, *t.crds)...)
	if err != nil {
		return internal(err)
	}
	var last error
	var seen *recording
	source.Follow(ctx, clock.RealClock{}, slog.New(slog.NewTextHandler(t.Stderr, nil)), func() (directories []string) {
		if seen != nil {
			changed := seen.changed()
			if len(changed) == 0 || ctx.Err() != nil {
				_, directories = seen.watched()
				return directories
			}
			io.WriteString(t.Stderr, printable.Sprintf("\nchanged: %s\n\n", strings.Join(document.Few(changed, mostChanged), ", ")))
		}
		seen = newRecording(files)
		for _, path := range *t.crds {
			seen.follow(path)
		}
		if last = t.run(ctx, seen); last != nil && !errors.Is(last, errFinding) {
			show(t.Stderr, last)
		}
		read, directories := seen.watched()
		fmt.Fprintf(t.Stderr, "\nwatching %s; Ctrl-C ends\n", document.Count(read, "file"))
		return directories
	})
	if failed, ok := errors.AsType[failure](last); ok {
		return failure{code: failed.code} // It has been shown.
	}
	return last
}

// inCI goes by the variable that every CI system sets.
func (p Process) inCI() bool {
	value := p.env("CI")
	return value != "" && value != "0" && !strings.EqualFold(value, "false")
}

// recording is files that remember what was read of them, so that it can be told
// whether reading them again would give something else. What is written through it
// counts as read. It is safe for concurrent use.
type recording struct {
	simulate.Files

	mu   sync.Mutex
	seen map[string]string // by path, a digest of a file, or what a directory lists; guarded by mu
}

// listing begins what is remembered of a directory.
const listing = "directory:"

func newRecording(files simulate.Files) *recording {
	return &recording{Files: files, seen: map[string]string{}}
}

// ReadFile implements [simulate.Files].
func (r *recording) ReadFile(path string) ([]byte, error) {
	data, err := r.Files.ReadFile(path)
	r.note(path, ofFile(data, err))
	return data, err
}

// ReadDir implements [simulate.Files].
func (r *recording) ReadDir(path string) ([]fs.DirEntry, error) {
	entries, err := r.Files.ReadDir(path)
	if err != nil {
		_, _ = r.ReadFile(path) // It is a file, or it is not there, and both are noted.
		return entries, err
	}
	r.note(path, ofDirectory(entries))
	return entries, nil
}

// WriteFile implements [simulate.Files]. The directories above have something new in
// them then, of our own making.
func (r *recording) WriteFile(path string, data []byte) error {
	if err := r.Files.WriteFile(path, data); err != nil {
		return err
	}
	r.note(path, ofFile(data, nil))
	r.mu.Lock()
	defer r.mu.Unlock()
	for above := filepath.Dir(path); ; above = filepath.Dir(above) {
		if _, known := r.seen[above]; known {
			r.seen[above] = r.now(above)
		}
		if above == filepath.Dir(above) {
			return nil
		}
	}
}

// follow reads a path of CRDs, which are read elsewhere.
func (r *recording) follow(path string) {
	entries, _ := r.ReadDir(path)
	for _, entry := range entries {
		if !strings.HasPrefix(entry.Name(), ".") && (entry.IsDir() || slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(entry.Name()))) {
			r.follow(filepath.Join(path, entry.Name()))
		}
	}
}

func (r *recording) note(path, is string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen[path] = is
}

// now is what would be remembered of a path.
func (r *recording) now(path string) string {
	if entries, err := r.Files.ReadDir(path); err == nil {
		return ofDirectory(entries)
	}
	return ofFile(r.Files.ReadFile(path))
}

// changed lists the paths that have become something else, in order.
func (r *recording) changed() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []string
	for path, was := range r.seen {
		if r.now(path) != was {
			out = append(out, path)
		}
	}
	slices.Sort(out)
	return out
}

// watched counts the files that were read, and lists the directories in which changes show.
func (r *recording) watched() (files int, directories []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for path, is := range r.seen {
		if strings.HasPrefix(is, listing) {
			directories = append(directories, path)
			continue
		}
		files++
		directories = append(directories, source.Directories(path)...)
	}
	slices.Sort(directories)
	return files, slices.Compact(directories)
}

func ofFile(content []byte, err error) string {
	if err != nil {
		return "error: " + err.Error()
	}
	return fmt.Sprintf("%x", sha256.Sum256(content))
}

func ofDirectory(entries []fs.DirEntry) string {
	var out strings.Builder
	out.WriteString(listing)
	for _, entry := range entries {
		fmt.Fprintf(&out, " %q %t", entry.Name(), entry.IsDir())
	}
	return out.String()
}
