package lookup_test

import (
	"errors"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/lookup"
)

// FuzzCompile makes sure that an entry of `with` gives errors with a place, or a
// lookup that asks a question as it should be and finds only what answers it.
func FuzzCompile(f *testing.F) {
	for _, text := range []string{
		`{resource: pods, name: "${object.metadata.name}-x"}`,
		`{resource: pods, names: [z, "${object.spec.app}", "${omit()}", null, 5, a/b]}`,
		`{resource: pods, names: "${object.spec.list}", namespace: "*"}`,
		`{resource: pods, matchLabels: {"${text}": "${object.spec.app}", app: web, "a/b": ""}}`,
		`{resource: webPods, matchLabels: "${object.spec.labels}", namespace: "${object.spec.other}"}`,
		`{resource: pods, selector: "${object.spec.selector}"}`,
		`{resource: pods, selector: {matchLabels: {a: b}, matchExpressions: [{key: "${text}", operator: NotIn, values: [x, ""]}]}}`,
		`{resource: pods, matchFields: {spec.nodeName: n1, "spec.${text}": "${object.spec.number}"}}`,
		`{resource: pods, ownedBy: owners}`, `{resource: pods, ownedBy: "${object}"}`, `{resource: secrets, ownedBy: failing}`,
		`{resource: nodes, all: true}`, `{resource: nodes, all: false, namespace: a}`, `{resource: widgets, all: true}`,
		`{resource: pods, name: x, namespace: "${'*'}"}`, `{resource: pods, name: a, all: true, nope: ""}`, `pods`, `{}`,
	} {
		f.Add(text, false)
		f.Add(text, true)
	}
	source := worldObjects(f)
	values := valuesOf(f)
	current, _ := values["object"].(map[string]any)
	f.Fuzz(func(t *testing.T, text string, ruleSet bool) {
		nodes, _ := document.Parse(document.File{Name: "w.yaml", Data: []byte(text)})
		if len(nodes) == 0 {
			return
		}
		namespace := ""
		if ruleSet {
			namespace = "a"
		}
		r, errs := lookup.Compile("found", nodes[0], scope, declared(namespace))
		if r == nil {
			for _, err := range errs {
				if err.Line == 0 || err.Message == "" {
					t.Errorf("an error without a place or a text: %v", err)
				}
			}
			return
		}
		if len(errs) > 0 {
			t.Fatalf("a lookup in spite of %v", errs)
		}
		reader := &lookup.Reader{Source: source, Kinds: kinds, Home: home, Current: current}
		e := &expression.Evaluation{Names: values, Budget: value.NewBudget(0)}
		got, err := r.Evaluate(e, reader)
		if err != nil {
			checkPlace(t, err)
			return
		}
		list, isList := got.([]any)
		if isList != r.IsList() {
			t.Fatalf("have %T", got)
		}
		if got != nil && !isList {
			list = []any{got}
		}
		for _, v := range list {
			if _, _, known := reader.Origin(v); !known {
				t.Errorf("%v was not read", v)
			}
		}
		for _, q := range reader.Reads() {
			checkRead(t, q, ruleSet)
		}
	})
}

func checkPlace(t *testing.T, err error) {
	t.Helper()
	placed, located := errors.AsType[*document.Error](err)
	if !located && !errors.Is(err, errName) {
		t.Errorf("%v has no place", err)
	}
	if located && (placed.Line == 0 || placed.Message == "") {
		t.Errorf("an error without a place or a text: %v", err)
	}
}

// checkRead makes sure that the question is canonical, and asks neither for
// everything by accident nor for what a RuleSet may not see.
func checkRead(t *testing.T, q plan.Read, ruleSet bool) {
	t.Helper()
	if ruleSet && q.Namespace != "a" {
		t.Errorf("a RuleSet reads in %q", q.Namespace)
	}
	asks := map[plan.By]bool{
		plan.ByName: len(q.Names) > 0, plan.ByLabels: q.Labels != "", plan.ByFields: len(q.Fields) > 0,
		plan.ByOwner: len(q.Owners) > 0, plan.ByAll: true,
	}
	if !asks[q.By] {
		t.Errorf("%v asks for nothing", q)
	}
	if !slices.IsSorted(q.Names) || !slices.IsSorted(q.Owners) || slices.Contains(q.Names, "") {
		t.Errorf("%v is not in order", q)
	}
	if parsed, err := labels.Parse(q.Labels); err != nil || parsed.String() != q.Labels {
		t.Errorf("the selector %q is read as %v, %v", q.Labels, parsed, err)
	}
}
