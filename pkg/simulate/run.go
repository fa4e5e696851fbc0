package simulate

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
)

// Options say what to run and how. Files is required.
type Options struct {
	Files Files
	// Only runs the cases whose "test/case" it matches, nil all.
	Only *regexp.Regexp
	// Update writes the goldens instead of comparing with them.
	Update bool
	// CI says that nobody looks at what is written, so Update is refused.
	CI bool
	// Schemas say what the objects look like, as [rules.Options] have them.
	Schemas *schema.Catalog
}

// ErrUpdateInCI refuses to accept results that nobody has read.
var ErrUpdateInCI = errors.New("goldens are not written in CI: run with --update where you can read and commit them")

// Run runs the tests in files, and in the files below directories. The error
// says that nothing could be run; what is wrong with a test or a case is in
// the report.
func Run(paths []string, options Options) (Report, error) {
	if options.Update && options.CI {
		return Report{}, ErrUpdateInCI
	}
	var report Report
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
			results, warnings := runFile(file, named, options)
			report.Results = append(report.Results, results...)
			report.Warnings = append(report.Warnings, warnings...)
			if directory := filepath.Dir(file); !seen[directory] {
				seen[directory] = true
				report.Results = append(report.Results, checkGoldens(directory, options.Files)...)
			}
		}
	}
	report.Warnings = report.Warnings.Sorted() // Those of rules that tests share, once.
	return report, report.check(paths, options)
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

// runFile runs the tests in a file. One that was named must have some.
func runFile(path string, named bool, options Options) (out []Result, warnings document.Errors) {
	tests, errs := load(path, options.Files, options.Schemas)
	if named && len(tests) == 0 && len(errs) == 0 {
		errs = document.Errors{{File: path, Message: "the file holds no RuleTest"}}
	}
	if len(errs) > 0 {
		return []Result{{File: path, Status: Error, Errors: errs}}, nil
	}
	for _, test := range tests {
		out = append(out, test.Run(options)...)
		warnings = append(warnings, test.set.Warnings().Of(document.Warning)...)
	}
	return out, warnings
}

// Run runs the cases in the order they are written. Only, Update and Files of
// the options are used.
func (t *Test) Run(options Options) []Result {
	var out []Result
	for _, c := range t.Cases {
		result := Result{File: t.File, Name: t.Name + "/" + c.Name, Status: Skip, Golden: c.Golden}
		if options.Only == nil || options.Only.MatchString(result.Name) {
			t.runCase(c, &result, options)
		}
		out = append(out, result)
	}
	return out
}

func (t *Test) runCase(c *Case, result *Result, options Options) {
	decided, errs := t.decide(c, options.Files)
	if len(errs) == 0 {
		errs = c.compare(decided, result, options)
	}
	if len(errs) > 0 {
		result.Status, result.Errors = Error, errs.Sorted()
	}
}

// decide evaluates each object of a case once, in order.
func (t *Test) decide(c *Case, files Files) (Decided, document.Errors) {
	objects, errs := c.read(files)
	if len(errs) > 0 {
		return Decided{}, errs
	}
	all := Decided{Decisions: []Decision{}, Writes: []Write{}, Events: []Event{}}
	for i, o := range objects {
		one, err := evaluate(t.set, stored(o.content, i+1, t.now), t.now, true)
		if err != nil {
			errs = append(errs, o.located(err))
			continue
		}
		all.Decisions = append(all.Decisions, one.Decisions...)
		all.Writes = append(all.Writes, one.Writes...)
		all.Audited = append(all.Audited, one.Audited...)
		all.LookAgainAt = append(all.LookAgainAt, one.LookAgainAt...)
		all.Events = append(all.Events, one.Events...)
	}
	return all, errs
}

// located points at what an object says it is.
func (o object) located(err error) *document.Error {
	n := o.node
	if kind := n.Get("kind"); kind != nil {
		n = kind
	}
	if unwatched, ok := errors.AsType[*unwatchedError](err); ok {
		return n.Errorf(unwatched.hint, "%s", unwatched.message)
	}
	return n.Errorf("", "%v", err)
}

// read reads the objects of a case, which a cluster must be able to have all
// at once.
func (c *Case) read(files Files) ([]object, document.Errors) {
	var out []object
	var errs document.Errors
	first := map[string]string{}
	for _, named := range c.objects {
		file, wrong := named.read(files)
		if wrong != nil {
			errs = append(errs, wrong)
			continue
		}
		objects, wrongs := parseObjects(file)
		errs = append(errs, wrongs...)
		for _, o := range objects {
			id := identityOf(o.content)
			if before := first[id]; before != "" && len(wrongs) == 0 {
				errs = append(errs, o.node.Errorf("give one of them another name", "the object is in %s already", before))
			}
			first[id] = fmt.Sprintf("%s, line %d,", file.Name, o.node.Position().Line)
		}
		out = append(out, objects...)
	}
	return out, errs
}
