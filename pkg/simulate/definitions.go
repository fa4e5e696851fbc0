package simulate

import (
	"path/filepath"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema/crd"
	"github.com/dyncontroller/dyncontroller/pkg/simulate/apiserver"
)

// readCRDs reads the files that the test names, and those in the directories that
// it names, with all their folders but hidden ones. Each place must hold a
// CustomResourceDefinition, which an API server takes.
func (t *Test) readCRDs(files Files) ([]*crd.Definition, document.Errors) {
	var out []*crd.Definition
	var errs document.Errors
	first := map[schema.GroupResource]string{} // the file that defines it
	for _, named := range t.crds {
		found, wrong := named.readTree(files)
		if wrong != nil {
			errs = append(errs, wrong)
			continue
		}
		before := len(out)
		for _, file := range found {
			definitions, err := crd.Read(file.Name, file.Data, apiserver.Refused)
			if err != nil {
				errs = append(errs, located(named, err)...)
				continue
			}
			errs = append(errs, named.twice(first, file.Name, definitions)...)
			out = append(out, definitions...)
		}
		if len(out) == before && len(errs) == 0 {
			errs = append(errs, named.node.Errorf("", "%s holds no CustomResourceDefinition", named.path))
		}
	}
	return out, errs
}

// twice refuses what is defined before: a cluster has one definition of a resource.
func (p place) twice(first map[schema.GroupResource]string, file string, definitions []*crd.Definition) document.Errors {
	var errs document.Errors
	for _, d := range definitions {
		resource := resourceDefined(d)
		if before, defined := first[resource]; defined {
			errs = append(errs, p.node.Errorf("keep one of them", "%s is defined twice, in %s and in %s", resource.String(), before, file))
			continue
		}
		first[resource] = file
	}
	return errs
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
