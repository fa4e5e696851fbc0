package compact

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"sync"
)

// The first byte of a value is its kind. Lengths and integers are varints, and keys are strings.
const (
	kindNull = iota
	kindFalse
	kindTrue
	kindInt
	kindFloat
	kindString
	kindWord // a string that is among words, as its index
	kindList
	kindMap
)

// words are strings that many objects have.
var words = []string{
	"apiVersion", "kind", "metadata", "spec", "status", "data", "name", "namespace", "uid", "generateName", "generation",
	"creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "labels", "annotations", "finalizers", "ownerReferences",
	"controller", "blockOwnerDeletion", "managedFields", "manager", "operation", "time", "fieldsType", "fieldsV1", "subresource",
	"Apply", "FieldsV1", "v1", "apps/v1", "batch/v1", "Pod", "ReplicaSet", "Job", "ConfigMap", "Secret",
	"app.kubernetes.io/name", "app.kubernetes.io/instance", "app.kubernetes.io/component", "app.kubernetes.io/managed-by",
	"replicas", "readyReplicas", "selector", "matchLabels", "template", "containers", "image", "resources", "requests", "limits",
	"cpu", "memory", "storage", "env", "value", "ports", "port", "protocol", "type", "phase", "reason", "message", "conditions",
	"lastTransitionTime", "observedGeneration", "True", "False", "Unknown", "Ready", "Running", "TCP", "nodeName", "volumes",
}

var indexOfWord = func() map[string]uint64 {
	out := make(map[string]uint64, len(words))
	for i, word := range words {
		out[word] = uint64(i)
	}
	return out
}()

type encoder struct {
	data []byte
	keys []string // of the maps that are being written, those of outer ones first
}

// encoders are used again, to save allocations.
var encoders = sync.Pool{New: func() any { return new(encoder) }}

func (e *encoder) open(kind byte, n int) {
	e.data = binary.AppendUvarint(append(e.data, kind), uint64(n))
}

func (e *encoder) text(text string) {
	if i, known := indexOfWord[text]; known {
		e.data = binary.AppendUvarint(append(e.data, kindWord), i)
		return
	}
	e.open(kindString, len(text))
	e.data = append(e.data, text...)
}

// value writes a value of an unstructured object. It panics on other types, as apimachinery does where it copies one.
func (e *encoder) value(value any) {
	switch value := value.(type) {
	case nil:
		e.data = append(e.data, kindNull)
	case bool:
		if value {
			e.data = append(e.data, kindTrue)
		} else {
			e.data = append(e.data, kindFalse)
		}
	case int64:
		e.data = binary.AppendVarint(append(e.data, kindInt), value)
	case float64:
		e.data = binary.BigEndian.AppendUint64(append(e.data, kindFloat), math.Float64bits(value))
	case string:
		e.text(value)
	case []any:
		e.open(kindList, len(value))
		for _, element := range value {
			e.value(element)
		}
	case map[string]any:
		e.fields(value, nil, e.field)
	default:
		panic(fmt.Sprintf("an unstructured object has no %T", value))
	}
}

func (e *encoder) field(_ string, value any) { e.value(value) }

// fields writes a map, in the order of its keys, of which some may be left out.
func (e *encoder) fields(of map[string]any, without []string, write func(key string, value any)) {
	first := len(e.keys)
	for key := range of {
		if !slices.Contains(without, key) {
			e.keys = append(e.keys, key)
		}
	}
	end := len(e.keys)
	e.open(kindMap, end-first)
	slices.Sort(e.keys[first:])
	for i := first; i < end; i++ {
		key := e.keys[i]
		e.text(key)
		write(key, of[key])
	}
	clear(e.keys[first:])
	e.keys = e.keys[:first]
}

// decoder reads what an encoder has written. The strings that it returns are parts of the data.
type decoder struct{ rest string }

func (d *decoder) byte() byte {
	b := d.rest[0]
	d.rest = d.rest[1:]
	return b
}

func (d *decoder) uvarint() (n uint64) {
	for shift := 0; ; shift += 7 {
		b := d.byte()
		n |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return n
		}
	}
}

func (d *decoder) take(n uint64) string {
	text := d.rest[:n]
	d.rest = d.rest[n:]
	return text
}

// text reads a string, of which the kind is still to be read.
func (d *decoder) text() string {
	if d.byte() == kindWord {
		return words[d.uvarint()]
	}
	return d.take(d.uvarint())
}

func (d *decoder) value() any {
	switch kind := d.byte(); kind {
	case kindFalse, kindTrue:
		return kind == kindTrue
	case kindInt:
		n := d.uvarint()
		return int64(n>>1) ^ -int64(n&1) //nolint:gosec // It was an int64.
	case kindFloat:
		return math.Float64frombits(binary.BigEndian.Uint64([]byte(d.take(8))))
	case kindString:
		return d.take(d.uvarint())
	case kindWord:
		return words[d.uvarint()]
	case kindList:
		list := make([]any, d.uvarint())
		for i := range list {
			list[i] = d.value()
		}
		return list
	case kindMap:
		n := d.uvarint()
		fields := make(map[string]any, n)
		for range n {
			key := d.text()
			fields[key] = d.value()
		}
		return fields
	default:
		return nil
	}
}
