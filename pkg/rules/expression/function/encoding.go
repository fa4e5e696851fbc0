package function

import (
	"encoding/base64"
	"unicode/utf8"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

func toJSON(b *value.Budget, args []any) (any, error) { return value.JSON(args[0], b) }

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
