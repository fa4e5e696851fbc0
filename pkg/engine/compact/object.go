package compact

import (
	"math"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// Object is an object of the API server as a cache keeps it. It is immutable. Caches of client-go take it as they take an
// Unstructured.
type Object struct {
	// data is the encoded object without the fields apart, then these, each behind the one before it, with their lengths. The
	// resourceVersion is last, so that two versions that say the same are easy to recognize. Equal objects have equal data.
	data string
}

var (
	_ runtime.Object            = (*Object)(nil)
	_ metav1.ObjectMetaAccessor = (*Object)(nil)
)

// apart are the fields of the metadata that are asked for most.
var apart = [...]string{namespace: "namespace", name: "name", uid: "uid", version: "resourceVersion"}

const (
	namespace = iota
	name
	uid
	version
)

// New returns the object of these fields, which are those of an [unstructured.Unstructured], and are not kept; nil for nil.
func New(fields map[string]any) *Object {
	if fields == nil {
		return nil
	}
	e := encoders.Get().(*encoder) //nolint:forcetypeassert // There are no others.
	defer encoders.Put(e)
	e.data, e.keys = e.data[:0], e.keys[:0]
	metadata, _ := fields["metadata"].(map[string]any)
	var texts [len(apart)]string
	without := make([]string, 0, len(apart))
	for i, key := range apart {
		if text, is := metadata[key].(string); is && text != "" && len(text) <= math.MaxUint8 { // As Kubernetes makes them.
			texts[i], without = text, append(without, key)
		}
	}
	e.fields(fields, nil, func(key string, value any) {
		if metadata != nil && key == "metadata" {
			e.fields(metadata, without, e.field)
		} else {
			e.value(value)
		}
	})
	for i, text := range texts {
		if i == version {
			for _, before := range texts[:version] {
				e.data = append(e.data, byte(len(before)))
			}
		}
		e.data = append(e.data, text...)
	}
	e.data = append(e.data, byte(len(texts[version])))
	return &Object{data: string(e.data)}
}

// part is one of the fields apart, empty where there is none.
func (o *Object) part(i int) string {
	if o == nil {
		return ""
	}
	end := len(o.data) - 1
	start := end - int(o.data[end])
	if i == version {
		return o.data[start:end]
	}
	end = start - version
	for j := version - 1; j > i; j-- {
		end -= int(o.data[start-version+j])
	}
	return o.data[end-int(o.data[start-version+i]) : end]
}

// UID is empty for no object.
func (o *Object) UID() types.UID { return types.UID(o.part(uid)) }

// ResourceVersion is empty for no object.
func (o *Object) ResourceVersion() string { return o.part(version) }

// Fields returns the object as maps, new ones each time; nil for no object. They share their strings with the object.
func (o *Object) Fields() map[string]any {
	if o == nil {
		return nil
	}
	d := decoder{o.data}
	fields, _ := d.value().(map[string]any)
	metadata, _ := fields["metadata"].(map[string]any)
	for i, key := range apart {
		if text := o.part(i); text != "" {
			metadata[key] = text
		}
	}
	return fields
}

// Equal reports whether two objects are the same in the same version.
func (o *Object) Equal(other *Object) bool { return o.data == other.data }

// SameContent reports whether two objects differ in their resourceVersion at most.
func (o *Object) SameContent(other *Object) bool { return o.content() == other.content() }

func (o *Object) content() string { return o.data[:len(o.data)-1-len(o.part(version))] }

// Size is about the bytes of memory that the object takes, none for no object.
func (o *Object) Size() int64 {
	if o == nil {
		return 0
	}
	return int64(len(o.data)) + 16
}

// GetObjectKind implements [runtime.Object]. The kind is not told.
func (o *Object) GetObjectKind() schema.ObjectKind { return schema.EmptyObjectKind }

// DeepCopyObject implements [runtime.Object]. What is immutable need not be copied.
func (o *Object) DeepCopyObject() runtime.Object { return o }

// meta is what of the metadata client-go asks for, without copies. It has the object too, as client-go's detector of inconsistent
// lists compares nothing but the metadata.
type meta struct {
	*metav1.ObjectMeta // is empty
	object             *Object
}

var noMeta metav1.ObjectMeta

// GetObjectMeta implements [metav1.ObjectMetaAccessor]. It has what names the object, and its version.
func (o *Object) GetObjectMeta() metav1.Object { return meta{&noMeta, o} }

func (m meta) GetNamespace() string       { return m.object.part(namespace) }
func (m meta) GetName() string            { return m.object.part(name) }
func (m meta) GetUID() types.UID          { return m.object.UID() }
func (m meta) GetResourceVersion() string { return m.object.part(version) }
