package conflict

import (
	"testing"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// TestManagerOf holds who is named by managedFields.
func TestManagerOf(t *testing.T) {
	owner := func(manager, at string, fields map[string]any) any {
		return map[string]any{"manager": manager, "time": at, "fieldsV1": fields}
	}
	type m = map[string]any
	const early, late = "2026-01-01T00:00:00Z", "2026-01-01T00:00:01Z"
	spec := func(below m) m { return m{"f:spec": below} }
	tests := map[string]struct {
		reason string
		object map[string]any
		path   plan.Path
		before any
		want   Rival
	}{
		"None":    {reason: "There is no object.", path: replicas, want: Rival{Kind: Unknown}},
		"Nobody":  {reason: "Nobody owns the field.", object: managed(owner("x", early, spec(m{"f:other": m{}}))), path: replicas, want: Rival{Kind: Unknown}},
		"One":     {reason: "One does.", object: managed(owner("x", early, spec(m{"f:replicas": m{}}))), path: replicas, want: Rival{Kind: Manager, Manager: "x"}},
		"Atomic":  {reason: "One owns all that is above.", object: managed(owner("x", early, spec(m{}))), path: replicas, want: Rival{Kind: Manager, Manager: "x"}},
		"Above":   {reason: "One who owns what is above and something else in it has no part in it.", object: managed(owner("x", early, spec(m{".": m{}, "f:other": m{}}))), path: replicas, want: Rival{Kind: Unknown}},
		"Below":   {reason: "One owns something in it.", object: managed(owner("x", early, spec(m{"f:replicas": m{}}))), path: plan.Path{"spec"}, want: Rival{Kind: Manager, Manager: "x"}},
		"Latest":  {reason: "The last one to write.", object: managed(entry("x", late), entry("y", early)), path: replicas, want: Rival{Kind: Manager, Manager: "x"}},
		"Latest2": {reason: "In whatever order.", object: managed(entry("y", early), entry("x", late)), path: replicas, want: Rival{Kind: Manager, Manager: "x"}},
		"Maker":   {reason: "Of the whole it is the first.", object: managed(entry("x", late), entry("y", early)), want: Rival{Kind: Manager, Manager: "y"}},
		"NoTime":  {reason: "A time is not needed.", object: managed(owner("x", "", spec(m{"f:replicas": m{}}))), path: replicas, want: Rival{Kind: Manager, Manager: "x"}},
		"Ours":    {reason: "Rules of others have our name.", object: managed(entry(plan.FieldManager, late)), path: replicas, want: Rival{Kind: OtherIdentity, Manager: plan.FieldManager}},
		"Applied": {reason: "Those that apply, too.", object: managed(entry(rule("x").FieldManager(), late)), path: replicas, want: Rival{Kind: OtherIdentity, Manager: rule("x").FieldManager()}},
		"Own":     {reason: "What the rule itself has applied is not undone by it.", object: managed(entry("own", late), entry("y", early)), path: replicas, want: Rival{Kind: Manager, Manager: "y"}},
		"OwnOnly": {reason: "Nor by nobody else.", object: managed(entry("own", late)), path: replicas, want: Rival{Kind: Unknown}},
		"Taken": {
			reason: "Where only owners have changed it is the last who owns what is applied, and not who has made the object.",
			object: managed(entry("own", early), entry("y", late), owner("x", late, spec(m{"f:other": m{}}))), before: foreign, want: Rival{Kind: Manager, Manager: "y"},
		},
		"How": {
			reason: "A manager may write in several ways.",
			object: managed(m{"manager": "x", "operation": "Update", "subresource": "scale", "time": late, "fieldsV1": spec(m{"f:replicas": m{}})}),
			path:   replicas, want: Rival{Kind: Manager, Manager: "x", Operation: "Update", Subresource: "scale"},
		},
		"Alike": {reason: "Another name is another.", object: managed(entry(plan.FieldManager+"-x", late)), path: replicas, want: Rival{Kind: Manager, Manager: plan.FieldManager + "-x"}},
		"Broken": {
			reason: "Nothing that is there can do harm.",
			object: managed(1, nil, "x", m{"manager": 1, "fieldsV1": "x"}, m{"fieldsV1": m{"f:spec": 1}}, owner("x", "never", m{"f:spec": m{"f:replicas": 1}})),
			path:   replicas, want: Rival{Kind: Unknown},
		},
		"Element": {
			reason: "Who owns an element of a list is named, too.",
			object: m{
				"spec":     m{"list": []any{m{"name": "a", "image": "i"}}},
				"metadata": m{"managedFields": []any{owner("x", early, spec(m{"f:list": m{`k:{"name":"a"}`: m{"f:image": m{}}}}))}},
			},
			path: plan.Path{"spec", "list", "0", "image"}, want: Rival{Kind: Manager, Manager: "x"},
		},
		"NoList": {reason: "Nor this.", object: map[string]any{"metadata": map[string]any{"managedFields": "x"}}, path: replicas, want: Rival{Kind: Unknown}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := written{live: tc.object, own: "own", applied: []plan.Path{replicas}}
			if got := w.managerOf(field{path: tc.path, before: tc.before}); got != tc.want {
				t.Errorf("%s want %+v, got %+v", tc.reason, tc.want, got)
			}
		})
	}
}
