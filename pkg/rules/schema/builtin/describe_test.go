package builtin_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema/builtin"
)

// resource finds a resource by "GROUP/VERSION/RESOURCE", without a group for the core.
func resource(t *testing.T, name string) *schema.Resource {
	t.Helper()
	parts := strings.Split(name, "/")
	if len(parts) == 2 {
		parts = append([]string{""}, parts...)
	}
	return builtin.Source().Resource(apischema.GroupVersionResource{Group: parts[0], Version: parts[1], Resource: parts[2]})
}

// find follows a path of fields; [] goes into a list, {} to the values of a map.
func find(in *schema.Type, path string) (schema.Field, bool) {
	field := schema.Field{Type: in}
	for step := range strings.SplitSeq(strings.NewReplacer("[]", ".[]", "{}", ".{}").Replace(path), ".") {
		var found bool
		switch t := field.Type; step {
		case "[]":
			field, found = schema.Field{Type: t.Items()}, t.Items() != nil
		case "{}":
			field, found = t.Field("any key that is no field")
		default:
			field, found = t.Field(step)
		}
		if !found || field.Type == nil {
			return schema.Field{}, false
		}
	}
	return field, true
}

// describe says in words what is known of a field.
func describe(f schema.Field) string {
	if !f.Type.Known() {
		return "anything"
	}
	words := []string{f.Type.Kinds.String()}
	add := func(when bool, format string, args ...any) {
		if when {
			words = append(words, fmt.Sprintf(format, args...))
		}
	}
	add(f.Type.Format != "", "format %s", f.Type.Format)
	if list := f.Type.List; list != nil {
		add(list.Kind == schema.Atomic, "atomic")
		add(list.Kind == schema.Set, "set")
		add(list.Kind == schema.Keyed, "keyed by %s", strings.Join(list.Keys, ","))
	}
	add(f.Type.Map != nil && f.Type.Map.Atomic, "atomic")
	add(f.Type.Map != nil && f.Type.Map.Open, "open")
	if f.Type.Limit != nil && f.Type.Limit.Enum != nil {
		add(true, "one of %v", f.Type.Limit.Enum)
	}
	add(f.Required, "required")
	add(f.Always, "always")
	if f.Default != nil {
		text, err := json.Marshal(f.Default)
		add(true, "default %s", text)
		add(err != nil, "%v", err)
	}
	add(f.ZeroIsAbsent, "zero is absent")
	return strings.Join(words, "; ")
}
