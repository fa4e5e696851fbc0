package schema

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

// enumerated reports a value that is none of those that there can be.
func (c *validation) enumerated(t *Type, v any) bool {
	if t.Limit == nil || len(t.Limit.Enum) == 0 || !isKnown(v) {
		return true
	}
	for _, one := range t.Limit.Enum {
		if same, err := value.Equal(one, v, c.budget); same || err != nil {
			return true
		}
	}
	written, names := shown(v), make([]string, 0, len(t.Limit.Enum))
	for _, one := range t.Limit.Enum {
		if one != nil {
			names = append(names, shown(one))
		}
	}
	hint := ""
	if _, isText := v.(string); isText {
		if near := document.Suggest(written, names); near != "" {
			hint = "did you mean " + near + "?"
		}
	}
	c.report(document.CodeNotInEnum, fmt.Sprintf("want %s, have %s", either(names), written), hint)
	return false
}

// isKnown reports whether nothing of a value is unknown.
func isKnown(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		for _, element := range v {
			if !isKnown(element) {
				return false
			}
		}
	case []any:
		return !slices.ContainsFunc(v, func(element any) bool { return !isKnown(element) })
	case Unknown:
		return false
	}
	return true
}

// shown is a value as it is shown in a message.
func shown(v any) string {
	if text, ok := v.(string); ok {
		return strconv.Quote(value.Excerpt(text))
	}
	if text, ok := value.Text(v); ok {
		return text
	}
	data, err := json.Marshal(v)
	if err != nil {
		return value.KindOf(v).String()
	}
	return value.Excerpt(string(data))
}

// either lists what there is to choose from, or some of it.
func either(names []string) string {
	const many = 12
	switch {
	case len(names) > many:
		return strings.Join(names[:many], ", ") + " or one of " + strconv.Itoa(len(names)-many) + " others"
	case len(names) < 2:
		return strings.Join(names, "")
	default:
		last := len(names) - 1
		return strings.Join(names[:last], ", ") + " or " + names[last]
	}
}

// number compares a number with its bounds.
func (c *validation) number(t *Type, v any) {
	if t.Format == "int32" && t.Kinds&value.String == 0 && (c.above(v, math.MaxInt32, false) || c.below(v, math.MinInt32, false)) {
		return
	}
	limit := t.Limit
	if limit == nil {
		return
	}
	if limit.Minimum != nil {
		c.below(v, *limit.Minimum, limit.ExclusiveMinimum)
	}
	if limit.Maximum != nil {
		c.above(v, *limit.Maximum, limit.ExclusiveMaximum)
	}
	if limit.MultipleOf != nil && !isMultiple(v, *limit.MultipleOf) {
		c.report(document.CodeOutOfBounds, fmt.Sprintf("want a multiple of %s, have %s", shown(*limit.MultipleOf), shown(v)), "")
	}
}

// below reports a number that is too small.
func (c *validation) below(v any, least float64, exclusive bool) bool {
	order, ok := value.Compare(v, least)
	if !ok || order > 0 || order == 0 && !exclusive {
		return false
	}
	c.report(document.CodeOutOfBounds, fmt.Sprintf("want %s %s, have %s", comparative(exclusive, "more than", "at least"), shown(least), shown(v)), "")
	return true
}

// above reports a number that is too large.
func (c *validation) above(v any, most float64, exclusive bool) bool {
	order, ok := value.Compare(v, most)
	if !ok || order < 0 || order == 0 && !exclusive {
		return false
	}
	c.report(document.CodeOutOfBounds, fmt.Sprintf("want %s %s, have %s", comparative(exclusive, "less than", "at most"), shown(most), shown(v)), "")
	return true
}

func comparative(exclusive bool, open, closed string) string {
	if exclusive {
		return open
	}
	return closed
}

// isMultiple is exact about integers. Of floats it forgives what they cannot be exact
// about, and what is beyond that is no multiple of anything, as in the API server.
func isMultiple(v any, factor float64) bool {
	const tolerance, largest = 1e-9, 1 << 53
	number, _ := v.(float64)
	i, ok := v.(int64)
	if !ok {
		i, ok = wholeNumber(number) // It is sent without a fraction.
	}
	if ok {
		if factor >= 1 && factor < math.MaxInt64 && factor == math.Trunc(factor) {
			return i%int64(factor) == 0
		}
		number = float64(i)
	}
	times := number / factor
	rounded := math.Round(times)
	return factor <= 0 || math.Abs(times) < largest && math.Abs(times-rounded) <= tolerance*math.Abs(rounded)
}

// text compares a text with its bounds, its pattern and its format.
func (c *validation) text(t *Type, text string) {
	if limit := t.Limit; limit != nil && (limit.MinLength != nil || limit.MaxLength != nil) {
		length := utf8.RuneCountInString(text)
		if length == 0 && limit.MinLength != nil && *limit.MinLength == 1 {
			c.report(document.CodeOutOfBounds, "want a text that is not empty", "")
			return
		}
		if c.least(limit.MinLength, length, false, "characters") || c.most(limit.MaxLength, length, "characters") {
			return
		}
	}
	if c.formatted(t, text) && t.Limit != nil && t.Limit.Pattern != "" {
		c.pattern(t.Limit.Pattern, text)
	}
}

// least reports that there are too few, unless there may be more than are seen.
func (c *validation) least(bound *int64, have int, mayBeMore bool, of string) bool {
	if bound == nil || int64(have) >= *bound || mayBeMore {
		return false
	}
	c.report(document.CodeOutOfBounds, fmt.Sprintf("want at least %d %s, have %d", *bound, counted(*bound, of), have), "")
	return true
}

// most reports that there are too many.
func (c *validation) most(bound *int64, have int, of string) bool {
	if bound == nil || int64(have) <= *bound {
		return false
	}
	c.report(document.CodeOutOfBounds, fmt.Sprintf("want at most %d %s, have %d", *bound, counted(*bound, of), have), "")
	return true
}

// counted is the name of so many things.
func counted(n int64, of string) string {
	switch {
	case n != 1:
		return of
	case of == "entries":
		return "entry"
	default:
		return strings.TrimSuffix(of, "s")
	}
}
