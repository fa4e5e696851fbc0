package schema

import (
	"encoding/base64"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/kube-openapi/pkg/validation/strfmt"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
)

// wording is how a message speaks of a format.
type wording struct{ is, hint string }

var wordings = map[string]wording{
	Quantity:         {"a quantity", `write it as Kubernetes does, such as "500m", "1.5" or "2Gi"`},
	DateTime:         {"a time", `write it as RFC 3339, such as "2026-01-31T12:00:00Z"`},
	Time:             {"a time", `write it as RFC 3339, such as "2026-01-31T12:00:00Z"`},
	MicroTime:        {"a time with microseconds", `write it as in "2026-01-31T12:00:00.000000Z"`},
	"date":           {"a date", `write it as in "2026-01-31"`},
	"duration":       {"a duration", `write it with units, such as "90s" or "1h30m"`},
	"byte":           {"base64", `write "${toBase64(...)}"`},
	Bytes:            {"base64", `write "${toBase64(...)}"`},
	"cidr":           {"a CIDR block", `write it as in "10.0.0.0/8" or "fd00::/8"`},
	"ipv4":           {"an IPv4 address", `write it as in "10.0.0.1"`},
	"ipv6":           {"an IPv6 address", `write it as in "fd00::1"`},
	"mac":            {"a MAC address", `write it as in "00:1a:2b:3c:4d:5e"`},
	"hostname":       {"a host name", `use letters, digits, - and ., with a letter or a digit at both ends`},
	"email":          {"an email address", `write it as in "somebody@example.com"`},
	"uri":            {"a URI", `write it as in "https://example.com/path", or a path that starts with /`},
	"uuid":           {"a UUID", `write it as in "123e4567-e89b-42d3-a456-426614174000"`},
	"k8s-short-name": {"a name", "use lower-case letters, digits and -, with a letter or a digit at both ends"},
	"k8s-long-name":  {"a name", "use lower-case letters, digits, - and ., with a letter or a digit at both ends"},
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
		return isQuantity(text)
	case Time:
		_, err := time.Parse(time.RFC3339, text)
		return err == nil
	case MicroTime:
		_, err := time.Parse(microseconds, text)
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

// isQuantity takes what would need long to be parsed for right.
func isQuantity(text string) bool {
	if !quickQuantity(text) {
		return true
	}
	_, err := resource.ParseQuantity(text)
	return err == nil
}

// quickQuantity reports whether a text is parsed as a quantity, or refused, at
// once: an exponent is a number of digits to compute with.
func quickQuantity(text string) bool {
	const longest, longestExponent = 70, 2
	at := strings.LastIndexAny(text, "eE")
	return len(text) <= longest && (at < 0 || len(strings.Trim(text[at+1:], "+-")) <= longestExponent)
}
