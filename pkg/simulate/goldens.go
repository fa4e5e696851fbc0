package simulate

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/dyncontroller/dyncontroller/pkg/plan/compare"
	"github.com/dyncontroller/dyncontroller/pkg/printable"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/spec"
	"github.com/dyncontroller/dyncontroller/pkg/simulate/scenario"
)

// header says what a golden is to whoever comes across it.
const header = "# written by: dyncontroller test --update\n"

// isGolden goes by the header, above which people may comment.
func isGolden(data []byte) bool { return bytes.Contains(data, []byte(strings.TrimSpace(header))) }

// compare judges what happened by the golden of the case, or makes it the
// golden, unless it is shared. A golden that says the same in other words is left as it is.
func (c *Case) compare(story Story, why bool, result *Result, options Options, shared document.Errors) document.Errors {
	if c.Golden == "" {
		result.Status = Pass // Until what it expects says otherwise.
		return nil
	}
	if !why {
		story = story.withoutReasons()
	}
	encoded, err := story.YAML()
	if err != nil {
		return document.Errors{c.node.Errorf("", "%v", err)}
	}
	text := header + string(encoded)
	data, err := options.Files.ReadFile(c.Golden)
	missing := errors.Is(err, fs.ErrNotExist)
	switch {
	case err != nil && !missing:
		return document.Errors{c.node.Errorf("", "cannot read the golden %q: %v", c.Golden, cause(err))}
	case missing && !options.Update:
		return document.Errors{c.node.Errorf("run with --update to write it, then read what it says", "there is no golden %q", c.Golden)}
	}
	if string(data) == text { // As it mostly is.
		result.Status = Pass
		return nil
	}
	want, errs := parseGolden(document.File{Name: c.Golden, Data: data})
	have := scenario.Plain(story)
	var lines []string
	if len(errs) == 0 {
		lines = compare.Diff(want, have)
	}
	switch {
	case !missing && len(errs)+len(lines) == 0:
		result.Status = Pass
	case options.Update:
		return c.update(text, !missing && !isGolden(data), result, options.Files, shared)
	case len(errs) > 0:
		return errs
	default:
		found := compareStories(want, have, story)
		if result.suspects = found.suspects; len(found.suspects) == 0 { // The others follow from them.
			result.suspects = found.minor
		}
		result.Status, result.Differences, result.brief = Fail, lines, found.lines
		result.Diff = compare.Unified(printable.Line(c.Golden), "the rules now", string(data), text)
	}
	return nil
}

// update writes the golden, unless something foreign is there.
func (c *Case) update(text string, foreign bool, result *Result, files Files, shared document.Errors) document.Errors {
	if len(shared) > 0 {
		return shared
	}
	switch {
	case !isYAML(c.Golden):
		return document.Errors{c.node.Errorf("name it golden/CASE.yaml", "a golden is a *.yaml, *.yml or *.json file, and %q is none", c.Golden)}
	case foreign:
		return document.Errors{c.node.Errorf("delete it, or name another file", "%q is not overwritten, since it is no golden: it does not have the line %q",
			c.Golden, strings.TrimSpace(header))}
	}
	if err := files.WriteFile(c.Golden, []byte(text)); err != nil {
		return document.Errors{c.node.Errorf("", "cannot write the golden %q: %v", c.Golden, cause(err))}
	}
	result.Status, result.Updated = Pass, true
	return nil
}

// owner is a case that has a golden, of a test in the same directory.
type owner struct {
	test *Test
	*Case
}

func (o owner) String() string { return fmt.Sprintf("%s/%s in %s", o.test.Name, o.Name, o.test.File) }

// is reports whether both are the same case, which may have been read twice.
func (o owner) is(other owner) bool {
	return filepath.Clean(o.test.File) == filepath.Clean(other.test.File) && o.node.Position() == other.node.Position()
}

// owners are the cases that have each golden, each of them once.
type owners map[string][]owner

func (o owners) add(one owner) {
	if !slices.ContainsFunc(o[one.Golden], one.is) {
		o[one.Golden] = append(o[one.Golden], one)
	}
}

// shared says that a golden is that of another case too, and so is not to be written: it
// would say what one of them does, and the other would fail.
func (o owners) shared(one owner) document.Errors {
	for _, other := range o[one.Golden] {
		if !one.is(other) {
			return document.Errors{one.node.Errorf("rename one of them, or give one another golden",
				"%s is not written: it is the golden of %s too", one.Golden, other)}
		}
	}
	return nil
}

