package lookup_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/lookup"
)

func TestQuery(t *testing.T) {
	ask := func(gvr schema.GroupVersionResource, namespace string, q plan.Read) *plan.Read {
		q.From, q.Namespace = []plan.Selection{{GVR: gvr}}, namespace
		return &q
	}
	names := func(namespace string, names ...string) *plan.Read {
		return ask(podsGVR, namespace, plan.Read{By: plan.ByName, Names: names})
	}
	labels := func(selector string) *plan.Read {
		return ask(podsGVR, "a", plan.Read{By: plan.ByLabels, Labels: selector})
	}
	fields := func(fields ...plan.FieldValue) *plan.Read {
		return ask(podsGVR, "a", plan.Read{By: plan.ByFields, Fields: fields})
	}
	owners := func(owners ...string) *plan.Read {
		return ask(podsGVR, "a", plan.Read{By: plan.ByOwner, Owners: uids(owners...)})
	}
	tests := map[string]struct {
		reason string
		text   string
		want   *plan.Read
	}{
		"Name":           {"It is in the object's own namespace.", `{resource: pods, name: "${object.metadata.name}-x"}`, names("a", "w-x")},
		"NameNil":        {"A nil name reads nothing.", `{resource: pods, name: "${object.spec.absent}"}`, nil},
		"NameEmpty":      {"Nor does an empty one.", `{resource: pods, name: "${object.spec.empty}"}`, nil},
		"NameOmitted":    {"Nor one that is left out.", `{resource: pods, name: "${omit()}"}`, nil},
		"NameNilAndMore": {"Then the namespace, which may be nil for the same reason, does not matter.", `{resource: pods, name: "${object.spec.absent}", namespace: "${object.spec.absent}"}`, nil},
		"ClusterScoped":  {"A cluster-scoped object has no namespace.", `{resource: nodes, name: n1}`, ask(nodesGVR, "", plan.Read{By: plan.ByName, Names: []string{"n1"}})},
		"Uppercase":      {"Some kinds have names that most cannot have.", `{resource: pods, name: "system:Node"}`, names("a", "system:Node")},

		"Names":        {"Nil and empty names are skipped, and the order does not matter to the question.", `{resource: pods, names: "${reverse(object.spec.list)}"}`, names("a", "x", "xa")},
		"NamesWritten": {"Each may be a template, or be left out.", `{resource: pods, names: [z, "${object.spec.app}", "${object.spec.absent}", "${omit()}"]}`, names("a", "web", "z")},
		"NamesNil":     {"An absent list is empty.", `{resource: pods, names: "${object.spec.absent}"}`, nil},
		"NamesNothing": {"Nor does one without a name in it.", `{resource: pods, names: ["${object.spec.empty}"]}`, nil},
		"NamesEvery":   {"A list of names may be of every namespace.", `{resource: pods, names: [x], namespace: "*"}`, names("", "x")},

		"Labels":         {"The selector is canonical.", `{resource: pods, matchLabels: {tier: "${object.spec.other}", app: web}}`, labels("app=web,tier=b")},
		"LabelsTemplate": {"All labels in one expression.", `{resource: pods, matchLabels: "${object.spec.labels}"}`, labels("app=web")},
		"LabelsKey":      {"A key can be computed.", `{resource: pods, matchLabels: {"example.com/${text}": a}}`, labels("example.com/text=a")},
		"LabelsOmitted":  {"A label can be left out on purpose.", `{resource: pods, matchLabels: {app: web, tier: "${object.spec.absent ?? omit()}"}}`, labels("app=web")},

		"Selector":         {"A whole LabelSelector, as Kubernetes writes it.", `{resource: pods, selector: "${object.spec.selector}"}`, labels("app=web,tier in (a,b)")},
		"SelectorWritten":  {"Written out with templates.", `{resource: pods, selector: {matchLabels: {app: "${text}"}}}`, labels("app=text")},
		"SelectorNil":      {"A nil selector selects nothing, as in Kubernetes.", `{resource: pods, selector: "${object.spec.absent}"}`, nil},
		"SelectorOperator": {"All operators.", `{resource: pods, selector: {matchExpressions: [{key: a, operator: Exists}, {key: b, operator: DoesNotExist, values: null}, {key: c, operator: NotIn, values: [x]}]}}`, labels("a,!b,c notin (x)")},
		"SelectorHalf":     {"A null part is an absent one.", `{resource: pods, selector: {matchLabels: null, matchExpressions: [{key: a, operator: Exists}]}}`, labels("a")},

		"Fields": {
			"Values keep their types; fields are in order.",
			`{resource: pods, matchFields: {spec.priority: "${object.spec.number}", spec.hostNetwork: true, metadata.name: x}}`,
			fields(plan.FieldValue{Path: plan.Path{"metadata", "name"}, Value: "x"}, plan.FieldValue{Path: plan.Path{"spec", "hostNetwork"}, Value: true}, plan.FieldValue{Path: plan.Path{"spec", "priority"}, Value: int64(3)}),
		},
		"FieldsTemplate": {"All fields in one expression.", `{resource: pods, matchFields: "${ {'spec.nodeName': text} }"}`, fields(plan.FieldValue{Path: plan.Path{"spec", "nodeName"}, Value: "text"})},

		"Owner":        {"The watched object.", `{resource: pods, ownedBy: object}`, owners("u-w")},
		"Owners":       {"A list, in which nil is skipped, each once.", `{resource: pods, ownedBy: owners}`, owners("u-w", "u-x")},
		"OwnerNothing": {"Nothing owns nothing.", `{resource: pods, ownedBy: nothing}`, nil},

		"All":     {"All of a kind.", `{resource: nodes, all: true}`, ask(nodesGVR, "", plan.Read{By: plan.ByAll})},
		"AllHere": {"But of one namespace.", `{resource: pods, all: true}`, ask(podsGVR, "a", plan.Read{By: plan.ByAll})},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			e, reader := evaluation(t)
			got, err := compile(t, tc.text, declared("")).Query(e, reader)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if len(reader.Reads()) > 0 {
				t.Error("a question alone reads nothing")
			}
		})
	}
}

