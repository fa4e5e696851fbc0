package schema

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

// Violation is why the API server would refuse a value.
type Violation struct {
	// Path leads to the mistake: the keys of maps, and the indexes of lists as int.
	// The last of it is the unknown field, or the map that a field is missing from.
	Path    []any
	Code    document.Code
	Message string
	Hint    string
	// Field is the one that is missing, or that an unknown one most likely means; "" for
	// neither.
	Field string
}

// Writing says what becomes of what is there when a value is written.
type Writing uint8

// The ways of writing.
const (
	// Whole is a new object: what is not given is not there.
	Whole Writing = iota
	// Merged is a patch by RFC 7386: maps are laid over what is there, null removes a
	// field, lists are replaced.
	Merged
	// Applied is server-side apply of some fields: as Merged, but lists are merged too
	// where their type says how, atomic maps are replaced, and null is nothing.
	Applied
)

// Unknown stands in a value for what only an evaluation knows, such as a template.
// It fits everywhere, and may turn out to be absent.
type Unknown struct{}

// MarshalJSON returns an error: nobody may take it for a value.
func (Unknown) MarshalJSON() ([]byte, error) { return nil, errUnknown }

var errUnknown = errors.New("the value is not known")

// SomeKeys is the key of an [Unknown] in a map that may have further keys, which
// only an evaluation knows.
const SomeKeys = "\x00keys"

// mostViolations is more than anybody reads.
const mostViolations = 50

// Validate returns what the API server would find wrong with a value of JSON, nil
// where that is nothing. What is beyond its means, such as a pattern that takes
// long to match, it takes for right.
func (t *Type) Validate(v any, how Writing) []Violation {
	c := validation{how: how, steps: mostSteps, budget: value.NewBudget(0)}
	c.value(t, v, how != Whole)
	return c.found
}

// ValidatePath returns what is wrong with a path of keys, whatever is below it: a field
// that there is not.
func (t *Type) ValidatePath(path ...string) []Violation {
	var draft any = Unknown{}
	for _, key := range slices.Backward(path) {
		draft = map[string]any{key: draft}
	}
	return t.Validate(draft, Merged)
}

// validation is one walk over a value.
type validation struct {
	how      Writing
	path     []any
	found    []Violation
	steps    int // that matching patterns may still take
	patterns map[string]*pattern
	budget   *value.Budget
}

// value compares a value with its type. One that is merged is laid over what is
// there, so it may lack anything.
func (c *validation) value(t *Type, v any, merged bool) {
	kind := value.KindOf(v)
	if !t.Known() || t.Kinds == 0 || kind&value.Any == 0 || c.full() {
		return
	}
	if !t.takes(v, kind) {
		text, _ := value.Text(v)
		c.report(document.CodeTypeMismatch, fmt.Sprintf("want %s, have %s", t.Kinds, kind), value.Rewriting(t.Kinds, kind, text))
		return
	}
	if c.enumerated(t, v) {
		c.content(t, v, merged)
	}
}

// content compares what a value of the right kind holds.
func (c *validation) content(t *Type, v any, merged bool) {
	switch v := v.(type) {
	case map[string]any:
		if t.Map != nil {
			c.fields(t, v, merged && (c.how == Merged || !t.Map.Atomic))
		}
	case []any:
		if t.List != nil {
			c.list(t, v, merged)
		}
	case string:
		c.text(t, v)
	case int64, float64:
		c.number(t, v)
	}
}

// takes reports whether the kind of a value is right. Of numbers JSON knows only
// one kind: 3.0 is an integer.
func (t *Type) takes(v any, kind value.Kind) bool {
	switch {
	case t.Kinds&kind != 0:
		return true
	case kind == value.Int:
		return t.Kinds&value.Float != 0
	case kind == value.Float:
		f, _ := v.(float64)
		_, whole := wholeNumber(f)
		return whole && t.Kinds&value.Int != 0
	default:
		return false
	}
}

