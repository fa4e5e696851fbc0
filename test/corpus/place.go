package corpus

import (
	"regexp"
	"slices"
	"strings"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
)

// place is a value in an object, or in an element of a list, that is reached through maps alone.
type place struct {
	steps []step
	typ   *schema.Type
}

// step leads from a map to one of its fields.
type step struct {
	key     string
	parent  *schema.Type
	field   schema.Field
	present bool // It is there where the parent is.
}

// How much of a type the places cover: what lies deeper is no different.
const (
	deepest    = 7
	mostPlaces = 3000
)

// places lists the fields below a map breadth first. Those of an object leave out what is in metadata.
func places(root *schema.Type) []place {
	found := []place{}
	queue := []place{{typ: root}}
	for len(queue) > 0 && len(found) < mostPlaces {
		at := queue[0]
		queue = queue[1:]
		for _, name := range at.typ.Names() {
			if !ordinary(name) || len(at.steps) == 0 && root.Object && metaField(name) {
				continue
			}
			next := at.below(name, root.Object)
			found = append(found, next)
			if len(next.steps) < deepest && kinds(next.typ) == value.Map {
				queue = append(queue, next)
			}
		}
	}
	return found
}

func metaField(name string) bool { return name == "apiVersion" || name == "kind" || name == "metadata" }

// ordinary keeps names out that need escapes somewhere; those are tested where they are escaped.
func ordinary(name string) bool {
	return name != "" && len(name) < 50 && !strings.ContainsAny(name, "'\"\\${}\n /~")
}

// below is the place of a field. The engine reads spec and status of an object as maps, whatever is there; what their
// own schema requires is there as well, but only in spec: the status of a new object is empty.
func (p place) below(name string, ofObject bool) place {
	field, _ := p.typ.Field(name)
	s := step{key: name, parent: p.typ, field: field}
	nullable := field.Type != nil && field.Type.Kinds&value.Nil != 0
	inStatus := ofObject && len(p.steps) == 1 && p.steps[0].key == "status"
	switch {
	case ofObject && len(p.steps) == 0 && (name == "spec" || name == "status"):
		s.present = true
	default:
		s.present = !nullable && (field.Always || field.Required && !inStatus)
	}
	steps := append(slices.Clip(p.steps), s)
	return place{steps: steps, typ: field.Type}
}

func (p place) last() step { return p.steps[len(p.steps)-1] }

// parent is the map that has the place.
func (p place) parent() place {
	return place{steps: p.steps[:len(p.steps)-1], typ: p.last().parent}
}

// String is the path as in spec.replicas.
func (p place) String() string {
	var keys []string
	for _, s := range p.steps {
		keys = append(keys, s.key)
	}
	return strings.Join(keys, ".")
}

// optional reports whether the value may surely be absent, even where its parent is there.
func (p place) optional() bool {
	return !p.last().field.Required && !p.last().field.Always && !p.last().present
}

// sure reports whether it is there in every object.
func (p place) sure() bool {
	for _, s := range p.steps {
		if !s.present {
			return false
		}
	}
	return true
}

// maybeParent reports whether something on the way may surely be absent, and all of it is no list.
func (p place) maybeParent() bool {
	for i := range len(p.steps) - 1 {
		if (place{steps: p.steps[:i+1]}).optional() {
			return true
		}
	}
	return false
}

var identifier = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// member is how an expression reads a field.
func member(key string, optional bool) string {
	switch {
	case identifier.MatchString(key) && optional:
		return "?." + key
	case identifier.MatchString(key):
		return "." + key
	case optional:
		return `?.["` + key + `"]`
	default:
		return `["` + key + `"]`
	}
}

// read is the place as an expression that goes through absent parents; plain is one that does not. The root is
// "object", or "#" for the element of a predicate.
func (p place) read(root string) string  { return p.text(root, true) }
func (p place) plain(root string) string { return p.text(root, false) }

func (p place) text(root string, careful bool) string {
	var out strings.Builder
	if root != "#" || !identifier.MatchString(p.steps[0].key) {
		out.WriteString(root) // Of an element, .name is enough.
	}
	for i, s := range p.steps {
		out.WriteString(member(s.key, careful && i > 0 && !p.steps[i-1].present))
	}
	return out.String()
}

// misread is the place with its last field misspelt, as an expression with both spellings.
func (p place) misread(root, wrong string) string {
	key := p.last().key
	before := root
	if len(p.steps) > 1 {
		before = p.parent().read(root)
	} else if root == "#" && identifier.MatchString(key) {
		before = ""
	}
	careful := len(p.steps) > 1 && !p.steps[len(p.steps)-2].present
	return before + mark(member(key, careful), member(wrong, careful))
}

// nested is a body in which the place has a value, both as YAML text.
func (p place) nested(text string) string {
	for _, s := range slices.Backward(p.steps) {
		text = "{" + yamlKey(s.key) + ": " + text + "}"
	}
	return text
}

// pointer is the place as JSON patches write it.
func (p place) pointer() string {
	var out strings.Builder
	for _, s := range p.steps {
		out.WriteString("/" + s.key)
	}
	return out.String()
}

func kinds(t *schema.Type) value.Kind {
	if t == nil {
		return value.Any
	}
	return t.Kinds &^ value.Nil
}

// closed reports whether a map has the fields of its schema and no others.
func closed(t *schema.Type) bool {
	return kinds(t) == value.Map && t.Map != nil && !t.Map.Open && t.Map.Values == nil
}