// checkGoldens looks at the goldens that the tests of a directory share. One
// that two cases have can say the truth of one only. One that no case has is
// left from a case that was renamed or removed: what it says is not tested any
// more, and nobody would notice.
func (r *run) checkGoldens(directory string) {
	found, known := goldensOf(directory, r.Files)
	for _, o := range found {
		r.owners.add(o)
	}
	if !known || len(found) == 0 {
		return // What cannot be read may name any golden; it is an error where it is run.
	}
	first := map[string]owner{}
	for _, o := range found {
		before, twice := first[o.Golden]
		if !twice {
			first[o.Golden] = o
			continue
		}
		r.report.Results = append(r.report.Results, Result{File: o.test.File, Status: Error, Errors: document.Errors{o.node.Errorf(
			"rename one of them, or give one another golden", "%s is the golden of %s already", o.Golden, before)}})
	}
	names, directories := yamlFiles(r.Files, filepath.Join(directory, goldenFolder), true)
	for _, name := range names {
		if _, owned := first[name]; directories && !owned { // Where there is no folder, a case that needs a golden misses it.
			r.report.Results = append(r.report.Results, Result{File: name, Status: Error, Errors: document.Errors{{
				File: name, Message: "no case has this golden", Hint: "delete it, or name it as the golden of a case",
			}}})
		}
	}
}

// goldensOf lists the cases of all tests in a directory. What is known of them is not all
// where a file is broken.
func goldensOf(directory string, files Files) (found []owner, known bool) {
	names, known := yamlFiles(files, directory, false)
	for _, name := range names {
		data, err := files.ReadFile(name)
		if err != nil || !isOurs(data) {
			known = known && err == nil
			continue
		}
		tests, errs := parse(document.File{Name: name, Data: data})
		known = known && len(errs) == 0
		for _, test := range tests {
			for _, c := range test.Cases {
				if c.Golden != "" {
					found = append(found, owner{test: test, Case: c})
				}
			}
		}
	}
	return found, known
}

// discover lists the files below a directory that hold documents of ours, in
// order. A path that is no directory is returned as it is; named says so.
func discover(files Files, path string) (found []string, named bool, err error) {
	all, directory := yamlFiles(files, path, true)
	if !directory {
		return all, true, nil
	}
	for _, name := range all {
		data, err := files.ReadFile(name)
		if err != nil {
			return nil, false, fmt.Errorf("looking for tests: %w", err)
		}
		if isOurs(data) {
			found = append(found, name)
		}
	}
	return found, false, nil
}

// oursUnparsed finds the first lines of our documents in text that is not
// YAML.
var oursUnparsed = regexp.MustCompile(`(?m)^(apiVersion: *["']?dyncontroller\.dev/|kind: *["']?RuleTest\b)`)

// mayBeOurs finds what none of our documents lacks, however it is written.
var mayBeOurs = regexp.MustCompile(`(?i)dyncontroller|RuleTest|\\[xuU]`)

// isOurs reports whether a file holds a document of our group, whatever its
// kind, or a RuleTest, whatever its group: a test that is misspelt is to be
// found and refused, not passed over.
func isOurs(data []byte) bool {
	if !mayBeOurs.Match(data) {
		return false // Most files are fixtures and goldens.
	}
	documents, errs := document.Parse(document.File{Data: data})
	group, _, _ := strings.Cut(spec.APIVersion, "/")
	return slices.ContainsFunc(documents, func(n *document.Node) bool {
		return strings.HasPrefix(n.Get("apiVersion").Text(), group+"/") || n.Get("kind").Text() == spec.KindRuleTest
	}) || len(errs) > 0 && oursUnparsed.Match(data)
}

// parseGolden reads a golden as maps, lists and scalars; integers are
// int64.
func parseGolden(file document.File) (any, document.Errors) {
	documents, errs := document.Parse(file)
	switch {
	case len(errs) > 0:
		return nil, errs
	case len(documents) == 0:
		return nil, document.Errors{{File: file.Name, Message: "the golden is empty"}}
	case len(documents) > 1:
		return nil, document.Errors{documents[1].Errorf("remove it", "a golden is one document, this is another")}
	default:
		return documents[0].Any(), nil
	}
}
