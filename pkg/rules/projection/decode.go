package projection

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math/bits"
	"strconv"
	"sync"
	"unicode/utf8"

	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/footprint"
)

var errNoObject = errors.New("it is no object")

// Decode returns what the fields keep of the object in a JSON document. It reads the bytes once and builds nothing else. The values are
// those of [utiljson.Unmarshal], and so is whether there is an error. The result shares nothing with the bytes.
func (f *Fields) Decode(data []byte) (map[string]any, error) {
	if object, ok := decode(f.node(), data).(map[string]any); ok {
		return object, nil
	}
	var object map[string]any
	return nil, fmt.Errorf("decoding an object: %w", cmp.Or(utiljson.Unmarshal(data, &object), errNoObject))
}

// DecodeList is Decode for the items of a list. What else the list has is whole. It reports false where a document is not of that
// form, or damaged.
func (f *Fields) DecodeList(data []byte) (content map[string]any, items []any, ok bool) {
	root := &node{strength: footprint.Exists, values: whole, fields: map[string]*node{"items": {key: "items", places: true, items: f.node()}}}
	content, _ = decode(root, data).(map[string]any)
	items, ok = content["items"].([]any)
	delete(content, "items")
	return content, items, ok
}

// decode returns what the node keeps of a document, nil where the document is damaged.
func decode(n *node, data []byte) any {
	d := decoders.Get().(*decoder) //nolint:forcetypeassert // There are no others.
	d.data, d.at, d.depth, d.failed = data, 0, 0, false
	v := d.value(n)
	d.next()
	if d.failed || d.at < len(d.data) {
		v = nil
	}
	d.data = nil
	d.forget(0)
	decoders.Put(d)
	return v
}

// decoders are kept for their room for fields.
var decoders = sync.Pool{New: func() any { return new(decoder) }}

// decoder reads a JSON document from its beginning to its end.
type decoder struct {
	data   []byte
	at     int     // the next byte
	depth  int     // how many maps and lists are around it
	fields []field // of the maps that are being read, those of outer ones first
	failed bool    // and no data is left, so that all that is under way ends
}

// field is one of a map. A field that turns out not to be kept has drop.
type field struct {
	key   string
	value any
	drop  bool
}

func (d *decoder) fail() { d.failed, d.data, d.at = true, nil, 0 }

// next skips white space and returns the byte after it, 0 at the end. It does not go past that byte.
func (d *decoder) next() byte {
	for ; d.at < len(d.data); d.at++ {
		if c := d.data[d.at]; c > ' ' || c != ' ' && c != '\t' && c != '\r' && c != '\n' {
			return c
		}
	}
	return 0
}

// maxDepth is how deep values may be nested, as in [utiljson.Unmarshal].
const maxDepth = 10_000

// begins goes into a map or a list, and reports whether there is something in it.
func (d *decoder) begins(closing byte) bool {
	d.at++
	if d.next() == closing {
		d.at++
		return false
	}
	if d.depth++; d.depth > maxDepth {
		d.fail()
	}
	return !d.failed
}

// goesOn reads what follows an element of a map or a list, and reports whether there is another one.
func (d *decoder) goesOn(closing byte) bool {
	switch d.next() {
	case ',':
		d.at++
		return true
	case closing:
		d.at++
		d.depth--
	default:
		d.fail()
	}
	return false
}

// value reads a value and returns what its node keeps, nil where the node is nil.
func (d *decoder) value(n *node) any {
	switch c := d.next(); {
	case n == nil:
		d.skip()
		return nil
	case n.text:
		return d.text(c)
	case c == '{':
		return d.object(n)
	case c == '[':
		return d.list(n)
	case c != '"':
		return d.scalar()
	}
	raw, plain := d.quoted()
	if !plain {
		return d.unquoted(raw)
	}
	return string(raw)
}

// text reads a value that begins with c, and returns it as it is written where it is a map.
func (d *decoder) text(c byte) any {
	if c != '{' {
		return d.value(whole)
	}
	data, start := d.data, d.at
	d.skip()
	return string(data[start:max(d.at, start)])
}

// skip reads a value that is not kept.
func (d *decoder) skip() {
	switch d.next() {
	case '{':
		for more := d.begins('}'); more; more = d.goesOn('}') {
			d.quotedKey()
			d.skip()
		}
	case '[':
		for more := d.begins(']'); more; more = d.goesOn(']') {
			d.skip()
		}
	case '"':
		d.quoted()
	default:
		d.scalar()
	}
}

// object collects the fields before it makes the map, which then has just their size.
func (d *decoder) object(n *node) map[string]any {
	first, start, depth := len(d.fields), d.at, d.depth
	d.collect(n)
	size := 0
	for _, f := range d.fields[first:] {
		if !f.drop {
			size++
		}
	}
	kept := make(map[string]any, size)
	for _, f := range d.fields[first:] { // Of a key that is there twice the last one counts.
		if f.drop {
			delete(kept, f.key)
		} else {
			kept[f.key] = f.value
		}
	}
	d.forget(first)
	if n.object && !d.failed && plan.Annotation(kept, plan.RestoreAnnotation) != "" {
		d.at, d.depth = start, depth // The annotation may name any field, such as one that the rule wrote before it was changed.
		return d.object(whole)
	}
	return kept
}

