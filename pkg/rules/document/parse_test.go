package document

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v4"
)

var update = flag.Bool("update", false, "write the golden files")

// TestGolden parses every testdata/*/input.yaml and compares the rendered
// errors.
func TestGolden(t *testing.T) {
	if *update && os.Getenv("CI") == "true" {
		t.Fatal("golden files are not updated in CI")
	}
	inputs, err := filepath.Glob("testdata/*/input.yaml")
	if err != nil || len(inputs) == 0 {
		t.Fatalf("no inputs: %v", err)
	}
	for _, input := range inputs {
		t.Run(filepath.Base(filepath.Dir(input)), func(t *testing.T) {
			data, err := os.ReadFile(input)
			if err != nil {
				t.Fatal(err)
			}
			_, errs := Parse(File{Name: "input.yaml", Data: data})
			if len(errs) == 0 {
				t.Error("the input has no mistake")
			}
			golden := filepath.Join(filepath.Dir(input), "errors.golden")
			if *update {
				if err := os.WriteFile(golden, []byte(errs.Render()), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), errs.Render()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func mustParse(t *testing.T, source string) []*Node {
	t.Helper()
	roots, errs := Parse(File{Name: "f.yaml", Data: []byte(source)})
	if len(errs) > 0 {
		t.Fatalf("%q: %v", source, errs)
	}
	return roots
}

func TestParse(t *testing.T) {
	cases := map[string]struct {
		reason string
		source string
		want   []any
	}{
		"nothing":          {"an empty file has no documents", "", nil},
		"comments":         {"nor has one of comments", "# a\n\n# b\n", nil},
		"empty documents":  {"they are skipped", "---\n---\n# a\n---\na: b\n---\n...\n", []any{map[string]any{"a": "b"}}},
		"two documents":    {"each has a root", "a\n---\n- b\n", []any{"a", []any{"b"}}},
		"a written null":   {"it is a document, if a useless one", "~\n", []any{nil}},
		"keys in quotes":   {"they are never traps", "{\"on\": 1, '1': 2}", []any{map[string]any{"on": int64(1), "1": int64(2)}}},
		"values in quotes": {"nor are values", "[\"no\", '012', \"\"]", []any{[]any{"no", "012", ""}}},
		"block scalars":    {"nor is text in blocks", "- |\n  no\n- >-\n  1e3\n", []any{[]any{"no\n", "1e3"}}},
		"folded":           {"lines are joined", "a: b\n  c\n\n  d\n", []any{map[string]any{"a": "b c\nd"}}},
		"templates": {
			"they are plain text outside of brackets", "a: ${b + {}.c}\n${k}: x\n",
			[]any{map[string]any{"a": "${b + {}.c}", "${k}": "x"}},
		},
		"hash": {"without a space before it is no comment", "a: b#c\n", []any{map[string]any{"a": "b#c"}}},
		"no values": {
			"they are null", "a:\nb: [~, null]\nc: {d}\n",
			[]any{map[string]any{"a": nil, "b": []any{nil, nil}, "c": map[string]any{"d": nil}}},
		},
		"empty":   {"empty collections stay", "{a: {}, b: []}", []any{map[string]any{"a": map[string]any{}, "b": []any{}}}},
		"CRLF":    {"line ends are LF in text", "a: |\r\n  b\r\n  c\r\n", []any{map[string]any{"a": "b\nc\n"}}},
		"BOM":     {"a byte order mark at the start is dropped", "\ufeffa: b\n", []any{map[string]any{"a": "b"}}},
		"tabs":    {"they may separate", "a:\tb\t# c\n", []any{map[string]any{"a": "b"}}},
		"unicode": {"text is kept as it is", "é: \"日本 🙂\"\n", []any{map[string]any{"é": "日本 🙂"}}},
		"escapes": {"what may not stand in a file can be written", `a: "\u2028\0\e\x41"`, []any{map[string]any{"a": "\u2028\x00\x1bA"}}},
		"brackets in text": {
			"they are not counted as levels", "a: \"" + strings.Repeat("[", 900) + "\"\n",
			[]any{map[string]any{"a": strings.Repeat("[", 900)}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var got []any
			for _, root := range mustParse(t, tc.source) {
				got = append(got, root.Any())
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s: %s", tc.reason, diff)
			}
		})
	}
}

func TestParseLimits(t *testing.T) {
	repeat := strings.Repeat
	cases := map[string]struct {
		reason string
		source string
		want   string
	}{
		"largest":        {"256 KiB are read", "# " + repeat("x", maxSize-2), ""},
		"too large":      {"but no more", repeat("#", maxSize+1), "the file has 262145 bytes, at most 262144 are read"},
		"deepest":        {"64 levels are fine", repeat("[", maxDepth) + repeat("]", maxDepth), ""},
		"too deep":       {"65 are not", repeat("[", maxDepth+1) + repeat("]", maxDepth+1), "1:65: "},
		"brackets":       {"deeper brackets do not reach the tree", repeat("[", 3_900), "1:65: maps and lists are nested deeper than 64"},
		"more brackets":  {"very many do not reach the parser", repeat("[", 100_000), "the line may hold 200000 keys and values"},
		"dense":          {"a value for every two bytes", "{" + repeat("a,", 100_000) + "}", "the line may hold 200002 keys and values"},
		"dashes":         {"lists on one line count", repeat("- ", 7_000) + "a", "1:129: maps and lists are nested deeper than 64"},
		"question marks": {"maps as keys do", "a: b\n" + repeat("? ", 1_001) + "a", "2:129: maps and lists are nested deeper than 64"},
		"staircase":      {"the parser gives up on these", staircase(11), "nested deeper than 64"},
		"a ruler":        {"a line of text or of a comment may be long", "# " + repeat("- ", 5_000) + "\na: |\n  " + repeat("-", 5_000), ""},
		"many lines":     {"each of which is read", repeat("a: b\n", 20_001), "the file may hold 40002 keys and values"},
		"most documents": {"a thousand are fine", repeat("--- a\n", maxDocuments), ""},
		"many documents": {"each is small, and costs", repeat("---\n", maxDocuments+1), "the file has more than 1000 documents"},
		"directives":     {"the parser compares each with all others", repeat("%TAG !a b\n", 10_000), "1:1: directives are not supported"},
		"text with %":    {"only at the start of a line is it a directive", "a: \"\n %b\"\nc: d %e\n", ""},
		"one long line":  {"with a mistake in every word", "[" + repeat("no,", 2_600) + "]", "more mistakes follow"},
		"long alias":     {"which nothing defines", repeat("- a\n", 10_000) + "- *" + repeat("a", 100_000), "aliases"},
		"long escapes":   {"the last of which is wrong", "a: \"" + repeat(`\n`, 120_000) + `\q"`, `1:240005: this is not an escape`},
		"open quote":     {"after many that are closed", "a: " + repeat("'a' ", 60_000) + "'", "1:"},
		"comments":       {"many lines that are nothing", "a: b\n" + repeat("# c\n", 25_000) + " - d", "a list element where a key"},
		"nested quotes":  {"every bracket is looked at once", repeat("[[]],", 1_300) + "]", "has already ended"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			start := cpuTime(t)
			_, errs := Parse(File{Name: "f.yaml", Data: []byte(tc.source)})
			errs.Render()
			// Several times what it takes under the race detector, and less than
			// anything quadratic would.
			if took := cpuTime(t) - start; took > 3*time.Second {
				t.Errorf("%s: took %v", tc.reason, took)
			}
			switch {
			case tc.want == "" && len(errs) > 0:
				t.Errorf("%s: %v", tc.reason, errs)
			case !strings.Contains(errs.Error(), tc.want):
				t.Errorf("%s: want %q, have %v", tc.reason, tc.want, errs)
			case len(errs) > maxErrors+1:
				t.Errorf("%s: %d errors", tc.reason, len(errs))
			}
		})
	}
}

// cpuTime is what the process has used, which does not depend on what else the
// machine does.
func cpuTime(t *testing.T) time.Duration {
	t.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		t.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// staircase returns a thousand lists within each other for each line.
func staircase(lines int) string {
	var text strings.Builder
	for i := range lines {
		text.WriteString(strings.Repeat(" ", 2000*i) + strings.Repeat("- ", 1000) + "\n")
	}
	return text.String()
}

// TestParseGoesOn holds that a mistake leaves the rest of the document usable.
func TestParseGoesOn(t *testing.T) {
	roots, errs := Parse(File{Data: []byte("a: no\nb: {c: &x 1, on: d, e: [!t f, g]}\nh: i\nh: j\n---\nk: [\n")})
	if len(errs) != 6 || len(roots) != 1 {
		t.Fatalf("%d roots, %v", len(roots), errs)
	}
	want := map[string]any{
		"a": nil,
		"b": map[string]any{"c": nil, "on": "d", "e": []any{nil, "g"}},
		"h": "i",
	}
	if diff := cmp.Diff(want, roots[0].Any()); diff != "" {
		t.Error(diff)
	}
	if kind := roots[0].Get("a").Kind(); kind != KindInvalid {
		t.Errorf("a mistake has the kind %v", kind)
	}
	if text := roots[0].Get("a").Text(); text != "no" {
		t.Errorf("a mistake has lost its text: %q", text)
	}
}

// TestParseManifests holds that objects are read as most programs read them, and others not at all.
func TestParseManifests(t *testing.T) {
	bomb := "kind: A\nx0: &x0 [a, a, a, a, a, a, a, a, a, a]\n"
	for i := range 20 {
		bomb += fmt.Sprintf("x%d: &x%d [%s]\n", i+1, i+1, strings.Repeat(fmt.Sprintf("*x%d,", i), 10))
	}
	for name, tc := range map[string]struct{ text, want, mistake string }{
		"traps":     {"kind: A\nx: [on, 1e3, 1.0, 012, =, 2026-01-01]\n", "[map[kind:A x:[true 1000 1 10 = 2026-01-01]]]", ""},
		"aliases":   {"kind: A\nx: &x [1]\nz: *x\n", "[map[kind:A x:[1] z:[1]]]", ""},
		"others":    {"kind: B\nx: 1\nx: 2\n---\n- a\n---\nkind: A\n", "[map[kind:A]]", ""},
		"own alias": {"kind: A\nx: &x [*x]\n", "", "nested deeper than 400"},
		"bomb":      {bomb, "", "aliases repeat more than 100000 keys and values"},
		"twice":     {"kind: A\nx: 1\nx: 2\n", "", "duplicate key"},
	} {
		roots, errs := ParseManifests(File{Name: "f", Data: []byte(tc.text)}, "A")
		if tc.mistake != "" || len(errs) > 0 {
			if tc.mistake == "" || !strings.Contains(errs.Error(), tc.mistake) {
				t.Errorf("%s: want %q, have %v", name, tc.mistake, errs)
			}
			continue
		}
		var got []any
		for _, root := range roots {
			got = append(got, root.Any())
		}
		if fmt.Sprint(got) != tc.want {
			t.Errorf("%s: want %s, have %v", name, tc.want, got)
		}
	}
}

type panicking struct{}

func (panicking) Read([]byte) (int, error) { panic("impossible") }

func TestLoadPanics(t *testing.T) {
	loader, _ := yaml.NewLoader(panicking{})
	err := load(loader, &yaml.Node{})
	if err == nil || !strings.Contains(err.Error(), "impossible") || errors.Is(err, io.EOF) {
		t.Errorf("a panic of the parser became %v", err)
	}
}
