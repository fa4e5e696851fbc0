package function

import (
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/typing"
)

// Types of rows that know the objects of Kubernetes, or give maps of their own.

// typeCondition gives one of the object's conditions, which has a type.
func typeCondition(c *TypeCall) typing.Type { return c.entry("type", "status", "conditions") }

// typeControllerOf gives one of the object's owners, which says controller.
func typeControllerOf(c *TypeCall) typing.Type {
	return c.entry("controller", "metadata", "ownerReferences")
}

// entry is a map with a key in the list at a path of the first argument, or nil.
func (c *TypeCall) entry(key string, path ...string) typing.Type {
	list := c.argument(0)
	for _, step := range path {
		list = list.At(step)
	}
	if found := list.Items().Only(value.Map); !found.None() {
		return found.Present([]string{key}).Nilable()
	}
	return typing.Of(value.Nil)
}

func typeControllerRef(*TypeCall) typing.Type {
	text, yes := typing.Of(value.String), typing.Constant(true)
	return typing.Map(map[string]typing.Type{
		"apiVersion": text, "kind": text, "name": text, "uid": text, "controller": yes, "blockOwnerDeletion": yes,
	})
}

// typeSetCondition gives the list itself, or one with the condition in it.
func typeSetCondition(c *TypeCall) typing.Type {
	list, condition := c.argument(0).Only(aList), c.argument(1)
	old := list.Items().Only(value.Map)
	since := condition.At(lastTransition).NonNil()
	if previous := old.At(lastTransition); !old.None() {
		since = typing.Union(since, previous)
	}
	changed := map[string]typing.Type{lastTransition: typing.Union(since, typing.Of(value.String))}
	for _, key := range condition.Names() {
		if field := condition.At(key); field.Known() && field.Kinds()&value.Omission != 0 {
			changed[key] = typing.Union(changed[key], typing.Of(value.Nil))
		}
	}
	set := typing.Merge(condition, typing.Map(changed))
	result := typing.List(typing.Union(list.Items(), set))
	if condition.Kinds()&value.Nil != 0 {
		return typing.Union(list, result)
	}
	return result
}

func typeWindow(*TypeCall) typing.Type {
	text := typing.Of(value.String)
	return typing.Map(map[string]typing.Type{"start": text, "end": text}).Nilable()
}

func typeURL(*TypeCall) typing.Type {
	text := typing.Of(value.String)
	return typing.Map(map[string]typing.Type{
		"scheme": text, "user": text, "host": text, "hostname": text, "path": text, "fragment": text,
		"port": typing.Of(value.Int | value.Nil), "query": typing.Map(nil, typing.List(text)),
	})
}
