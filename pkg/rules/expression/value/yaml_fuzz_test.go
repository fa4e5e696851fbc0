package value

import (
	"errors"
	"math"
	"testing"

	"go.yaml.in/yaml/v3"
	olderyaml "sigs.k8s.io/yaml"
)

// FuzzYAML holds that what is written is read as the same by this package, by its
// parser alone, and by the reader of YAML 1.1 that Kubernetes uses.
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
		t.Skip(err) // A key that is too long.
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
	got, err := ParseYAML(text, nil)
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	if same, err := Equal(want, got, nil); err != nil || !same {
		t.Errorf("%q was %v and is read as %v (%v)", text, want, got, err)
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

// FuzzParseYAML holds that no text makes the parser panic or go over its budget
// unnoticed, and that what it reads can be written.
func FuzzParseYAML(f *testing.F) {
	for _, text := range []string{
		"a: 1", "[a, b]", "- - a\n  - b", "a: &x [1]\nb: *x", "&x [*x]", "<<: {a: 1}", "!!str a", "a: 1\na: 2", "--- a\n--- b", "012", "yes", ".inf", "1e3",
		"? a\n: b", "{a: [}", "a: |\n b", "# only this", "%YAML 1.1\n---\na", "\"\\x\"", "1: a", "[]: a", "1_000", "18446744073709551616", "1:30", "2026-01-01",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v, err := ParseYAML(text, NewBudget(len(text)))
		var fault *Fault
		if err != nil {
			if !errors.As(err, &fault) && !errors.Is(err, ErrBudget) {
				t.Errorf("%q: %v is not a fault", text, err)
			}
			return
		}
		written, err := YAML(v, nil)
		if err != nil {
			return
		}
		again, err := ParseYAML(written, nil)
		if err != nil {
			t.Fatalf("%q became %q: %v", text, written, err)
		}
		if same, err := Equal(v, again, nil); err != nil || !same {
			t.Errorf("%q became %q", text, written)
		}
	})
}
