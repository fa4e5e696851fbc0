package main

import "reflect"

// place is a struct within a kind: the fields on the way to it, from the outermost. The root has none.
type place []step

// step is a field that leads from a struct into another, and the struct that it leaves.
type step struct {
	from reflect.Type
	field
}

// root is a type whose inside is surveyed, and how the API server defaults it.
type root struct {
	typ     reflect.Type
	applyTo func(object any) // nil where nothing is defaulted.
}

// places lists all structs of a root, and hands those that lie in maps to detached: nothing can be set in there.
func places(r root, detached func(reflect.Type)) []place {
	var found []place
	var walk func(t reflect.Type, at place, above []reflect.Type)
	walk = func(t reflect.Type, at place, above []reflect.Type) {
		for _, one := range above {
			if one == t {
				return // A schema within a schema says nothing new.
			}
		}
		found = append(found, at)
		for _, f := range fieldsOf(t) {
			inside, throughMap, ok := structOf(f.typ)
			switch {
			case !ok:
			case throughMap:
				detached(inside)
			default:
				below := append(append(place{}, at...), step{from: t, field: f})
				walk(inside, below, append(append([]reflect.Type{}, above...), t))
			}
		}
	}
	walk(r.typ, nil, nil)
	return found
}

// structs returns the structs on the way to a place, the place last. With complete, what is missing of
// them is made and handed to it.
func (p place) structs(v reflect.Value, complete func(reflect.Value)) ([]reflect.Value, bool) {
	if complete != nil {
		complete(v)
	}
	all := []reflect.Value{v}
	for _, s := range p {
		v = v.FieldByIndex(s.index)
		for v.Kind() != reflect.Struct {
			if complete != nil {
				v.Set(filled(v.Type()))
			}
			if v.IsNil() || v.Kind() == reflect.Slice && v.Len() == 0 {
				return all, false
			}
			if v.Kind() == reflect.Slice {
				v = v.Index(0)
			} else {
				v = v.Elem()
			}
		}
		if complete != nil {
			complete(v)
		}
		all = append(all, v)
	}
	return all, true
}

// filled returns a pointer to a zero value, a list of one, or a map of one.
func filled(t reflect.Type) reflect.Value {
	switch t.Kind() {
	case reflect.Pointer:
		return reflect.New(t.Elem())
	case reflect.Slice:
		return reflect.MakeSlice(t, 1, 1)
	case reflect.Map:
		m := reflect.MakeMap(t)
		m.SetMapIndex(reflect.Zero(t.Key()), reflect.Zero(t.Elem()))
		return m
	default:
		return reflect.Zero(t)
	}
}
