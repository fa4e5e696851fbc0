package compare

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
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
	c := between(oneIs, otherIs)
	c.values("", one, other)
	return c.lines
}

func between(oneIs, otherIs string) comparison {
	return comparison{line: func(path, left, right string) string {
		return fmt.Sprintf("%s: %s %s, %s %s", cmp.Or(path, "(the whole)"), oneIs, left, otherIs, right)
	}, nothing: "nothing"}
}

// LostNulls lists the paths at which want has a null and have has nothing. They are all that differs if only is true.
func LostNulls(want, have any) (paths []string, only bool) {
	const nothing = ""
	only = true
	c := comparison{nothing: nothing, line: func(path, left, right string) string {
		only = only && left == "null" && right == nothing // A text is shown in quotes.
		return path
	}}
	c.values("", want, have)
	return c.lines, only
}

// Changes lists how the value at a path changes, as in `containers[name=web].image: "web:1" -> "web:2"`. Elements of lists
// are named by what they are about.
func Changes(path plan.Path, before, after any) []string {
	c := comparison{line: func(path, left, right string) string { return path + ": " + left + " -> " + right }, nothing: "none", named: true}
	c.values(path.String(), before, after)
	return c.lines
}

// Missing lists what have lacks of want, which tells only a part: keys and elements of lists that only have has do not
// count, and null stands for a key that must not be there. An element is looked for among those about the same.
func Missing(want, have any) []string {
	c := between("want", "have")
	c.missing("", want, have)
	return c.lines
}

func (c *comparison) missing(path string, want, have any) {
	switch want := want.(type) {
	case map[string]any:
		if have, ok := have.(map[string]any); ok {
			for _, key := range slices.Sorted(maps.Keys(want)) {
				right, exists := have[key]
				at := below(path, key)
				switch left := want[key]; {
				case exists && (left != nil || right == nil):
					c.missing(at, left, right)
				case exists:
					c.add(at, c.nothing, cut(Show(right), longestAlone))
				case left != nil:
					c.add(at, cut(Show(left), longestAlone), c.nothing)
				}
			}
			return
		}
	case []any:
		if have, ok := have.([]any); ok {
			for i, element := range want {
				c.missingElement(fmt.Sprintf("%s[%d]", path, i), element, have)
			}
			return
		}
	}
	c.values(path, want, have)
}

// missingElement tells what the element lacks that has the most of it.
func (c *comparison) missingElement(path string, want any, have []any) {
	var fewest []string
	for _, element := range have {
		candidate := between("want", "have")
		if candidate.missing(path, want, element); len(candidate.lines) == 0 {
			return
		}
		fields, _ := want.(map[string]any)
		others, _ := element.(map[string]any)
		of := identity(want)
		same := len(of) > 0 && !slices.ContainsFunc(of, func(key string) bool { return !plan.Equal(fields[key], others[key]) })
		if same && (fewest == nil || len(candidate.lines) < len(fewest)) {
			fewest = candidate.lines
		}
	}
	if fewest == nil {
		c.add(path, cut(Show(want), longestAlone), "nothing like it")
	}
	c.lines = append(c.lines, fewest...)
}

// comparison is one walk over two trees.
type comparison struct {
	line    func(path, left, right string) string
	nothing string // the word for what is not there
	named   bool   // elements of lists by name
	lines   []string
}

func (c *comparison) values(path string, want, have any) {
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
		if plan.Equal(want, have) {
			return
		}
	}
	left, right := apart(Show(want), Show(have))
	c.add(path, left, right)
}

func (c *comparison) maps(path string, want, have map[string]any) {
	keys := slices.AppendSeq(slices.Collect(maps.Keys(want)), maps.Keys(have))
	slices.Sort(keys)
	for _, key := range slices.Compact(keys) {
		left, wanted := want[key]
		right, exists := have[key]
		c.maybeAbsent(below(path, key), left, wanted, right, exists)
	}
}

// below is the path of a key of a map.
func below(path, key string) string {
	step := plan.Path{key}.String()
	if path != "" && !strings.HasPrefix(step, "[") {
		step = "." + step
	}
	return path + step
}

func (c *comparison) lists(path string, want, have []any) {
	for _, p := range Align(want, have) {
		var left, right any
		if p.Want >= 0 {
			left = want[p.Want]
		}
		if p.Have >= 0 {
			right = have[p.Have]
		}
		step := strconv.Itoa(p.Index())
		of := cmp.Or(left, right)
		if keys := identity(of); c.named && len(keys) > 0 {
			fields, _ := of.(map[string]any)
			step = keys[0] + "=" + strings.Trim(Show(fields[keys[0]]), `"`)
		}
		c.maybeAbsent(path+"["+step+"]", left, p.Want >= 0, right, p.Have >= 0)
	}
}

func (c *comparison) maybeAbsent(path string, want any, wanted bool, have any, exists bool) {
	wantList, _ := want.([]any)
	haveList, _ := have.([]any)
	switch {
	case wanted && exists:
		c.values(path, want, have)
	case len(wantList)+len(haveList) > 0:
		c.lists(path, wantList, haveList) // Each element says more than the beginning of all.
	case wanted:
		c.add(path, cut(Show(want), longestAlone), c.nothing)
	default:
		c.add(path, c.nothing, cut(Show(have), longestAlone))
	}
}

func (c *comparison) add(path, left, right string) {
	c.lines = append(c.lines, c.line(path, left, right))
}

// Show writes a value in one line of JSON that a terminal shows as it is.
func Show(value any) string {
	var out strings.Builder
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return err.Error()
	}
	return string(EscapeInvisible(strings.TrimSpace(out.String())))
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

// EscapeInvisible replaces the characters of encoded text, as of JSON or of YAML, that a
// terminal would not show. They are within double quotes there.
func EscapeInvisible(encoded string) []byte {
	out := make([]byte, 0, len(encoded))
	for _, r := range encoded {
		switch {
		case r == '\n' || strconv.IsPrint(r):
			out = append(out, string(r)...)
		case r > 0xffff:
			out = fmt.Appendf(out, `\U%08X`, r)
		default:
			out = fmt.Appendf(out, `\u%04X`, r)
		}
	}
	return out
}
