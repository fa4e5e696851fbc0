package golden

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// How many characters of a value a difference shows: of each of two, and of one alone.
const (
	longest      = 100
	longestAlone = 160
)

// Diff lists the fields in which two trees differ, a line for each, in order
// of their paths. It is empty where they are the same: 1 and 1.0 are, an
// absent key and a null are not. Elements of lists that tell what they are about are
// compared with those about the same; an index is that of the element in want, or in have
// where only that has it.
func Diff(want, have any) []string { return Compare(want, have, "want", "have") }

// Compare does the same with other words for the two.
func Compare(one, other any, oneIs, otherIs string) []string {
	c := comparison{one: oneIs, other: otherIs}
	c.values(nil, one, other)
	return c.lines
}

// comparison is one walk over two trees.
type comparison struct {
	one, other string
	lines      []string
}

func (c *comparison) values(path plan.Path, want, have any) {
	switch want := want.(type) {
	case map[string]any:
		if have, ok := have.(map[string]any); ok {
			c.maps(path, want, have)
			return
		}
	case []any:
		if have, ok := have.([]any); ok {
			c.lists(path, want, have)
			return
		}
	default:
		if same(want, have) {
			return
		}
	}
	left, right := apart(show(want), show(have))
	c.line(path, left, right)
}

func (c *comparison) maps(path plan.Path, want, have map[string]any) {
	keys := slices.AppendSeq(slices.Collect(maps.Keys(want)), maps.Keys(have))
	slices.Sort(keys)
	for _, key := range slices.Compact(keys) {
		left, wanted := want[key]
		right, exists := have[key]
		c.maybeAbsent(child(path, key), left, wanted, right, exists)
	}
}

func (c *comparison) lists(path plan.Path, want, have []any) {
	for _, p := range Align(want, have) {
		var left, right any
		if p.Want >= 0 {
			left = want[p.Want]
		}
		if p.Have >= 0 {
			right = have[p.Have]
		}
		c.maybeAbsent(child(path, strconv.Itoa(p.Index())), left, p.Want >= 0, right, p.Have >= 0)
	}
}

func (c *comparison) maybeAbsent(path plan.Path, want any, wanted bool, have any, exists bool) {
	wantList, _ := want.([]any)
	haveList, _ := have.([]any)
	switch {
	case wanted && exists:
		c.values(path, want, have)
	case len(wantList)+len(haveList) > 0:
		c.lists(path, wantList, haveList) // Each element says more than the beginning of all.
	case wanted:
		c.line(path, cut(show(want), longestAlone), "nothing")
	default:
		c.line(path, "nothing", cut(show(have), longestAlone))
	}
}

func (c *comparison) line(path plan.Path, want, have string) {
	c.lines = append(c.lines, fmt.Sprintf("%s: %s %s, %s %s", cmp.Or(path.String(), "(the whole)"), c.one, want, c.other, have))
}

// child does not share memory with its siblings.
func child(path plan.Path, step string) plan.Path {
	return append(slices.Clip(path), step)
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

// show writes a value in one line that a terminal shows as it is, what it is about first.
func show(value any) string {
	if text, ok := value.(string); ok {
		return strconv.Quote(text)
	}
	first := identity(value)
	if len(first) == 0 {
		return encoded(value)
	}
	fields, _ := value.(map[string]any)
	rest := maps.Clone(fields)
	var parts []string
	for _, key := range first {
		parts = append(parts, encoded(key)+":"+encoded(fields[key]))
		delete(rest, key)
	}
	if len(rest) > 0 {
		parts = append(parts, strings.TrimSuffix(strings.TrimPrefix(encoded(rest), "{"), "}"))
	}
	return "{" + strings.Join(parts, ",") + "}"
}

func encoded(value any) string {
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
	return cut(a, longest), cut(b, longest)
}

func cut(text string, most int) string {
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "..."
	}
	return text
}
