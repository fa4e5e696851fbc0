package simulate

import (
	"fmt"
	"path/filepath"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
)

// owner is a case that has a golden, of a test in the same directory.
type owner struct {
	test *Test
	*Case
}

func (o owner) String() string { return fmt.Sprintf("%s/%s in %s", o.test.Name, o.Name, o.test.File) }

// checkGoldens looks at the goldens that the tests of a directory share. One
// that two cases have would be overwritten by either. One that no case has is
// left from a case that was renamed or removed: what it says is not tested any
// more, and nobody would notice.
func checkGoldens(directory string, files Files) []Result {
	owners, known := goldensOf(directory, files)
	if !known || len(owners) == 0 {
		return nil // What cannot be read may name any golden; it is an error where it is run.
	}
	var out []Result
	first := map[string]owner{}
	for _, o := range owners {
		before, twice := first[o.Golden]
		if !twice {
			first[o.Golden] = o
			continue
		}
		out = append(out, Result{File: o.test.File, Status: Error, Errors: document.Errors{o.node.Errorf(
			"rename one of them, or give one another golden", "%s is the golden of %s already", o.Golden, before)}})
	}
	return append(out, stale(filepath.Join(directory, goldenFolder), first, files)...)
}

// goldensOf lists the cases of all tests in a directory.
func goldensOf(directory string, files Files) (owners []owner, known bool) {
	entries, err := files.ReadDir(directory)
	if err != nil {
		return nil, false
	}
	for _, entry := range entries {
		if entry.IsDir() || !isYAML(entry.Name()) {
			continue
		}
		name := filepath.Join(directory, entry.Name())
		data, err := files.ReadFile(name)
		if err != nil {
			return nil, false
		}
		if !isOurs(data) {
			continue
		}
		tests, errs := parse(document.File{Name: name, Data: data})
		if len(errs) > 0 {
			return nil, false
		}
		for _, test := range tests {
			for _, c := range test.Cases {
				owners = append(owners, owner{test: test, Case: c})
			}
		}
	}
	return owners, true
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
