package compare

import (
	"bytes"
	"encoding/json"
	"fmt"
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
	var root yaml.Node
	if err := yaml.Unmarshal(EscapeInvisible(string(data)), &root); err != nil { // JSON is YAML, and its nodes keep the order of keys.
		return nil, fmt.Errorf("encoding YAML: %w", err)
	}
	restyle(&root)
	var out bytes.Buffer
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	encoder.CompactSeqIndent()
	if err := encoder.Encode(&root); err != nil {
		return nil, fmt.Errorf("encoding YAML: %w", err)
	}
	return remarks.ReplaceAll(EscapeInvisible(out.String()), []byte("$1# $2$3")), nil
}

// restyle gives nodes of JSON the style of YAML.
func restyle(n *yaml.Node) {
	n.Style = 0
	switch n.Tag {
	case "!!str":
		n.Style = style(n.Value)
	case "!!int", "!!float":
		n.Value, n.Tag = number(n.Value), "" // An integer may have become a float.
	}
	for _, below := range n.Content {
		restyle(below)
	}
}

// number writes what is no int64 with a point, which all versions of YAML read
// as a number, also where it has an exponent.
func number(digits string) string {
	if _, err := strconv.ParseInt(digits, 10, 64); err == nil || strings.Contains(digits, ".") {
		return digits
	}
	mantissa, exponent, ok := strings.Cut(digits, "e")
	digits = mantissa + ".0"
	if ok {
		digits += "e" + exponent
	}
	return digits
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