func TestEvaluate(t *testing.T) {
	tests := map[string]struct {
		reason string
		text   string
		want   any
	}{
		"Name":        {"The object itself.", `{resource: pods, name: x}`, "a/x"},
		"NameMissing": {"Nil where there is none.", `{resource: pods, name: "${text}"}`, nil},
		"NameOfNode":  {"A cluster-scoped one.", `{resource: nodes, name: n2}`, "/n2"},
		"NotDeclared": {"An object that the declaration does not select is absent.", `{resource: webPods, name: z}`, nil},
		"Names":       {"By name, each once, and not in the order written.", `{resource: pods, names: [z, nope, x, z]}`, []string{"a/x", "a/z"}},
		"NamesEvery":  {"By namespace first.", `{resource: pods, names: [xa, x], namespace: "*"}`, []string{"a/x", "a/xa", "b/x", "b/xa"}},
		"Labels":      {"Those of the object's namespace.", `{resource: pods, matchLabels: {app: web}}`, []string{"a/x", "a/xa"}},
		"Fields":      {"By a field.", `{resource: pods, matchFields: {spec.nodeName: n1}}`, []string{"a/x", "a/z"}},
		"Owner":       {"Only the controller reference counts.", `{resource: pods, ownedBy: object}`, []string{"a/x"}},
		"Owners":      {"Of several owners.", `{resource: pods, ownedBy: owners}`, []string{"a/x", "a/xa"}},
		"All":         {"In order.", `{resource: nodes, all: true}`, []string{"/n1", "/n2"}},
		"AllDeclared": {"All that the declaration selects.", `{resource: webPods, all: true, namespace: "*"}`, []string{"a/x", "a/xa", "b/x", "b/xa"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			e, reader := evaluation(t)
			got, err := compile(t, tc.text, declared("")).Evaluate(e, reader)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, identities(got)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestEvaluateErrors(t *testing.T) {
	tests := map[string]struct {
		reason string
		text   string
		want   string
	}{
		"NameFails":       {"An expression that fails has its place.", `{resource: pods, name: "x${object.spec.absent}"}`, `w.yaml:1:28: name: object.spec.absent is absent, and the text around ${ } wants a boolean, a number or a string; say when: object.spec.absent != nil if nothing is to be done then, or give a default: ${object.spec.absent ?? 'none'}`},
		"NameStamp":       {"What cannot be read cannot be looked for.", `{resource: pods, name: "${stamp()}"}`, `w.yaml:1:24: name: stamp() cannot be read; write a value that is known`},
		"LabelsNil":       {"An absent map must not select everything.", `{resource: pods, matchLabels: "${object.spec.absent}"}`, `w.yaml:1:31: matchLabels: want a map, have nil; write texts as in {app: web}; for every object, all: true`},
		"LabelsOmitted":   {"Nor one of which nothing is left.", `{resource: pods, matchLabels: {app: "${omit()}"}}`, `w.yaml:1:31: matchLabels: matchLabels is empty; write texts as in {app: web}; for every object, all: true`},
		"LabelNil":        {"A label without a value must not be passed over.", `{resource: pods, matchLabels: {app: "${object.spec.absent}", tier: a}}`, `w.yaml:1:37: matchLabels.app: want a value, have nil; ?? gives a default, and ?? omit() leaves it out`},
		"LabelInside":     {"Inside of an expression only the whole has a place.", `{resource: pods, matchLabels: "${ {app: 5} }"}`, `w.yaml:1:31: matchLabels: want a string, have an integer; write texts as in {app: web}; for every object, all: true`},
		"SelectorEmpty":   {"Not everything by accident.", `{resource: pods, selector: "${ {} }"}`, `w.yaml:1:28: selector: selector is empty; write all: true if every object is meant`},
		"SelectorOmitted": {"Not even on purpose.", `{resource: pods, selector: {matchLabels: "${omit()}"}}`, `w.yaml:1:28: selector: selector is empty; write all: true if every object is meant`},
		"SelectorLabel":   {"What is below has the place of its field.", `{resource: pods, selector: {matchLabels: {app: "${object.spec.absent}"}}}`, `w.yaml:1:48: selector.matchLabels.app: want a value, have nil; ?? gives a default, and ?? omit() leaves it out`},
		"FieldPath":       {"A computed path is checked too.", `{resource: pods, matchFields: {"spec.${text}[0]": a}}`, `w.yaml:1:31: matchFields: "spec.text[0]" is not a path of fields; write a path such as spec.nodeName; for more, select otherwise and filter(...)`},
		"OwnerText":       {"Only objects own.", `{resource: pods, ownedBy: text}`, `w.yaml:1:27: ownedBy: ownedBy takes an object or a list of objects, have a string`},
		"OwnerMixed":      {"All of them must be objects.", `{resource: pods, ownedBy: mixed}`, `w.yaml:1:27: ownedBy: ownedBy takes an object or a list of objects, have an integer`},
		"OwnerBuilt":      {"A map that an expression built is no object.", `{resource: pods, ownedBy: built}`, `w.yaml:1:27: ownedBy: ownedBy takes objects of the cluster, have one without metadata.uid`},
		"NamespaceNil":    {"It could mean every namespace as well as the object's own.", `{resource: pods, all: true, namespace: "${object.spec.absent}"}`, `w.yaml:1:40: namespace: the namespace must be a string, have nil; write "*" for every namespace, or leave it out for the object's own`},
		"NamespaceEmpty":  {"So could an empty one.", `{resource: pods, all: true, namespace: "${object.spec.empty}"}`, `w.yaml:1:40: namespace: the namespace is empty; write "*" for every namespace, or leave it out for the object's own`},
		"NamespaceFails":  {"Its expression has its place.", `{resource: pods, all: true, namespace: "${object.spec.absent.x}"}`, `w.yaml:1:62: namespace: object.spec.absent is absent, so object.spec.absent.x cannot be read; write object.spec.absent?.x, which is nil then`},
		"NamespaceOfNode": {"A cluster-scoped kind has none.", `{resource: nodes, all: true, namespace: b}`, `w.yaml:1:41: namespace: nodes are cluster-scoped and have no namespace; leave namespace out`},
		"NameInEvery":     {"One name gives one object.", `{resource: pods, name: x, namespace: "${'*'}"}`, `w.yaml:1:38: namespace: there may be one such object in every namespace, and name gives one; write names: [...] for a list, or name one namespace`},
		"UnknownKind":     {"Whether it has a namespace is not known.", `{resource: widgets, all: true}`, `w.yaml:1:1: the kind of the resource widgets.v1.example.com is not known; see whether the cluster has it, in the version that resources names`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			e, reader := evaluation(t)
			got, err := compile(t, tc.text, declared("")).Evaluate(e, reader)
			if diff := cmp.Diff(tc.want, message(err)); diff != "" || got != nil {
				t.Errorf("%s Have %v (-want +got):\n%s", tc.reason, got, diff)
			}
			if _, located := errors.AsType[*document.Error](err); !located {
				t.Errorf("%T has no place", err)
			}
		})
	}
}

// TestEvaluateOtherErrors holds that what went wrong elsewhere can be told.
func TestEvaluateOtherErrors(t *testing.T) {
	t.Run("Name", func(t *testing.T) {
		e, reader := evaluation(t)
		if _, err := compile(t, `{resource: pods, ownedBy: failing}`, declared("")).Evaluate(e, reader); !errors.Is(err, errName) {
			t.Errorf("have %v, want the error of the name", err)
		}
	})
	t.Run("Source", func(t *testing.T) {
		e, reader := evaluation(t)
		reader.Source = failing{fmt.Errorf("pods: %w", lookup.ErrNotSynced)}
		got, err := compile(t, `{resource: pods, all: true}`, declared("")).Evaluate(e, reader)
		const want = "reading found: pods: the cache is not synced"
		if message(err) != want || !errors.Is(err, lookup.ErrNotSynced) || got != nil {
			t.Errorf("have %v and %v, want %q", got, err, want)
		}
	})
	t.Run("Budget", func(t *testing.T) {
		e, reader := evaluation(t)
		e.Budget = value.NewBudget(0)
		if err := e.Budget.Steps(1_000_000 - 20); err != nil {
			t.Fatal(err)
		}
		_, err := compile(t, `{resource: pods, all: true}`, declared("")).Evaluate(e, reader)
		const want = "w.yaml:1:1: the evaluation is over its budget: too many steps for the data that is read"
		if message(err) != want {
			t.Errorf("have %v, want %q", err, want)
		}
	})
	t.Run("BudgetOfLists", func(t *testing.T) {
		e, reader := evaluation(t)
		if err := e.Budget.Bytes(4<<20 - 2_000); err != nil {
			t.Fatal(err)
		}
		r := compile(t, `{resource: pods, all: true, namespace: "*"}`, declared(""))
		var err error
		n := 0 // The same question again costs its list alone.
		for ; err == nil && n < 100; n++ {
			_, err = r.Evaluate(e, reader)
		}
		const want = "the evaluation is over its budget: too much memory for the data that is read"
		if !strings.HasSuffix(message(err), want) || n < 5 || n == 100 {
			t.Errorf("have %v after %d lists, want %q", err, n, want)
		}
	})
	t.Run("BudgetOfNames", func(t *testing.T) {
		e, reader := evaluation(t)
		e.Budget = value.NewBudget(0)
		if err := e.Budget.Steps(1_000_000 - 2); err != nil {
			t.Fatal(err)
		}
		_, err := compile(t, `{resource: pods, names: [a, b, c]}`, declared("")).Evaluate(e, reader)
		const want = "w.yaml:1:25: names: the evaluation is over its budget: too many steps for the data that is read"
		if message(err) != want {
			t.Errorf("have %v, want %q", err, want)
		}
	})
}

// failing is a source that knows nothing.
type failing struct{ err error }

func (f failing) Read(plan.Read) ([]map[string]any, error) { return nil, f.err }
