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

	"github.com/dyncontroller/dyncontroller/pkg/plan/compare"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema/crd"
	"github.com/dyncontroller/dyncontroller/pkg/simulate/apiserver"
	"github.com/dyncontroller/dyncontroller/pkg/simulate/coverage"
	"github.com/dyncontroller/dyncontroller/pkg/simulate/queue"
	"github.com/dyncontroller/dyncontroller/pkg/simulate/scenario"
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
	r := &run{Options: options, owners: owners{}, servers: servers{by: map[string]*apiserver.Server{}}}
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

// judge runs a case and compares what happens with its golden.
func (r *run) judge(ctx context.Context, p pending) {
	result := &r.report.Results[p.result]
	end, errs := r.tell(ctx, p, result)
	if len(errs) == 0 {
		result.EvaluationsFailed, result.WritesRefused = end.story.failed()
		errs = p.of.compare(end.story, p.test.why, result, r.Options, r.owners.shared(owner{p.test, p.of}))
		if len(errs) == 0 {
			p.of.expected(end, result)
		}
		r.explain(ctx, p, end, result)
	}
	if len(errs) > 0 {
		result.Status, result.Errors = Error, errs.Sorted()
	}
}

// tell runs a case in both orders. It is an error if they differ, or if no rule looked
// at anything.
func (r *run) tell(ctx context.Context, p pending, result *Result) (ending, document.Errors) {
	play, errs := r.prepare(p)
	if len(errs) > 0 {
		return ending{}, errs
	}
	covered := r.Coverage.Case(p.test.set)
	play.looked = covered.Evaluated
	end, err := play.run(ctx, queue.FIFO)
	if err != nil {
		return ending{}, p.of.failed(err, result)
	}
	if !end.story.decides() {
		return ending{}, unconcerned(play.objects, p.test.set, p.of)
	}
	if !end.ordered {
		return end, nil // In the other order the same would happen.
	}
	play.looked = nil
	other, err := play.run(ctx, queue.Reversed)
	if err != nil {
		return ending{}, p.of.failed(fmt.Errorf("with the queue reversed: %w", err), result)
	}
	return end, p.of.sameStates(end.states, other.states, result)
}

// prepare reads the objects of a case, and finds a server for them.
func (r *run) prepare(p pending) (play, document.Errors) {
	objects, errs := readObjects(p.of.objects, r.Files)
	if len(errs) > 0 {
		return play{}, errs
	}
	server, err := r.servers.of(p.test.Definitions())
	if err != nil {
		return play{}, document.Errors{p.of.node.Errorf("", "%v", err)}
	}
	out := play{server: server, test: p.test, of: p.of, files: r.Files, objects: objects}
	return out, out.admit(objects)
}

// failed locates what kept a case from its end: at the step in question, or else at the
// case.
func (c *Case) failed(err error, result *Result) document.Errors {
	if restless, is := errors.AsType[*scenario.RestlessError](err); is {
		result.Cycle = restless.Path
	}
	if located, is := errors.AsType[document.Errors](err); is {
		return located
	}
	at := c.node
	if failed, is := errors.AsType[*stepError](err); is {
		at = failed.step.Node
	}
	return document.Errors{at.Errorf("", "%v", err)}
}

// unconcerned says of each object why no rule looked at it.
func unconcerned(objects []object, set *rules.Set, c *Case) document.Errors {
	var errs document.Errors
	for _, o := range objects {
		if _, err := watched(set, o.content); err != nil {
			errs = append(errs, o.located(err))
		}
	}
	if len(errs) == 0 {
		errs = append(errs, c.node.Errorf("add an object that a rule watches", "no rule looked at anything, so the case proves nothing"))
	}
	return errs
}

// sameStates refuses rules that come to something else when objects are looked at in
// another order, at the first step after which that shows.
func (c *Case) sameStates(ends, others []scenario.State, result *Result) document.Errors {
	for i, end := range ends {
		if result.Order = compare.Compare(map[string]any(end), map[string]any(others[i]), "in order", "reversed"); len(result.Order) == 0 {
			continue
		}
		at := c.node
		if i > 0 {
			at = c.Steps[i-1].Node
		}
		return document.Errors{at.Errorf("", "the end depends on the order in which objects are looked at")}
	}
	return nil
}

// located points at what an object says it is.
func (o object) located(err error) *document.Error {
	n := o.node
	if kind := n.Get("kind"); kind != nil {
		n = kind
	}
	if unwatched, ok := errors.AsType[*UnwatchedError](err); ok {
		return n.Errorf(unwatched.hint, "%s", unwatched.message)
	}
	return n.Errorf("", "%v", err)
}
