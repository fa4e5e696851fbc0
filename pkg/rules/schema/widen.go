package schema

import (
	"maps"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

// Widened returns a source that knows what known does, and of each resource also
// allows what served does. It is for built-in types: of those we know more than an API
// server says, but a newer one has fields that we do not know.
func Widened(known, served Source) Source { return &widened{Source: known, served: served} }

type widened struct {
	Source
	served Source
	made   sync.Map // of *Resource by GroupVersionResource, nil for what known does not know
}

// Resource implements [Source].
func (w *widened) Resource(gvr schema.GroupVersionResource) *Resource {
	made, done := w.made.Load(gvr)
	if !done {
		made, _ = w.made.LoadOrStore(gvr, widen(w.Source.Resource(gvr), w.served.Resource(gvr)))
	}
	return made.(*Resource) //nolint:forcetypeassert // Only these are stored.
}

func widen(known, served *Resource) *Resource {
	if known == nil || served == nil {
		return known
	}
	out := *known
	wider := widening{}
	out.Type = wider.both(known.Type, served.Type)
	out.Subresources = make(map[string]*Type, len(known.Subresources))
	maps.Copy(out.Subresources, served.Subresources)
	for name, t := range known.Subresources {
		out.Subresources[name] = wider.both(t, served.Subresources[name])
	}
	if known.Verbs != nil {
		out.Verbs = slices.Compact(slices.Sorted(slices.Values(slices.Concat(known.Verbs, served.Verbs))))
	}
	return &out
}

// widening makes types that allow what either of two allows. What is required, always
// there or left out is what the first says.
type widening map[[2]*Type]*Type

func (w widening) both(t, other *Type) *Type {
	if !t.Known() || !other.Known() || t == other {
		return t // Who describes nothing forbids nothing, and allows nothing more.
	}
	pair := [2]*Type{t, other}
	if made := w[pair]; made != nil {
		return made
	}
	out := *t
	w[pair] = &out // First: a type may contain itself.
	out.Kinds |= other.Kinds
	out.Limit = widerLimits(t.Limit, other.Limit)
	switch {
	case t.Map == nil:
		out.Map = other.Map
	case other.Map != nil:
		out.Map = w.maps(t.Map, other.Map)
	}
	switch {
	case t.List == nil:
		out.List = other.List
	case other.List != nil:
		list := *t.List
		list.Items = w.both(t.List.Items, other.List.Items)
		out.List = &list
	}
	return &out
}

func (w widening) maps(m, other *Map) *Map {
	out := *m
	out.Open = m.Open || other.Open
	out.Values = other.Values
	if m.Values != nil {
		out.Values = w.both(m.Values, other.Values)
	}
	out.Fields = make(map[string]Field, len(m.Fields))
	maps.Copy(out.Fields, other.Fields)
	for name, f := range m.Fields {
		if more, there := other.Fields[name]; there {
			f.Type = w.both(f.Type, more.Type)
		}
		out.Fields[name] = f
	}
	out.Sort()
	return &out
}

// widerLimits adds the values of an enumeration. Of what else limits a value, nothing
// is known of built-in types that changes.
func widerLimits(limit, other *Limits) *Limits {
	if limit == nil || other == nil || len(limit.Enum) == 0 {
		return limit
	}
	out := *limit
	out.Enum = slices.Clone(limit.Enum)
	for _, v := range other.Enum {
		if value.KindOf(v) == value.String && !slices.Contains(out.Enum, v) {
			out.Enum = append(out.Enum, v)
		}
	}
	return &out
}
