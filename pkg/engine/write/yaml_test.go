package write_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
	"sigs.k8s.io/yaml"

	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
)

// read is what the API server reads of what is sent as YAML.
func read(t interface{ Fatalf(string, ...any) }, value any) any {
	data, err := json.Marshal(value)
	if err != nil {
		t.Fatalf("%v", err)
	}
	var out any
	if err := yaml.UnmarshalStrict(write.YAML(data), &out); err != nil {
		t.Fatalf("%.200q cannot be read: %v", data, err)
	}
	return out
}

// TestYAMLUnicode holds that every character is read as it was, in texts and in keys.
func TestYAMLUnicode(t *testing.T) {
	const block = 0x100
	for first := rune(0); first <= 0x10ffff; first += block {
		var text strings.Builder
		for r := first; r < first+block; r++ {
			if r < 0xd800 || r > 0xdfff { // Halves of characters in UTF-16 are none.
				text.WriteString(" " + string(r) + string(r) + "x")
			}
		}
		want := map[string]any{text.String(): []any{text.String()}}
		if got := read(t, want); !cmp.Equal(any(want), got) {
			t.Errorf("from U+%04X, want %q, got %q", first, want, got)
		}
	}
}

// TestYAML holds the same of any JSON.
func TestYAML(t *testing.T) { rapid.Check(t, readsTheSame) }

// FuzzYAML has go test -fuzz look for JSON that is not read as it was.
func FuzzYAML(f *testing.F) { f.Fuzz(rapid.MakeFuzz(readsTheSame)) }

func readsTheSame(t *rapid.T) {
	odd := rapid.SampledFrom([]string{
		"", "<<", "null", "true", "y", "1", "1e3", "0x1", ".nan", "2026-01-01", "~", "=", "---", "...", "#", "? a", ": ", "- ", "!!str", "&a", "*a", "%", "@", "`",
		"{a: b}", "[a]", "\\", `"`, `\u0085`, `":`, "'", "\t", "\r\n", " \n ", "\u0085", "\u2028", "\ufeff", "\ufffe", "\ufffd", "\U0001f600", "\x00", "\x7f",
		strings.Repeat("k", 1021), strings.Repeat("k", 1022), strings.Repeat("k", 1023), strings.Repeat("é", 1022), strings.Repeat("\u0085", 171), strings.Repeat("\U0001f600", 2000),
	})
	text := rapid.OneOf(odd, rapid.String(), rapid.Custom(func(t *rapid.T) string { return odd.Draw(t, "first") + odd.Draw(t, "second") }))
	var value func(depth int) *rapid.Generator[any]
	value = func(depth int) *rapid.Generator[any] {
		scalar := rapid.OneOf(text.AsAny(), rapid.SampledFrom([]any{nil, true, false, 1.0, -2.5}))
		if depth == 0 {
			return scalar
		}
		return rapid.OneOf(scalar,
			rapid.Map(rapid.SliceOfN(value(depth-1), 0, 4), func(list []any) any { return list }),
			rapid.Map(rapid.MapOfN(text, value(depth-1), 0, 4), func(fields map[string]any) any { return fields }))
	}
	want := rapid.MapOfN(text, value(3), 0, 5).Draw(t, "value")
	if diff := cmp.Diff(any(want), read(t, want)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
