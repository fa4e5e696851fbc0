package corpus

import (
	"slices"
	"strings"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

// objectShapes are rules about whole objects: what every kind has, other objects of the kind, and new ones.
var objectShapes = []shape{
	{name: "label is missing", write: asks("object.metadata.labels.team == nil")},
	{name: "label is there", write: asks(`"team" in object.metadata.labels && object.metadata.labels.team matches "^[a-z]+$"`)},
	{name: "annotation", write: asks(`default(object.metadata.annotations["example.com/owner"], "none") == "none"`)},
	{name: "age", write: asks(`olderThan(object.metadata.creationTimestamp, "1d") && len(object.metadata.uid) > 0`)},
	{name: "owner", write: asks("controllerOf(object)?.kind == \"ReplicaSet\" || len(object.metadata.finalizers) > 1")},
	{name: "generation", write: asks("object.metadata.generation > 1 && object.metadata.deletionTimestamp == nil")},
	{name: "kind", write: func(g *generator, _ place) draft {
		return draft{text: seen(`object.kind == "` + g.resource.Kind + `" && object.apiVersion endsWith "` + g.resource.Version + `"`)}
	}},
	{name: "condition", write: conditions(func(*generator, place) draft {
		return draft{text: seen(`condition(object, "Ready")?.status != "True"`)}
	})},
	{name: "sets a condition", write: conditions(func(g *generator, p place) draft {
		return g.patched(p, "merge", `'${setCondition(`+p.read("object")+`, {type: "Ready", status: "True", reason: "Fine", message: "all is well"})}'`)
	})},
	{name: "labels", write: func(*generator, place) draft {
		return draft{writes: "metadata.labels.team", text: "watch: it\nactions:\n- patch: {merge: {metadata: {labels: {team: '${object.metadata.labels.owner ?? \"none\"}'}}}}\n"}
	}},
	{name: "other objects", write: func(*generator, place) draft {
		return draft{text: "with:\n  alike: {resource: it, all: true}\n" +
			told("any(alike, .metadata.uid != object.metadata.uid && .metadata.labels.app == object.metadata.labels.app)", "of ${len(alike)} another is alike")}
	}},
	{name: "applies an object", write: func(g *generator, _ place) draft {
		v, _ := sample(g.resource.Type)
		object, isMap := v.(map[string]any)
		if !isMap {
			return draft{}
		}
		return g.applied(object)
	}},
}

// asks is a rule with a condition that any kind of object can be asked.
func asks(when string) func(*generator, place) draft {
	return func(*generator, place) draft { return draft{text: seen(when)} }
}

// conditions makes a rule of the conditions of a status, if they are as those of metav1.Condition.
func conditions(write func(g *generator, p place) draft) func(*generator, place) draft {
	return func(g *generator, _ place) draft {
		i := slices.IndexFunc(g.places, func(p place) bool { return p.String() == "status.conditions" })
		if i < 0 || !isListOfMaps(g.places[i]) {
			return draft{}
		}
		all := g.places[i].typ.List.Items.Map.Fields
		written := []string{"type", "status", "reason", "message", "lastTransitionTime"}
		for key, field := range all {
			if field.Required && !slices.Contains(written, key) {
				return draft{}
			}
		}
		for _, key := range written {
			field, found := all[key]
			if !found || kinds(field.Type) != value.String {
				return draft{}
			}
		}
		return write(g, g.places[i])
	}
}

// applied is a rule that makes an object of the kind for each object of another, with what it has beside metadata.
func (g *generator) applied(object map[string]any) draft {
	fields := []string{"metadata: {name: '${object.metadata.name}-x'}"}
	for _, key := range sortedKeys(object) {
		if !metaField(key) && key != "status" {
			fields = append(fields, yamlKey(key)+": "+yamlText(object[key]))
		}
	}
	owned := ""
	if !g.resource.Namespaced {
		owned = "owned: false, "
	}
	return draft{
		others: true,
		text:   "watch: others\nactions:\n- apply: {resource: it, " + owned + "manifest: {" + strings.Join(fields, ", ") + "}}\n",
	}
}
