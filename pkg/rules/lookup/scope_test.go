package lookup_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/lookup"
)

func TestNamespace(t *testing.T) {
	const (
		watched = "a" // the namespace of the watched object
		none    = ""  // it is cluster-scoped
		cluster = ""  // the set is a ClusterRuleSet
	)
	given := func(namespace string) *string { return &namespace }
	tests := map[string]struct {
		reason   string
		home     string
		set      string
		resource int // in the declarations: 0 pods, 2 nodes, 3 widgets
		given    *string
		want     string
		err      string
	}{
		"Own":                {"The object's own is the default.", watched, cluster, 0, nil, "a", ""},
		"Given":              {"Another can be given.", watched, cluster, 0, given("b"), "b", ""},
		"Every":              {"Or every one.", watched, cluster, 0, given("*"), "", ""},
		"HomeCluster":        {"A cluster-scoped object has no namespace to default to.", none, cluster, 0, nil, "", `the watched object is cluster-scoped, so it must be said in which namespace the pods are; add namespace: ...`},
		"ClusterScoped":      {"A cluster-scoped kind has none.", watched, cluster, 2, nil, "", ""},
		"ClusterScopedGiven": {"So none can be given.", watched, cluster, 2, given("a"), "", "nodes are cluster-scoped and have no namespace; leave namespace out"},
		"RuleSet":            {"A RuleSet is in its own.", watched, "a", 0, nil, "a", ""},
		"RuleSetEvery":       {"It is all that the set may see.", watched, "a", 0, given("*"), "a", ""},
		"RuleSetOther":       {"Another one would only look empty.", watched, "a", 0, given("b"), "", `a RuleSet acts in its own namespace only, which is "a", not "b"; make it a ClusterRuleSet`},
		"RuleSetCluster":     {"A cluster-scoped kind is beyond it.", watched, "a", 2, nil, "", "nodes are cluster-scoped, and a RuleSet acts in its own namespace only; make it a ClusterRuleSet"},
		"Unknown":            {"What is not known is not guessed.", watched, cluster, 3, given("b"), "", "the kind of the resource widgets.v1.example.com is not known; see whether the cluster has it, in the version that resources names"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			at := home
			at.Namespace = tc.home
			reader := &lookup.Reader{Kinds: kinds, Home: at}
			namespace := ""
			if tc.given != nil {
				namespace = *tc.given
			}
			got, err := reader.Namespace(declared(tc.set)[tc.resource], namespace, tc.given != nil)
			if got != tc.want || message(err) != tc.err {
				t.Errorf("%s Have %q and %v, want %q and %v", tc.reason, got, err, tc.want, tc.err)
			}
			if _, fault := errors.AsType[*value.Fault](err); err != nil && !fault {
				t.Errorf("%T has no hint of its own", err)
			}
		})
	}
}

