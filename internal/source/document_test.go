package source

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"pgregory.net/rapid"

	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/spec"
)

// reparsed reads a document as rules are read.
func reparsed(t testing.TB, file document.File) (map[string]any, document.Errors) {
	t.Helper()
	documents, errs := document.Parse(file)
	if len(documents) != 1 {
		t.Fatalf("%d documents, %v, of\n%s", len(documents), errs, file.Data)
	}
	out, _ := documents[0].Any().(map[string]any)
	return out, errs
}

func guard(values any) (Key, map[string]any) {
	return Key{Kind: "RuleSet", Namespace: "shop", Name: "guard"}, map[string]any{"spec": values}
}

// TestDocumentOf holds that of the metadata only the name counts, and of the rest the spec; what is missing is for the parser to tell.
func TestDocumentOf(t *testing.T) {
	named := map[string]any{"name": "guard", "namespace": "shop"}
	want := map[string]any{"apiVersion": "dyncontroller.dev/v1alpha1", "kind": "RuleSet", "metadata": named}
	key, object := guard(map[string]any{"let": map[string]any{}})
	object["apiVersion"], object["metadata"], object["status"] = "x", map[string]any{"labels": map[string]any{"a": "b"}}, map[string]any{"a": int64(1)}
	for _, spec := range []any{object["spec"], nil} {
		if spec == nil {
			delete(object, "spec")
			delete(want, "spec")
		} else {
			want["spec"] = spec
		}
		file := DocumentOf(key, object)
		if got, errs := reparsed(t, file); !cmp.Equal(want, got) || len(errs) > 0 || file.Name != "RuleSet shop/guard" {
			t.Errorf("%s, %v (-want +got):\n%s", file.Name, errs, cmp.Diff(want, got))
		}
	}
}

// TestDocumentValues holds that every value is read as what it is.
func TestDocumentValues(t *testing.T) {
	values := []any{
		nil, true, false, int64(0), int64(-7), int64(math.MaxInt64), int64(math.MinInt64), int64(1 << 53),
		1.0, -1.0, 0.5, 1e3, 1e21, 1e-7, 1.5e300, math.MaxFloat64, math.SmallestNonzeroFloat64, 9223372036854775808.0,
		"", " ", "no", "on", "y", "Yes", "1e3", "012", "0x1F", "1_000", "12:30:45", "2026-01-01", ".inf", "null", "~", "true", "1", "1.0", "=", "<<",
		"a: b", "a #b", "# no comment", "- a", "? a", "{a: b}", "[a]", "&a", "*a", "!paused", "%YAML 1.1", "---", "...", "@a", "`a`", "|", ">",
		"two\nlines", "two\nlines\n\n", "  indented\n\ttab\n", "\n", "\r\n", "\t", `a"b\c'd`, "${object.spec.a}", "$${a}",
		"\x00\x01\x1b[31m\x7f\u0085", "\u00a0\u2028\u202e\ufeff\ufffe", "日本 é 🙂 \U000e0001", strings.Repeat("long ", 5000),
		map[string]any{},
		[]any{},
		[]any{nil, []any{}, map[string]any{}},
	}
	for _, key := range []string{
		"", "a", "no", "NULL", "on", "true", "y", "let", "1", "1.5", "a b", "a: b", "- a", "? a", "<<", "*", "a\nb", "é", "a.b/c",
		strings.Repeat("k", 499), strings.Repeat("k", 500), strings.Repeat("k", 5000), strings.Repeat("\u2028", 600),
	} {
		values = append(values,
			map[string]any{key: "a"}, map[string]any{key: map[string]any{key: int64(1)}}, []any{map[string]any{key: []any{int64(1)}, "z": nil}})
	}
	for _, value := range values {
		key, object := guard(value)
		file := DocumentOf(key, object)
		got, errs := reparsed(t, file)
		if diff := cmp.Diff(value, got["spec"]); diff != "" || len(errs) > 0 {
			t.Errorf("%#v: %v (-want +got):\n%.500s\n%.500s", value, errs, diff, file.Data)
		}
	}
}

// TestDocumentBounds holds that what nobody can read is refused, not written at length.
func TestDocumentBounds(t *testing.T) {
	deep := func(depth int) any {
		var value any = "a"
		for i := range depth {
			if i%2 == 0 {
				value = []any{value, value}[:1]
			} else {
				value = map[string]any{"a": value}
			}
		}
		return value
	}
	wide := make([]any, 300_000)
	for i := range wide {
		wide[i] = map[string]any{"a": map[string]any{"b": []any{"c"}}}
	}
	cases := map[string]struct {
		reason string
		value  any
		errs   string
	}{
		"deep enough": {"As deep as a file may be.", deep(60), ""},
		"deep":        {"A file may not be so deep.", deep(70), "nested deeper than 64"},
		"very deep":   {"Nor at any depth.", deep(9_000), "keys and values, at most"},
		"large":       {"A file may not be so large.", strings.Repeat("a", 300<<10), "bytes, at most"},
		"wide":        {"Nor may it have so many values.", wide, "bytes, at most"},
		"odd":         {"No API server has it, and it does no harm.", map[string]any{"a": struct{}{}, "b": math.Inf(1)}, "expected"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			key, object := guard(tc.value)
			file := DocumentOf(key, object)
			if len(file.Data) > 2*maxDocument {
				t.Errorf("%s It takes %d bytes.", tc.reason, len(file.Data))
			}
			_, errs := document.Parse(file)
			if tc.errs == "expected" {
				return
			}
			if (len(errs) == 0) != (tc.errs == "") || !strings.Contains(errs.Error(), tc.errs) {
				t.Errorf("%s\nwant %q, got %v", tc.reason, tc.errs, errs)
			}
		})
	}
}

