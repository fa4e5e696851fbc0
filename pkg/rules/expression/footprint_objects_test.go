package expression

import "pgregory.net/rapid"

// objects writes random objects.
type objects struct{ t *rapid.T }

func (o objects) of(options ...any) any { return options[evenly(o.t, uint64(len(options)))] }

func (o objects) chance(percent uint64) bool { return evenly(o.t, 100) >= 100-percent }

// mostly gives v, and now and then something else or nothing.
func (o objects) mostly(m map[string]any, key string, v any) {
	switch {
	case o.chance(75):
		m[key] = v
	case o.chance(50):
		m[key] = o.anything(2)
	}
}

func (o objects) anything(d int) any {
	switch {
	case d > 0 && o.chance(30):
		return o.list(func() any { return o.anything(d - 1) })
	case d > 0 && o.chance(40):
		m := map[string]any{}
		for range evenly(o.t, 4) {
			m[o.key()] = o.anything(d - 1)
		}
		return m
	default:
		return o.of(nil, true, false, int64(0), int64(1), int64(7), 1.5, "", "a", "b", "ab", "name", "7")
	}
}

func (o objects) key() string {
	key, _ := o.of("a", "b", "c", "name", "inner", "spec", "kind", "apiVersion", "labels").(string)
	return key
}

func (o objects) tags() []any {
	return o.list(func() any { return o.of("a", "b", "name", "x", "a") })
}

func (o objects) strings() map[string]any {
	m := map[string]any{}
	for range evenly(o.t, 4) {
		m[o.key()] = o.of("a", "b", "x", "")
	}
	return m
}

func (o objects) item() any {
	item := map[string]any{}
	o.mostly(item, "name", o.of("a", "b", "c"))
	o.mostly(item, "n", o.of(int64(1), int64(2), 2.5))
	o.mostly(item, "flag", o.of(true, false))
	o.mostly(item, "tags", o.tags())
	o.mostly(item, "inner", map[string]any{"n": int64(1), "a": "x"})
	if o.chance(7) {
		return o.anything(1)
	}
	return item
}

func (o objects) list(of func() any) []any {
	list := make([]any, evenly(o.t, 4))
	for i := range list {
		list[i] = of()
	}
	return list
}

func (o objects) metadata() map[string]any {
	m := map[string]any{"name": o.of("a", "b", "name"), "namespace": "ns", "uid": "u", "resourceVersion": "1"}
	o.mostly(m, "generation", int64(3))
	o.mostly(m, "labels", o.strings())
	o.mostly(m, "annotations", o.strings())
	o.mostly(m, "finalizers", o.tags())
	o.mostly(m, "managedFields", o.list(func() any {
		return map[string]any{"manager": o.of("dyncontroller", "dyncontroller/a.b", "kubectl"), "operation": "Apply", "fieldsV1": o.anything(2)}
	}))
	return m
}

func (o objects) spec() map[string]any {
	m := map[string]any{}
	for _, key := range []string{"a", "b", "c"} {
		if o.chance(70) {
			m[key] = o.anything(3)
		}
	}
	o.mostly(m, "n", o.of(int64(1), int64(4), 0.5))
	o.mostly(m, "name", o.of("a", "b"))
	o.mostly(m, "flag", o.of(true, false))
	o.mostly(m, "tags", o.tags())
	o.mostly(m, "m", o.strings())
	o.mostly(m, "inner", map[string]any{"n": int64(2), "a": o.anything(1), "unread": "u"})
	o.mostly(m, "items", o.list(o.item))
	o.mostly(m, "nested", o.list(func() any { return o.list(o.item) }))
	o.mostly(m, "template", o.template())
	o.mostly(m, "whole", map[string]any{"apiVersion": o.of("v1", nil), "kind": "Pod", "metadata": map[string]any{}})
	return m
}

func (o objects) template() map[string]any {
	m := map[string]any{}
	o.mostly(m, "metadata", map[string]any{"labels": o.strings()})
	if o.chance(50) {
		m["spec"] = map[string]any{"a": int64(1)}
	}
	if o.chance(30) {
		m["apiVersion"], m["kind"] = "v1", o.of("Pod", nil)
	}
	return m
}

func (o objects) object() map[string]any {
	m := map[string]any{"apiVersion": "example.org/v1", "kind": o.of("Thing", "Pod"), "metadata": o.metadata()}
	o.mostly(m, "spec", o.spec())
	status := map[string]any{}
	o.mostly(status, "conditions", o.list(func() any {
		c := map[string]any{"type": o.of("Ready", "a"), "unread": "u"}
		o.mostly(c, "status", o.of("True", "False"))
		return c
	}))
	o.mostly(m, "status", status)
	return m
}

// generateObject returns objects such as a cluster has, with some fields that are
// missing or of another kind than expected.
func generateObject() *rapid.Generator[map[string]any] {
	return rapid.Custom(func(t *rapid.T) map[string]any { return objects{t}.object() })
}
