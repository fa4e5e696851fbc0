package value

import (
	"math"
	"testing"

	"go.yaml.in/yaml/v3"
	olderyaml "sigs.k8s.io/yaml"
)

// FuzzYAML holds that what is written is YAML, and that the reader of YAML 1.1 that Kubernetes uses takes it for the same.
func FuzzYAML(f *testing.F) {
	for _, text := range []string{
		"", "a", "yes", "Null", "1", "1Gi", "a: b", "a #b", "- a", "a\nb", "a\nb\n", "a\n\n", "\na", " a\nb", "a\n b\n  c", "a\n \n", "\ta\n",
		"a\r\nb", "\u0085", "\u2028\n", "\ufeff", "ü\n", "\x00", "\x7f", "2026-01-01", "0x1F", "1:30", "=", "<<", "~", "---", "...", "%a", "a:", "a : b", "\xff",
		"a\n# b", "a\n---\n", "a\n\t", "key with: colon", "'", `"`, `\`, "!a", "&a", "*a", "@a", "`", "|", ">", "{", "[a", "?", "😀\n", "\U000e0001",
	} {
		f.Add(text, int64(len(text)), 1e21)
	}
	f.Fuzz(func(t *testing.T, text string, i int64, number float64) {
		if size := math.Abs(number); math.IsNaN(number) || math.IsInf(number, 0) || size > 1<<63 && size < 1e21 {
			number = 0.5 // No JSON, or by Kubernetes written there as an integer that is too large.
		}
		inner := map[string]any{"a" + text: i, "text": text, "list": []any{text, []any{text, number}, map[string]any{text: nil, "z": true}}}
		v := map[string]any{"inner": inner, "empty": []any{map[string]any{}, []any{}}, "text": text}
		for _, v := range []any{v, []any{v, v}, text, number, i} {
			checkYAML(t, v)
		}
	})
}

func checkYAML(t *testing.T, v any) {
	t.Helper()
	text, err := YAML(v, nil)
	if err != nil {
		t.Fatal(err)
	}
	// Texts that are not UTF-8 are mended on the way, as in JSON.
	asJSON, err := JSON(v, nil)
	if err != nil {
		t.Fatal(err)
	}
	want, err := ParseJSON(asJSON, nil)
	if err != nil {
		t.Fatal(err)
	}
	var plain any
	if err := yaml.Unmarshal([]byte(text), &plain); err != nil {
		t.Errorf("%q: %v", text, err)
	}
	older, err := olderyaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatalf("%q for Kubernetes: %v", text, err)
	}
	read, err := ParseJSON(string(older), nil)
	if err != nil {
		t.Fatal(err)
	}
	if same, err := Equal(want, read, nil); err != nil || !same {
		t.Errorf("%q was %v and is read by Kubernetes as %v (%v)", text, want, read, err)
	}
}
