package document

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	kubejson "k8s.io/apimachinery/pkg/util/json"
	"pgregory.net/rapid"
	"sigs.k8s.io/yaml"
)

// TestParseManifests reads what kubectl and other programs write, as kubectl reads it.
func TestParseManifestsAsKubectl(t *testing.T) {
	type m = map[string]any
	tests := map[string]struct {
		reason string
		text   string
		want   any
	}{
		"exponents":       {"sigs.k8s.io/yaml writes floats so", "a: 1e-05\nb: -1.5E+20\nc: 1e-7", m{"a": 1e-05, "b": -1.5e20, "c": 1e-7}},
		"whole floats":    {"JSON has one kind of numbers", "a: 1e3\nb: 2.0\nc: -0.0", m{"a": int64(1000), "b": int64(2), "c": int64(0)}},
		"large":           {"int64 is exact, and above it a float", "a: 9007199254740993\nb: 9223372036854775808", m{"a": int64(9007199254740993), "b": 9223372036854775808.0}},
		"other bases":     {"as kubectl reads them", "a: 012\nb: 0x1f\nc: 1_000", m{"a": int64(10), "b": int64(31), "c": int64(1000)}},
		"words":           {"as kubectl reads them", "a: no\nb: on\nc: Yes\nd: y\ne: =", m{"a": false, "b": true, "c": true, "d": true, "e": "="}},
		"times":           {"Kubernetes has them as strings", "[2026-01-01, 2026-01-01T00:00:00Z, 1:30]", []any{"2026-01-01", "2026-01-01T00:00:00Z", "1:30"}},
		"an alias":        {"kubectl reads it", "a: &x [1]\nb: *x", m{"a": []any{int64(1)}, "b": []any{int64(1)}}},
		"a pair":          {"JSON of Python and Java has a character beyond the BMP so", `{"a": "x\ud83d\uDE00y", "\ud83d\ude00": 1}`, m{"a": "x😀y", "😀": int64(1)}},
		"half a pair":     {"encoding/json reads it so", `["\ud83d", "\ude00\ud83d"]`, []any{"\ufffd", "\ufffd\ufffd"}},
		"no pair":         {"the backslash is escaped", `["\\ud83d\\ude00", "\\\ud83d\ude00"]`, []any{`\ud83d\ude00`, `\😀`}},
		"a block":         {"text is not JSON", "a: |\n  {\"t\": \"\\ud83d\\ude00\"}\n", m{"a": `{"t": "\ud83d\ude00"}` + "\n"}},
		"raw":             {"JSON may have these characters", "{\"a\": \"\u007f\u0085\u2028\u202e\ufeff\uffff\"}", m{"a": "\u007f\u0085\u2028\u202e\ufeff\uffff"}},
		"marks":           {"sigs.k8s.io/yaml writes them as they are", "a: \u202eb\nc: \"\u2066\"", m{"a": "\u202eb", "c": "\u2066"}},
		"tabs":            {"as jq --tab writes it", "{\n\t\"a\":[\n\t\t1\n\t]\n}\n", m{"a": []any{int64(1)}}},
		"no space":        {"as jq -c writes it", `{"a":"b","c":{"d":[]}}`, m{"a": "b", "c": m{"d": []any{}}}},
		"escaped slashes": {"as PHP writes them", `{"a":"b\/c"}`, m{"a": "b/c"}},
		"a mark":          {"as Windows writes it", "\ufeff{\"a\": 1}\r\n", m{"a": int64(1)}},
		"a mark in YAML":  {"as Windows writes it", "\ufeffa: 1\r\n", m{"a": int64(1)}},
		"separators":      {"sigs.k8s.io/yaml writes them as they are", "a: \"x\u2028y\"\nb: [\"\u2029\", 'x\u2029 y', x\u2028  y]\nc: |\n  x\u2028  y\nd: x\u2028 y\n", m{"a": "x\u2028y", "b": []any{"\u2029", "x\u2029y", "x\u2028y"}, "c": "x\u2028y\n", "d": "x\u2028y"}},
		"managed fields":  {"kubectl get --show-managed-fields", "f:metadata:\n  .: {}\n  k:{\"name\":\"c\"}: {}\n", m{"f:metadata": m{".": m{}, `k:{"name":"c"}`: m{}}}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			roots, errs := ParseManifests(File{Name: "f.yaml", Data: []byte(tt.text)})
			if len(errs) > 0 || len(roots) != 1 {
				t.Fatalf("%d documents, %v: %s", len(roots), errs, tt.reason)
			}
			if diff := cmp.Diff(tt.want, roots[0].Any()); diff != "" {
				t.Errorf("%s (-want +got)\n%s", tt.reason, diff)
			}
		})
	}
}

