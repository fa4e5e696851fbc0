package function

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"math/bits"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

// texts is a function of two texts that costs next to nothing.
func texts[T any](apply func(text, part string) T) func(c Call) any {
	return func(c Call) any { return apply(arg[string](c, 0), arg[string](c, 1)) }
}

func trim(c Call) any {
	text, characters := arg[string](c, 0), arg[string](c, 1)
	value.Must(c.Budget.Steps(len(text) + len(text)/8*len(characters)))
	if len(c.Args) == 1 {
		return strings.TrimSpace(text)
	}
	return strings.Trim(text, characters)
}

func changeCase(change func(string) string) func(c Call) any {
	return func(c Call) any {
		text := arg[string](c, 0)
		// A few letters grow: two bytes of the lower case are three of the upper.
		value.Must(c.Budget.Spend(len(text), 2*len(text)))
		return change(text)
	}
}

func split(splitN func(text, separator string, n int) []string) func(c Call) any {
	return func(c Call) any {
		text, separator, limit := arg[string](c, 0), arg[string](c, 1), c.limit(2)
		n := min(occurrences(c.Budget, text, separator), limit)
		// The pieces exist as strings first and then, boxed, as elements.
		value.Must(c.Budget.List(4 * (n + 1)))
		parts := splitN(text, separator, min(limit, n+1))
		list := make([]any, len(parts))
		for i, part := range parts {
			list[i] = part
		}
		return list
	}
}

// limit returns an argument that is how many there may be; every number is allowed where
// it is negative or was left out.
func (c Call) limit(i int) int {
	const most = 1 << 30 // Far beyond any budget, and no product overflows.
	if n := arg[int64](c, i); i < len(c.Args) && n >= 0 {
		return int(min(n, most))
	}
	return most
}

// occurrences counts and pays for the search.
func occurrences(b *value.Budget, text, part string) int {
	value.Must(b.Steps(1 + len(text)/8))
	return strings.Count(text, part)
}

// JoinHint says how elements of other kinds are joined.
func JoinHint(elements value.Kind) string {
	text := "string"
	if elements&(value.List|value.Map) != 0 {
		text = "toJSON"
	}
	return "write join(map(list, " + text + "(#)), separator)"
}

func join(c Call) any {
	list, separator := c.list(), arg[string](c, 1)
	value.Must(c.Budget.List(len(list)))
	parts, total := make([]string, len(list)), 0
	for i, element := range list {
		part, ok := element.(string)
		if !ok {
			value.Must(value.Faultf("join wants strings, and element %d is %s", i, value.KindOf(element)).
				WithHint("%s", JoinHint(value.KindOf(element))))
		}
		parts[i] = part
		total += len(part) + len(separator)
	}
	value.Must(c.Budget.Text(total))
	return strings.Join(parts, separator)
}

func replace(c Call) any {
	text, old, replacement := arg[string](c, 0), arg[string](c, 1), arg[string](c, 2)
	n := min(occurrences(c.Budget, text, old), c.limit(3))
	value.Must(c.Budget.Steps(n))
	value.Must(c.Budget.Text(max(0, len(text)+n*(len(replacement)-len(old)))))
	return strings.Replace(text, old, replacement, n)
}

func repeat(c Call) any {
	text, n := arg[string](c, 0), arg[int64](c, 1)
	if n < 0 {
		fail("repeat wants a count of at least 0, have %d", n)
	}
	if text == "" {
		return ""
	}
	value.Must(c.Budget.Text(c.limit(1) * len(text)))
	return strings.Repeat(text, int(n))
}

// position counts characters, as len and slices do.
func position(search func(text, part string) int) func(c Call) any {
	return func(c Call) any {
		text := arg[string](c, 0)
		value.Must(c.Budget.Steps(1 + len(text)/8))
		i := search(text, arg[string](c, 1))
		if i < 0 {
			return int64(-1)
		}
		return int64(utf8.RuneCountInString(text[:i]))
	}
}

func length(c Call) any {
	switch x := c.Args[0].(type) {
	case string:
		value.Must(c.Budget.Steps(len(x) / 32))
		return int64(utf8.RuneCountInString(x))
	case []any:
		return int64(len(x))
	default:
		return int64(len(as[map[string]any](x)))
	}
}

func toJSON(c Call) any {
	if len(c.Args) > 1 {
		return value.Got(value.IndentedJSON(c.Args[0], arg[int64](c, 1), c.Budget))
	}
	return value.Got(value.JSON(c.Args[0], c.Budget))
}

func toBase64(c Call) any {
	text := arg[string](c, 0)
	// The encoder works on copies of both sides.
	value.Must(c.Budget.Text(4 * len(text)))
	return base64.StdEncoding.EncodeToString([]byte(text))
}

// fromBase64 refuses what is not text, since JSON would silently replace it.
func fromBase64(c Call) any {
	text := arg[string](c, 0)
	value.Must(c.Budget.Text(2 * len(text)))
	decoded, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		fail("fromBase64: %q is not base64", value.Excerpt(text))
	}
	if !utf8.Valid(decoded) {
		fail("fromBase64: the decoded bytes are not UTF-8 text")
	}
	return string(decoded)
}

func toString(c Call) any {
	if text, ok := c.Args[0].(string); ok {
		return text
	}
	if value.KindOf(c.Args[0])&value.Computed != 0 {
		value.Must(c.Budget.Conversion())
	}
	value.Must(c.Budget.Text(32))
	text, ok := value.Text(c.Args[0])
	if !ok {
		fail("%v has no text", c.Args[0])
	}
	return text
}

func orDefault(c Call) any {
	empty := c.Args[0] == nil || c.Args[0] == ""
	switch x := c.Args[0].(type) {
	case []any:
		empty = len(x) == 0
	case map[string]any:
		empty = len(x) == 0
	}
	if empty {
		return c.Args[1]
	}
	return c.Args[0]
}

func digest(b *value.Budget, text string) [sha256.Size]byte {
	// A block takes some 300 ns without the help of the processor.
	value.Must(b.Spend(20+len(text)/4, len(text)))
	return sha256.Sum256([]byte(text))
}

func sha256Hex(c Call) any {
	sum := digest(c.Budget, arg[string](c, 0))
	value.Must(c.Budget.Text(4 * len(sum)))
	return hex.EncodeToString(sum[:])
}

// jitter must give the same for ever: what rules have written depends on it.
func jitter(c Call) any {
	sum := digest(c.Budget, arg[string](c, 0))
	draw := binary.BigEndian.Uint64(sum[:])
	low, fromInt := c.Args[1].(int64)
	high, toInt := c.Args[2].(int64)
	if fromInt && toInt {
		return between(draw, low, high)
	}
	from, to := value.Got(value.ParseDuration(c.Args[1])), value.Got(value.ParseDuration(c.Args[2]))
	// The largest unit of which both are multiples, so that durations look like those that they are between.
	unit := time.Second
	for from%unit != 0 || to%unit != 0 {
		unit /= 1000
	}
	return time.Duration(between(draw, int64(from/unit), int64(to/unit))) * unit
}

// between picks one of the integers from low to high, both included.
func between(draw uint64, low, high int64) int64 {
	if low > high {
		fail("jitter wants bounds in order, and the lower one is above the other")
	}
	offset := draw
	if n := uint64(high) - uint64(low) + 1; n != 0 { // 0 stands for all 2^64.
		offset, _ = bits.Mul64(draw, n)
	}
	return int64(uint64(low) + offset)
}
