package schema

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"regexp/syntax"
	"strconv"
	"time"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/kube-openapi/pkg/validation/strfmt"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

// wording is how a message speaks of a format.
type wording struct{ is, hint string }

var wordings = map[string]wording{
	Quantity:   {"a quantity", `write it as Kubernetes does, such as "500m", "1.5" or "2Gi"`},
	DateTime:   {"a time", `write it as RFC 3339, such as "2026-01-31T12:00:00Z"`},
	Time:       {"a time", `write it as RFC 3339, such as "2026-01-31T12:00:00Z"`},
	MicroTime:  {"a time with microseconds", `write it as in "2026-01-31T12:00:00.000000Z"`},
	"duration": {"a duration", `write it with units, such as "90s" or "1h30m"`},
	"byte":     {"base64", `write "${toBase64(...)}"`},
	Bytes:      {"base64", `write "${toBase64(...)}"`},
	"cidr":     {"a CIDR block", `write it as in "10.0.0.0/8" or "fd00::/8"`},
	"ipv4":     {"an IPv4 address", `write it as in "10.0.0.1"`},
	"hostname": {"a host name", `use letters, digits, - and ., with a letter or a digit at both ends`},
	"uri":      {"a URI", `write it as in "https://example.com/path", or a path that starts with /`},
}

// longestText is how long a text may be whose format is looked at.
const longestText = 64 << 10

// formatted compares a text with its format.
func (c *validation) formatted(t *Type, text string) bool {
	if t.Format == "" || len(text) > longestText || hasFormat(t.Format, text) {
		return true
	}
	w, known := wordings[t.Format]
	if !known {
		w.is = "of the format " + t.Format
	}
	c.report(document.CodeWrongFormat, fmt.Sprintf("%s is not %s", shown(text), w.is), w.hint)
	return false
}

// hasFormat is true where the format is one of those that mean nothing to the API
// server. Of times and base64 it takes what either custom resources or built-in
// types do, unless the format says which of them it is.
func hasFormat(format, text string) bool {
	switch format {
	case Quantity:
		if !value.QuickQuantity(text) {
			return true // It would take long to be parsed.
		}
		_, err := resource.ParseQuantity(text)
		return err == nil
	case Time, MicroTime:
		_, err := time.Parse(layouts[format], text)
		return err == nil
	case Bytes:
		_, err := base64.StdEncoding.DecodeString(text)
		return err == nil
	case "byte":
		return hasFormat(Bytes, text) || strfmt.Default.Validates(format, text)
	case DateTime:
		return hasFormat(Time, text) || strfmt.Default.Validates(format, text)
	default:
		return !strfmt.Default.ContainsName(format) || strfmt.Default.Validates(format, text)
	}
}

