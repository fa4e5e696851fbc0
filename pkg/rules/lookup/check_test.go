package lookup_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	kubernetes "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/lookup"
	"github.com/dyncontroller/dyncontroller/pkg/rules/template"
	"github.com/dyncontroller/dyncontroller/pkg/rules/typing"
	"github.com/dyncontroller/dyncontroller/test/schemas"
)

var (
	gatewaysGVR = schemas.Gateways()
	tenantsGVR  = schemas.Tenants()
)

// typedNames are names with types, of a rule that watches some resource.
type typedNames map[string]typing.Type

var typedScope = expression.NewScope("object", "nodes", "text", "texts", "number", "built", "anything", "nothing")

// Type implements check.Names.
func (n typedNames) Type(slot int, _ *typing.Facts) typing.Type { return n[typedScope.Names()[slot]] }

// Definition implements check.Names.
func (n typedNames) Definition(int) *expression.Program { return nil }

// typedCases are entries of with and what is said of them, a line for each.
type typedCases map[string]struct {
	reason string
	with   string
	want   string
}

func (tests typedCases) run(t *testing.T, watched kubernetes.GroupVersionResource) {
	t.Helper()
	known := schemas.Catalog(t)
	var declarations lookup.Declarations
	for _, gvr := range []kubernetes.GroupVersionResource{gatewaysGVR, tenantsGVR, podsGVR, secretsGVR, nodesGVR, widgetsGVR} {
		declarations = append(declarations, &lookup.Declaration{Name: gvr.Resource, GVR: gvr, Selections: []plan.Selection{{GVR: gvr}}})
	}
	names := typedNames{
		"nodes":    typing.List(typing.Object(known.Resource(nodesGVR).Type)),
		"text":     typing.Of(value.String),
		"texts":    typing.List(typing.Of(value.String)),
		"number":   typing.Of(value.Int),
		"built":    typing.Map(map[string]typing.Type{"a": typing.Of(value.String | value.Nil), "b": typing.Of(value.String)}),
		"anything": typing.Unknown(),
		"nothing":  typing.Of(value.Nil),
		"object":   typing.Of(value.Map),
	}
	if found := known.Resource(watched); found != nil {
		names["object"] = typing.Object(found.Type)
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			compiled, errs := lookup.Compile("found", parse(t, tc.with), typedScope, declarations)
			if len(errs) > 0 {
				t.Fatalf("%s\n%s", tc.with, errs.Render())
			}
			errs = compiled.Check(template.Context{Names: names, Scope: typedScope}, known.Resource(watched), known.Resource(compiled.Declaration().GVR))
			if diff := cmp.Diff(tc.want, typedLines(errs)); diff != "" {
				t.Errorf("%s\n%s\n(-want +got):\n%s", tc.reason, tc.with, diff)
			}
		})
	}
}

func typedLines(errs document.Errors) string {
	var lines []string
	for _, err := range errs {
		lines = append(lines, string(err.Code)+" "+err.Path+": "+err.Message+"; "+err.Hint)
	}
	return strings.Join(lines, "\n")
}

func TestCheckNames(t *testing.T) {
	typedCases{
		"Name":         {"A text.", `{resource: secrets, name: "${object.metadata.name}-tls"}`, ""},
		"NameNil":      {"Which may be absent: then there is nothing.", `{resource: secrets, name: "${object.spec.host}"}`, ""},
		"NameNumber":   {"A number is no name.", `{resource: secrets, name: "${object.spec.replicas}"}`, "type-mismatch name: want a string, have an integer; write string(...)"},
		"NameEither":   {"What may be one is for the evaluation to find.", `{resource: secrets, name: "${object.spec.port}"}`, ""},
		"NameInText":   {"Within a text it has to be there.", `{resource: secrets, name: "a-${object.spec.host}"}`, "may-be-absent name: object.spec.host may be absent, and the text around ${ } wants a boolean, a number or a string; say when: object.spec.host != nil if nothing is to be done then, or give a default: ${object.spec.host ?? 'none'}"},
		"Mistake":      {"Its expression is checked.", `{resource: secrets, name: "${object.spec.hst}"}`, `unknown-field name: object.spec has no field "hst"; did you mean object.spec.host?`},
		"Names":        {"Texts.", `{resource: secrets, names: "${object.spec.hosts}"}`, ""},
		"NamesWritten": {"Each may be absent.", `{resource: secrets, names: [a, "${object.spec.host}"]}`, ""},
		"NamesNumbers": {"Numbers are no names.", `{resource: secrets, names: "${[1, 2]}"}`, "type-mismatch names: want a string, have an integer; put it in quotes: '1'\ntype-mismatch names: want a string, have an integer; put it in quotes: '2'"},
		"NamesMaps":    {"Nor are objects.", `{resource: secrets, names: "${object.spec.listeners}"}`, "type-mismatch names: each element: want a string, have a map; write map(list, .name)"},
	}.run(t, gatewaysGVR)
}

