package schema

import (
	"encoding/base64"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

// Formats of built-in types, which read a text and store another one for the same
// value. A custom resource stores what was written, so what it has in their place
// is [DateTime] and byte.
const (
	Time      = "time"       // of metav1.Time: seconds, in UTC
	MicroTime = "micro-time" // of metav1.MicroTime
	Bytes     = "bytes"      // of []byte: base64 in one line
)

// microseconds is how metav1.MicroTime is written, and has to be.
const microseconds = "2006-01-02T15:04:05.000000Z07:00"

// scalar returns a text or a number as it is stored.
func (t *Type) scalar(v any) (out any, changed bool) {
	text, isText := v.(string)
	switch {
	case t.Format == Quantity && t.Kinds&value.String != 0:
		return quantity(v)
	case !isText:
		return t.whole(v)
	case t.Format == Time:
		return rewritten(v, text, time.RFC3339)
	case t.Format == MicroTime:
		return rewritten(v, text, microseconds)
	case t.Format == Bytes:
		return unbroken(v, text)
	default:
		return v, false
	}
}

// whole turns a float into the integer that it equals, where one is wanted.
func (t *Type) whole(v any) (out any, changed bool) {
	if t.Kinds&value.Number != value.Int {
		return v, false
	}
	if i, ok := v.(float64); ok {
		if i, ok := wholeNumber(i); ok {
			return i, true
		}
	}
	return v, false
}

// quantity returns the canonical text of a quantity.
func quantity(v any) (out any, changed bool) {
	text, isText := v.(string)
	if !isText {
		text, _ = value.Text(v)
	}
	if isText && plainQuantity(text) || !quickQuantity(text) {
		return v, false
	}
	q, err := resource.ParseQuantity(strings.TrimSpace(text))
	if err != nil {
		return v, false
	}
	if written := q.String(); !isText || written != text {
		return written, true
	}
	return v, false
}

// plainQuantity knows most texts that are canonical without parsing them: a number
// that the next larger unit has no whole number of.
func plainQuantity(text string) bool {
	const mostDigits, decimal, binary = 9, 1000, 1024
	number, digits := 0, 0
	for digits < min(len(text), mostDigits) && text[digits] >= '0' && text[digits] <= '9' {
		number = number*10 + int(text[digits]-'0')
		digits++
	}
	if digits == 0 || text[0] == '0' {
		return text == "0"
	}
	switch text[digits:] {
	case "", "m", "k", "M", "G":
		return number%decimal != 0
	case "Ki", "Mi", "Gi":
		return number%binary != 0
	default:
		return false
	}
}

// rewritten returns a time in UTC as it is written in a layout.
func rewritten(v any, text, layout string) (out any, changed bool) {
	const longest = 64
	if len(text) > longest {
		return v, false
	}
	at, err := time.Parse(layout, text)
	if err != nil {
		return v, false
	}
	var room [longest]byte
	if written := at.UTC().AppendFormat(room[:0], layout); string(written) != text {
		return string(written), true
	}
	return v, false
}

// unbroken returns base64 without the line breaks that its readers skip.
func unbroken(v any, text string) (out any, changed bool) {
	if !strings.ContainsAny(text, "\r\n") {
		return v, false
	}
	data, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return v, false
	}
	return base64.StdEncoding.EncodeToString(data), true
}
