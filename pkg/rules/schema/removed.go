package schema

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

// Removed names the elements of lists that were there before and are not now, as far as
// the type tells elements apart: spec.containers[name=main]. A list that is gone as a whole
// is one of them.
func (t *Type) Removed(before, now any) []string { return t.removed("", before, now) }

func (t *Type) removed(at string, before, now any) (out []string) {
	if t == nil || now == nil {
		return nil
	}
	switch before := before.(type) {
	case map[string]any:
		after, _ := now.(map[string]any)
		for _, key := range slices.Sorted(maps.Keys(before)) {
			f, _ := t.Field(key)
			below := strings.TrimPrefix(at+"."+key, ".")
			if list, _ := before[key].([]any); len(list) > 0 && after[key] == nil && f.Type != nil && f.Type.List != nil && f.Type.List.Kind != Atomic {
				out = append(out, below)
				continue
			}
			out = append(out, f.Type.removed(below, before[key], after[key])...)
		}
	case []any:
		after, _ := now.([]any)
		if t.List == nil || t.List.Kind == Atomic {
			return nil
		}
		kept := make(map[string]any, len(after))
		for _, element := range after {
			kept[t.List.named(element)] = element
		}
		for _, element := range before {
			name := t.List.named(element)
			same, is := kept[name]
			switch below := at + "[" + name + "]"; {
			case name == "":
			case !is:
				out = append(out, below)
			default:
				out = append(out, t.List.Items.removed(below, element, same)...)
			}
		}
	}
	return out
}

// named is what tells an element from the others, "" where nothing does.
func (l *List) named(element any) string {
	if l.Kind == Set {
		text, _ := value.Text(element)
		return text
	}
	fields, _ := element.(map[string]any)
	var parts []string
	for _, key := range l.Keys {
		v := fields[key]
		if f, _ := l.Items.Field(key); v == nil {
			v = f.Default
		}
		if v != nil {
			parts = append(parts, fmt.Sprintf("%s=%v", key, v))
		}
	}
	return strings.Join(parts, ",")
}
