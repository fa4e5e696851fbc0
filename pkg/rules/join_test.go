package rules_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/test/schemas"
)

// actingAs is a set whose rules act as a ServiceAccount of the namespace db.
func actingAs(account, name string, size int) string {
	text := wholeSet("ClusterRuleSet", "name: "+name, fmt.Sprintf(`
  rules:
  - {name: first, watch: tidbclusters, actions: [{patch: {merge: {spec: {size: %d}}}}]}
  - {name: second, watch: "tidbclusters,pods", when: "object.metadata.name == 'basic'", actions: [{patch: {merge: {spec: {of-%s: %d}}}}]}
`, size, name, size))
	if account != "" {
		text += "  serviceAccountName: " + account + "\n  serviceAccountNamespace: db\n"
	}
	return text
}

func loadFiles(t tester, options rules.Options, texts ...string) *rules.Set {
	t.Helper()
	var files []document.File
	for i, text := range texts {
		files = append(files, document.File{Name: fmt.Sprintf("%d.yaml", i), Data: []byte(text)})
	}
	options.DefaultNamespace = "db"
	set, errs := rules.Load(files, options)
	if set == nil {
		t.Fatalf("loading the rules:\n%s", errs.Render())
	}
	return set
}

// TestJoin holds that sets taken apart by identity, or compiled alone, are together what
// they are when compiled together: the same rules in the same order, the same plans.
func TestJoin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := []string{"a", "b", "c", "d", "e"}[:rapid.IntRange(1, 5).Draw(t, "sets")]
		var texts []string
		for _, name := range names {
			account := rapid.SampledFrom([]string{"", "reader", "writer"}).Draw(t, "account of "+name)
			texts = append(texts, actingAs(account, name, rapid.IntRange(1, 2).Draw(t, "size of "+name)))
		}
		whole := loadFiles(t, rules.Options{}, texts...)
		var parts, single []*rules.Set
		for _, identity := range whole.Identities() {
			part := whole.Of(identity)
			for _, rule := range part.Rules() {
				if rule.Identity() != identity {
					t.Fatalf("%v acts as %v, not as %v", rule.ID, rule.Identity(), identity)
				}
			}
			parts = append(parts, part, nil)
		}
		for _, text := range rapid.Permutation(texts).Draw(t, "order") {
			single = append(single, loadFiles(t, rules.Options{}, text))
		}
		for how, joined := range map[string]*rules.Set{"by identity": rules.Join(parts...), "compiled alone": rules.Join(single...)} {
			sameSet(t, how, whole, joined)
		}
	})
}

func sameSet(t *rapid.T, how string, want, got *rules.Set) {
	if diff := cmp.Diff(want.IDs(), got.IDs()); diff != "" {
		t.Fatalf("%s: the rules differ (-want +got):\n%s", how, diff)
	}
	if diff := cmp.Diff(want.Selections(), got.Selections()); diff != "" {
		t.Fatalf("%s: the selections differ (-want +got):\n%s", how, diff)
	}
	if diff := cmp.Diff(want.Needs(), got.Needs()); diff != "" {
		t.Fatalf("%s: what is needed differs (-want +got):\n%s", how, diff)
	}
	s := &stage{t: t, set: want, objects: nil, now: noon, held: map[plan.Rule]time.Time{}}
	s.objects = map[apischema.GroupVersionResource][]map[string]any{}
	s.add(basic)
	before := s.evaluate()
	s.set = got
	if diff := cmp.Diff(toldText(before), toldText(s.evaluate())); diff != "" {
		t.Fatalf("%s: the plans differ (-want +got):\n%s", how, diff)
	}
}

// toldText is what a plan wants and says.
func toldText(p plan.Plan) (out []string) {
	for _, d := range p.Decisions {
		out = append(out, fmt.Sprint(d.Rule, d.Outcome, d.Reason, d.Err))
	}
	for _, o := range p.Operations {
		out = append(out, fmt.Sprint(o.Type, o.Target, o.Body, o.Rules))
	}
	return out
}

// TestJoinKinds holds what joined sets know of resources: all that one of them knows,
// and what is the same as stored by those schemas.
func TestJoinKinds(t *testing.T) {
	catalog := schemas.Catalog(t)
	typed := loadFiles(t, rules.Options{Schemas: catalog}, typedSet("typed", "widgets", "pods"), typedSet("also", "pods", "configmaps"))
	untyped := loadFiles(t, rules.Options{}, typedSet("untyped", "pods"))
	joined := rules.Join(nil, untyped, typed, nil)
	if diff := cmp.Diff(typed.Kinds(), joined.Kinds()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if got, want := len(joined.Warnings()), len(typed.Warnings())+len(untyped.Warnings()); got != want || want == 0 {
		t.Errorf("%d warnings, want %d, and some", got, want)
	}
	if none := rules.Join(); len(none.IDs()) != 0 || len(none.Needs()) != 0 || none.Identities() != nil {
		t.Errorf("no sets are %v", none.IDs())
	}
	if none := rules.Join(nil, nil); len(none.Rules()) != 0 {
		t.Errorf("nil sets are %v", none.IDs())
	}
}

// typedSet declares the resources and watches the first.
func typedSet(name string, resources ...string) string {
	text := "apiVersion: dyncontroller.dev/v1alpha1\nkind: ClusterRuleSet\nmetadata: {name: " + name + "}\nspec:\n  resources:\n"
	for _, resource := range resources {
		group := ""
		if resource == "widgets" {
			group = "group: example.com, "
		}
		text += "    " + resource + ": {" + group + "version: v1, resource: " + resource + "}\n"
	}
	return text + "  rules: [{name: r, watch: " + resources[0] + ", actions: [{delete: {}}]}]\n"
}

// TestOf holds that one identity learns nothing of what belongs to others.
func TestOf(t *testing.T) {
	catalog := schemas.Catalog(t)
	own := typedSet("own", "pods") + "  serviceAccountName: a\n  serviceAccountNamespace: db\n"
	other := typedSet("other", "configmaps")
	whole := loadFiles(t, rules.Options{Schemas: catalog}, own, other)
	account := types.NamespacedName{Namespace: "db", Name: "a"}
	part := whole.Of(account)
	if got := part.IDs(); len(got) != 1 || got[0].Set != "own" {
		t.Errorf("the rules are %v", got)
	}
	if _, known := part.Kinds()[pods]; !known || len(part.Kinds()) != 1 {
		t.Errorf("the kinds are %v", part.Kinds())
	}
	for _, warning := range part.Warnings() {
		if warning.File != "0.yaml" {
			t.Errorf("a warning of another: %v", warning)
		}
	}
	if len(part.Warnings()) != 1 || len(whole.Warnings()) != 2 {
		t.Errorf("%d of %d warnings", len(part.Warnings()), len(whole.Warnings()))
	}
	if nobody := whole.Of(types.NamespacedName{Name: "nobody"}); len(nobody.Rules()) != 0 || len(nobody.Warnings()) != 0 {
		t.Errorf("nobody has %v", nobody.IDs())
	}
	if got, want := whole.Identities(), []types.NamespacedName{{}, account}; !slices.Equal(got, want) {
		t.Errorf("the identities are %v, want %v", got, want)
	}
}
