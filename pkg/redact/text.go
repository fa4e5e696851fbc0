package redact

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// shortestInKey is how many bytes a value must have to be looked for in names of fields.
const shortestInKey = 10

// Plain stands for any value. It tells nothing of it.
func Plain(string) string { return "(masked)" }

// Fingerprint stands for a value by a part of its digest. It tells values apart and lets a
// guess be confirmed, so it is for made-up ones.
func Fingerprint(value string) string {
	sum := sha256.Sum256([]byte(value))
	return "(masked " + hex.EncodeToString(sum[:4]) + ")"
}

// Mask returns what stands for a value as a whole.
func (v *Values) Mask(value string) string {
	if v.standIn == nil {
		return Plain(value)
	}
	return v.standIn(value)
}

// Text masks the values in a text. Those that overlap are masked as one.
func (v *Values) Text(text string) string { return v.replace(text, shortest) }

// Key is the same for the name of a field, in which short values are left: words such as
// name and admin are values of many a Secret, and an object without its keys says nothing.
func (v *Values) Key(name string) string { return v.replace(name, shortestInKey) }

func (v *Values) replace(text string, atLeast int) string {
	switch {
	case len(text) < atLeast || v.Empty():
		return text
	case v.tooMuch:
		return v.Mask(text)
	}
	all := v.index.Load()
	if all == nil {
		all = new(newIndex(v.known, v.except))
		v.index.Store(all)
	}
	found, ok := all.spans(text, atLeast)
	switch {
	case !ok:
		return v.Mask(text)
	case len(found) == 0:
		return text
	}
	var out strings.Builder
	end := 0
	for _, at := range found {
		out.WriteString(text[end:at.from])
		out.WriteString(v.Mask(text[at.from:at.to]))
		end = at.to
	}
	out.WriteString(text[end:])
	return out.String()
}
