package schema

import (
	"encoding/base64"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

// Canonical returns an object as the API server stores it, as far as its schema
// tells; see [Type.Canonical]. Of a resource that is not known it is the object.
func (c *Catalog) Canonical(gvr schema.GroupVersionResource, object map[string]any) map[string]any {
	found := c.Resource(gvr)
	if found == nil || object == nil {
		return object
	}
	if gvr.Group == "apps" && gvr.Resource == "statefulsets" {
		object = withClaims(object)
	}
	out, _ := found.Type.Canonical(object).(map[string]any)
	return out
}

// withClaims returns a StatefulSet with what the API server adds to the claims in it, which no schema tells. The list of them is
// atomic, so who applies it owns that too. The object is not changed.
func withClaims(object map[string]any) map[string]any {
	spec, _ := object["spec"].(map[string]any)
	claims, _ := spec["volumeClaimTemplates"].([]any)
	if len(claims) == 0 {
		return object
	}
	stored := make([]any, len(claims))
	for i, element := range claims {
		claim, isMap := element.(map[string]any)
		if stored[i] = element; !isMap {
			continue
		}
		of, _ := claim["spec"].(map[string]any)
		status, _ := claim["status"].(map[string]any)
		claim = defaulted(claim, map[string]any{"apiVersion": "v1", "kind": "PersistentVolumeClaim"})
		claim["spec"] = defaulted(of, map[string]any{"volumeMode": "Filesystem"})
		claim["status"] = defaulted(status, map[string]any{"phase": "Pending"})
		stored[i] = claim
	}
	object, spec = maps.Clone(object), maps.Clone(spec)
	object["spec"], spec["volumeClaimTemplates"] = spec, stored
	return object
}

// defaulted is a copy of a map with defaults for what is absent or nil in it.
func defaulted(fields, defaults map[string]any) map[string]any {
	out := maps.Clone(fields)
	if out == nil {
		out = map[string]any{}
	}
	for key, value := range defaults {
		if out[key] == nil {
			out[key] = value
		}
	}
	return out
}

// Canonical returns a value as the API server stores it, as far as the type tells:
// without the nulls and zeroes that it drops, with the defaults that it adds to what
// is there, and with texts as it writes them. Two values that become the same are the
// same to it.
//
// Fields that the type lacks stay. The API server refuses them where they are written
// strictly, and where it has another schema by now it stores them: to call them
// nothing would keep such a write from ever being tried.
//
// The result shares what does not change with the value and with the type, so it
// is read only; where nothing changes it is the value. What is of another kind than
// the type wants stays as it is.
func (t *Type) Canonical(v any) any {
	c := canonical{room: mostNested}
	out, changed := c.value(t, v)
	if !changed || c.room < 0 {
		return v
	}
	return out
}

// mostNested bounds the defaults within defaults: a type that contains itself could
// go on for ever. Where they are more the value stays as it is.
const mostNested = 10_000

// canonical is one walk over a value. It says of everything whether it changes, so
// that nothing is copied that does not.
type canonical struct {
	room   int // for defaults within defaults
	within int // defaults
}

func (c *canonical) value(t *Type, v any) (out any, changed bool) {
	if t == nil || t == open || c.room < 0 {
		return v, false
	}
	switch v.(type) {
	case map[string]any:
		if t.Map != nil {
			return c.fields(t, v)
		}
	case []any:
		if t.List != nil {
			return c.list(t.List.Items, v)
		}
	case string, int64, float64:
		return t.scalar(v)
	}
	return v, false
}

func (c *canonical) list(items *Type, v any) (out any, changed bool) {
	list, _ := v.([]any)
	var after []any // a copy, from the first change on
	for i, element := range list {
		next, changed := c.value(items, element)
		if !changed {
			continue
		}
		if after == nil {
			after = slices.Clone(list)
		}
		after[i] = next
	}
	if after == nil {
		return v, false
	}
	return after, true
}

func (c *canonical) fields(t *Type, v any) (out any, changed bool) {
	before, _ := v.(map[string]any)
	after := before // until the first change
	change := func() map[string]any {
		if !changed {
			after, changed = maps.Clone(before), true
		}
		return after
	}
	for key, old := range before {
		next, stored, differs := c.field(t, key, old)
		switch {
		case !stored:
			delete(change(), key)
		case differs:
			change()[key] = next
		}
	}
	for name, f := range t.Map.Fields {
		if f.Default == nil || f.ZeroIsAbsent && isZero(f.Default) {
			continue
		}
		if _, there := after[name]; there {
			continue
		}
		if added, ok := c.added(f); ok {
			change()[name] = added
		}
	}
	if !changed {
		return v, false
	}
	return after, true
}

// field returns what is stored of an entry, which may be nothing.
func (c *canonical) field(t *Type, key string, old any) (next any, stored, changed bool) {
	f, possible := t.Field(key)
	switch {
	case !possible:
		return old, true, false
	case old == nil:
		return nil, f.Type.nullable(), false
	}
	next, changed = c.value(f.Type, old)
	return next, !f.ZeroIsAbsent || !isZero(next), changed
}

// added is the default of a field, with the defaults within it.
func (c *canonical) added(f Field) (v any, ok bool) {
	if c.within > 0 {
		c.room--
	}
	if c.room < 0 {
		return nil, false
	}
	c.within++
	v, _ = c.value(f.Type, f.Default)
	c.within--
	return v, true
}

// isZero reports whether a value is what a Go type is without one.
func isZero(v any) bool {
	switch v := v.(type) {
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0
	case bool:
		return !v
	default:
		return v == nil || v == int64(0) || v == 0.0 || v == ""
	}
}

// Formats of built-in types, which read a text and store another one for the same
// value. A custom resource stores what was written, so what it has in their place
// is [DateTime] and byte.
const (
	Time      = "time"       // of metav1.Time: seconds, in UTC
	MicroTime = "micro-time" // of metav1.MicroTime
	Bytes     = "bytes"      // of []byte: base64 in one line
)

// layouts are how times are written.
var layouts = map[string]string{Time: time.RFC3339, MicroTime: "2006-01-02T15:04:05.000000Z07:00"}

// scalar returns a text or a number as it is stored.
func (t *Type) scalar(v any) (out any, changed bool) {
	text, isText := v.(string)
	const longest = 64 // of a time
	layout := layouts[t.Format]
	switch {
	case t.Format == Quantity && t.Kinds&value.String != 0:
		return quantity(v)
	case !isText: // A float is the integer that it equals, where one is wanted.
		if f, isFloat := v.(float64); isFloat && t.Kinds&value.Number == value.Int {
			if i, whole := wholeNumber(f); whole {
				return i, true
			}
		}
	case layout != "" && len(text) <= longest:
		var room [longest]byte
		if at, err := time.Parse(layout, text); err == nil {
			if written := at.UTC().AppendFormat(room[:0], layout); string(written) != text {
				return string(written), true
			}
		}
	case t.Format == Bytes && strings.ContainsAny(text, "\r\n"): // Which its readers skip.
		if data, err := base64.StdEncoding.DecodeString(text); err == nil {
			return base64.StdEncoding.EncodeToString(data), true
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
	if isText && plainQuantity(text) || !value.QuickQuantity(text) {
		return v, false
	}
	if q, err := resource.ParseQuantity(strings.TrimSpace(text)); err == nil && (!isText || q.String() != text) {
		return q.String(), true
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
