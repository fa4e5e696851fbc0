package rules_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"pgregory.net/rapid"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/function"
	"github.com/dyncontroller/dyncontroller/pkg/rules/lookup"
	"github.com/dyncontroller/dyncontroller/test/generate"
	"github.com/dyncontroller/dyncontroller/test/hostile"
)

// FuzzLoad checks any text as checkFile does.
func FuzzLoad(f *testing.F) {
	for _, pattern := range []string{"testdata/*/*.yaml", "../../examples/rules/*.yaml", "../../examples/rules/*/*.yaml"} {
		names, err := filepath.Glob(pattern)
		if err != nil {
			f.Fatal(err)
		}
		for _, name := range names {
			data, err := os.ReadFile(name)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(data)
		}
	}
	cases, err := hostile.Cases()
	if err != nil {
		f.Fatal(err)
	}
	for _, c := range cases {
		const short = 4 << 10
		text, err := c.Text()
		if err != nil {
			f.Fatal(err)
		}
		if c.Kind == hostile.Document && len(text) < short {
			f.Add([]byte(text))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) { checkFile(t, data) })
}

// FuzzRules holds the same for files that are mostly right, so that they get to the compiler and to evaluation.
func FuzzRules(f *testing.F) {
	generate.Seeds(f)
	f.Fuzz(rapid.MakeFuzz(generated))
}

func TestGeneratedRules(t *testing.T) { rapid.Check(t, generated) }

func generated(t *rapid.T) {
	set := generate.RuleSet(pieces()).Draw(t, "set")
	checkFile(t, []byte(generate.YAML(t, set)))
}

// pieces are the expressions of the reference.
func pieces() []string {
	var out []string
	for _, f := range function.All() {
		out = append(out, f.Example.Expression)
	}
	return out
}

// checkFile checks that a file gives a set or mistakes, each at a place in the file, and that a set can be evaluated: twice to
// the same plan, without a change to what it reads, and with mistakes in places of the file.
func checkFile(t rapid.TB, data []byte) {
	set, errs := rules.Load([]document.File{{Name: "f.yaml", Data: data}}, rules.Options{DefaultNamespace: "default"})
	if (set == nil) != (len(errs) > 0) {
		t.Fatalf("a set: %t, and %d mistakes", set != nil, len(errs))
	}
	for _, err := range errs {
		located(t, data, err)
	}
	if set == nil {
		return
	}
	pods := []map[string]any{pod("p-0", nil), pod("p-1", map[string]any{"app": "db"})}
	for _, watched := range pods {
		first := evaluated(t, set, watched, pods)
		for _, decision := range first.Decisions {
			if err, placed := errors.AsType[*document.Error](decision.Err); placed {
				located(t, data, err)
			}
		}
		again := fmt.Sprintf("%+v", evaluated(t, set, watched, pods))
		if once := fmt.Sprintf("%+v", first); once != again {
			t.Fatalf("not the same again:\n%s\n%s", once, again)
		}
	}
}

func evaluated(t rapid.TB, set *rules.Set, watched map[string]any, pods []map[string]any) plan.Plan {
	gvr := schema.GroupVersionResource{Version: "v1", Resource: "pods"}
	related := lookup.Objects{gvr: pods}
	before := runtime.DeepCopyJSON(map[string]any{"watched": watched, "first": pods[0], "second": pods[1]})
	out := set.Evaluate(rules.Snapshot{
		GVR: gvr, Object: watched, SelectedBy: set.Selections(), Now: time.Unix(1_000_000, 0), Explain: true, Related: related,
		Kinds: map[schema.GroupVersionResource]plan.Kind{
			gvr: {Name: "Pod", Namespaced: true}, {Version: "v1", Resource: "nodes"}: {Name: "Node"},
		},
	})
	if after := (map[string]any{"watched": watched, "first": pods[0], "second": pods[1]}); !reflect.DeepEqual(before, after) {
		t.Fatalf("what was read has changed from\n%v to\n%v", before, after)
	}
	return out
}

func pod(name string, labels map[string]any) map[string]any {
	return map[string]any{
		"apiVersion": "v1", "kind": "Pod",
		"metadata": map[string]any{
			"name": name, "namespace": "default", "uid": "u-" + name, "resourceVersion": "1", "labels": labels,
			"creationTimestamp": "2026-01-01T00:00:00Z",
		},
		"spec":   map[string]any{"replicas": int64(3), "tags": []any{"a", "b"}, "nodeName": "n"},
		"status": map[string]any{"conditions": []any{map[string]any{"type": "Ready", "status": "True"}}},
	}
}

// located holds that a mistake can be shown, and is at a place in the file unless it is about all of it.
func located(t rapid.TB, data []byte, err *document.Error) {
	lines := strings.Split(strings.ReplaceAll(string(data), "\r\n", "\n"), "\n")
	whole := err.Line == 0 && strings.HasPrefix(err.Message, "the file ")
	if !whole && (err.Line < 1 || err.Line > len(lines) || err.Column < 1 || err.Column > utf8.RuneCountInString(lines[err.Line-1])+1) {
		t.Fatalf("%v is not in the file:\n%s", err, data)
	}
	if err.Message == "" || strings.Contains(err.Error(), "\n") || !strings.HasSuffix(err.Render(), "\n") {
		t.Fatalf("not a message on one line: %q", err.Error())
	}
}