// TestParseManifestStreams reads JSON documents one after the other, as jq and kubectl do.
func TestParseManifestStreams(t *testing.T) {
	tests := map[string]struct {
		reason, text string
		want         []any
	}{
		"lines":    {"as jq -c writes them", "{\"a\":\"\\ud83d\\ude00\"}\n{\"a\":\"\u2028\"}\n", []any{map[string]any{"a": "😀"}, map[string]any{"a": "\u2028"}}},
		"indented": {"as jq writes them", "{\n  \"a\": 1\n}\n{\n  \"a\": 2\n}\n", []any{map[string]any{"a": int64(1)}, map[string]any{"a": int64(2)}}},
		"adjacent": {"JSON needs nothing between", `{"a":1}{"a":2}{"a":3}`, []any{map[string]any{"a": int64(1)}, map[string]any{"a": int64(2)}, map[string]any{"a": int64(3)}}},
		"YAML":     {"--- is no JSON", "{\"a\":1}\n---\n{\"a\":2}\n", []any{map[string]any{"a": int64(1)}, map[string]any{"a": int64(2)}}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			roots, errs := ParseManifests(File{Name: "f.json", Data: []byte(tt.text)})
			var got []any
			for _, root := range roots {
				got = append(got, root.Any())
			}
			if diff := cmp.Diff(tt.want, got); diff != "" || len(errs) > 0 {
				t.Errorf("%s: %v (-want +got)\n%s", tt.reason, errs, diff)
			}
		})
	}
	if _, errs := Parse(File{Name: "f.yaml", Data: []byte(`{"a":1} {"a":2}`)}); len(errs) != 1 {
		t.Errorf("a file of rules is YAML: %v", errs)
	}
}

func TestParseManifestsErrors(t *testing.T) {
	tests := map[string]struct{ reason, text, want string }{
		"infinite":    {"JSON has no such number", "a: .inf", `f.yaml:1:4: a: unquoted .inf is not the same to all readers of YAML; write ".inf" for the text`},
		"a key":       {"kubectl would make it the key true", "y: 1", `f.yaml:1:1: y: the key y is not a string; write "y": kubectl reads an unquoted y as true`},
		"a word":      {"kubectl would make it the key false", "a: {Off: 1}", `f.yaml:1:5: a.Off: the key Off is not a string; write "Off": kubectl reads an unquoted Off as false`},
		"a boolean":   {"kubectl makes it the same key", "true: 1", `f.yaml:1:1: true: the key true is not a string; write "true"`},
		"a number":    {"kubectl makes it a string", "1: 1", `f.yaml:1:1: 1: the key 1 is not a string; write "1"`},
		"twice":       {"kubectl refuses it", "a: 1\na: 2", `f.yaml:2:1: a: duplicate key "a", first written on line 1; remove one of them`},
		"a tag":       {"it would say something else", "a: !!str 012", `f.yaml:1:4: a: "!!str" is a tag, which is not supported; put the value in quotes if it is text, else write it out`},
		"separated":   {"no editor breaks lines there", "a: x\u2028 y\u2028 z\nb: {c: 1, c: 2}", `f.yaml:2:11: b.c: duplicate key "c", first written on line 2; remove one of them`},
		"in a stream": {"places are those of the file", "{\"a\": 1}\n  {\"b\": {\n\"c\": 1, \"c\": 1}}", `f.yaml:3:9: b.c: duplicate key "c", first written on line 3; remove one of them`},
		"on one line": {"places are those of the file", `{"a": "\ud83d\ude00"} {"b": 1, "b": 2}`, `f.yaml:1:32: b: duplicate key "b", first written on line 1; remove one of them`},
		"behind it":   {"places are those of the file, whatever it holds", `{"a": "😀\ud83d\ude00", "a": 1}`, `f.yaml:1:24: a: duplicate key "a", first written on line 1; remove one of them`},
		"no JSON":     {"kubectl refuses it too", "{\"a\": \"\\ud83d\\ude00\",\n}}", `f.yaml:1:10: this is not an escape; write \\ for a backslash, or put the text in single quotes`},
		"a direction": {"what is not a string is not read past", "a: 1\u202e\n\u0007", "f.yaml:2:1: invisible character U+0007; remove it, or write \\u0007 within double quotes"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, errs := ParseManifests(File{Name: "f.yaml", Data: []byte(tt.text)})
			if got := errs.Error(); got != tt.want {
				t.Errorf("%s\ngot  %s\nwant %s", tt.reason, got, tt.want)
			}
		})
	}
}