// TestDocumentProperty holds that whatever an API server gives back is read as it is,
// and written the same way each time.
func TestDocumentProperty(t *testing.T) {
	text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"no", "1e3", "012", "a: b", "x\ny", "~", "- a", "${a}"}))
	leaf := rapid.OneOf(
		rapid.Map(text, func(s string) any { return s }),
		rapid.Map(rapid.Int64(), func(i int64) any { return i }),
		rapid.Map(rapid.Float64(), func(f float64) any { return f }),
		rapid.Map(rapid.Bool(), func(b bool) any { return b }),
		rapid.Just[any](nil),
	)
	var tree func(depth int) *rapid.Generator[any]
	tree = func(depth int) *rapid.Generator[any] {
		if depth == 0 {
			return leaf
		}
		return rapid.OneOf(
			leaf,
			rapid.Map(rapid.SliceOfN(tree(depth-1), 0, 4), func(l []any) any { return l }),
			rapid.Map(rapid.MapOfN(text, tree(depth-1), 0, 4), func(m map[string]any) any { return m }),
		)
	}
	rapid.Check(t, func(t *rapid.T) {
		value := map[string]any{"a": tree(4).Draw(t, "value")}
		key, object := guard(value)
		file := DocumentOf(key, object)
		documents, errs := document.Parse(file)
		if len(errs) > 0 || len(documents) != 1 {
			t.Fatalf("%v of\n%s", errs, file.Data)
		}
		if diff := cmp.Diff(any(value), documents[0].Get("spec").Any()); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
		if again := DocumentOf(key, object); !bytes.Equal(again.Data, file.Data) {
			t.Fatal("it is written in two ways")
		}
	})
}

// stored is a document as an API server gives it back: through JSON, with what it adds.
func stored(t testing.TB, n *document.Node) *unstructured.Unstructured {
	t.Helper()
	object, _ := n.Any().(map[string]any)
	metadata, _ := object["metadata"].(map[string]any)
	metadata["uid"], metadata["generation"], metadata["managedFields"] = "u", int64(1), []any{map[string]any{}}
	data, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	var out unstructured.Unstructured
	if err := out.UnmarshalJSON(data); err != nil {
		t.Fatal(err)
	}
	return &out
}

// TestDocumentIsTheFile compiles the examples as files and as objects.
func TestDocumentIsTheFile(t *testing.T) {
	compiled := 0
	err := filepath.WalkDir("../../examples/rules", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !isRuleFile(entry.Name()) {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		file := document.File{Name: path, Data: data}
		if objects := objectsOf(t, file); len(objects) > 0 {
			compareCompiled(t, file, objects)
			compiled++
		}
		return nil
	})
	if err != nil || compiled < 3 {
		t.Errorf("%d examples are compared: %v", compiled, err)
	}
}

// objectsOf are the documents of a file once they have been in a cluster.
func objectsOf(t *testing.T, file document.File) []document.File {
	documents, _ := document.Parse(file)
	var out []document.File
	for _, n := range documents {
		kind := n.Get("kind").Text()
		if kind != spec.KindRuleSet && kind != spec.KindClusterRuleSet {
			continue
		}
		u := stored(t, n)
		if kind == spec.KindRuleSet && u.GetNamespace() == "" {
			u.SetNamespace("default")
		}
		out = append(out, objectOf(kind, u).Document)
	}
	return out
}

func compareCompiled(t *testing.T, file document.File, objects []document.File) {
	options := rules.Options{DefaultNamespace: "default"}
	want, wantErrs := rules.Load([]document.File{file}, options)
	got, gotErrs := rules.Load(objects, options)
	if diff := cmp.Diff(said(wantErrs), said(gotErrs)); diff != "" {
		t.Errorf("%s: other mistakes (-file +object):\n%s", file.Name, diff)
	}
	if want == nil || got == nil {
		return
	}
	if diff := cmp.Diff(said(want.Warnings()), said(got.Warnings())); diff != "" {
		t.Errorf("%s: other warnings (-file +object):\n%s", file.Name, diff)
	}
	if !slices.Equal(want.IDs(), got.IDs()) || !slices.Equal(want.Selections(), got.Selections()) {
		t.Errorf("%s: other rules: %v and %v", file.Name, want.IDs(), got.IDs())
	}
}

// said is what mistakes say, but for where.
func said(errs document.Errors) []string {
	var out []string
	for _, err := range errs {
		out = append(out, fmt.Sprint(err.Severity, err.Path, err.Message, err.Hint))
	}
	slices.Sort(out)
	return out
}

// TestDocumentMistakes holds that mistakes of an object have the path by which it is
// edited.
func TestDocumentMistakes(t *testing.T) {
	actions := []any{map[string]any{"delete": map[string]any{}}}
	key, object := guard(map[string]any{
		"resources": map[string]any{"pods": map[string]any{"version": "v1", "resource": "pods"}},
		"rules": []any{
			map[string]any{"name": "a", "watch": "pods", "actions": actions, "when": "object.spec.paused ="},
			map[string]any{"name": "b", "watch": "pods", "actions": actions, "when": int64(1), "wenn": true},
		},
	})
	_, errs := rules.Load([]document.File{DocumentOf(key, object)}, rules.Options{})
	var paths []string
	for _, err := range errs.Of(document.Mistake) {
		paths = append(paths, err.Path)
		if err.File != "RuleSet shop/guard" {
			t.Errorf("the mistake is of %q", err.File)
		}
	}
	if want := []string{"spec.rules[0].when", "spec.rules[1].wenn", "spec.rules[1].when"}; !slices.Equal(slices.Sorted(slices.Values(paths)), want) {
		t.Errorf("want %q, got %q: %v", want, paths, errs)
	}
}
