package floors

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
)

// listed is a package as go list tells of it; the caller of list chooses the fields.
type listed struct {
	ImportPath string
	Dir        string
	GoFiles    []string
	Imports    []string
	Export     string // The file with the types of the compiled package.
	DepOnly    bool   // No pattern matches it, it is only imported.
	Module     *struct {
		Path string
		Main bool
	}
}

// List asks the go command for the packages of the module at dir, built with the tags, and for all that they import,
// however far away.
func List(ctx context.Context, dir string, tags ...string) (Graph, error) {
	packages, err := list(ctx, dir, "-tags="+strings.Join(tags, ","), "-json=ImportPath,Imports,Module", "./...")
	if err != nil {
		return nil, err
	}
	graph := Graph{}
	local := map[string]string{}
	for _, p := range packages {
		local[p.ImportPath] = p.name()
		imports := make([]string, len(p.Imports))
		for i, imported := range p.Imports {
			imports[i] = cmp.Or(local[imported], imported)
		}
		graph[p.name()] = imports
	}
	return graph, nil
}

// name is the import path; of a package of this module, as the go command writes it.
func (l listed) name() string {
	if l.Module != nil && l.Module.Main {
		return "." + strings.TrimPrefix(l.ImportPath, l.Module.Path)
	}
	return l.ImportPath
}

// list runs "go list -deps" in dir. Each package follows those that it imports.
func list(ctx context.Context, dir string, args ...string) ([]listed, error) {
	cmd := exec.CommandContext(ctx, "go", append([]string{"list", "-deps"}, args...)...)
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("running %q: %w\n%s", cmd, err, stderr.Bytes())
	}
	var packages []listed
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return packages, nil
		} else if err != nil {
			return nil, fmt.Errorf("reading the output of %q: %w", cmd, err)
		}
		packages = append(packages, p)
	}
}
