package floors

import (
	"context"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"path/filepath"
)

// Package is a package of the module, without its tests, and the types of its code.
type Package struct {
	Name  string // As in [House].
	Files map[string]*ast.File
	Types *types.Package
	Info  *types.Info
}

// Load reads the packages of the module at dir that patterns of the go command match. Packages that they import are
// compiled, if the go command has not compiled them before.
func Load(ctx context.Context, dir string, patterns ...string) ([]Package, error) {
	args := append([]string{"-export", "-json=ImportPath,Dir,GoFiles,Export,DepOnly,Module"}, patterns...)
	packages, err := list(ctx, dir, args...)
	if err != nil {
		return nil, err
	}
	known := compiled{read: map[string]*types.Package{}, files: map[string]string{}}
	positions := token.NewFileSet()
	known.others = importer.ForCompiler(positions, "gc", known.open)
	var loaded []Package
	for _, p := range packages {
		if p.DepOnly {
			known.files[p.ImportPath] = p.Export
			continue
		}
		read, err := check(positions, p, known)
		if err != nil {
			return nil, err
		}
		known.read[p.ImportPath] = read.Types
		loaded = append(loaded, read)
	}
	return loaded, nil
}

// check parses the files of a package and finds the types of its code.
func check(positions *token.FileSet, p listed, imports types.Importer) (Package, error) {
	read := Package{
		Name:  p.name(),
		Files: map[string]*ast.File{},
		Info:  &types.Info{Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{}},
	}
	files := make([]*ast.File, len(p.GoFiles))
	for i, name := range p.GoFiles {
		file, err := parser.ParseFile(positions, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return Package{}, err
		}
		files[i], read.Files[name] = file, file
	}
	var err error
	read.Types, err = (&types.Config{Importer: imports}).Check(p.ImportPath, positions, files, read.Info)
	if err != nil {
		return Package{}, fmt.Errorf("checking the types of %s: %w", p.ImportPath, err)
	}
	return read, nil
}

// compiled imports packages: those that were read, and others as the compiler has left them.
type compiled struct {
	read   map[string]*types.Package
	files  map[string]string
	others types.Importer
}

// Import implements types.Importer.
func (c compiled) Import(path string) (*types.Package, error) {
	if p, ok := c.read[path]; ok {
		return p, nil
	}
	return c.others.Import(path)
}

func (c compiled) open(path string) (io.ReadCloser, error) {
	return os.Open(c.files[path])
}
