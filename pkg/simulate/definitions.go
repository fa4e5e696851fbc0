package simulate

import (
	"path/filepath"
	"strings"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema/crd"
)

// definitionsOf is what files say about custom resources.
type definitionsOf struct {
	files []document.File
	found []*crd.Definition
}

// readCRDs reads the files that the test names, and those in the directories that
// it names, with all their folders but hidden ones. Each place must hold a
// CustomResourceDefinition.
func (t *Test) readCRDs(files Files) (definitionsOf, document.Errors) {
	var out definitionsOf
	var errs document.Errors
	for _, named := range t.crds {
		found, wrong := named.readTree(files)
		if wrong != nil {
			errs = append(errs, wrong)
			continue
		}
		before := len(out.found)
		for _, file := range found {
			definitions, err := crd.Read(file.Name, file.Data)
			if err != nil {
				errs = append(errs, located(named, err)...)
				continue
			}
			out.found = append(out.found, definitions...)
		}
		if len(out.found) == before && len(errs) == 0 {
			errs = append(errs, named.node.Errorf("", "%s holds no CustomResourceDefinition", named.path))
		}
		out.files = append(out.files, found...)
	}
	return out, errs
}

// located keeps the places that errors have.
func located(at place, err error) document.Errors {
	//nolint:errorlint // It is what crd.Read returns, as it is.
	if errs, ok := err.(document.Errors); ok {
		return errs
	}
	return document.Errors{at.node.Errorf("", "%v", err)}
}

// readTree reads the file, or the YAML files in the directory and below it.
func (p place) readTree(files Files) ([]document.File, *document.Error) {
	entries, err := files.ReadDir(p.path)
	if err != nil {
		file, wrong := p.read(files)
		return []document.File{file}, wrong
	}
	var out []document.File
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), ".") || !entry.IsDir() && !isYAML(entry.Name()) {
			continue
		}
		found, wrong := place{path: filepath.Join(p.path, entry.Name()), node: p.node}.readTree(files)
		if wrong != nil {
			return nil, wrong
		}
		out = append(out, found...)
	}
	return out, nil
}