func TestCheckSelections(t *testing.T) {
	typedCases{
		"Labels":          {"Values that are there.", `{resource: pods, matchLabels: {app: "${object.metadata.name}", tier: web}}`, ""},
		"LabelAbsent":     {"A label without a value would be none.", `{resource: pods, matchLabels: {app: "${object.metadata.labels.app}"}}`, "may-be-absent matchLabels.app: a value has to be given here, and this may be absent; ?? gives a default"},
		"LabelDefault":    {"A default helps.", `{resource: pods, matchLabels: {app: "${object.metadata.labels.app ?? 'none'}"}}`, ""},
		"LabelOmitted":    {"So does leaving it out.", `{resource: pods, matchLabels: {a: b, app: "${object.metadata.labels.app ?? omit()}"}}`, ""},
		"LabelNumber":     {"A value is a text.", `{resource: pods, matchLabels: {app: "${object.spec.replicas}"}}`, "type-mismatch matchLabels.app: want a string, have an integer; write string(...)"},
		"LabelsAbsent":    {"Which has to be there.", `{resource: pods, matchLabels: "${object.spec.selector}"}`, "may-be-absent matchLabels: a value has to be given here, and this may be absent; ?? gives a default"},
		"SelectorElement": {"Its elements are looked into.", `{resource: pods, selector: {matchExpressions: [{key: app, operator: "${1}"}]}}`, "type-mismatch selector.matchExpressions[0].operator: want a string, have an integer; put it in quotes: \"1\""},
		"SelectorPlain":   {"Plain labels are none.", `{resource: pods, selector: "${object.spec.selector}"}`, "type-mismatch selector: want a map with other fields, have a map in which each value is a string; the fields here are matchExpressions, matchLabels"},
		"Fields":          {"A field and its value.", `{resource: pods, matchFields: {spec.nodeName: "${object.metadata.name}"}}`, ""},
		"FieldAbsent":     {"Which has to be there.", `{resource: pods, matchFields: {spec.nodeName: "${object.spec.host}"}}`, "may-be-absent matchFields[\"spec.nodeName\"]: a value has to be given here, and this may be absent; ?? gives a default"},
		"FieldUnknown":    {"A field that they do not have.", `{resource: pods, matchFields: {spec.nodename: "${object.metadata.name}"}}`, `unknown-field matchFields["spec.nodename"]: unknown field "nodename"; did you mean "nodeName"?`},
		"FieldType":       {"A value of another type.", `{resource: pods, matchFields: {spec.hostNetwork: "${object.metadata.name}"}}`, `type-mismatch matchFields["spec.hostNetwork"]: want a boolean, have a string; compare it with something, as in x == "true"`},
		"FieldsUntyped":   {"Of widgets nothing is known.", `{resource: widgets, matchFields: {spec.any: "${object.spec.replicas}"}}`, ""},
		"FieldsKey":       {"Nor of a field that a template names.", `{resource: pods, matchFields: {"${object.metadata.name}": x}}`, ""},
	}.run(t, gatewaysGVR)
}

