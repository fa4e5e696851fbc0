package simulate

import (
	"cmp"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
)

// Files is the file system that tests live in. Paths are those of the caller,
// and what a test names joined with them, which may lead up through "..". Its
// methods are those of package os.
type Files interface {
	ReadFile(path string) ([]byte, error)
	// ReadDir lists a directory by name; it is an error for anything else.
	ReadDir(path string) ([]fs.DirEntry, error)
	// WriteFile makes the directory if there is none.
	WriteFile(path string, data []byte) error
}

// place is a path as a test names it, and where it does.
type place struct {
	path string
	node *document.Node
}

// beside resolves a path that a file names.
func beside(file, path string) string {
	path = filepath.FromSlash(path)
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(filepath.Dir(file), path)
}

func (p place) read(files Files) (document.File, *document.Error) {
	data, err := files.ReadFile(p.path)
	if err != nil {
		return document.File{}, p.node.Errorf("paths are relative to the file that names them", "cannot read %q: %v", p.path, cause(err))
	}
	return document.File{Name: p.path, Data: data}, nil
}

// readAll reads the file, or the YAML files in the directory.
func (p place) readAll(files Files) ([]document.File, *document.Error) {
	entries, err := files.ReadDir(p.path)
	if err != nil {
		file, wrong := p.read(files)
		return []document.File{file}, wrong
	}
	var out []document.File
	for _, entry := range entries {
		if entry.IsDir() || !isYAML(entry.Name()) {
			continue
		}
		file, wrong := place{path: filepath.Join(p.path, entry.Name()), node: p.node}.read(files)
		if wrong != nil {
			return nil, wrong
		}
		out = append(out, file)
	}
	if len(out) == 0 {
		return nil, p.node.Errorf("", "there is no YAML file in the directory %q", p.path)
	}
	return out, nil
}

// isYAML goes by the name of a file. JSON is YAML.
func isYAML(name string) bool {
	return slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(name))
}

// cause leaves out the path, which messages name already.
func cause(err error) error {
	if failed, ok := errors.AsType[*fs.PathError](err); ok {
		return cmp.Or(failed.Err, err)
	}
	return err
}
