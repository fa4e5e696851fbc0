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

func trim(b *value.Budget, args []any) (any, error) {
	text := textArg(args, 0)
	if err := b.Steps(len(text)); err != nil {
		return nil, err
	}
	if len(args) == 1 {
		return strings.TrimSpace(text), nil
	}
	characters := textArg(args, 1)
	if err := b.Steps(len(text) / 8 * len(characters)); err != nil {
		return nil, err
	}
	return strings.Trim(text, characters), nil
}

func trimPrefix(_ *value.Budget, args []any) (any, error) {
	return strings.TrimPrefix(textArg(args, 0), textArg(args, 1)), nil
}

func trimSuffix(_ *value.Budget, args []any) (any, error) {
	return strings.TrimSuffix(textArg(args, 0), textArg(args, 1)), nil
}

func hasPrefix(_ *value.Budget, args []any) (any, error) {
	return strings.HasPrefix(textArg(args, 0), textArg(args, 1)), nil
}

func hasSuffix(_ *value.Budget, args []any) (any, error) {
	return strings.HasSuffix(textArg(args, 0), textArg(args, 1)), nil
}

func upper(b *value.Budget, args []any) (any, error) {
	return changeCase(b, textArg(args, 0), strings.ToUpper)
}

func lower(b *value.Budget, args []any) (any, error) {
	return changeCase(b, textArg(args, 0), strings.ToLower)
}

func changeCase(b *value.Budget, text string, change func(string) string) (any, error) {
	if err := b.Steps(len(text)); err != nil {
		return nil, err
	}
	// A few letters grow: two bytes of the lower case are three of the upper.
	if err := b.Bytes(2 * len(text)); err != nil {
		return nil, err
	}
	return change(text), nil
}

func split(b *value.Budget, args []any) (any, error) {
	return pieces(b, args, strings.SplitN)
}

func splitAfter(b *value.Budget, args []any) (any, error) {
	return pieces(b, args, strings.SplitAfterN)
}

func pieces(b *value.Budget, args []any, splitN func(text, separator string, n int) []string) (any, error) {
	text, separator, limit := textArg(args, 0), textArg(args, 1), int64(-1)
	if len(args) == 3 {
		limit = intArg(args, 2)
	}
	n, err := occurrences(b, text, separator)
	if err != nil {
		return nil, err
	}
	if limit >= 0 {
		n = int(min(int64(n), limit))
	}
	// The pieces exist as strings first and then, boxed, as elements.
	if err := b.List(4 * (n + 1)); err != nil {
		return nil, err
	}
	parts := splitN(text, separator, int(min(limit, int64(n)+1)))
	list := make([]any, len(parts))
	for i, part := range parts {
		list[i] = part
	}
	return list, nil
}

// occurrences counts and pays for the search.
func occurrences(b *value.Budget, text, part string) (int, error) {
	if err := b.Steps(1 + len(text)/8); err != nil {
		return 0, err
	}
	return strings.Count(text, part), nil
}

func join(b *value.Budget, args []any) (any, error) {
	separator := ""
	if len(args) == 2 {
		separator = textArg(args, 1)
	}
	list := asList(args[0])
	if err := b.List(len(list)); err != nil {
		return nil, err
	}
	parts, total := make([]string, len(list)), 0
	for i, element := range list {
		part, ok := element.(string)
		if !ok {
			return nil, value.Faultf("join wants strings, and element %d is %s", i, value.KindOf(element)).
				WithHint("write join(map(list, string(#)), separator)")
		}
		parts[i] = part
		total += len(part) + len(separator)
	}
	if err := b.Text(total); err != nil {
		return nil, err
	}
	return strings.Join(parts, separator), nil
}

func replace(b *value.Budget, args []any) (any, error) {
	text, old, replacement, limit := textArg(args, 0), textArg(args, 1), textArg(args, 2), -1
	n, err := occurrences(b, text, old)
	if err != nil {
		return nil, err
	}
	if len(args) == 4 && intArg(args, 3) >= 0 {
		n = int(min(int64(n), intArg(args, 3)))
		limit = n
	}
	if err := b.Steps(n); err != nil {
		return nil, err
	}
	if err := b.Text(max(0, len(text)+n*(len(replacement)-len(old)))); err != nil {
		return nil, err
	}
	return strings.Replace(text, old, replacement, limit), nil
}

func repeat(b *value.Budget, args []any) (any, error) {
	text, n := textArg(args, 0), intArg(args, 1)
	if n < 0 {
		return nil, value.Faultf("repeat wants a count of at least 0, have %d", n)
	}
	if text == "" {
		return "", nil
	}
	const longest = 1 << 30 // Far beyond any budget, and no product overflows.
	n = min(n, longest)
	if err := b.Text(min(longest, int(n)) * min(len(text), longest)); err != nil {
		return nil, err
	}
	return strings.Repeat(text, int(n)), nil
}

func indexOf(b *value.Budget, args []any) (any, error) {
	return position(b, args, strings.Index)
}

func lastIndexOf(b *value.Budget, args []any) (any, error) {
	return position(b, args, strings.LastIndex)
}

// position counts characters, as len and slices do.
func position(b *value.Budget, args []any, search func(text, part string) int) (any, error) {
	text := textArg(args, 0)
	if err := b.Steps(1 + len(text)/8); err != nil {
		return nil, err
	}
	i := search(text, textArg(args, 1))
	if i < 0 {
		return int64(-1), nil
	}
	return int64(utf8.RuneCountInString(text[:i])), nil
}

