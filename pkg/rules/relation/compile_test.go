package relation_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/relation"
)

// TestCompileInvalid holds that what the parser reported is not reported again,
// and not taken for a relation.
func TestCompileInvalid(t *testing.T) {
	for _, text := range []string{
		"no", "{resource: no, all: true}", "{resource: pods, name: no}", "{resource: pods, all: no}", "{resource: pods, ownedBy: on}",
		"{resource: pods, names: no}", "{resource: pods, names: [no]}", "{resource: pods, matchLabels: {app: no}}",
		"{resource: pods, matchFields: {spec.a: no}}", "{resource: pods, selector: {matchLabels: {app: no}}}", "{resource: pods, matchLabels: {no: app}}",
		"{resource: pods, name: !x y}", "{resource: pods, all: true, namespace: no}",
	} {
		nodes, errs := document.Parse(document.File{Name: "w.yaml", Data: []byte("with: " + text)})
		if len(errs) != 1 {
			t.Fatalf("%s: parsed with %v", text, errs)
		}
		compiled, errs := relation.Compile("found", nodes[0].Get("with"), scope, declared(""))
		if compiled != nil || len(errs) > 0 {
			t.Errorf("%s: have %v and %v, want neither a relation nor an error", text, compiled, errs)
		}
	}
}

func TestRelation(t *testing.T) {
	type description struct {
		By           plan.By
		List, ByName bool
		Resource     string
		Uses         []string
		Compared     string
		Known        bool
		Templates    int
	}
	tests := map[string]struct {
		reason string
		text   string
		want   description
	}{
		"Name": {
			"One object or nil.", `{resource: pods, name: "${object.spec.app}-${rule.name}"}`,
			description{By: plan.ByName, ByName: true, Resource: "pods", Uses: []string{"object", "rule"}, Known: true, Templates: 1},
		},
		"Names": {
			"A list of names gives a list.", `{resource: pods, names: [a, "${text}"]}`,
			description{By: plan.ByName, List: true, ByName: true, Resource: "pods", Uses: []string{"text"}, Known: true, Templates: 1},
		},
		"Labels": {
			"Keys are templates too, and so is the namespace; each name is told once.",
			`{resource: pods, namespace: "${rule.name}", matchLabels: {"${text}": "${object.spec.app}", b: "${text}"}}`,
			description{By: plan.ByLabels, List: true, Resource: "pods", Uses: []string{"text", "object", "rule"}, Known: true, Templates: 2},
		},
		"Selector": {
			"Templates may be anywhere below.", `{resource: pods, selector: {matchExpressions: [{key: a, operator: In, values: ["${text}"]}]}}`,
			description{By: plan.ByLabels, List: true, Resource: "pods", Uses: []string{"text"}, Known: true, Templates: 1},
		},
		"Fields": {
			"The compared fields are known, in order.", `{resource: pods, matchFields: {spec.nodeName: "${text}", metadata.name: x}}`,
			description{By: plan.ByFields, List: true, Resource: "pods", Uses: []string{"text"}, Compared: "metadata.name spec.nodeName", Known: true, Templates: 1},
		},
		"FieldsOfATemplate": {
			"Which fields an expression compares is not known.", `{resource: pods, matchFields: "${object.spec.labels}"}`,
			description{By: plan.ByFields, List: true, Resource: "pods", Uses: []string{"object"}, Templates: 1},
		},
		"FieldOfATemplate": {
			"Neither where it gives a key.", `{resource: pods, matchFields: {"${text}": x}}`,
			description{By: plan.ByFields, List: true, Resource: "pods", Uses: []string{"text"}, Templates: 1},
		},
		"Owner": {
			"The owner is a name, not a template.", `{resource: pods, ownedBy: owners, namespace: b}`,
			description{By: plan.ByOwner, List: true, Resource: "pods", Uses: []string{"owners"}, Known: true, Templates: 1},
		},
		"All": {
			"Nothing need be known.", `{resource: nodes, all: true}`,
			description{By: plan.ByAll, List: true, Resource: "nodes", Known: true, Templates: 1},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			r := compile(t, tc.text, declared(""))
			paths, known := r.Compared()
			var compared []string
			for _, path := range paths {
				compared = append(compared, path.String())
			}
			got := description{
				By: r.By(), List: r.IsList(), ByName: r.ByName(), Resource: r.Declaration().Name, Uses: r.Uses(),
				Compared: strings.Join(compared, " "), Known: known, Templates: len(r.Templates()),
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if r.Name() != "found" {
				t.Errorf("the name is %q", r.Name())
			}
		})
	}
}

func TestLookup(t *testing.T) {
	tests := map[string]struct {
		reason string
		text   string
		want   string
	}{
		"Known":   {"The name of a declaration.", "pods", ""},
		"Near":    {"A slip of the pen is told.", "pod", `w.yaml:1:1: no resource "pod" is declared; did you mean "pods"?`},
		"Unknown": {"Nothing is like it.", "deployments", `w.yaml:1:1: no resource "deployments" is declared; declare it under resources`},
		"NoText":  {"A name is a string.", "[pods]", `w.yaml:1:1: want a string, have a list; write text`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			declaration, wrong := declared("").Lookup(parse(t, tc.text))
			got := ""
			if wrong != nil {
				got = wrong.Error()
			}
			if diff := cmp.Diff(tc.want, got); diff != "" || (declaration != nil) != (tc.want == "") {
				t.Errorf("%s Have %v (-want +got):\n%s", tc.reason, declaration, diff)
			}
		})
	}
	if declaration, wrong := declared("").Lookup(nil); declaration != nil || wrong != nil {
		t.Errorf("an invalid node gives %v and %v", declaration, wrong)
	}
}

func TestLookupAt(t *testing.T) {
	n := parse(t, `"pods, noodes"`)
	if d, wrong := declared("").LookupAt(n, 0, "pods"); wrong != nil || d.GVR != podsGVR {
		t.Errorf("pods: have %v, %v", d, wrong)
	}
	_, wrong := declared("").LookupAt(n, 6, "noodes")
	const want = "w.yaml:1:8: no resource \"noodes\" is declared\n  1 | \"pods, noodes\"\n    |        ^^^^^^\n  hint: did you mean \"nodes\"?\n"
	if wrong == nil || wrong.Render() != want {
		t.Errorf("have %v, want\n%s", wrong, want)
	}
}
