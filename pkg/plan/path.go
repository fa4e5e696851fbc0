package plan

import (
	"slices"
	"strconv"
	"strings"
)

// Path leads to a field: map keys, and list indexes in decimal.
type Path []string

// String writes the path as users write it in an expression; keys that are not
// plain names are quoted.
func (p Path) String() string {
	var b strings.Builder
	for i, step := range p {
		switch {
		case isIndex(step):
			b.WriteString("[" + step + "]")
		case !isName(step):
			b.WriteString("[" + strconv.Quote(step) + "]")
		case i == 0:
			b.WriteString(step)
		default:
			b.WriteString("." + step)
		}
	}
	return b.String()
}

var (
	escape   = strings.NewReplacer("~", "~0", "/", "~1")
	unescape = strings.NewReplacer("~1", "/", "~0", "~")
)

// Pointer writes the path as a JSON pointer (RFC 6901).
func (p Path) Pointer() string {
	var b strings.Builder
	for _, step := range p {
		b.WriteString("/" + escape.Replace(step))
	}
	return b.String()
}

// parsePointer is the inverse of Pointer; ok is false where the text is not a
// JSON pointer.
func parsePointer(text string) (path Path, ok bool) {
	if text == "" {
		return nil, true
	}
	if text[0] != '/' {
		return nil, false
	}
	path = make(Path, 0, strings.Count(text, "/"))
	for step := range strings.SplitSeq(text[1:], "/") {
		if strings.Contains(step, "~") {
			step = unescape.Replace(step)
		}
		path = append(path, step)
	}
	return path, true
}

// hasPrefix reports whether the path leads into or to what prefix leads to.
func (p Path) hasPrefix(prefix Path) bool {
	if len(prefix) > len(p) {
		return false
	}
	for i, step := range prefix {
		if p[i] != step {
			return false
		}
	}
	return true
}

// child returns a new path one step deeper; p is not shared with it.
func (p Path) child(step string) Path {
	return append(slices.Clip(p), step)
}

func isIndex(step string) bool {
	if step == "" || step[0] < '0' || step[0] > '9' { // As most are: an error takes long to make.
		return false
	}
	_, err := strconv.ParseUint(step, 10, 31)
	return err == nil
}

func isName(step string) bool {
	for i, r := range step {
		letter := r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		if !letter && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return step != ""
}
