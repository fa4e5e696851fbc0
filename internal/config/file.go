package config

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
)

// maxFile is far above what settings need.
const maxFile = 1 << 20

// readFile returns the settings of the file by name; none where there is no
// path. Paths in it are relative to it.
func readFile(path string) (map[string]any, error) {
	if path == "" {
		return nil, nil
	}
	data, err := readAll(path)
	if err != nil {
		return nil, fmt.Errorf("reading --config: %w", err)
	}
	return parseFile(document.File{Name: path, Data: data})
}

func parseFile(file document.File) (map[string]any, error) {
	roots, errs := document.Parse(file)
	out := fileSettings{directory: filepath.Dir(file.Name), values: map[string]any{}}
	for i, root := range roots {
		if i > 0 {
			errs = append(errs, root.Errorf("join the documents", "the settings are one document"))
			break
		}
		errs = append(errs, root.Decode(out.fields()...)...)
	}
	return out.values, errs.Sorted().Err()
}

func readAll(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, maxFile))
}

// fileSettings collects what a file says.
type fileSettings struct {
	directory string
	values    map[string]any
}

func (f fileSettings) fields() []document.Field {
	out := []document.Field{document.Optional(rulesFlag, f.rules), document.Optional(paramFlag, f.params)}
	for _, s := range settings() {
		out = append(out, document.Optional(s.name, f.scalar(s)))
	}
	for _, name := range unsupported() {
		out = append(out, document.Unsupported(name))
	}
	return out
}

func (f fileSettings) scalar(s setting) document.Decoder {
	return func(n *document.Node) document.Errors {
		if wrong := n.Expect(document.KindString, document.KindInt, document.KindFloat, document.KindBool); wrong != nil {
			return document.Errors{wrong}
		}
		text := n.Text()
		if err := s.valid(text); err != nil {
			return document.Errors{n.Errorf("", "%v", err)}
		}
		if s.name == "kubeconfig" || s.name == "metrics-cert-dir" {
			text = f.resolve(text)
		}
		f.values[s.name] = text
		return nil
	}
}

func (f fileSettings) rules(n *document.Node) document.Errors {
	paths, errs := several(n)
	for i, path := range paths {
		paths[i] = f.resolve(path)
	}
	f.values[rulesFlag] = paths
	return errs
}

func (f fileSettings) params(n *document.Node) document.Errors {
	texts, errs := several(n)
	elements := n.Elements()
	if n.Kind() == document.KindString {
		elements = []*document.Node{n}
	}
	for _, element := range elements {
		if _, err := rules.ParseParam(element.Text()); err != nil && element.Kind() == document.KindString {
			errs = append(errs, element.Errorf("", "%v", err))
		}
	}
	f.values[paramFlag] = texts
	return errs
}

// several takes a list of texts, or the one of it.
func several(n *document.Node) (texts []string, errs document.Errors) {
	if n.Kind() == document.KindString {
		texts = make([]string, 1)
		return texts, document.String(&texts[0])(n)
	}
	errs = document.List(&texts, document.String)(n)
	return texts, errs
}

func (f fileSettings) resolve(path string) string {
	if path == "" || path == "-" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(f.directory, path)
}
