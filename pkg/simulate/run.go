package simulate

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema/crd"
	"github.com/dyncontroller/dyncontroller/pkg/simulate/coverage"
)

// Options say what to run and how. Files is required, and is used by several
// goroutines at the same time.
type Options struct {
	Files Files
	// Only runs the cases whose "test/case" it matches, nil all.
	Only *regexp.Regexp
	// Update writes the goldens instead of comparing with them.
	Update bool
	// CI says that nobody looks at what is written, so Update is refused.
	CI bool
	// Definitions are those of custom resources that all tests have, beside their own.
	Definitions []*crd.Definition
	// Coverage records which rules the cases exercise, nil for nobody.
	Coverage *coverage.Recorder
}

// ErrUpdateInCI refuses to accept results that nobody has read.
var ErrUpdateInCI = errors.New("goldens are not written in CI: run with --update where you can read and commit them")

// Run runs the tests in files, and in the files below directories. The error
// says that nothing could be run; what is wrong with a test or a case is in
// the report.
func Run(ctx context.Context, paths []string, options Options) (Report, error) {
	if options.Update && options.CI {
		return Report{}, ErrUpdateInCI
	}
	r := &run{Options: options, owners: owners{}}
	seen := map[string]bool{}
	for _, path := range paths {
		found, named, err := discover(options.Files, path)
		if err != nil {
			return Report{}, err
		}
		for _, file := range found {
			if seen[filepath.Clean(file)] {
				continue
			}
			seen[filepath.Clean(file)] = true
			r.load(file, named)
			if directory := filepath.Dir(file); !seen[directory] {
				seen[directory] = true
				r.checkGoldens(directory)
			}
		}
	}
	r.play(ctx)
	r.report.Warnings = r.report.Warnings.Sorted() // Those of rules that tests share, once.
	if options.Coverage != nil {
		r.report.Coverage = new(options.Coverage.Report())
	}
	return r.report, r.report.check(paths, options)
}

// run is one run of tests.
type run struct {
	Options
	servers servers
	owners  owners
	cases   []pending
	report  Report
}

// pending is a case that is to be run, and where its result belongs.
type pending struct {
	test   *Test
	of     *Case
	result int
}

// check refuses a run that would look like a success because there was nothing
// in it.
func (r Report) check(paths []string, options Options) error {
	switch {
	case len(r.Results) == 0:
		return fmt.Errorf("there is no RuleTest in %s", strings.Join(paths, ", "))
	case options.Only != nil && r.Count(Skip) == len(r.Results):
		return fmt.Errorf("no case matches %q", options.Only)
	default:
		return nil
	}
}

// load reads the tests in a file. One that was named must have some. What is wrong with
// one of them is told, and the others are run.
func (r *run) load(path string, named bool) {
	tests, errs := load(path, r.Files, r.Definitions)
	if named && len(tests) == 0 && len(errs) == 0 {
		errs = document.Errors{{File: path, Message: "the file holds no RuleTest"}}
	}
	if len(errs) > 0 {
		r.report.Results = append(r.report.Results, Result{File: path, Status: Error, Errors: errs})
	}
	for _, test := range tests {
		r.Coverage.Rules(test.set)
		r.report.Warnings = append(r.report.Warnings, test.set.Warnings().Of(document.Warning)...)
		for _, c := range test.Cases {
			r.owners.add(owner{test, c})
			result := Result{File: test.File, Name: test.Name + "/" + c.Name, Status: Skip, Golden: c.Golden}
			if r.Only == nil || r.Only.MatchString(result.Name) {
				r.cases = append(r.cases, pending{test, c, len(r.report.Results)})
			}
			r.report.Results = append(r.report.Results, result)
		}
	}
}

// play runs the cases, as many at a time as there are processors.
func (r *run) play(ctx context.Context) {
	var players sync.WaitGroup
	next := make(chan pending)
	for range min(runtime.GOMAXPROCS(0), len(r.cases)) {
		players.Go(func() {
			for c := range next {
				r.judge(ctx, c)
			}
		})
	}
	for _, c := range r.cases {
		next <- c
	}
	close(next)
	players.Wait()
}
