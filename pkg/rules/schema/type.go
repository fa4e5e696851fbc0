package schema

import (
	"maps"
	"slices"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

// Type is what a schema allows in one place. It is immutable, may contain itself,
// and is safe for concurrent use.
type Type struct {
	// Kinds are what a value can be, [value.Nil] included where null is stored. The
	// other fields say more of some of these kinds.
	Kinds value.Kind
	Map   *Map    // nil where a value cannot be a map
	List  *List   // nil where a value cannot be a list
	Limit *Limits // nil where every value of these kinds will do
	// Format is how a text or number is to be read, such as date-time or quantity.
	Format string
	// Object says that it is a whole Kubernetes object, with apiVersion, kind and
	// metadata.
	Object bool
}

// Map is what the entries of a map can be.
type Map struct {
	Fields map[string]Field
	// Sorted are the names of the fields in order, nil where nobody has sorted them: see
	// [Map.Sort].
	Sorted []string
	// Values is what entries beyond the fields are, nil where there can be none.
	Values *Type
	// Open says that unknown fields are kept, and nothing is known of them.
	Open bool
	// Atomic says that server-side apply owns the map as a whole.
	Atomic bool
}

// Field is a field of a map.
type Field struct {
	Type *Type
	// Required says that the API server takes no map without it.
	Required bool
	// Always says that the stored map has it even where nobody wrote it, as the
	// default or the Go type of a built-in kind see to. Default is its value then,
	// nil where that depends on other fields.
	Always  bool
	Default any
	// ZeroIsAbsent says that false, 0, "" and what is empty are not stored.
	ZeroIsAbsent bool
}

// List is what the elements of a list can be.
type List struct {
	Items *Type
	// Kind says how server-side apply merges it.
	Kind ListKind
	// Keys name the fields that tell the elements of a [Keyed] list apart.
	Keys []string
	// Unique says that the API server refuses a [Set] with an element that repeats, and a
	// [Keyed] list with keys that repeat or are missing, as it does of custom resources. Of
	// built-in kinds, only server-side apply refuses them.
	Unique bool
}

// ListKind is how server-side apply merges a list.
type ListKind uint8

// The kinds of lists. A list that does not say its kind is atomic.
const (
	Atomic ListKind = iota
	Set
	Keyed
)

// Limits are what values of the right kind must also satisfy, by the names of JSON schema. A nil or empty one does not limit.
type Limits struct {
	Enum             []any    `json:"enum"`
	Pattern          string   `json:"pattern"`
	MinLength        *int64   `json:"minLength"`
	MaxLength        *int64   `json:"maxLength"`
	Minimum          *float64 `json:"minimum"`
	Maximum          *float64 `json:"maximum"`
	ExclusiveMinimum bool     `json:"exclusiveMinimum"`
	ExclusiveMaximum bool     `json:"exclusiveMaximum"`
	MultipleOf       *float64 `json:"multipleOf"`
	MinItems         *int64   `json:"minItems"`
	MaxItems         *int64   `json:"maxItems"`
	MinProperties    *int64   `json:"minProperties"`
	MaxProperties    *int64   `json:"maxProperties"`
	UniqueItems      bool     `json:"uniqueItems"`
}

// Formats with a meaning for rules.
const (
	DateTime = "date-time"
	// Quantity is a text or a number; Kubernetes stores its canonical text.
	Quantity = "quantity"
)

// Open returns the type of a place of which nothing is known.
func Open() *Type { return open }

var open = &Type{Kinds: value.Any, Map: &Map{Open: true}, List: &List{Items: &Type{Kinds: value.Any}}}

// Known reports whether anything is known of the values.
func (t *Type) Known() bool { return t != nil && t != open && t.Kinds != value.Any }

// Field returns what is below a key of a map, and whether a value can be there. Of
// an open map every field is known to be possible, and nothing else.
func (t *Type) Field(key string) (f Field, possible bool) {
	if t == nil || t.Map == nil {
		return Field{}, false
	}
	if f, found := t.Map.Fields[key]; found {
		return f, true
	}
	switch {
	case t.Map.Values != nil:
		return Field{Type: t.Map.Values}, true
	case t.Map.Open:
		return Field{Type: Open()}, true
	default:
		return Field{}, false
	}
}

// Items returns what the elements of a list are, nil where it can be none.
func (t *Type) Items() *Type {
	if t == nil || t.List == nil {
		return nil
	}
	return t.List.Items
}

// Names lists the fields of a map in order. The list is read only.
func (t *Type) Names() []string {
	switch {
	case t == nil || t.Map == nil:
		return nil
	case len(t.Map.Sorted) == len(t.Map.Fields):
		return t.Map.Sorted
	default:
		return slices.Sorted(maps.Keys(t.Map.Fields))
	}
}

// Sort sorts the names of the fields once and for all, as they may be many and are
// asked for often. It is for who makes the map, after the last field.
func (m *Map) Sort() { m.Sorted = slices.Clip(slices.Sorted(maps.Keys(m.Fields))) }

// Metadata returns the type of the metadata of an object that is stored in a
// namespace: the API server gives it a name, a uid and more.
func Metadata() *Type { return metadata }

// ClusterMetadata returns that of an object of the cluster as a whole.
func ClusterMetadata() *Type { return clusterMetadata }

// EmbeddedMetadata returns the type of the metadata of a template, or of an object
// within another, of which nothing has to be there.
func EmbeddedMetadata() *Type { return embeddedMetadata }

var (
	metadata         = metadataWith("name", "namespace", "uid", "resourceVersion", "generation", "creationTimestamp")
	clusterMetadata  = withoutNamespace(metadata)
	embeddedMetadata = metadataWith()
)

func withoutNamespace(t *Type) *Type {
	out, fields := *t, Map{Fields: maps.Clone(t.Map.Fields)}
	delete(fields.Fields, "namespace")
	fields.Sort()
	out.Map = &fields
	return &out
}

// Scoped returns the type of whole objects where they are in a namespace, or where
// they are of the cluster as a whole. A schema does not tell.
func (t *Type) Scoped(namespaced bool) *Type {
	wanted := map[bool]*Type{true: metadata, false: clusterMetadata}[namespaced]
	f, has := t.Field("metadata")
	if !has || !t.Object || f.Type == wanted {
		return t
	}
	out, fields := *t, *t.Map
	out.Map, fields.Fields = &fields, maps.Clone(t.Map.Fields)
	f.Type = wanted
	fields.Fields["metadata"] = f
	return &out
}

// The types that have no parts.
var (
	textType    = &Type{Kinds: value.String}
	integerType = &Type{Kinds: value.Int}
	booleanType = &Type{Kinds: value.Bool}
	instantType = &Type{Kinds: value.String, Format: Time}
	textsType   = &Type{Kinds: value.Map, Map: &Map{Values: textType}}
)

// metadataWith returns the type of metav1.ObjectMeta. The API server passes that
// of all objects through this Go type, and so stores nothing that is empty there.
func metadataWith(always ...string) *Type {
	fields := map[string]Field{
		"name":                       {Type: textType, ZeroIsAbsent: true},
		"generateName":               {Type: textType, ZeroIsAbsent: true},
		"namespace":                  {Type: textType, ZeroIsAbsent: true},
		"selfLink":                   {Type: textType, ZeroIsAbsent: true},
		"uid":                        {Type: textType, ZeroIsAbsent: true},
		"resourceVersion":            {Type: textType, ZeroIsAbsent: true},
		"generation":                 {Type: integerType, ZeroIsAbsent: true},
		"creationTimestamp":          {Type: instantType, ZeroIsAbsent: true},
		"deletionTimestamp":          {Type: instantType},
		"deletionGracePeriodSeconds": {Type: integerType},
		"labels":                     {Type: textsType, ZeroIsAbsent: true},
		"annotations":                {Type: textsType, ZeroIsAbsent: true},
		"ownerReferences":            {Type: ownerReferences(), ZeroIsAbsent: true},
		"finalizers":                 {Type: &Type{Kinds: value.List, List: &List{Items: textType, Kind: Set}}, ZeroIsAbsent: true},
		"managedFields":              {Type: &Type{Kinds: value.List, List: &List{Items: open}}, ZeroIsAbsent: true},
	}
	for _, name := range always {
		field := fields[name]
		field.Always = true
		fields[name] = field
	}
	m := &Map{Fields: fields}
	m.Sort()
	return &Type{Kinds: value.Map, Map: m}
}

func ownerReferences() *Type {
	there := Field{Type: textType, Required: true, Always: true}
	reference := &Type{Kinds: value.Map, Map: &Map{Atomic: true, Fields: map[string]Field{
		"apiVersion":         there,
		"kind":               there,
		"name":               there,
		"uid":                there,
		"controller":         {Type: booleanType},
		"blockOwnerDeletion": {Type: booleanType},
	}}}
	return &Type{Kinds: value.List, List: &List{Items: reference, Kind: Keyed, Keys: []string{"uid"}}}
}