// wholeNumber returns the integer that a float equals.
func wholeNumber(f float64) (i int64, ok bool) {
	if f != math.Trunc(f) || f < math.MinInt64 || f >= math.MaxInt64 {
		return 0, false
	}
	return int64(f), true
}

// report adds a mistake at the place where the walk is.
func (c *validation) report(code document.Code, message, hint string) {
	c.add(Violation{Code: code, Message: message, Hint: hint})
}

func (c *validation) add(v Violation) {
	if !c.full() {
		v.Path = slices.Clone(c.path)
		c.found = append(c.found, v)
	}
}

func (c *validation) full() bool { return len(c.found) >= mostViolations }

// within walks on below a key or an index.
func (c *validation) within(step any, walk func()) {
	c.path = append(c.path, step)
	walk()
	c.path = c.path[:len(c.path)-1]
}

// fields compares the entries of a map with its type.
func (c *validation) fields(t *Type, m map[string]any, merged bool) {
	_, more := m[SomeKeys].(Unknown)
	known, possible := 0, 0
	for _, key := range slices.Sorted(maps.Keys(m)) {
		v := m[key]
		if key == SomeKeys && more {
			continue
		}
		f, has := t.Field(key)
		surely, maybe := c.stored(f, v)
		known, possible = known+surely, possible+maybe
		c.within(key, func() { c.field(t, key, f, has, v, merged) })
	}
	if !merged && !more {
		c.required(t, m)
	}
	if limit := t.Limit; limit != nil {
		if merged || more {
			possible = math.MaxInt32
		}
		c.counted("key", limit.MinProperties, limit.MaxProperties, known, possible-known)
	}
}

// stored says of how many entries one certainly is, and of how many it may be.
func (c *validation) stored(f Field, v any) (surely, maybe int) {
	_, unknown := v.(Unknown)
	switch {
	case v == nil && !f.Type.nullable():
		return 0, 0
	case unknown, v == nil && c.how != Whole:
		return 0, 1
	default:
		return 1, 1
	}
}

// field compares one entry.
func (c *validation) field(t *Type, key string, f Field, possible bool, v any, merged bool) {
	switch {
	case c.full():
	case !possible:
		c.unknownField(t, key)
	case v == nil && merged && c.how == Merged && f.Required && f.Default == nil:
		c.report(document.CodeMissingField, fmt.Sprintf("the field %q has to be there, and null removes it", key), "leave it out to keep what it is")
	case v == nil && (c.how != Whole || !f.Type.nullable()):
		// The API server takes it for absent.
	default:
		c.value(f.Type, v, merged)
	}
}

func (c *validation) unknownField(t *Type, key string) {
	if !t.Map.has(key, t.Object) {
		hint, near := t.closest(key)
		c.add(Violation{Code: document.CodeUnknownField, Message: fmt.Sprintf("unknown field %q", value.Excerpt(key)), Hint: hint, Field: near})
	}
}

// has reports whether a field that is none of the schema is none of its business: an
// object has what tells which it is, and of its place others say that it has none.
func (m *Map) has(key string, isObject bool) bool {
	switch key {
	case "apiVersion", "kind", "metadata":
		return isObject
	case "namespace":
		return m == clusterMetadata.Map
	default:
		return false
	}
}

// required reports the fields that are missing. One that is there under a name that is a little different is told at that name.
func (c *validation) required(t *Type, m map[string]any) {
	misspelt := func(name string) bool {
		return slices.ContainsFunc(c.found, func(v Violation) bool {
			return v.Code == document.CodeUnknownField && v.Field == name && slices.Equal(v.Path[:len(v.Path)-1], c.path)
		})
	}
	for _, name := range t.Names() {
		f := t.Map.Fields[name]
		if c.full() {
			return
		}
		if !f.Required || f.Default != nil {
			continue
		}
		v, there := m[name]
		if (!there || v == nil && !f.Type.nullable()) && !misspelt(name) {
			c.add(Violation{Code: document.CodeMissingField, Message: fmt.Sprintf("the field %q is missing", name), Hint: "add " + name + ": ...", Field: name})
		}
	}
}