func TestCheckOwner(t *testing.T) {
	typedCases{
		"Object":  {"An object.", `{resource: pods, ownedBy: object}`, ""},
		"List":    {"A list of objects.", `{resource: pods, ownedBy: nodes}`, ""},
		"Unknown": {"Something.", `{resource: pods, ownedBy: anything}`, ""},
		"Nothing": {"Nothing.", `{resource: pods, ownedBy: nothing}`, "type-mismatch ownedBy: ownedBy takes an object or a list of objects, have nil; write object, or a name of with"},
		"Text":    {"A text.", `{resource: pods, ownedBy: text}`, "type-mismatch ownedBy: ownedBy takes an object or a list of objects, have a string; write object, or a name of with"},
		"Texts":   {"Texts.", `{resource: pods, ownedBy: texts}`, "type-mismatch ownedBy: ownedBy takes an object or a list of objects, have a list of strings; write object, or a name of with"},
	}.run(t, gatewaysGVR)
}

func TestCheckScope(t *testing.T) {
	typedCases{
		"Own":          {"That of the object.", `{resource: pods, all: true}`, ""},
		"Other":        {"Another.", `{resource: pods, all: true, namespace: "${object.metadata.namespace}-x"}`, ""},
		"Absent":       {"One that may be absent.", `{resource: pods, all: true, namespace: "${object.metadata.labels.x}"}`, "may-be-absent namespace: a value has to be given here, and this may be absent; ?? gives a default"},
		"Number":       {"A number.", `{resource: pods, all: true, namespace: "${object.spec.replicas}"}`, "type-mismatch namespace: want a string, have an integer; write string(...)"},
		"OfCluster":    {"What has none.", `{resource: nodes, name: a, namespace: b}`, "wrong-scope namespace: nodes are cluster-scoped and have no namespace; leave namespace out"},
		"UntypedSpace": {"Of widgets nothing is known.", `{resource: widgets, name: a, namespace: b}`, ""},
	}.run(t, gatewaysGVR)
}

// TestCheckScopeOfCluster is about objects without a namespace.
func TestCheckScopeOfCluster(t *testing.T) {
	typedCases{
		"None":    {"A namespace has to be said.", `{resource: pods, all: true}`, "wrong-scope : the watched object is cluster-scoped, so it must be said in which namespace the pods are; add namespace: ..."},
		"Some":    {"One.", `{resource: pods, all: true, namespace: a}`, ""},
		"Every":   {"Or every one.", `{resource: pods, all: true, namespace: "*"}`, ""},
		"Cluster": {"What has none needs none.", `{resource: nodes, all: true}`, ""},
		"Untyped": {"Of widgets nothing is known.", `{resource: widgets, all: true}`, ""},
	}.run(t, tenantsGVR)
}

// TestCheckScopeOfUntyped is about objects of which nothing is known.
func TestCheckScopeOfUntyped(t *testing.T) {
	typedCases{
		"None": {"They may have a namespace.", `{resource: pods, all: true}`, ""},
		"OfCluster": {
			"What has none has none.", `{resource: nodes, name: "${object.spec.any}", namespace: b}`,
			"wrong-scope namespace: nodes are cluster-scoped and have no namespace; leave namespace out",
		},
	}.run(t, widgetsGVR)
}

func TestType(t *testing.T) {
	known := schemas.Catalog(t)
	pod := typing.Object(known.Resource(podsGVR).Type)
	tests := []struct {
		reason string
		with   string
		known  bool
		want   typing.Type
	}{
		{"One object may be absent.", `{resource: pods, name: a}`, true, pod.Nilable()},
		{"A list is always there.", `{resource: pods, names: [a]}`, true, typing.List(pod)},
		{"So is that of all.", `{resource: pods, all: true}`, true, typing.List(pod)},
		{"Of an object nothing else is known.", `{resource: widgets, name: a}`, false, typing.Of(value.Map | value.Nil)},
		{"Nor of those of a list.", `{resource: widgets, ownedBy: object}`, false, typing.List(typing.Of(value.Map))},
	}
	for _, tc := range tests {
		compiled := compile(t, tc.with, declared(""))
		related := known.Resource(compiled.Declaration().GVR)
		if got := compiled.Type(related); !got.Equal(tc.want) || tc.known != (related != nil) {
			t.Errorf("%s %s: have %v, want %v", tc.reason, tc.with, got, tc.want)
		}
	}
}
