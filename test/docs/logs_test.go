package docs_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestLogKeys says that lines of the log have a constant message, and that the guide knows
// their keys.
func TestLogKeys(t *testing.T) {
	keys := map[string]bool{}
	for path, file := range sources(t) {
		found, problems := logged(file)
		for _, problem := range problems {
			t.Errorf("%s: %s", path, problem)
		}
		for _, key := range found {
			keys[key] = true
		}
	}
	var want []string
	for key := range keys {
		want = append(want, key)
	}
	if len(want) < 10 {
		t.Fatalf("want the keys of the log, have %q", want)
	}
	var got []string
	for _, table := range guide(t, "metrics.md").tables {
		if table.rows[0][0] != "key" {
			continue
		}
		for _, row := range table.rows[1:] {
			for key := range strings.SplitSeq(row[0], ", ") {
				got = append(got, code(key))
			}
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the keys in docs/guide/metrics.md (-want +got):\n%s", diff)
	}
}

// sources are the files that the program is made of.
func sources(t *testing.T) map[string]*ast.File {
	t.Helper()
	out := map[string]*ast.File{}
	for _, folder := range []string{"cmd", "internal", "pkg"} {
		err := filepath.WalkDir(filepath.Join(root, folder), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			out[path], err = parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// logCalls are the methods of a logger, by which of their arguments is the first key.
var logCalls = map[string]int{"Debug": 1, "Info": 1, "Warn": 1, "Error": 1, "With": 0, "DebugContext": 2, "InfoContext": 2, "WarnContext": 2, "ErrorContext": 2}

// logged returns the keys under which a file logs. What is spread into a call must be
// made of literals in the same file, which are found by their first element.
func logged(file *ast.File) (keys, problems []string) {
	ast.Inspect(file, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.CallExpr:
			first, is := logCall(node)
			if !is {
				return true
			}
			if first == 1 && literal(node.Args[0]) == "" {
				problems = append(problems, "the message of a log line is not constant")
			}
			if node.Ellipsis.IsValid() {
				first = len(node.Args) // Its parts are literals of their own.
			}
			for i := first; i < len(node.Args); i += 2 {
				if literal(node.Args[i]) == "" {
					problems = append(problems, "the key of a log line is not constant")
				}
				keys = append(keys, literal(node.Args[i]))
			}
		case *ast.CompositeLit:
			if list, is := node.Type.(*ast.ArrayType); !is || !isAny(list.Elt) || len(node.Elts)%2 != 0 || logsNothing(file) {
				return true
			}
			for i := 0; i < len(node.Elts); i += 2 {
				if key := literal(node.Elts[i]); keyPattern.MatchString(key) {
					keys = append(keys, key)
				}
			}
		}
		return true
	})
	return keys, problems
}

var keyPattern = regexp.MustCompile(`^[a-z_]+$`)

// logCall reports whether a call is one of a logger, which is known by its name.
func logCall(call *ast.CallExpr) (first int, is bool) {
	method, is := call.Fun.(*ast.SelectorExpr)
	if !is {
		return 0, false
	}
	first, is = logCalls[method.Sel.Name]
	return first, is && len(call.Args) >= first && isLogger(method.X)
}

func isLogger(value ast.Expr) bool {
	switch value := value.(type) {
	case *ast.Ident:
		return strings.EqualFold(value.Name, "log") || value.Name == "logger"
	case *ast.SelectorExpr:
		return strings.EqualFold(value.Sel.Name, "log")
	case *ast.CallExpr:
		method, is := value.Fun.(*ast.SelectorExpr)
		return is && (strings.EqualFold(method.Sel.Name, "log") || method.Sel.Name == "With" && isLogger(method.X))
	default:
		return false
	}
}

// logsNothing reports whether a file has no logger: its lists of anything are not for one.
func logsNothing(file *ast.File) bool {
	logs := false
	ast.Inspect(file, func(node ast.Node) bool {
		if call, is := node.(*ast.CallExpr); is {
			_, one := logCall(call)
			logs = logs || one && call.Ellipsis.IsValid()
		}
		return !logs
	})
	return !logs
}

func isAny(element ast.Expr) bool {
	name, is := element.(*ast.Ident)
	return is && name.Name == "any"
}

// literal is the text of a string literal, "" for anything else.
func literal(value ast.Expr) string {
	text, is := value.(*ast.BasicLit)
	if !is || text.Kind != token.STRING {
		return ""
	}
	out, err := strconv.Unquote(text.Value)
	if err != nil {
		return ""
	}
	return out
}

// TestLogged holds that the check sees what it is for.
func TestLogged(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason, body   string
		keys, problems []string
	}{
		"a line":       {"Every second argument is a key.", `s.log.Info("done", "name", x, "err", err)`, []string{"name", "err"}, nil},
		"no keys":      {"A line may have none.", `log.Debug("done")`, nil, nil},
		"with":         {"What is said of all lines, and of one.", `e.log(key).With("rule", r).Warn("not done", "err", err)`, []string{"err", "rule"}, nil},
		"context":      {"The context comes first.", `o.options.Log.ErrorContext(ctx, "not done", "err", err)`, []string{"err"}, nil},
		"spread":       {"The parts are literals of the file.", `parts := []any{"rules", x}; log.With(parts...).Info("done", "class", c)`, []string{"rules", "class"}, nil},
		"another list": {"A list of anything need not be for a log.", `x := []any{"a", 1}`, nil, nil},
		"no logger":    {"Others have methods of these names.", `recorder.Error("done", "name", x); http.Error(w, "no", 3)`, nil, nil},
		"message":      {"A message that is made cannot be searched for.", `log.Info(fmt.Sprintf("%d done", n))`, nil, []string{"the message of a log line is not constant"}},
		"key":          {"Nor can a key.", `log.Info("done", key, 1)`, []string{""}, []string{"the key of a log line is not constant"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file, err := parser.ParseFile(token.NewFileSet(), "f.go", "package p\nfunc f() { "+tc.body+" }", 0)
			if err != nil {
				t.Fatal(err)
			}
			keys, problems := logged(file)
			slices.Sort(keys)
			slices.Sort(tc.keys)
			if diff := cmp.Diff(tc.keys, keys); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.problems, problems); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
