package schema

import (
	"maps"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

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
	clusterMetadata  = scopedMetadata(metadata, false)
	embeddedMetadata = metadataWith()
)

// Scoped returns the type of whole objects where they are in a namespace, or where
// they are of the cluster as a whole. A schema does not tell.
func (t *Type) Scoped(namespaced bool) *Type {
	const name = "metadata"
	f, has := t.Field(name)
	if !has || !t.Object || f.Type.Map == nil || f.Type.Map.NoNamespace != namespaced {
		return t
	}
	out, fields := *t, *t.Map
	out.Map, fields.Fields = &fields, maps.Clone(t.Map.Fields)
	switch f.Type {
	case metadata:
		f.Type = clusterMetadata
	case clusterMetadata:
		f.Type = metadata
	default: // It says of its own what a name can be.
		f.Type = scopedMetadata(f.Type, namespaced)
	}
	fields.Fields[name] = f
	return &out
}

func scopedMetadata(t *Type, namespaced bool) *Type {
	const name = "namespace"
	out, fields := *t, *t.Map
	out.Map, fields.Fields, fields.NoNamespace = &fields, maps.Clone(t.Map.Fields), !namespaced
	if delete(fields.Fields, name); namespaced {
		fields.Fields[name] = metadata.Map.Fields[name]
	}
	fields.Sort()
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
		"managedFields":              {Type: managedFields(), ZeroIsAbsent: true},
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

func managedFields() *Type {
	entry := &Type{Kinds: value.Map, Map: &Map{Fields: map[string]Field{
		"manager":     {Type: textType, ZeroIsAbsent: true},
		"operation":   {Type: textType, ZeroIsAbsent: true},
		"apiVersion":  {Type: textType, ZeroIsAbsent: true},
		"time":        {Type: instantType},
		"fieldsType":  {Type: textType, ZeroIsAbsent: true},
		"fieldsV1":    {Type: &Type{Kinds: value.Map, Map: &Map{Open: true}}},
		"subresource": {Type: textType, ZeroIsAbsent: true},
	}}}
	return &Type{Kinds: value.List, List: &List{Items: entry, Kind: Atomic}}
}
