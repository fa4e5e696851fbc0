package names_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	kubernetes "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/lookup"
	"github.com/dyncontroller/dyncontroller/pkg/rules/names"
	"github.com/dyncontroller/dyncontroller/pkg/rules/spec"
)

// graphs returns the names of a set and of its only rule, and what is wrong with them.
func graphs(t testing.TB, lets, rule string) (set, ofRule *names.Graph, errs document.Errors) {
	t.Helper()
	text := "apiVersion: dyncontroller.dev/v1alpha1\nkind: ClusterRuleSet\nmetadata: {name: set}\nspec:\n  params: {least: 3}\n  let: {" + lets + "}\n" +
		"  resources: {pods: {version: v1, resource: pods}}\n  rules:\n  - {name: rule, watch: pods, " + rule + "}\n"
	sets, errs := spec.Parse([]document.File{{Name: "r.yaml", Data: []byte(text)}}, "default")
	if len(errs) > 0 {
		t.Fatal(errs.Render())
	}
	pods := kubernetes.GroupVersionResource{Version: "v1", Resource: "pods"}
	set, errs = names.OfSet(sets[0])
	ofRule, more := set.Extended(&sets[0].Rules[0], lookup.Declarations{{Name: "pods", GVR: pods}})
	return set, ofRule, append(errs, more...).Sorted()
}

const actions = "actions: [{event: {reason: A, message: a}}]"

func TestGraph(t *testing.T) {
	set, rule, errs := graphs(t, "shared: object.spec.a", "with: {found: {resource: pods, name: '${own}'}}, let: {own: shared, more: found}, "+actions)
	if len(errs) > 0 {
		t.Fatal(errs.Render())
	}
	if diff := cmp.Diff([]string{"object", "rule", "params", "shared"}, set.Scope().Names()); diff != "" {
		t.Errorf("of the set (-want +got):\n%s", diff)
	}
	if set.Slots() != 4 || rule.Slots() != 7 {
		t.Errorf("there are %d slots of the set and %d of the rule", set.Slots(), rule.Slots())
	}
	for name, want := range map[string]string{"shared": "object", "found": "own", "own": "shared", "more": "found"} {
		d := rule.Lookup(name)
		if d == nil || d.Name != name || strings.Join(d.Uses(), " ") != want || (d.Related != nil) != (name == "found") || (d.Value != nil) != (name != "found") {
			t.Errorf("%s is %+v", name, d)
			continue
		}
		slot, _ := rule.Scope().Slot(name)
		if rule.At(slot) != d {
			t.Errorf("%s has another slot", name)
		}
	}
	for _, slot := range []int{names.Object, names.Rule, names.Params, rule.Slots(), -1} {
		if d := rule.At(slot); d != nil {
			t.Errorf("slot %d has a definition: %+v", slot, d)
		}
	}
	for _, name := range []string{"object", "rule", "params", "none", ""} {
		if d := rule.Lookup(name); d != nil {
			t.Errorf("%q has a definition: %+v", name, d)
		}
	}
	if d := set.Lookup("own"); d != nil || len(set.Related()) > 0 {
		t.Error("the set has the names of the rule")
	}
	if related := rule.Related(); len(related) != 1 || related["found"] != rule.Lookup("found").Related {
		t.Errorf("with has %v", related)
	}
}

func TestWrongNames(t *testing.T) {
	tests := map[string]struct {
		reason     string
		lets, rule string
		want       string
	}{
		"Itself": {"A name cannot use itself.", "a: a", actions, `"a" is defined by itself: a -> a; a name cannot use itself`},
		"Circle": {"Nor another way.", "a: b, b: c, c: a", actions, `"a" is defined by itself: a -> b -> c -> a; let one of them do without the next`},
		"With":   {"Through with.", "", "with: {a: {resource: pods, name: '${b}'}}, let: {b: a}, " + actions, `"a" is defined by itself: a -> b -> a; let one of them do without the next`},
		"Again":  {"A name is there once.", "a: object.spec", "let: {a: object.spec}, " + actions, `"a" is a name already; choose another name`},
		"Set":    {"The set knows nothing of a rule.", "a: own", "let: {own: object.spec}, " + actions, `unknown name "own"; a let of the set cannot see what a rule defines; move one of them`},
		"Param":  {"A parameter has its place.", "a: least", actions, `unknown name "least"; write params.least`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, _, errs := graphs(t, tc.lets, tc.rule)
			var got []string
			for _, err := range errs {
				got = append(got, err.Message+"; "+err.Hint)
			}
			if diff := cmp.Diff(tc.want, strings.Join(got, "\n")); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestLongCircle holds that a long way is shown in part.
func TestLongCircle(t *testing.T) {
	var lets []string
	for i := range 40 {
		lets = append(lets, "n"+string(rune('a'+i/26))+string(rune('a'+i%26))+": n"+string(rune('a'+(i+1)%40/26))+string(rune('a'+(i+1)%40%26)))
	}
	_, _, errs := graphs(t, strings.Join(lets, ", "), actions)
	if len(errs) != 1 || !strings.HasSuffix(errs[0].Message, "naa -> nab -> nac -> nad -> nae -> naf -> nag -> nah -> ... -> naa") {
		t.Errorf("got %s", errs)
	}
}
