package generate

import (
	"maps"
	"slices"
	"strings"

	"pgregory.net/rapid"
)

// Value returns maps and lists of anything that JSON can hold, with texts that YAML could take for something else.
func Value() *rapid.Generator[any] {
	return rapid.Custom(func(t *rapid.T) any {
		const depth, most = 4, 4
		if Chance(t, 80) {
			return valueMap(t, depth, most)
		}
		return valueList(t, depth, most)
	})
}

func anyValue(t *rapid.T, depth, most int) any {
	switch {
	case depth > 0 && Chance(t, 25):
		return valueMap(t, depth-1, most)
	case depth > 0 && Chance(t, 20):
		return valueList(t, depth-1, most)
	case Chance(t, 60):
		return Text(t)
	default:
		return Of[any](t, nil, true, false, int64(0), int64(-7), int64(1<<53+1), 0.5, -2.25)
	}
}

func valueMap(t *rapid.T, depth, most int) map[string]any {
	m := map[string]any{}
	for range 1 + Evenly(t, most) {
		m[Text(t)] = anyValue(t, depth, most)
	}
	return m
}

func valueList(t *rapid.T, depth, most int) []any {
	list := []any{}
	for range 1 + Evenly(t, most) {
		list = append(list, anyValue(t, depth, most))
	}
	return list
}

// words are what texts are made of: words, and what has a meaning in YAML or in a template.
var words = []string{
	"a", "bad", "object.spec", "${a}", "$${", "#", " #", "# ", ": ", ":", "- ", "-", "? ", "!", "&a", "*a", "|", ">", "%", "@", "`", "'", `"`, `\`, "\\n",
	"[", "]", "{", "}", ",", "~", "null", "true", "no", "on", "y", "1", "012", "1e3", "0x1F", "12:30", "2026-01-01", ".inf", "<<", "=", "---", "...",
	"\n", "\n\n", "\n ", " \n", " ", "  ", "\t", "é", "日本", "🙂", "\u00a0", "\u0085", "\u2028", "\ufeff", "\x00", "\x7f", "&&", "==", "ß",
}

// Text returns a text that is hard to write.
func Text(t *rapid.T) string {
	const most = 6
	var out strings.Builder
	for range Evenly(t, most) {
		out.WriteString(Of(t, words...))
		if Chance(t, 30) {
			out.WriteByte(' ')
		}
	}
	return out.String()
}

func sortedKeys(m map[string]any) []string { return slices.Sorted(maps.Keys(m)) }