func length(b *value.Budget, args []any) (any, error) {
	switch x := args[0].(type) {
	case string:
		return int64(utf8.RuneCountInString(x)), b.Steps(len(x) / 32)
	case []any:
		return int64(len(x)), nil
	default:
		return int64(len(asMap(x))), nil
	}
}

func toJSON(b *value.Budget, args []any) (any, error) {
	if len(args) > 1 {
		return value.IndentedJSON(args[0], intArg(args, 1), b)
	}
	return value.JSON(args[0], b)
}

func fromJSON(b *value.Budget, args []any) (any, error) {
	return value.ParseJSON(textArg(args, 0), b)
}

func toYAML(b *value.Budget, args []any) (any, error) { return value.YAML(args[0], b) }

func fromYAML(b *value.Budget, args []any) (any, error) {
	return value.ParseYAML(textArg(args, 0), b)
}

func toBase64(b *value.Budget, args []any) (any, error) {
	text := textArg(args, 0)
	// The encoder works on copies of both sides.
	if err := b.Text(4 * len(text)); err != nil {
		return nil, err
	}
	return base64.StdEncoding.EncodeToString([]byte(text)), nil
}

// fromBase64 refuses what is not text, since JSON would silently replace it.
func fromBase64(b *value.Budget, args []any) (any, error) {
	text := textArg(args, 0)
	if err := b.Text(2 * len(text)); err != nil {
		return nil, err
	}
	decoded, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, value.Faultf("fromBase64: %q is not base64", value.Excerpt(text))
	}
	if !utf8.Valid(decoded) {
		return nil, value.Faultf("fromBase64: the decoded bytes are not UTF-8 text")
	}
	return string(decoded), nil
}

func toString(b *value.Budget, args []any) (any, error) {
	if text, ok := args[0].(string); ok {
		return text, nil
	}
	cost := b.Conversion
	if value.KindOf(args[0])&value.Computed == 0 {
		cost = func() error { return b.Text(32) }
	}
	if err := cost(); err != nil {
		return nil, err
	}
	text, ok := value.Text(args[0])
	if !ok {
		return nil, value.Faultf("%v has no text", args[0])
	}
	return text, nil
}

func typeOf(_ *value.Budget, args []any) (any, error) { return nameOf(value.KindOf(args[0])), nil }

// nameOf is the name of a kind for rules.
func nameOf(kind value.Kind) string {
	switch kind {
	case value.Nil:
		return "nil"
	case value.Bool:
		return "bool"
	case value.Int:
		return "int"
	case value.Float:
		return "float"
	case value.String:
		return "string"
	case value.List:
		return "array"
	case value.Quantity:
		return "quantity"
	case value.Semver:
		return "semver"
	case value.Duration:
		return "duration"
	case value.Time:
		return "time"
	default:
		return "map"
	}
}

func orDefault(_ *value.Budget, args []any) (any, error) {
	empty := false
	switch x := args[0].(type) {
	case nil:
		empty = true
	case string:
		empty = x == ""
	case []any:
		empty = len(x) == 0
	case map[string]any:
		empty = len(x) == 0
	}
	if empty {
		return args[1], nil
	}
	return args[0], nil
}

func omit(*value.Budget, []any) (any, error) { return value.Omitted{}, nil }

func digest(b *value.Budget, text string) ([sha256.Size]byte, error) {
	// A block takes some 300 ns without the help of the processor.
	if err := b.Steps(20 + len(text)/4); err != nil {
		return [sha256.Size]byte{}, err
	}
	if err := b.Bytes(len(text)); err != nil {
		return [sha256.Size]byte{}, err
	}
	return sha256.Sum256([]byte(text)), nil
}

func sha256Hex(b *value.Budget, args []any) (any, error) {
	sum, err := digest(b, textArg(args, 0))
	if err != nil {
		return nil, err
	}
	if err := b.Text(4 * len(sum)); err != nil {
		return nil, err
	}
	return hex.EncodeToString(sum[:]), nil
}

// jitter must give the same for ever: what rules have written depends on it.
func jitter(b *value.Budget, args []any) (any, error) {
	sum, err := digest(b, textArg(args, 0))
	if err != nil {
		return nil, err
	}
	draw := binary.BigEndian.Uint64(sum[:])
	low, fromInt := args[1].(int64)
	high, toInt := args[2].(int64)
	if fromInt && toInt {
		return between(draw, low, high)
	}
	from, err := value.ParseDuration(args[1])
	if err != nil {
		return nil, err
	}
	to, err := value.ParseDuration(args[2])
	if err != nil {
		return nil, err
	}
	unit := unitOf(from, to)
	n, err := between(draw, int64(from/unit), int64(to/unit))
	return time.Duration(n) * unit, err
}

// between picks one of the integers from low to high, both included.
func between(draw uint64, low, high int64) (int64, error) {
	if low > high {
		return 0, value.Faultf("jitter wants bounds in order, and the lower one is above the other")
	}
	offset := draw
	if n := uint64(high) - uint64(low) + 1; n != 0 { // 0 stands for all 2^64.
		offset, _ = bits.Mul64(draw, n)
	}
	return int64(uint64(low) + offset), nil
}

// unitOf returns the largest unit of which both are multiples, so that durations
// look like those that they are between.
func unitOf(a, b time.Duration) time.Duration {
	for _, unit := range []time.Duration{time.Second, time.Millisecond, time.Microsecond} {
		if a%unit == 0 && b%unit == 0 {
			return unit
		}
	}
	return time.Nanosecond
}