// TestRuleSetScope holds that a RuleSet never sees what is elsewhere.
func TestRuleSetScope(t *testing.T) {
	for text, want := range map[string]any{
		`{resource: pods, all: true, namespace: "*"}`:            []string{"a/x", "a/xa", "a/z"},
		`{resource: pods, matchLabels: {app: web}}`:              []string{"a/x", "a/xa"},
		`{resource: pods, name: x, namespace: "*"}`:              "a/x",
		`{resource: pods, name: x, namespace: "${'*'}"}`:         "a/x",
		`{resource: pods, names: [x, xa], namespace: "*"}`:       []string{"a/x", "a/xa"},
		`{resource: pods, name: x, namespace: "${rule.set}"}`:    `w.yaml:1:38: namespace: a RuleSet acts in its own namespace only, which is "a", not "b"; make it a ClusterRuleSet`,
		`{resource: nodes, all: true}`:                           `w.yaml:1:1: nodes are cluster-scoped, and a RuleSet acts in its own namespace only; make it a ClusterRuleSet`,
		`{resource: nodes, name: "${nil}"}`:                      nil,
		`{resource: pods, ownedBy: owners, namespace: "${'a'}"}`: []string{"a/x", "a/xa"},
	} {
		e, reader := evaluation(t)
		values := valuesOf(t)
		values["rule"] = map[string]any{"set": "b"}
		e.Names = values
		got, err := compile(t, text, declared("a")).Evaluate(e, reader)
		got = identities(got)
		if err != nil {
			got = err.Error()
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
}

// found are the names that expressions of TestOrigin use.
type found struct {
	object any
	pods   any
	nodes  any
}

func (f found) Value(slot int) (any, error) { return []any{f.object, f.pods, f.nodes}[slot], nil }

func TestOrigin(t *testing.T) {
	pod := func(namespace, name string) *plan.Object {
		o := plan.Object{GVR: podsGVR, Kind: "Pod", Namespace: namespace, Name: name, UID: types.UID("u-" + namespace + name)}
		if o.UID == "u-ax" {
			o.ResourceVersion = "8"
		}
		return &o
	}
	tests := map[string]struct {
		reason     string
		expression string
		want       *plan.Object
	}{
		"Object":   {"The watched object is itself.", "object", &home},
		"Element":  {"An element of a list.", "pods[1]", pod("a", "xa")},
		"First":    {"However it is taken.", "first(pods)", pod("a", "x")},
		"Find":     {"find hands on what it finds.", "find(pods, .metadata.namespace == 'b')", pod("b", "x")},
		"Filter":   {"filter keeps the elements.", "filter(pods, .metadata.name == 'z')[0]", pod("a", "z")},
		"SortBy":   {"sortBy moves them.", "sortBy(pods, desc(.metadata.name))[0]", pod("a", "z")},
		"Take":     {"take drops the others.", "take(reverse(pods), 1)[0]", pod("b", "xa")},
		"Concat":   {"Lists of several kinds can be joined.", "concat(pods, nodes)[5]", &plan.Object{GVR: nodesGVR, Kind: "Node", Name: "n1", UID: "u-n1"}},
		"Built":    {"A list that an expression writes keeps them too.", "[object, pods[0]][1]", pod("a", "x")},
		"Group":    {"And so do groups.", "groupBy(pods, .metadata.namespace)['b'][1]", pod("b", "xa")},
		"Merge":    {"merge makes a new map.", "merge(pods[0], {})", nil},
		"NewMap":   {"A new map is no object, however it looks.", "{metadata: pods[0].metadata}", nil},
		"Field":    {"A part of an object is none.", "pods[0].metadata", nil},
		"List":     {"A list is not one object.", "pods", nil},
		"Empty":    {"An empty map is none.", "{}", nil},
		"Invented": {"An invented object was not read.", "{metadata: {namespace: 'a', name: 'x'}}", nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			e, reader := evaluation(t)
			values := found{object: reader.Current}
			var err error
			if values.pods, err = compile(t, `{resource: pods, all: true, namespace: "*"}`, declared("")).Evaluate(e, reader); err != nil {
				t.Fatal(err)
			}
			if values.nodes, err = compile(t, `{resource: nodes, all: true}`, declared("")).Evaluate(e, reader); err != nil {
				t.Fatal(err)
			}
			program, err := expression.Compile(tc.expression, expression.NewScope("object", "pods", "nodes"))
			if err != nil {
				t.Fatal(err)
			}
			v, err := program.Eval(&expression.Evaluation{Names: values})
			if err != nil {
				t.Fatal(err)
			}
			got, current, known := reader.Origin(v)
			if known != (tc.want != nil) {
				t.Fatalf("%s Have %v, %v", tc.reason, got, known)
			}
			if !known {
				if diff := cmp.Diff(plan.Object{}, got); diff != "" || current != nil {
					t.Errorf("%s Have %v and %v for nothing", tc.reason, got, current)
				}
				return
			}
			if diff := cmp.Diff(*tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(v, any(current)); diff != "" {
				t.Errorf("%s current (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestOriginOfOtherReads finds an object that a second question gave, and one
// of another resource under the same name.
func TestOriginOfOtherReads(t *testing.T) {
	e, reader := evaluation(t)
	secret := object(t, "metadata: {namespace: a, name: x, uid: u-s}")
	reader.Source.(lookup.Objects)[secretsGVR] = []map[string]any{secret}
	for _, text := range []string{`{resource: pods, name: z}`, `{resource: pods, name: x}`, `{resource: secrets, name: x}`} {
		if _, err := compile(t, text, declared("")).Evaluate(e, reader); err != nil {
			t.Fatal(err)
		}
	}
	got, _, known := reader.Origin(secret)
	want := plan.Object{GVR: secretsGVR, Kind: "Secret", Namespace: "a", Name: "x", UID: "u-s"}
	if diff := cmp.Diff(want, got); diff != "" || !known {
		t.Errorf("the secret (-want +got):\n%s", diff)
	}
	if got, _, known = reader.Origin(reader.Source.(lookup.Objects)[podsGVR][3]); !known || got.GVR != podsGVR {
		t.Errorf("the pod: have %v, %v", got, known)
	}
	if got, _, known = reader.Origin(reader.Source.(lookup.Objects)[podsGVR][0]); known {
		t.Errorf("a pod that was not read: have %v", got)
	}
}
