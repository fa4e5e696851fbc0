package lookup_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/footprint"
	"github.com/dyncontroller/dyncontroller/pkg/rules/lookup"
)

// TestCompileInvalid holds that what the parser reported is not reported again.
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
		if _, errs = lookup.Compile("found", nodes[0].Get("with"), scope, declared("")); len(errs) > 0 {
			t.Errorf("%s: have %v, want no error", text, errs)
		}
	}
}

func TestLookup(t *testing.T) {
	type description struct {
		List, ByName bool
		Resource     string
		Uses         []string
	}
	tests := map[string]struct {
		reason string
		text   string
		want   description
	}{
		"Name": {
			"One object or nil.", `{resource: pods, name: "${object.spec.app}-${rule.name}"}`,
			description{ByName: true, Resource: "pods", Uses: []string{"object", "rule"}},
		},
		"Names": {
			"A list of names gives a list.", `{resource: pods, names: [a, "${text}"]}`,
			description{List: true, ByName: true, Resource: "pods", Uses: []string{"text"}},
		},
		"Labels": {
			"Keys are templates too, and so is the namespace; each name is told once.",
			`{resource: pods, namespace: "${rule.name}", matchLabels: {"${text}": "${object.spec.app}", b: "${text}"}}`,
			description{List: true, Resource: "pods", Uses: []string{"object", "rule", "text"}},
		},
		"Selector": {
			"Templates may be anywhere below.", `{resource: pods, selector: {matchExpressions: [{key: a, operator: In, values: ["${text}"]}]}}`,
			description{List: true, Resource: "pods", Uses: []string{"text"}},
		},
		"Fields": {
			"The compared fields are known, in order.", `{resource: pods, matchFields: {spec.nodeName: "${text}", metadata.name: x}}`,
			description{List: true, Resource: "pods", Uses: []string{"text"}},
		},
		"FieldsOfATemplate": {
			"Which fields an expression compares is not known.", `{resource: pods, matchFields: "${object.spec.labels}"}`,
			description{List: true, Resource: "pods", Uses: []string{"object"}},
		},
		"FieldOfATemplate": {
			"Neither where it gives a key.", `{resource: pods, matchFields: {"${text}": x}}`,
			description{List: true, Resource: "pods", Uses: []string{"text"}},
		},
		"Owner": {
			"The owner is a name, not a template.", `{resource: pods, ownedBy: owners, namespace: b}`,
			description{List: true, Resource: "pods", Uses: []string{"owners"}},
		},
		"All": {
			"Nothing need be known.", `{resource: nodes, all: true}`,
			description{List: true, Resource: "nodes"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			r := compile(t, tc.text, declared(""))
			got := description{
				List: r.IsList(), ByName: r.ByName(), Resource: r.Declaration().Name, Uses: r.Uses(),
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

// unknown is what names stand for of which nothing is known.
type unknown struct{}

func (unknown) Shape(int) footprint.Shape { return footprint.Other() }

// TestFootprint holds what finding objects reads of them, and how far what is written narrows what they can be.
func TestFootprint(t *testing.T) {
	for _, tc := range []struct{ text, reads, selection string }{
		{`{resource: pods, all: true}`, "", "a  "},
		{`{resource: pods, name: x, namespace: a}`, "", "a  metadata.name=x"},
		{`{resource: pods, name: "${text}"}`, "", "a  "},
		{`{resource: pods, matchLabels: {tier: a, "${text}": b}}`, "metadata.labels", "a tier=a "},
		{`{resource: webPods, matchLabels: {tier: a}}`, "metadata.labels.app metadata.labels.tier", "a app=web,tier=a "},
		{`{resource: pods, matchFields: {spec.nodeName: n1, spec.x: "${text}"}}`, "spec.nodeName spec.x", "a  "},
		{`{resource: pods, matchFields: {"${text}": n1}}`, "*", "a  "},
		{`{resource: pods, ownedBy: object}`, "", "a  "},
	} {
		r := compile(t, tc.text, declared("a"))
		var out footprint.Footprint
		r.Footprint(&out, unknown{})
		access := out.Lookup(podsGVR)
		s := r.Selections()[0]
		got := []string{strings.Join(access.Reads.Paths(), " "), s.Namespace + " " + s.LabelSelector + " " + s.FieldSelector}
		if diff := cmp.Diff([]string{tc.reads, tc.selection}, got); diff != "" || len(access.Verbs()) != 3 {
			t.Errorf("%s %v (-want +got):\n%s", tc.text, access.Verbs(), diff)
		}
	}
}
