package relation_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/rules/relation"
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
		"NameDots": {"This is a folder and not a name.", `{resource: pods, name: ..}`, "", []string{
			`w.yaml:1:24: name: ".." cannot be the name of an object: it may not be '..'`,
		}},
		"NamesElements": {"Every element is checked, beside templates too.", `{resource: pods, names: [5, "${text}", a/b, {name: x}, ok]}`, "", []string{
			`w.yaml:1:26: names[0]: want a string, have an integer; put it in quotes, or write string(...)`,
			`w.yaml:1:40: names[2]: "a/b" cannot be the name of an object: it may not contain '/'; the namespace has a field of its own`,
			`w.yaml:1:45: names[3]: want a string, have a map; for the names of a list of maps, write names: ${map(list, .name)}`,
		}},
		"LabelsValues": {"Values are strings, and not null; templates beside them do not hide it.", `{resource: pods, matchLabels: {a: 5, b: null, c: true, d: [x], e: "${text}", f: "x y"}}`, "", []string{
			`w.yaml:1:35: matchLabels.a: want a string, have an integer; put it in quotes, or write string(...)`,
			`w.yaml:1:41: matchLabels.b: want a string, have nil; ?? gives a default, and ?? omit() leaves it out`,
			`w.yaml:1:50: matchLabels.c: want a string, have a boolean; put it in quotes, or write string(...)`,
			`w.yaml:1:59: matchLabels.d: want a string, have a list`,
			`w.yaml:1:81: matchLabels.f: "x y" cannot be the value of a label: a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character`,
		}},
		"LabelsKeys": {"A key must be one that a label can have.", `{resource: pods, matchLabels: {"a b": "${text}", "a/b/c": x}}`, "", []string{
			`w.yaml:1:32: matchLabels["a b"]: "a b" cannot be the key of a label: name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character`,
			`w.yaml:1:50: matchLabels["a/b/c"]: "a/b/c" cannot be the key of a label: a valid label key must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character`,
		}},
		"SelectorKey": {"An unknown key would be passed over.", `{resource: pods, selector: {matchExpressions: [{key: app, op: Exists}]}}`, "", []string{
			`w.yaml:1:59: selector.matchExpressions[0].op: unknown field "op"; the fields here are key, operator, values`,
		}},
		"FieldsWildcard": {"And without wildcards.", `{resource: pods, matchFields: {"spec.*.image": "${text}"}}`, "", []string{
			`w.yaml:1:32: matchFields["spec.*.image"]: "spec.*.image" is not a path of fields; write a path such as spec.nodeName; for more, select otherwise and filter(...)`,
		}},
		"FieldsValues": {"A null and what is not a scalar cannot be looked up.", `{resource: pods, matchFields: {spec.a: null, spec.b: [x], spec.c: {x: z}, spec.d: 5, spec.e: "${text}"}}`, "", []string{
			`w.yaml:1:40: matchFields["spec.a"]: want a boolean, a number or a string, have nil; ?? gives a default, and ?? omit() leaves it out`,
			`w.yaml:1:54: matchFields["spec.b"]: want a boolean, a number or a string, have a list`,
			`w.yaml:1:67: matchFields["spec.c"]: want a boolean, a number or a string, have a map`,
		}},
		"OwnerNear": {"A slip of the pen is told.", `{resource: pods, ownedBy: owners2}`, "", []string{
			`w.yaml:1:27: ownedBy: unknown name "owners2"; did you mean "owners"?`,
		}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			compiled, errs := relation.Compile("found", parse(t, tc.text), scope, declared(tc.namespace))
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
