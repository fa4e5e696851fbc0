package plan

import (
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/types"
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

// ParsePointer is the inverse of Pointer; ok is false where the text is not a
// JSON pointer.
func ParsePointer(text string) (path Path, ok bool) {
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
	return len(prefix) <= len(p) && slices.Equal(p[:len(prefix)], prefix)
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

// Lookup follows a path through maps and lists.
func Lookup(value any, path Path) (found any, ok bool) {
	for _, step := range path {
		switch at := value.(type) {
		case map[string]any:
			if value, ok = at[step]; !ok {
				return nil, false
			}
		case []any:
			index, err := strconv.Atoi(step)
			if err != nil || index < 0 || index >= len(at) {
				return nil, false
			}
			value = at[index]
		default:
			return nil, false
		}
	}
	return value, true
}

// LookupPointer returns the value that a JSON pointer leads to, nil where there
// is none.
func LookupPointer(value any, pointer string) any {
	path, ok := ParsePointer(pointer)
	if !ok {
		return nil
	}
	found, _ := Lookup(value, path)
	return found
}

// Text is the string at a path, empty where there is none.
func Text(object map[string]any, path ...string) string {
	value, _ := Lookup(object, path)
	found, _ := value.(string)
	return found
}

// Label is the text of an object's label, empty where there is none.
func Label(object map[string]any, key string) string {
	return Text(object, "metadata", "labels", key)
}

// GivenNames are the namespace and the name of an object. There are none where rules made it:
// they may have them from a Secret.
func GivenNames(object map[string]any) []string {
	if Label(object, LabelSet) != "" {
		return nil
	}
	return []string{Text(object, "metadata", "namespace"), Text(object, "metadata", "name")}
}

// Annotation is the same for an annotation.
func Annotation(object map[string]any, key string) string {
	return Text(object, "metadata", "annotations", key)
}

// elements are the maps of a list at a path; what is no map is nil, so that the
// indexes are those of the list.
func elements(object map[string]any, path ...string) []map[string]any {
	value, _ := Lookup(object, path)
	list, _ := value.([]any)
	out := make([]map[string]any, len(list))
	for i, element := range list {
		out[i], _ = element.(map[string]any)
	}
	return out
}

// ControllerUID is the uid of the object's controller, empty where it has none.
func ControllerUID(object map[string]any) types.UID {
	for _, reference := range elements(object, "metadata", "ownerReferences") {
		if isController(reference) {
			return types.UID(Text(reference, "uid"))
		}
	}
	return ""
}

// OwnerUIDs are those of all owners of the object.
func OwnerUIDs(object map[string]any) (out []types.UID) {
	for _, reference := range elements(object, "metadata", "ownerReferences") {
		out = append(out, types.UID(Text(reference, "uid")))
	}
	return out
}

func isController(reference map[string]any) bool {
	controls, _ := reference["controller"].(bool)
	return controls
}
