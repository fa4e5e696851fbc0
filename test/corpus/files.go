package corpus

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/test/controlplane"
)

// Files returns the files of a project that have CRDs in them, named by module and path. The module is downloaded if
// need be.
func Files(ctx context.Context, project Project) ([]document.File, error) {
	dir, err := controlplane.PinnedModuleDir(ctx, project.Module, project.Sum)
	if err != nil {
		return nil, fmt.Errorf("fetching the CRDs of %s: %w", project.Name, err)
	}
	var files []document.File
	for _, glob := range project.Globs {
		paths, err := filepath.Glob(filepath.Join(dir, glob))
		if err != nil {
			return nil, fmt.Errorf("looking for the CRDs of %s: %w", project.Name, err)
		}
		if len(paths) == 0 {
			return nil, fmt.Errorf("%s has no files %s", project.Module, glob)
		}
		for _, path := range paths {
			if filepath.Base(path) == "kustomization.yaml" {
				continue
			}
			data, err := os.ReadFile(path)
			if err != nil {
				return nil, fmt.Errorf("reading the CRDs of %s: %w", project.Name, err)
			}
			name := project.Name + filepath.ToSlash(strings.TrimPrefix(path, dir))
			files = append(files, document.File{Name: name, Data: data})
		}
	}
	return files, nil
}
