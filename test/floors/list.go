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

// listed is what is asked of each package.
type listed struct {
	ImportPath string
	Imports    []string
	Module     *struct {
		Path string
		Main bool
	}
}

// List asks the go command for the packages of the module at dir and for all that they import, however far away.
func List(ctx context.Context, dir string) (Graph, error) {
	cmd := exec.CommandContext(ctx, "go", "list", "-deps", "-json=ImportPath,Imports,Module", "./...")
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("running %q: %w\n%s", cmd, err, stderr.Bytes())
	}
	graph, err := read(bytes.NewReader(out))
	if err != nil {
		return nil, fmt.Errorf("reading the output of %q: %w", cmd, err)
	}
	return graph, nil
}

// read takes a stream of packages, each of which follows those that it imports.
func read(packages io.Reader) (Graph, error) {
	graph := Graph{}
	local := map[string]string{}
	decoder := json.NewDecoder(packages)
	for {
		var p listed
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return graph, nil
		} else if err != nil {
			return nil, err
		}
		name := p.ImportPath
		if p.Module != nil && p.Module.Main {
			name = "." + strings.TrimPrefix(p.ImportPath, p.Module.Path)
			local[p.ImportPath] = name
		}
		graph[name] = make([]string, len(p.Imports))
		for i, imported := range p.Imports {
			graph[name][i] = cmp.Or(local[imported], imported)
		}
	}
}
