package simulate

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
)

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
	r.report.Results = append(r.report.Results, stale(filepath.Join(directory, goldenFolder), first, r.Files)...)
}

// goldensOf lists the cases of all tests in a directory. What is known of them is not all
// where a file is broken.
func goldensOf(directory string, files Files) (found []owner, known bool) {
	entries, err := files.ReadDir(directory)
	known = err == nil
	for _, entry := range entries {
		if entry.IsDir() || !isYAML(entry.Name()) {
			continue
		}
		name := filepath.Join(directory, entry.Name())
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

func stale(folder string, owners map[string]owner, files Files) []Result {
	entries, err := files.ReadDir(folder)
	if err != nil {
		return nil // There are none. A case that needs one misses it.
	}
	var out []Result
	for _, entry := range entries {
		path := filepath.Join(folder, entry.Name())
		_, owned := owners[path]
		switch {
		case entry.IsDir():
			out = append(out, stale(path, owners, files)...)
		case !owned && isYAML(entry.Name()):
			out = append(out, Result{File: path, Status: Error, Errors: document.Errors{{
				File: path, Message: "no case has this golden", Hint: "delete it, or name it as the golden of a case",
			}}})
		}
	}
	return out
}
