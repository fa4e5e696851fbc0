package compare

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// YAML writes what [json.Marshal] makes of value as YAML, in the same order.
// Text that readers of YAML could take for something else, or that a terminal
// would not show, is quoted, so that every reader gets back the same.
func YAML(value any) ([]byte, error) {
	data, err := json.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("encoding YAML: %w", err)
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	root, err := next(decoder)
	if err != nil {
		return nil, fmt.Errorf("encoding YAML: %w", err)
	}
	var out bytes.Buffer
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	encoder.CompactSeqIndent()
	if err := encoder.Encode(root); err != nil {
		return nil, fmt.Errorf("encoding YAML: %w", err)
	}
	return EscapeInvisible(out.String()), nil
}

// next takes one value off the JSON. Its tokens keep the order of keys.
func next(decoder *json.Decoder) (*yaml.Node, error) {
	token, err := decoder.Token()
	if err != nil {
		return nil, err
	}
	switch token := token.(type) {
	case json.Delim:
		return container(decoder, token)
	case json.Number:
		return number(token.String()), nil
	case string:
		return text(token), nil
	case bool:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: strconv.FormatBool(token)}, nil
	default:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Value: "null"}, nil
	}
}

// container takes what is left of a map or a list. The keys of a map come as
// values between its values, as YAML nodes have them too.
func container(decoder *json.Decoder, open json.Delim) (*yaml.Node, error) {
	out := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	if open == '[' {
		out.Kind, out.Tag = yaml.SequenceNode, "!!seq"
	}
	for decoder.More() {
		child, err := next(decoder)
		if err != nil {
			return nil, err
		}
		out.Content = append(out.Content, child)
	}
	if _, err := decoder.Token(); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return out, nil
}

// number writes what is no int64 with a point, which all versions of YAML read
// as a number, also where it has an exponent.
func number(digits string) *yaml.Node {
	if _, err := strconv.ParseInt(digits, 10, 64); err == nil {
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!int", Value: digits}
	}
	if !strings.Contains(digits, ".") {
		mantissa, exponent, ok := strings.Cut(digits, "e")
		digits = mantissa + ".0"
		if ok {
			digits += "e" + exponent
		}
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!float", Value: digits}
}

func text(value string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: value, Style: style(value)}
}

// style leaves plain text to the encoder, which knows the grammar of YAML but
// not what its versions disagree about.
func style(value string) yaml.Style {
	switch {
	case isBlock(value):
		return yaml.LiteralStyle
	case !isPlain(value):
		return yaml.DoubleQuotedStyle
	default:
		return 0
	}
}

// isPlain reports whether the text is surely text for every reader.
func isPlain(value string) bool {
	if value == "" || !isVisible(value) {
		return false
	}
	first := value[0] | 0x20
	if value[0] != '/' && (first < 'a' || first > 'z') {
		return false
	}
	switch strings.ToLower(value) {
	case "true", "false", "null", "yes", "no", "on", "off", "y", "n":
		return false
	default:
		return true
	}
}

// isBlock reports whether the text reads best as lines, with nothing about
// them that an editor might strip.
func isBlock(value string) bool {
	if !strings.Contains(value, "\n") || strings.TrimSpace(value) == "" {
		return false
	}
	for line := range strings.SplitSeq(value, "\n") {
		if !isVisible(line) || strings.HasSuffix(line, " ") {
			return false
		}
	}
	return value[0] != ' ' && value[0] != '\n' && !strings.HasSuffix(value, "\n\n")
}

func isVisible(value string) bool {
	return strings.IndexFunc(value, func(r rune) bool { return !strconv.IsPrint(r) }) < 0
}