// anything makes values as an API server keeps them, with texts that are traps.
func anything() *rapid.Generator[any] {
	text := rapid.OneOf(rapid.String(), rapid.StringN(0, 200, -1), rapid.StringMatching(`[-+.0-9eExX_:oTZ ]{1,12}`),
		rapid.StringOfN(rapid.RuneFrom([]rune(" \t\n\r\"'\\#:-?%&*!|>{}[],`@~a\u0085\u007f\u2028\u202e\ufeff\u00a0😀")), 0, 200, -1),
		rapid.SampledFrom([]string{
			"", " ", "~", "null", "true", "y", "Y", "yes", "on", "No", "n", "=", "<<", "1e-05", "012", "0o7", "0x1f", "1_000", "1:30", ".inf", "---", "...",
			"2026-01-01T00:00:00Z", "a: b", "a #b", "trailing \n", "\n\nlead", "  indented\nless\n", "line \nline\n\n", "%YAML", "- a", "\ufeffmark", "!x", "&a", "*a", "${a}",
		}))
	scalar := rapid.OneOf(rapid.Just[any](nil), rapid.Bool().AsAny(), rapid.Int64().AsAny(), rapid.Float64().AsAny(), rapid.Float32().AsAny(), text.AsAny())
	value := scalar
	for range 3 {
		value = rapid.OneOf(scalar, rapid.SliceOfN(value, 0, 4).AsAny(), rapid.MapOfN(text, value, 0, 4).AsAny())
	}
	return value
}

// TestManifestsAsWritten holds that what kubectl get -o yaml and -o json write is read as kubectl would read it.
func TestManifestsAsWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		object := map[string]any{"kind": "Any", "spec": anything().Draw(t, "value")}
		compact, err := json.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		var want any
		if err := kubejson.Unmarshal(compact, &want); err != nil {
			t.Fatal(err)
		}
		indented, _ := json.MarshalIndent(object, "", rapid.SampledFrom([]string{"  ", "    ", "\t"}).Draw(t, "indent"))
		texts := []string{string(compact), string(indented)}
		// Of some values, such as U+0085 and the key <<, kubectl get -o yaml writes what kubectl itself reads otherwise, or nothing.
		var same any
		asYAML, _ := yaml.Marshal(object)
		data, _ := yaml.YAMLToJSON(asYAML)
		if kubejson.Unmarshal(data, &same) == nil && cmp.Equal(want, same) {
			texts = append(texts, string(asYAML), "---\n"+string(asYAML)+"---\n")
		}
		for _, text := range texts {
			if rapid.Bool().Draw(t, "marked") {
				text = "\ufeff" + text
			}
			roots, errs := ParseManifests(File{Name: "f.yaml", Data: []byte(text)})
			if len(errs) > 0 || len(roots) != 1 {
				t.Fatalf("%d documents, %s of:\n%q", len(roots), errs.Render(), text)
			}
			if diff := cmp.Diff(want, roots[0].Any()); diff != "" {
				t.Fatalf("%s\nof:\n%q", diff, text)
			}
		}
	})
}

// TestManifestsAreLarge holds that what a cluster has is read: objects of a megabyte, and lists of them on one line.
func TestManifestsAreLarge(t *testing.T) {
	item := `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"b"},"data":{"a":"` + strings.Repeat("a", 1000) + `"}}`
	text := `{"apiVersion":"v1","kind":"List","items":[` + strings.Repeat(item+",", 2999) + item + `]}`
	roots, errs := ParseManifests(File{Name: "f.json", Data: []byte(text)})
	if len(errs) > 0 || len(roots[0].Get("items").Elements()) != 3000 {
		t.Error(errs.Render())
	}
}