// nullable reports whether null is stored.
func (t *Type) nullable() bool { return t == nil || t.Kinds == 0 || t.Kinds&value.Nil != 0 }

// closest is a hint which field was meant, and the field where one here is close.
func (t *Type) closest(key string) (hint, near string) {
	const few = 12
	names := t.Names()
	if near := document.Suggest(key, names); near != "" {
		return fmt.Sprintf("did you mean %q?", near), near
	}
	below := t.below(key)
	switch {
	case key == "lastTransitionTime" && below == "" && slices.Contains(names, "status") && slices.Contains(names, "type"):
		return `these conditions have none, and setCondition writes it; write concat(filter(list, .type != "..."), [{type: "...", ...}])`, ""
	case below != "":
		return "did you mean " + below + "." + key + "?", ""
	case len(names) == 1:
		return "the only field here is " + names[0], ""
	case len(names) == 0 || len(names) > few:
		return "", ""
	default:
		return "the fields here are " + strings.Join(names, ", "), ""
	}
}

// below is the only field that has one of this name in it, or "". Of many fields only
// the first are looked into.
func (t *Type) below(key string) string {
	const most = 100
	found, names := "", t.Names()
	for _, name := range names[:min(len(names), most)] {
		below := t.Map.Fields[name].Type
		if below == nil || below.Map == nil {
			continue
		}
		if _, has := below.Map.Fields[key]; !has {
			continue
		}
		if found != "" {
			return ""
		}
		found = name
	}
	return found
}

// list compares the elements of a list with its type.
func (c *validation) list(t *Type, list []any, merged bool) {
	merged = merged && c.how == Applied && t.List.Kind != Atomic
	known := 0
	for i, element := range list {
		if _, unknown := element.(Unknown); unknown {
			continue
		}
		known++
		c.within(i, func() { c.value(t.List.Items, element, merged) })
	}
	if limit := t.Limit; limit != nil {
		more := len(list) - known
		if merged {
			more = math.MaxInt32
		}
		c.counted("element", limit.MinItems, limit.MaxItems, known, more)
	}
	if t.Limit != nil && t.Limit.UniqueItems || t.List.Kind != Atomic && (t.List.Unique || c.how == Applied) {
		c.identities(t.List, list)
	}
}

// identities reports elements that are there before, and those without the fields that tell them apart.
func (c *validation) identities(l *List, list []any) {
	seen := map[string]int{}
	for i, element := range list {
		key, missing := l.key(element)
		first, twice := seen[key]
		switch {
		case missing != "":
			f, _ := l.Items.Field(missing)
			if c.how == Applied || c.how == Whole && !f.Required { // Else it is reported as required.
				c.within(i, func() {
					c.report(document.CodeMissingField, fmt.Sprintf("the field %q is missing, which tells the elements apart", missing), "add "+missing+": ...")
				})
			}
		case key == "":
		case twice:
			what := cmp.Or(strings.Join(l.Keys, " and "), "element")
			c.within(i, func() {
				c.report(document.CodeInvalid, fmt.Sprintf("the same %s as element %d of the list, and each is there once", what, first), "remove one of them")
			})
		default:
			seen[key] = i
		}
	}
}

// key writes what tells an element apart from others as a text, which is "" where that is not known. Of the fields that do so
// in a [Keyed] list it names the first that is missing.
func (l *List) key(element any) (key, missing string) {
	identity := []any{element}
	if l.Kind == Keyed {
		fields, isMap := element.(map[string]any)
		_, more := fields[SomeKeys].(Unknown)
		for i, name := range l.Keys {
			f, _ := l.Items.Field(name)
			v := fields[name]
			if v == nil {
				v = f.Default
			}
			switch {
			case v != nil:
				identity = append(identity[:i], v)
			case !isMap || more || f.Always && !f.Required:
				return "", ""
			default:
				return "", name
			}
		}
	}
	data, err := json.Marshal(identity)
	if err != nil {
		return "", "" // Something of it is not known.
	}
	return string(data), ""
}
