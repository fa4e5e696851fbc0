package source

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/dyncontroller/dyncontroller/pkg/rules/schema/crd"
	"github.com/dyncontroller/dyncontroller/pkg/simulate/apiserver"
)

// maxDefinitions is above what the reader of CRDs takes, so that it says what is
// too large, and stops a file without end.
const maxDefinitions = 17 << 20

// ReadCRDs reads the CustomResourceDefinitions that the paths name, in their order.
// A path is a file, a directory or "-" for stdin. Of a directory, the files named
// *.yaml, *.yml and *.json belong to it, and those of its folders, but no names that
// start with a dot. Objects of other kinds are passed over; a path without any
// definition is an error, and so is one that an API server would refuse. It finds all
// errors, which are joined.
func ReadCRDs(paths []string, stdin io.Reader) ([]*crd.Definition, error) {
	var all []*crd.Definition
	var errs []error
	for _, path := range paths {
		found, err := readCRDs(path, stdin)
		all = append(all, found...)
		switch {
		case err != nil:
			errs = append(errs, err)
		case len(found) == 0:
			errs = append(errs, fmt.Errorf("%s holds no CustomResourceDefinition", content{path: path}))
		}
	}
	return all, errors.Join(errs...)
}

func readCRDs(path string, stdin io.Reader) ([]*crd.Definition, error) {
	switch path {
	case "":
		return nil, fmt.Errorf("reading CRDs: %w", errNoName)
	case Stdin:
		return readDefinitions(Stdin, stdin)
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("reading CRDs: %w", err)
	}
	if !info.IsDir() {
		return readDefinitionFile(path)
	}
	return readTree(path)
}

// readTree reads on after an error. A link to a directory is not followed, since it
// may lead back.
func readTree(root string) ([]*crd.Definition, error) {
	var all []*crd.Definition
	var errs []error
	// Every error is kept below, and none ends the walk.
	_ = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			errs = append(errs, fmt.Errorf("reading CRDs: %w", err))
			return nil
		case entry.IsDir() && path != root && strings.HasPrefix(entry.Name(), "."):
			return fs.SkipDir
		case entry.IsDir() || !isRuleFile(entry.Name()):
			return nil
		}
		if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
			return nil
		}
		found, err := readDefinitionFile(path)
		all = append(all, found...)
		errs = append(errs, err)
		return nil
	})
	return all, errors.Join(errs...)
}

func readDefinitionFile(path string) ([]*crd.Definition, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("reading CRDs: %w", err)
	}
	defer file.Close()
	return readDefinitions(path, file)
}

func readDefinitions(name string, from io.Reader) ([]*crd.Definition, error) {
	data, err := io.ReadAll(io.LimitReader(from, maxDefinitions))
	if err != nil {
		return nil, fmt.Errorf("reading CRDs: %w", err)
	}
	return crd.Read(name, data, apiserver.Refused)
}
