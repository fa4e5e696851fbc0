package rules_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
)

const typedHead = `
apiVersion: dyncontroller.dev/v1alpha1
kind: ClusterRuleSet
metadata: {name: set}
spec:
  params: {least: 3, class: mesh, hosts: [a, b]}
  resources:
    gateways: {group: example.com, version: v1, resource: gateways}
    tenants: {group: example.com, version: v1, resource: tenants}
    things: {group: acme.io, version: v1, resource: things}
    deployments: {group: apps, version: v1, resource: deployments}
    statefulsets: {group: apps, version: v1, resource: statefulsets}
    daemonsets: {group: apps, version: v1, resource: daemonsets}
    configmaps: {version: v1, resource: configmaps}
    pods: {version: v1, resource: pods}
`

// said is what is found in the rest of a set, without notes on what is not known, one on a line.
func said(t testing.TB, rest string) []string {
	t.Helper()
	out := []string{}
	for _, err := range findings(t, []byte(typedHead+rest)) {
		if err.Code == document.CodeUntyped {
			continue
		}
		severity := ""
		if err.Severity != document.Mistake {
			severity = err.Severity.String() + " "
		}
		out = append(out, severity+err.Path+": "+err.Message)
	}
	return out
}

type saidCase struct {
	reason string
	rest   string
	want   []string
}

func testSaid(t *testing.T, tests map[string]saidCase) {
	t.Helper()
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if tc.want == nil {
				tc.want = []string{}
			}
			if diff := cmp.Diff(tc.want, said(t, tc.rest)); diff != "" {
				t.Errorf("%s\n%s\n(-want +got):\n%s", tc.reason, tc.rest, diff)
			}
		})
	}
}

// oneRule is a rule on a resource, of which the rest is given.
func oneRule(watch, rest string) string {
	return "  rules:\n  - name: rule\n    watch: " + watch + "\n" + rest
}

const noted = "    actions: [{event: {reason: A, message: a}}]\n"

func TestCheckKinds(t *testing.T) {
	testSaid(t, map[string]saidCase{
		"Unknown": {
			"Nothing is known of one.", oneRule("things,deployments", "    when: object.spec.replcas == 3\n"+noted),
			[]string{`spec.rules[0].when: for deployments: object.spec has no field "replcas"`},
		},
		"Apart": {
			"Each has its own mistakes.", oneRule("deployments,pods", "    when: object.spec.nodeName == 'a' && object.spec.replicas == 3\n"+noted),
			[]string{
				`spec.rules[0].when: for deployments: object.spec has no field "nodeName"`,
				`spec.rules[0].when: for pods: object.spec has no field "replicas"`,
			},
		},
	})
}

func TestCheckNames(t *testing.T) {
	testSaid(t, map[string]saidCase{
		"Let":        {"A let has the type of its expression.", oneRule("gateways", "    let: {size: object.spec.replicas}\n    when: size == 'a'\n"+noted), []string{`spec.rules[0].when: size is an integer and never equals a string`}},
		"UnusedWith": {"So is what with finds.", oneRule("gateways", "    with: {found: {resource: configmaps, name: '${object.spec.nme}'}}\n"+noted), []string{`spec.rules[0].with.found.name: object.spec has no field "nme"`}},
		"UnusedHeld": {"What when asks for holds for them.", oneRule("gateways", "    let: {host: upper(object.spec.host)}\n    when: object.spec.host != nil\n"+noted), nil},
		"UnusedOfSet": {
			"What no rule uses is not checked: there is no object.", "  let: {size: object.spec.replcas}\n" + oneRule("gateways", noted), nil,
		},
		"Once": {
			"What two rules use is told of once.",
			"  let: {size: object.spec.replcas}\n  rules:\n  - {name: a, watch: gateways, when: size == 3, actions: [{event: {reason: A, message: a}}]}\n" +
				"  - {name: b, watch: gateways, when: size == 4, actions: [{event: {reason: A, message: a}}]}\n",
			[]string{`spec.let.size: object.spec has no field "replcas"`},
		},
		"Params":      {"A parameter is a constant.", oneRule("gateways", "    when: params.least == 'a'\n"+noted), []string{`spec.rules[0].when: params.least is an integer and never equals a string`}},
		"Rule":        {"The rule has a name.", oneRule("gateways", "    when: rule.nam == 'a'\n"+noted), []string{`spec.rules[0].when: rule has no "nam"`}},
		"WithUnknown": {"Or none that is known.", oneRule("gateways", "    with: {found: {resource: things, name: a}}\n    when: found?.spec.x == 3\n"+noted), nil},
	})
}