// collect reads a map and appends what is kept of it to the fields.
func (d *decoder) collect(n *node) {
	for more := d.begins('}'); more; more = d.goesOn('}') {
		raw := d.key()
		below := n
		if n.strength < footprint.Value {
			if below = n.fields[string(raw)]; below == nil {
				below = n.values
			}
		}
		v := d.value(below)
		switch {
		case below == nil && n.strength < footprint.Length:
		case below == nil || below == n || below == n.values:
			d.fields = append(d.fields, field{key: string(raw), value: v})
		default:
			d.fields = append(d.fields, field{key: below.key, value: v, drop: below.managed && !below.read && !hasOurs(v)})
		}
	}
}

// forget drops fields that were collected.
func (d *decoder) forget(first int) {
	clear(d.fields[first:])
	d.fields = d.fields[:first]
}

func (d *decoder) list(n *node) []any {
	kept, keeps := []any{}, n.strength == footprint.Value || n.places || n.managed
	for more := d.begins(']'); more; more = d.goesOn(']') {
		if keeps {
			kept = append(kept, d.element(n, len(kept)))
		} else {
			d.skip()
		}
	}
	return kept
}

// element reads an element of a list of which some are kept.
func (d *decoder) element(n *node, i int) any {
	if n.strength == footprint.Value {
		return d.value(n)
	}
	below, first, start := n.element(i), d.next(), d.at
	switch {
	case n.managed && first == '{':
		if d.ours() {
			below = n.ours()
		} else if below == nil {
			return map[string]any{}
		}
		d.at = start
	case below == nil && first == '"' && n.texts:
		below = whole
	}
	return d.value(below)
}

// ours reads an entry of managedFields and reports whether it is one of ours.
func (d *decoder) ours() bool {
	first := len(d.fields)
	d.collect(managers)
	var operation, manager any
	for _, f := range d.fields[first:] {
		if f.key == "operation" {
			operation = f.value
		} else {
			manager = f.value
		}
	}
	d.forget(first)
	return isOurs(operation, manager)
}

// whole keeps all of a value. ownEntry keeps all of an entry of managedFields that is ours, with its fieldsV1 as text. managers keeps
// only what tells whose an entry is.
var (
	whole    = &node{strength: footprint.Value}
	ownEntry = &node{
		strength: footprint.Exists, values: whole,
		fields: map[string]*node{"fieldsV1": {key: "fieldsV1", strength: footprint.Exists, text: true}},
	}
	managers = &node{strength: footprint.Exists, fields: map[string]*node{
		"manager": {key: "manager", strength: footprint.Value}, "operation": {key: "operation", strength: footprint.Value},
	}}
)

// key reads a key and its colon.
func (d *decoder) key() []byte {
	raw, plain := d.quotedKey()
	if !plain {
		raw = []byte(d.unquoted(raw))
	}
	return raw
}

// quotedKey is key as it is written.
func (d *decoder) quotedKey() (raw []byte, plain bool) {
	if d.next() != '"' {
		d.fail()
		return nil, true
	}
	raw, plain = d.quoted()
	if d.next() != ':' {
		d.fail()
		return nil, true
	}
	d.at++
	return raw, plain
}

// quoted reads a string and returns what is between its quotation marks. Where it has escapes, or bytes that are not ASCII, it is not
// plain, and what is returned has the marks.
func (d *decoder) quoted() (raw []byte, plain bool) {
	const low, high = 0x0101010101010101, 0x8080808080808080
	d.at++
	start := d.at
	plain = true
	for {
		for len(d.data)-d.at >= 8 { // The lowest byte with a mark is the next one that is not plain.
			word := binary.LittleEndian.Uint64(d.data[d.at:])
			marks := ((word - low*' ') | ((word ^ low*'"') - low) | ((word ^ low*'\\') - low) | word) & high
			if marks != 0 {
				d.at += bits.TrailingZeros64(marks) / 8
				break
			}
			d.at += 8
		}
		if d.at >= len(d.data) {
			d.fail()
			return nil, true
		}
		switch c := d.data[d.at]; {
		case c == '"' && plain:
			d.at++
			return d.data[start : d.at-1], true
		case c == '"':
			d.at++
			if raw = d.data[start-1 : d.at]; !json.Valid(raw) {
				d.fail()
			}
			return raw, false
		case c < ' ':
			d.fail()
			return nil, true
		case c == '\\':
			plain = false
			d.at += 2
		default:
			plain = plain && c < utf8.RuneSelf
			d.at++
		}
	}
}

// unquoted is the text of a string as it is written, with its quotation marks.
func (d *decoder) unquoted(written []byte) (text string) {
	if err := utiljson.Unmarshal(written, &text); err != nil {
		d.fail()
	}
	return text
}

// scalar reads a value that is neither a string nor a map nor a list.
func (d *decoder) scalar() any {
	start := d.at
	for ; d.at < len(d.data); d.at++ {
		if c := d.data[d.at]; c <= ' ' || c == ',' || c == ']' || c == '}' {
			break
		}
	}
	if start >= d.at {
		d.fail()
		return nil
	}
	switch token := d.data[start:d.at]; string(token) {
	case "true":
		return true
	case "false":
		return false
	case "null":
		return nil
	default:
		if token[0] != '0' || len(token) == 1 { // A number has no other zeroes before it.
			if n, err := strconv.ParseUint(string(token), 10, 63); err == nil {
				return int64(n) //nolint:gosec // It has 63 bits.
			}
		}
		var number any
		if err := utiljson.Unmarshal(token, &number); err != nil {
			d.fail()
		}
		return number
	}
}
