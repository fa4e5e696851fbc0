package lookup_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/rules/lookup"
)

func TestCompileErrors(t *testing.T) {
	tests := map[string]struct {
		reason    string
		text      string
		namespace string // of a RuleSet
		want      []string
	}{
		"ResourceTemplate": {"What is cached must be known beforehand, so a resource is not computed.", `{resource: "${text}", all: true}`, "", []string{
			`w.yaml:1:13: resource: no resource "${text}" is declared; write the name itself: what is read and written is known before anything is evaluated`,
		}},
		"NamesElements": {"Every element is checked, beside templates too.", `{resource: pods, names: [5, "${text}", a/b, {name: x}, ok]}`, "", []string{
			`w.yaml:1:26: names[0]: want a string, have an integer; put it in quotes: "5"`,
			`w.yaml:1:45: names[3]: want a string, have a map; write texts as in [a, b], or name for one; map(list, .name) gives those of maps`,
			`w.yaml:1:40: names[2]: "a/b" cannot be the name of an object: it may not contain '/'; write the name alone; the namespace has a field of its own`,
		}},
		"LabelsValues": {"Values are strings, and not null; templates beside them do not hide it.", `{resource: pods, matchLabels: {a: 5, b: null, c: true, d: [x], e: "${text}", f: "x y"}}`, "", []string{
			`w.yaml:1:35: matchLabels.a: want a string, have an integer; put it in quotes: "5"`,
			`w.yaml:1:50: matchLabels.c: want a string, have a boolean; put it in quotes: "true"`,
			`w.yaml:1:59: matchLabels.d: want a string, have a list; write texts as in {app: web}; for every object, all: true`,
			`w.yaml:1:41: matchLabels.b: want a value, have nil; ?? gives a default, and ?? omit() leaves it out`,
			`w.yaml:1:81: matchLabels.f: "x y" cannot be the value of a label: a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character`,
		}},
		"LabelsKeys": {"A key must be one that a label can have.", `{resource: pods, matchLabels: {"a b": "${text}", "a/b/c": x}}`, "", []string{
			`w.yaml:1:32: matchLabels["a b"]: "a b" cannot be the key of a label: name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character`,
			`w.yaml:1:50: matchLabels["a/b/c"]: "a/b/c" cannot be the key of a label: a valid label key must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character`,
		}},
		"FieldsValues": {"A null and what is not a scalar cannot be looked up.", `{resource: pods, matchFields: {spec.a: null, spec.b: [x], spec.c: {x: z}, spec.d: 5, spec.e: "${text}"}}`, "", []string{
			`w.yaml:1:54: matchFields["spec.b"]: want a boolean, a number or a string, have a list; write {spec.nodeName: node-1}; for every object, all: true`,
			`w.yaml:1:67: matchFields["spec.c"]: want a boolean, a number or a string, have a map; write {spec.nodeName: node-1}; for every object, all: true`,
			`w.yaml:1:40: matchFields["spec.a"]: want a value, have nil; ?? gives a default, and ?? omit() leaves it out`,
		}},
		"SelectorOperator": {"In needs values.", `{resource: pods, selector: {matchExpressions: [{key: app, operator: In}]}}`, "", []string{
			`w.yaml:1:28: selector: not a LabelSelector: values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty; the operators are In and NotIn, with values, Exists and DoesNotExist`,
		}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			compiled, errs := lookup.Compile("found", parse(t, tc.text), scope, declared(tc.namespace))
			if compiled != nil {
				t.Errorf("%s: it compiles", tc.reason)
			}
			var got []string
			for _, err := range errs {
				got = append(got, err.Error())
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
