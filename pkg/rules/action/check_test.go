package action_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	kubernetes "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/action"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
	"github.com/dyncontroller/dyncontroller/pkg/rules/lookup"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
	"github.com/dyncontroller/dyncontroller/pkg/rules/template"
	"github.com/dyncontroller/dyncontroller/pkg/rules/typing"
	"github.com/dyncontroller/dyncontroller/test/schemas"
)

var (
	gateways   = schemas.Gateways()
	tenants    = schemas.Tenants()
	namespaces = kubernetes.GroupVersionResource{Version: "v1", Resource: "namespaces"}
)

// typedScene is a rule whose names have types.
type typedScene struct {
	schemas  *schema.Catalog
	declared lookup.Declarations
	scope    *expression.Scope
	watched  kubernetes.GroupVersionResource
	types    map[string]typing.Type
	related  map[string]*lookup.Lookup
}

func newTypedScene(t testing.TB, watched kubernetes.GroupVersionResource) *typedScene {
	t.Helper()
	known := schemas.Catalog(t)
	s := &typedScene{schemas: known, watched: watched, related: map[string]*lookup.Lookup{}}
	for _, gvr := range []kubernetes.GroupVersionResource{gateways, tenants, namespaces, configmaps, pods, nodes, widgets} {
		s.declared = append(s.declared, &lookup.Declaration{Name: gvr.Resource, GVR: gvr, Selections: []plan.Selection{{GVR: gvr}}})
	}
	s.declared = append(s.declared, &lookup.Declaration{Name: "marked", GVR: configmaps, Selections: []plan.Selection{
		{GVR: configmaps, Namespace: "a", LabelSelector: "app=db,!old"}, {GVR: configmaps, Namespace: "b", LabelSelector: "app=db,!old"},
	}}, &lookup.Declaration{Name: "ours", GVR: configmaps, Selections: []plan.Selection{{GVR: configmaps, LabelSelector: "dyncontroller.dev/set"}}})
	object := func(gvr kubernetes.GroupVersionResource) typing.Type {
		if found := known.Resource(gvr); found != nil {
			return typing.Object(found.Type)
		}
		return typing.Of(typing.Unknown().Kinds())
	}
	s.types = map[string]typing.Type{
		"object": object(watched),
		"pods":   typing.List(object(pods)),
		"config": object(configmaps).Nilable(),
		"either": typing.Union(object(pods), object(gateways)),
		"thing":  object(widgets),
		"text":   typing.Constant("text"),
		"texts":  typing.List(typing.Constant("text")),
		"made":   typing.Map(map[string]typing.Type{"kind": typing.Constant("Pod")}),
		"given":  typing.Constant(map[string]any{"kind": "Pod"}),
		"any":    typing.Unknown(),
	}
	s.scope = expression.NewScope("object", "pods", "config", "either", "thing", "text", "texts", "made", "given", "any")
	related, errs := lookup.Compile("pods", parse(t, "{resource: pods, all: true, namespace: '*'}"), s.scope, s.declared)
	if len(errs) > 0 {
		t.Fatal(errs.Render())
	}
	s.related["pods"] = related
	return s
}

// Type implements check.Names.
func (s *typedScene) Type(slot int, _ *typing.Facts) typing.Type {
	return s.types[s.scope.Names()[slot]]
}

// Definition implements check.Names.
func (s *typedScene) Definition(int) *expression.Program { return nil }

func (s *typedScene) compile(t testing.TB, text string) *action.Step {
	t.Helper()
	step, errs := action.Compile(parse(t, text), action.Env{
		Scope: s.scope, Declared: s.declared, Related: s.related, Watched: []plan.Selection{{GVR: s.watched}},
	})
	if len(errs) > 0 {
		t.Fatalf("%s\n%s", text, errs.Render())
	}
	return step
}

func (s *typedScene) check(t testing.TB, text string) []string {
	t.Helper()
	errs := s.compile(t, text).Check(action.Checking{
		Context: template.Context{Names: s, Scope: s.scope}, Schemas: s.schemas, Declared: s.declared, Watched: s.schemas.Resource(s.watched),
	})
	out := []string{}
	for _, err := range errs {
		severity := ""
		if err.Severity != document.Mistake {
			severity = err.Severity.String() + " "
		}
		out = append(out, severity+string(err.Code)+" "+err.Path+": "+err.Message+"; "+err.Hint)
	}
	return out
}

// typedCases are actions with what is said of them, a line for each.
type typedCases map[string]struct {
	reason string
	action string
	want   string
}

func (tests typedCases) run(t *testing.T, watched kubernetes.GroupVersionResource) {
	t.Helper()
	s := newTypedScene(t, watched)
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			want := []string{}
			if tc.want != "" {
				want = strings.Split(tc.want, "\n")
			}
			if diff := cmp.Diff(want, s.check(t, tc.action)); diff != "" {
				t.Errorf("%s\n%s\n(-want +got):\n%s", tc.reason, tc.action, diff)
			}
		})
	}
}

func TestCheckStep(t *testing.T) {
	typedCases{
		"Right": {"Everything is as it should be.", `{forEach: {pod: "${pods}"}, when: pod.status.phase == "Failed" && index > 0, event: {reason: A, message: "${pod.metadata.name} ${index}"}}`, ""},
		"When": {
			"The condition is one.", `{when: object.spec.replicas, event: {reason: A, message: a}}`,
			"type-mismatch when: a condition wants a boolean, and object.spec.replicas is an integer; write object.spec.replicas != 0",
		},
		"Narrowed": {"What it asks for is there then.", `{when: config != nil, event: {reason: A, message: "${config.metadata.name}"}}`, ""},
		"Unguarded": {
			"Else it may not be.", `{event: {reason: A, message: "${config.metadata.name}"}}`,
			"may-be-absent event.message: config may be absent, so config.metadata cannot be read; write config?.metadata, which is nil then",
		},
		"Element": {
			"The element has the type of the list.", `{forEach: {pod: "${pods}"}, event: {reason: A, message: "${pod.status.phse ?? 'none'}"}}`,
			`unknown-field event.message: pod.status has no field "phse"; did you mean pod.status.phase?`,
		},
		"Index": {
			"The index is a number.", `{forEach: {pod: "${pods}"}, when: index == "1", event: {reason: A, message: a}}`,
			`never-true when: index is an integer and never equals a string; write it without quotes: 1`,
		},
		"NoList": {
			"forEach wants a list.", `{forEach: {pod: "${object.metadata.labels}"}, event: {reason: A, message: a}}`,
			"type-mismatch forEach.pod: forEach wants a list, have a map; write a list, such as \"${pods}\" or \"${keys(object.metadata.labels)}\"",
		},
		"NilList":     {"Or nothing.", `{forEach: {host: "${object.spec.hosts}"}, event: {reason: A, message: "${host}"}}`, ""},
		"UnknownList": {"Of which nothing need be known.", `{forEach: {x: "${any.x}"}, event: {reason: A, message: "${x.y}"}}`, ""},
		"ListMistake": {
			"The expression of the list is checked.", `{forEach: {host: "${object.spec.hst}"}, event: {reason: A, message: "${host}"}}`,
			`unknown-field forEach.host: object.spec has no field "hst"; did you mean object.spec.host?`,
		},
		"Unmarked": {
			"The names of forEach are names.", `{forEach: {size: "${[1, 2]}"}, patch: {merge: {spec: {replicas: size}}}}`,
			"type-mismatch patch.merge.spec.replicas: want an integer, have a string; write \"${size}\"",
		},
	}.run(t, gateways)
}