// enumerated reports a value that is none of those that there can be.
func (c *validation) enumerated(t *Type, v any) bool {
	if t.Limit == nil || len(t.Limit.Enum) == 0 {
		return true
	}
	for _, one := range t.Limit.Enum {
		if same, err := value.Equal(one, v, c.budget); same || err != nil {
			return true
		}
	}
	if _, err := json.Marshal(v); err != nil {
		return true // Something of it is not known.
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
	if more := len(names) - many; more > 0 {
		names = append(names[:many:many], "one of "+strconv.Itoa(more)+" others")
	}
	return value.Either(names)
}

// number compares a number with its bounds.
func (c *validation) number(t *Type, v any) {
	if t.Format == "int32" && t.Kinds&value.String == 0 &&
		(c.bounded(v, new(float64(math.MaxInt32)), false, 1) || c.bounded(v, new(float64(math.MinInt32)), false, -1)) {
		return
	}
	limit := t.Limit
	if limit == nil {
		return
	}
	c.bounded(v, limit.Minimum, limit.ExclusiveMinimum, -1)
	c.bounded(v, limit.Maximum, limit.ExclusiveMaximum, 1)
	if limit.MultipleOf != nil && !isMultiple(v, *limit.MultipleOf) {
		c.report(document.CodeOutOfBounds, fmt.Sprintf("want a multiple of %s, have %s", shown(*limit.MultipleOf), shown(v)), "")
	}
}

// bounded reports a number that is above a bound, or below it where the sign is -1.
func (c *validation) bounded(v any, bound *float64, exclusive bool, sign int) bool {
	if bound == nil {
		return false
	}
	order, ok := value.Compare(v, *bound)
	if !ok || order*sign < 0 || order == 0 && !exclusive {
		return false
	}
	want := map[bool][]string{false: {"at least", "at most"}, true: {"more than", "less than"}}[exclusive][(sign+1)/2]
	c.report(document.CodeOutOfBounds, fmt.Sprintf("want %s %s, have %s", want, shown(*bound), shown(v)), "")
	return true
}

// isMultiple is exact about integers. Of floats it forgives what they cannot be exact
// about, and what is beyond that is no multiple of anything, as in the API server.
func isMultiple(v any, factor float64) bool {
	const tolerance, largest = 1e-9, 1 << 53
	number, _ := v.(float64)
	i, isInt := v.(int64)
	if !isInt {
		i, isInt = wholeNumber(number) // It is sent without a fraction.
	}
	if isInt && factor >= 1 && factor < math.MaxInt64 && factor == math.Trunc(factor) {
		return i%int64(factor) == 0
	}
	if isInt {
		number = float64(i)
	}
	times := number / factor
	rounded := math.Round(times)
	return factor <= 0 || math.Abs(times) < largest && math.Abs(times-rounded) <= tolerance*math.Abs(rounded)
}

// text compares a text with its bounds, its pattern and its format.
func (c *validation) text(t *Type, text string) {
	limit := t.Limit
	if limit == nil {
		limit = &Limits{}
	}
	if (limit.MinLength != nil || limit.MaxLength != nil) && !c.counted("character", limit.MinLength, limit.MaxLength, utf8.RuneCountInString(text), 0) {
		return
	}
	if c.formatted(t, text) && limit.Pattern != "" {
		c.pattern(limit.Pattern, text)
	}
}

// counted reports that there are too few, or too many. There may be more than are seen.
func (c *validation) counted(of string, least, most *int64, have, more int) bool {
	switch {
	case least != nil && int64(have)+int64(more) < *least:
		c.report(document.CodeOutOfBounds, fmt.Sprintf("want at least %s, have %d", document.Count(int(*least), of), have+more), "")
	case most != nil && int64(have) > *most:
		c.report(document.CodeOutOfBounds, fmt.Sprintf("want at most %s, have %d", document.Count(int(*most), of), have), "")
	default:
		return true
	}
	return false
}

// What patterns may take, since they come from whoever wrote the schema, and
// matching takes as many steps as the text is long, times the size of the program.
const (
	mostSteps     = 50_000_000 // of all texts of a value
	longestSource = 8 << 10
	largest       = 50_000 // instructions of a program
)

// pattern is a compiled one, nil where there is none to be had.
type pattern struct {
	*regexp.Regexp
	size int // of its program, in instructions
}

// pattern compares a text with a pattern, which fits where there are no steps left for it. One that cannot be read is none: the API
// server takes no such schema.
func (c *validation) pattern(source, text string) {
	compiled, known := c.patterns[source]
	if !known {
		compiled = compile(source)
		if c.patterns == nil {
			c.patterns = map[string]*pattern{}
		}
		c.patterns[source] = compiled
	}
	if compiled == nil {
		return
	}
	if c.steps -= (len(text) + 1) * compiled.size; c.steps >= 0 && !compiled.MatchString(text) {
		c.report(document.CodeWrongFormat, fmt.Sprintf("%s does not match the pattern %s", shown(text), source), "")
	}
}

// compile returns nil for what is no pattern, or too large a one.
func compile(source string) *pattern {
	if len(source) > longestSource {
		return nil
	}
	parsed, err := syntax.Parse(source, syntax.Perl)
	if err != nil || value.PatternSize(parsed) > largest {
		return nil
	}
	compiled, err := regexp.Compile(source)
	if err != nil {
		return nil
	}
	return &pattern{compiled, value.PatternSize(parsed)}
}
