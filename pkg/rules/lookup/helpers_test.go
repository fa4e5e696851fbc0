package lookup_test

import (
	"errors"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/lookup"
)

var (
	podsGVR    = schema.GroupVersionResource{Version: "v1", Resource: "pods"}
	secretsGVR = schema.GroupVersionResource{Version: "v1", Resource: "secrets"}
	nodesGVR   = schema.GroupVersionResource{Version: "v1", Resource: "nodes"}
	widgetsGVR = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"}
)

// kinds knows nothing of widgets.
var kinds = map[schema.GroupVersionResource]plan.Kind{
	podsGVR:    {Name: "Pod", Namespaced: true},
	secretsGVR: {Name: "Secret", Namespaced: true},
	nodesGVR:   {Name: "Node"},
}

// declared is what a set in the namespace declares, or a ClusterRuleSet where it
// is empty.
func declared(namespace string) lookup.Declarations {
	declare := func(name string, gvr schema.GroupVersionResource, labels string) *lookup.Declaration {
		return &lookup.Declaration{
			Name: name, GVR: gvr, Namespace: namespace,
			Selections: []plan.Selection{{GVR: gvr, Namespace: namespace, LabelSelector: labels}},
		}
	}
	return lookup.Declarations{
		declare("pods", podsGVR, ""), declare("secrets", secretsGVR, ""), declare("nodes", nodesGVR, ""),
		declare("widgets", widgetsGVR, ""), declare("webPods", podsGVR, "app=web"),
	}
}

// home is the watched object of the tests.
var home = plan.Object{GVR: widgetsGVR, Kind: "Widget", Namespace: "a", Name: "w", UID: "u-w", ResourceVersion: "1"}

const homeObject = `
apiVersion: example.com/v1
kind: Widget
metadata: {namespace: a, name: w, uid: u-w, resourceVersion: "1"}
spec:
  app: web
  number: 3
  list: [x, xa, null, "", x]
  empty: ""
  maps: [{name: x}]
  labels: {app: web}
  selector: {matchLabels: {app: web}, matchExpressions: [{key: tier, operator: In, values: [b, a]}]}
  other: b
`

// world is in no order.
const world = `
pods:
- {metadata: {namespace: b, name: xa, uid: u-bxa, labels: {app: web}}, spec: {nodeName: n1}}
- {metadata: {namespace: a, name: z, uid: u-az, labels: {app: db}, ownerReferences: [{uid: u-w}]}, spec: {nodeName: n1}}
- {metadata: {namespace: a, name: xa, uid: u-axa, labels: {app: web, tier: a}, ownerReferences: [{uid: u-x, controller: true}]}, spec: {nodeName: n2}}
- {metadata: {namespace: a, name: x, uid: u-ax, resourceVersion: "8", labels: {app: web}, ownerReferences: [{uid: u-w, controller: true}]}, spec: {nodeName: n1, priority: 3}}
- {metadata: {namespace: b, name: x, uid: u-bx, labels: {app: web}}, spec: {nodeName: n2}}
nodes:
- {metadata: {name: n2, uid: u-n2}}
- {metadata: {name: n1, uid: u-n1}}
`

func decode[T any](t testing.TB, text string) T {
	t.Helper()
	var out T
	if err := yaml.Unmarshal([]byte(text), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// integers turns the floats of sigs.k8s.io/yaml into what the API server's JSON
// is read as.
func integers(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for key, element := range v {
			v[key] = integers(element)
		}
	case []any:
		for i, element := range v {
			v[i] = integers(element)
		}
	case float64:
		return int64(v)
	}
	return v
}

func object(t testing.TB, text string) map[string]any {
	t.Helper()
	out := decode[map[string]any](t, text)
	integers(out)
	return out
}

func worldObjects(t testing.TB) lookup.Objects {
	t.Helper()
	out := lookup.Objects{}
	for resource, list := range decode[map[string][]map[string]any](t, world) {
		for _, element := range list {
			integers(element)
		}
		out[schema.GroupVersionResource{Version: "v1", Resource: resource}] = list
	}
	return out
}

// scope has a name whose value fails, and others of all kinds.
var scope = expression.NewScope("object", "rule", "owner", "owners", "nothing", "text", "built", "mixed", "failing")

var errName = errors.New("another name failed")

type names map[string]any

func (n names) Value(slot int) (any, error) {
	name := scope.Names()[slot]
	if name == "failing" {
		return nil, errName
	}
	return n[name], nil
}

func valuesOf(t testing.TB) names {
	t.Helper()
	named := func(uid string) any { return object(t, "metadata: {name: n, uid: "+uid+"}") }
	return names{
		"object": object(t, homeObject),
		"rule":   map[string]any{"name": "r"},
		"owner":  named("u-x"),
		"owners": []any{named("u-x"), nil, named("u-w"), named("u-x")},
		"text":   "text",
		"built":  map[string]any{"metadata": map[string]any{"name": "n"}},
		"mixed":  []any{named("u-x"), int64(1)},
	}
}

// parse reads the value of an entry of `with`.
func parse(t testing.TB, text string) *document.Node {
	t.Helper()
	nodes, errs := document.Parse(document.File{Name: "w.yaml", Data: []byte(text)})
	if len(errs) > 0 {
		t.Fatal(errs.Render())
	}
	return nodes[0]
}

func compile(t testing.TB, text string, declarations lookup.Declarations) *lookup.Lookup {
	t.Helper()
	compiled, errs := lookup.Compile("found", parse(t, text), scope, declarations)
	if len(errs) > 0 {
		t.Fatal(errs.Render())
	}
	return compiled
}

// evaluation is of the watched object, with a reader of the world.
func evaluation(t testing.TB) (*expression.Evaluation, *lookup.Reader) {
	t.Helper()
	values := valuesOf(t)
	current, _ := values["object"].(map[string]any)
	e := &expression.Evaluation{Names: values, Budget: value.NewBudget(0)}
	return e, &lookup.Reader{Source: worldObjects(t), Kinds: kinds, Home: home, Current: current}
}

// identities writes the found objects as namespace/name.
func identities(v any) any {
	name := func(object map[string]any) string {
		metadata, _ := object["metadata"].(map[string]any)
		namespace, _ := metadata["namespace"].(string)
		name, _ := metadata["name"].(string)
		return namespace + "/" + name
	}
	switch v := v.(type) {
	case map[string]any:
		return name(v)
	case []any:
		out := []string{}
		for _, element := range v {
			object, _ := element.(map[string]any)
			out = append(out, name(object))
		}
		return out
	case []map[string]any:
		out := []string{}
		for _, object := range v {
			out = append(out, name(object))
		}
		return out
	default:
		return v
	}
}

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func uids(texts ...string) []types.UID {
	var out []types.UID
	for _, text := range texts {
		out = append(out, types.UID(text))
	}
	return slices.Clip(out)
}
