package golden

import (
	"cmp"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// longest is how many characters of a value a difference shows.
const longest = 100

// Diff lists the fields in which two trees differ, a line for each, in order
// of their paths. It is empty where they are the same: 1 and 1.0 are, an
// absent key and a null are not.
func Diff(want, have any) []string {
	return differences(nil, nil, want, have)
}

func differences(out []string, path plan.Path, want, have any) []string {
	switch want := want.(type) {
	case map[string]any:
		if have, ok := have.(map[string]any); ok {
			return mapDifferences(out, path, want, have)
		}
	case []any:
		if have, ok := have.([]any); ok {
			return listDifferences(out, path, want, have)
		}
	default:
		if same(want, have) {
			return out
		}
	}
	left, right := apart(show(want), show(have))
	return append(out, line(path, left, right))
}

func mapDifferences(out []string, path plan.Path, want, have map[string]any) []string {
	keys := slices.AppendSeq(slices.Collect(maps.Keys(want)), maps.Keys(have))
	slices.Sort(keys)
	for _, key := range slices.Compact(keys) {
		left, wanted := want[key]
		right, exists := have[key]
		out = maybeAbsent(out, child(path, key), left, wanted, right, exists)
	}
	return out
}

func listDifferences(out []string, path plan.Path, want, have []any) []string {
	for i := range max(len(want), len(have)) {
		var left, right any
		wanted, exists := i < len(want), i < len(have)
		if wanted {
			left = want[i]
		}
		if exists {
			right = have[i]
		}
		out = maybeAbsent(out, child(path, strconv.Itoa(i)), left, wanted, right, exists)
	}
	return out
}

func maybeAbsent(out []string, path plan.Path, want any, wanted bool, have any, exists bool) []string {
	switch {
	case !exists:
		return append(out, line(path, cut(show(want)), "nothing"))
	case !wanted:
		return append(out, line(path, "nothing", cut(show(have))))
	default:
		return differences(out, path, want, have)
	}
}

// child does not share memory with its siblings.
func child(path plan.Path, step string) plan.Path {
	return append(slices.Clip(path), step)
}

func line(path plan.Path, want, have string) string {
	return cmp.Or(path.String(), "(the whole)") + ": want " + want + ", have " + have
}

// same compares scalars. Large integers are never rounded.
func same(a, b any) bool {
	switch a := a.(type) {
	case int64:
		if f, ok := b.(float64); ok {
			return sameNumber(a, f)
		}
	case float64:
		if i, ok := b.(int64); ok {
			return sameNumber(i, a)
		}
	}
	switch b.(type) {
	case map[string]any, []any:
		return false // They cannot be compared with ==.
	default:
		return a == b
	}
}

func sameNumber(i int64, f float64) bool {
	return f == math.Trunc(f) && f >= math.MinInt64 && f < math.MaxInt64 && int64(f) == i
}

// show writes a value in one line that a terminal shows as it is.
func show(value any) string {
	if text, ok := value.(string); ok {
		return strconv.Quote(text)
	}
	var out strings.Builder
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return err.Error()
	}
	return string(escapeInvisible(strings.TrimSpace(out.String())))
}

// apart shortens two texts such that it can still be seen where they differ.
func apart(a, b string) (left, right string) {
	const before = 20
	common := 0
	for common < min(len(a), len(b)) && a[common] == b[common] {
		common++
	}
	if max(len(a), len(b)) > longest && common > before {
		a = "..." + strings.ToValidUTF8(a[common-before:], "")
		b = "..." + strings.ToValidUTF8(b[common-before:], "")
	}
	return cut(a), cut(b)
}

func cut(text string) string {
	if runes := []rune(text); len(runes) > longest {
		return string(runes[:longest]) + "..."
	}
	return text
}
