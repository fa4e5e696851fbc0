package compare

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// Around leaves what differs in both values, and says of maps and lists that differ what else they have, so that nothing that stays
// looks as if it were removed: with neighbours, a field or an element of one line before and after each change, and a [Remark] that
// counts the others. Without neighbours, all that is equal is counted. Elements of lists keep the fields by which they are told apart.
func Around(before, after any, neighbours bool) (old, now any) {
	c := around{}
	if neighbours {
		c.margin = 1
	}
	return c.values(before, after)
}

// Excerpts leaves, of texts of many lines that differ, three lines before and after each change, and counts the others. The values are
// those of [Around] as they may be shown: a Secret's value in a text is not recognized by a part of it.
func Excerpts(before, after any) (old, now any) {
	switch a := before.(type) {
	case map[string]any:
		if b, areMaps := after.(map[string]any); areMaps {
			outA, outB := maps.Clone(a), maps.Clone(b)
			for key := range a {
				if y, both := b[key]; both {
					outA[key], outB[key] = Excerpts(a[key], y)
				}
			}
			return outA, outB
		}
	case []any:
		if b, areLists := after.([]any); areLists && len(a) == len(b) {
			outA, outB := slices.Clone(a), slices.Clone(b)
			for i := range a {
				outA[i], outB[i] = Excerpts(a[i], b[i])
			}
			return outA, outB
		}
	case string:
		if b, areTexts := after.(string); areTexts && strings.Contains(a, "\n") && strings.Contains(b, "\n") {
			restA, endsA := strings.CutSuffix(a, "\n")
			restB, endsB := strings.CutSuffix(b, "\n")
			left, right := around{margin: unchanged}.lists(linesOf(restA), linesOf(restB))
			return textOf(left, endsA), textOf(right, endsB)
		}
	}
	return before, after
}

// around leaves so much before and after each change.
type around struct{ margin int }

func (c around) values(before, after any) (old, now any) {
	if a, isMap := before.(map[string]any); isMap {
		if b, areMaps := after.(map[string]any); areMaps {
			return c.maps(a, b)
		}
	}
	if a, isList := before.([]any); isList {
		if b, areLists := after.([]any); areLists {
			return c.lists(a, b)
		}
	}
	return before, after
}

// maps keeps, of elements of a list, the fields by which they are told apart.
func (c around) maps(a, b map[string]any, identity ...string) (old, now map[string]any) {
	old, now = map[string]any{}, map[string]any{}
	keys := slices.Sorted(maps.Keys(keysOf(a, b)))
	kept := c.kept(len(keys), func(i int) (differs, short bool) {
		x := fieldOf(a, keys[i])
		return !plan.Equal(x, fieldOf(b, keys[i])), isShort(x)
	})
	left := 0
	for i, key := range keys {
		if !kept[i] && !slices.Contains(identity, key) {
			left++
			continue
		}
		x, y := fieldOf(a, key), fieldOf(b, key)
		below, other := c.values(x, y)
		if plan.Equal(x, y) {
			below, other = x, y
		}
		if x != (nothing{}) {
			old[key] = below
		}
		if y != (nothing{}) {
			now[key] = other
		}
	}
	if left > 0 {
		old, now = Remarked(old, unchangedOf(left)), Remarked(now, unchangedOf(left))
	}
	return old, now
}

func (c around) lists(a, b []any) (old, now []any) {
	old, now = []any{}, []any{}
	pairs := match(keysOfElements(a), keysOfElements(b))
	kept := c.kept(len(pairs), func(i int) (differs, short bool) {
		p := pairs[i]
		both := p.Want >= 0 && p.Have >= 0
		return !both || !plan.Equal(a[p.Want], b[p.Have]), both && isShort(a[p.Want])
	})
	for i := 0; i < len(pairs); i++ {
		left := 0
		for ; i < len(pairs) && !kept[i]; i++ {
			left++
		}
		if left > 0 {
			old, now = append(old, unchangedOf(left)), append(now, unchangedOf(left))
		}
		if i == len(pairs) {
			break
		}
		switch p := pairs[i]; {
		case p.Have < 0:
			old = append(old, a[p.Want])
		case p.Want < 0:
			now = append(now, b[p.Have])
		case plan.Equal(a[p.Want], b[p.Have]):
			old, now = append(old, a[p.Want]), append(now, b[p.Have])
		default: // They have the same identity, and so are maps.
			x, _ := a[p.Want].(map[string]any)
			y, _ := b[p.Have].(map[string]any)
			below, other := c.maps(x, y, identity(x)...)
			old, now = append(old, below), append(now, other)
		}
	}
	return old, now
}

// kept says which of so many fields or elements are left: those that differ, and short ones next to them.
func (c around) kept(count int, of func(i int) (differs, short bool)) []bool {
	kept, near := make([]bool, count), make([]bool, count)
	for i := range count {
		if kept[i], _ = of(i); kept[i] {
			for j := max(0, i-c.margin); j <= min(count-1, i+c.margin); j++ {
				near[j] = true
			}
		}
	}
	for i := range count {
		_, short := of(i)
		kept[i] = kept[i] || near[i] && short
	}
	return kept
}

// isShort reports whether a value takes one line.
func isShort(value any) bool {
	switch value := value.(type) {
	case map[string]any:
		return len(value) == 0
	case []any:
		return len(value) == 0
	case string:
		return !strings.Contains(value, "\n")
	default:
		return true
	}
}

func keysOfElements(list []any) []string {
	out := make([]string, len(list))
	for i, element := range list {
		out[i] = keyOf(element)
	}
	return out
}

func linesOf(text string) []any {
	var out []any
	for line := range strings.SplitSeq(text, "\n") {
		out = append(out, line)
	}
	return out
}

func textOf(lines []any, ends bool) string {
	var out strings.Builder
	for i, line := range lines {
		if r, is := line.(Remark); is {
			line = "# " + r
		}
		if fmt.Fprint(&out, line); ends || i < len(lines)-1 {
			out.WriteByte('\n')
		}
	}
	return out.String()
}

// Remark is a comment, which [YAML] writes as one: an element of a list, or a field that [Remarked] has added to a map.
type Remark string

// remark begins the text and the field of a remark. No name of a field comes after it.
const remark = "\U0010FFFF"

// MarshalJSON implements [json.Marshaler].
func (r Remark) MarshalJSON() ([]byte, error) {
	return json.Marshal(remark + string(r)) //nolint:wrapcheck // It is a text.
}

// Remarked adds a remark at the end of a map.
func Remarked(fields map[string]any, r Remark) map[string]any {
	out := maps.Clone(fields)
	out[remark+string(r)] = r
	return out
}

// remarks are the lines of YAML that have one. Its field, or its value, may have been masked.
var remarks = regexp.MustCompile(`(?m)^( *)(?:"\\U0010FFFF([^"\\]*)": .*|(?:- |\S+: )"\\U0010FFFF([^"\\]*)")$`)

func unchangedOf(count int) Remark { return Remark(fmt.Sprintf("%d unchanged", count)) }
