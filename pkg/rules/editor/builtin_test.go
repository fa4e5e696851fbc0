package editor_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/dyncontroller/dyncontroller/pkg/rules/editor"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	resources "github.com/dyncontroller/dyncontroller/pkg/rules/schema"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema/builtin"
)

// sampler writes values of types with all fields, as values or as templates.
type sampler struct {
	templates bool
	within    map[*resources.Type]bool // A type that contains itself ends there.
	closed    []map[string]any         // the maps that take no other fields
}

func (s *sampler) value(t *resources.Type) any {
	switch {
	case !t.Known() || s.within[t]:
		return nil
	case t.Map != nil || t.List != nil:
		s.within[t] = true
		defer delete(s.within, t)
	case s.templates:
		return "${object.spec.value}"
	case t.Limit != nil && len(t.Limit.Enum) > 0:
		return t.Limit.Enum[0]
	}
	low := 1.0
	if t.Limit != nil && t.Limit.Minimum != nil {
		low = *t.Limit.Minimum
	}
	switch {
	case t.Map != nil:
		return s.fields(t.Map)
	case t.List != nil:
		return []any{s.value(t.List.Items)}
	case t.Kinds&value.Int != 0:
		return int64(low)
	case t.Kinds&value.Float != 0:
		return low
	case t.Kinds&value.Bool != 0:
		return true
	default:
		return "text"
	}
}

func (s *sampler) fields(m *resources.Map) any {
	out := map[string]any{}
	for name, field := range m.Fields {
		out[name] = s.value(field.Type)
	}
	if m.Values != nil {
		out["key"] = s.value(m.Values)
		out["${object.metadata.name}"] = out["key"]
	} else if !m.Open {
		s.closed = append(s.closed, out)
	}
	return out
}

// applying is a rule set that applies a manifest of a resource.
func applying(r *resources.Resource, manifest any) map[string]any {
	declared := map[string]any{"version": r.Version, "resource": r.Resource}
	if r.Group != "" {
		declared["group"] = r.Group
	}
	return map[string]any{
		"apiVersion": "dyncontroller.dev/v1alpha1", "kind": "ClusterRuleSet", "metadata": map[string]any{"name": "set"},
		"spec": map[string]any{
			"resources": map[string]any{r.Resource: declared},
			"rules": []any{map[string]any{"name": "rule", "watch": r.Resource, "actions": []any{
				map[string]any{"apply": map[string]any{"resource": r.Resource, "manifest": manifest}},
			}}},
		},
	}
}

// TestBuiltins writes every field of every built-in resource, and then misspells
// some: the first is right for an editor, the second never is.
func TestBuiltins(t *testing.T) {
	t.Parallel()
	count, misspelt := 0, 0
	for _, name := range builtin.Source().Resources() {
		r := builtin.Source().Resource(name.GroupVersionResource)
		if !r.Type.Known() {
			continue
		}
		count++
		compiled := newSchema(t, editor.ByPlural([]*resources.Resource{r})...)
		for _, templates := range []bool{false, true} {
			s := &sampler{templates: templates, within: map[*resources.Type]bool{}}
			manifest := map[string]any{"metadata": map[string]any{"name": "a"}}
			for field, of := range r.Type.Map.Fields {
				if !slices.Contains([]string{"apiVersion", "kind", "metadata", "status"}, field) {
					manifest[field] = s.value(of.Type)
				}
			}
			if err := compiled.validator.Validate(applying(r, manifest)); err != nil {
				t.Errorf("%s, templates %t: %v", r.GroupVersionResource, templates, short(err))
				continue
			}
			const most = 5
			for i := 0; i < len(s.closed); i += 1 + len(s.closed)/most {
				s.closed[i]["mispelt"] = int64(1)
				if err := compiled.validator.Validate(applying(r, manifest)); err == nil {
					t.Errorf("%s takes an unknown field beside %v", r.GroupVersionResource, s.closed[i])
				}
				delete(s.closed[i], "mispelt")
				misspelt++
			}
		}
	}
	t.Logf("%d resources, %d misspellings", count, misspelt)
	if count < 50 || misspelt < 300 {
		t.Errorf("there are only %d built-in resources, and %d misspellings", count, misspelt)
	}
}

func short(err error) string {
	const most = 600
	return strings.TrimSpace(fmt.Sprintf("%.*s", most, err.Error()))
}