func TestCheckDeletion(t *testing.T) {
	const event = "[{event: {reason: A, message: '${upper(object.spec.host)}'}}]"
	testSaid(t, map[string]saidCase{
		"NotHeld": {"Unless it only reacts.", oneRule("gateways", "    when: object.spec.host != nil\n    onDelete: {hold: false, actions: "+event+"}\n"), nil},
		"Time": {
			"On deletion its time is known.", oneRule("gateways", "    onDelete:\n      actions: [{event: {reason: A, message: 'since ${object.metadata.deletionTimestamp}'}}]\n      done: olderThan(object.metadata.deletionTimestamp, '1m')\n"), nil,
		},
		"NoTime": {
			"And before that there is none.", oneRule("gateways", "    actions: [{event: {reason: A, message: 'since ${object.metadata.deletionTimestamp}'}}]\n"),
			[]string{`spec.rules[0].actions[0].event.message: object.metadata.deletionTimestamp may be absent, and the text around ${ } wants a boolean, a number or a string`},
		},
		"Done": {"done is a condition.", oneRule("gateways", "    onDelete: {actions: [{event: {reason: A, message: a}}], done: object.spec.replicas}\n"), []string{`spec.rules[0].onDelete.done: a condition wants a boolean, and object.spec.replicas is an integer`}},
	})
}

func TestCheckFor(t *testing.T) {
	testSaid(t, map[string]saidCase{
		"Text":    {"A duration as a text.", oneRule("gateways", "    for: object.spec.window ?? '1h'\n"+noted), nil},
		"Seconds": {"Or in seconds.", oneRule("gateways", "    for: object.spec.replicas * 60\n"+noted), nil},
		"Value":   {"Or computed.", oneRule("gateways", "    for: duration('1h') * object.spec.replicas\n"+noted), nil},
		"Mistake": {"The expression is checked.", oneRule("gateways", "    for: object.spec.windw\n"+noted), []string{`spec.rules[0].for: object.spec has no field "windw"`}},
		"Unknown": {"Of things nothing is known.", oneRule("things", "    for: object.spec.x\n"+noted), nil},
	})
}

// TestCheckBounded makes sure that names which use one another in very many ways are given up.
func TestCheckBounded(t *testing.T) {
	var lets strings.Builder
	lets.WriteString("    let:\n      l0: object.spec.host\n")
	for i := range 60 {
		fmt.Fprintf(&lets, "      l%d: 'l%d != nil ? l%d : (l%d ?? object.spec.host)'\n", i+1, i, i, i)
	}
	if got := said(t, oneRule("gateways", lets.String()+"    when: l60 == 'a'\n"+noted)); len(got) > 0 {
		t.Errorf("it is right, and this is said:\n%s", strings.Join(got, "\n"))
	}
	var steps strings.Builder
	steps.WriteString("    actions:\n")
	for range 300 {
		steps.WriteString("    - patch: {merge: {spec: {replcas: 1}}}\n")
	}
	if got := said(t, oneRule("gateways", steps.String())); len(got) != 101 || !strings.Contains(got[100], "more mistakes follow") {
		t.Errorf("%d mistakes are told of, want 100, and that there are more", len(got))
	}
}

// TestCheckWithoutSchemas holds that nothing is said of objects where there are no schemas, and that mistakes in themselves are found.
func TestCheckWithoutSchemas(t *testing.T) {
	text := typedHead + oneRule("gateways", "    when: object.spec.replcas > 3 && params.class > 3 && rule.name == 3\n"+noted)
	_, errs := rules.Load([]document.File{{Name: "rules.yaml", Data: []byte(text)}}, rules.Options{DefaultNamespace: "default"})
	var got []string
	for _, err := range errs {
		got = append(got, err.Message)
	}
	want := []string{`> has a string on one side and an integer on the other`, `rule.name is a string and never equals an integer`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// placed are mistakes with their places, one on a line.
func placed(errs document.Errors) (out []string) {
	for _, err := range errs {
		out = append(out, fmt.Sprintf("%s %s %d:%d %s; %s", err.Severity, err.Code, err.Line, err.Column, err.Message, err.Hint))
	}
	return out
}
