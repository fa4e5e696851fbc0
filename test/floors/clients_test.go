package floors_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// makesClients are what makes an HTTP client, or a client with one of its own, by the path of the package. Those that are given an HTTP
// client are free.
var makesClients = map[string]string{
	"net/http":          "Client DefaultClient DefaultTransport Transport Get Head Post PostForm",
	"k8s.io/client-go/": "HTTPClientFor TransportFor RESTClientFor UnversionedRESTClientFor NewForConfig NewForConfigOrDie NewDiscoveryClientForConfig New NewWithConfig",
}

// TestClients holds that all clients towards the API server are made in pkg/client, which follows no redirect and bounds the answers.
func TestClients(t *testing.T) {
	t.Parallel()
	allowed := map[string]string{
		"pkg/client/http.go":                 "it makes the one",
		"pkg/client/dynamic.go":              "it is given the one",
		"internal/cli/explain_controller.go": "it asks the controller",
	}
	unused := map[string]bool{}
	for file := range allowed {
		unused[file] = true
	}
	for _, root := range []string{"cmd", "internal", "pkg"} {
		err := filepath.WalkDir(filepath.Join("../..", root), func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			name := strings.TrimPrefix(filepath.ToSlash(path), "../../")
			files := token.NewFileSet()
			file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			for at, what := range clientsMade(file) {
				delete(unused, name)
				if allowed[name] == "" {
					t.Errorf("%s makes a client with %s: use pkg/client", strings.TrimPrefix(files.Position(at).String(), "../../"), what)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for file := range unused {
		t.Errorf("%s makes no client: take it off", file)
	}
}

// clientsMade are the places at which a file makes clients, and with what.
func clientsMade(file *ast.File) map[token.Pos]string {
	imported := map[string]string{}
	for _, spec := range file.Imports {
		path, _ := strconv.Unquote(spec.Path.Value)
		name := path[strings.LastIndex(path, "/")+1:]
		if spec.Name != nil {
			name = spec.Name.Name
		}
		for of, functions := range makesClients {
			if path == of || strings.HasSuffix(of, "/") && strings.HasPrefix(path, of) && !strings.HasPrefix(path, "k8s.io/client-go/tools/") && !strings.HasPrefix(path, "k8s.io/client-go/util/") {
				imported[name] = functions
			}
		}
	}
	out := map[token.Pos]string{}
	ast.Inspect(file, func(n ast.Node) bool {
		selector, is := n.(*ast.SelectorExpr)
		if !is {
			return true
		}
		if from, is := selector.X.(*ast.Ident); is {
			for function := range strings.FieldsSeq(imported[from.Name]) {
				if function == selector.Sel.Name {
					out[selector.Pos()] = from.Name + "." + function
				}
			}
		}
		return true
	})
	return out
}

// TestClientsMade holds that clients are noticed by whatever name a package is imported.
func TestClientsMade(t *testing.T) {
	t.Parallel()
	file, err := parser.ParseFile(token.NewFileSet(), "", `package p
import ("net/http"; d "k8s.io/client-go/dynamic"; "k8s.io/client-go/rest"; "k8s.io/client-go/tools/cache")
var _ = []any{d.NewForConfig(nil), &http.Client{}, rest.TransportFor, rest.CopyConfig, d.ConfigFor, http.MethodGet, cache.New}
`, 0)
	if err != nil {
		t.Fatal(err)
	}
	if made := clientsMade(file); len(made) != 3 {
		t.Errorf("want 3, got %v", made)
	}
}
