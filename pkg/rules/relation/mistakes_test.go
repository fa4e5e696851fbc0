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
		"NotAMap": {"An entry is a map.", `pods`, "", []string{
			`w.yaml:1:1: want a map, have a string; write lines of key: value, or {key: value}`,
		}},
		"Nothing": {"An entry without a form would read nothing or everything.", `{resource: pods}`, "", []string{
			`w.yaml:1:1: nothing says which objects are meant; write one of name, names, matchLabels, selector, matchFields, ownedBy, all`,
		}},
		"NoResource": {"What is read must be said.", `{all: true}`, "", []string{
			`w.yaml:1:1: the field "resource" is missing; add resource: ...`,
		}},
		"NullResource": {"A null is not a resource.", `{resource: , all: true}`, "", []string{
			`w.yaml:1:2: resource: the field "resource" has no value; give it one`,
		}},
		"UnknownResource": {"Only what is declared can be read.", `{resource: pod, all: true}`, "", []string{
			`w.yaml:1:12: resource: no resource "pod" is declared; did you mean "pods"?`,
		}},
		"ResourceList": {"One resource at a time.", `{resource: [pods, nodes], all: true}`, "", []string{
			`w.yaml:1:12: resource: want a string, have a list; write text`,
		}},
		"ResourceTemplate": {"What is cached must be known beforehand, so a resource is not computed.", `{resource: "${text}", all: true}`, "", []string{
			`w.yaml:1:13: resource: no resource "${text}" is declared; write the name itself: what is read and written is known before anything is evaluated`,
		}},
		"UnknownField": {"The form is misspelt.", `{resource: pods, matchLabel: {app: web}}`, "", []string{
			`w.yaml:1:18: matchLabel: unknown field "matchLabel"; did you mean "matchLabels"?`,
		}},
		"Two": {"Two forms could contradict each other.", `{resource: pods, name: a, names: [b]}`, "", []string{
			`w.yaml:1:34: names: name and names each say which objects are meant; write one, and filter(...) what it finds`,
		}},
		"Three": {"All of them are named.", `{resource: pods, matchLabels: {app: web}, matchFields: {spec.nodeName: a}, all: true}`, "", []string{
			`w.yaml:1:56: matchFields: matchLabels and matchFields and all each say which objects are meant; write one, and filter(...) what it finds`,
		}},
		"Several": {"All errors are found.", `{resource: pod, name: 5, namespace: "${nope}"}`, "", []string{
			`w.yaml:1:23: name: want a string, have an integer; put it in quotes: "5"`,
			`w.yaml:1:12: resource: no resource "pod" is declared; did you mean "pods"?`,
			`w.yaml:1:40: namespace: unknown name "nope"; did you mean the function none(...)?`,
		}},
		"TwoWrong": {"Also where they are wrong themselves.", `{resource: pods, name: 5, all: false}`, "", []string{
			`w.yaml:1:24: name: want a string, have an integer; put it in quotes: "5"`,
			`w.yaml:1:32: all: all: false selects nothing; write true, or remove the entry`,
			`w.yaml:1:32: all: name and all each say which objects are meant; write one, and filter(...) what it finds`,
		}},
		"NameNumber": {"A name in YAML must be a string.", `{resource: pods, name: 5}`, "", []string{
			`w.yaml:1:24: name: want a string, have an integer; put it in quotes: "5"`,
		}},
		"NameNull": {"A null would never find anything.", `{resource: pods, name: null}`, "", []string{
			`w.yaml:1:24: name: want a string, have no value; give it a value or remove it`,
		}},
		"NameEmpty": {"Neither would an empty text.", `{resource: pods, name: ""}`, "", []string{
			`w.yaml:1:24: name: name is empty, so nothing is ever read; give it a value, or remove found`,
		}},
		"NameList": {"A list has a form of its own.", `{resource: pods, name: [a]}`, "", []string{
			`w.yaml:1:24: name: name gives one object, have a list; write names for a list`,
		}},
		"NamePath": {"A name with a namespace finds nothing.", `{resource: pods, name: kube-system/dns}`, "", []string{
			`w.yaml:1:24: name: "kube-system/dns" cannot be the name of an object: it may not contain '/'; the namespace has a field of its own`,
		}},
		"NameDots": {"This is a folder and not a name.", `{resource: pods, name: ..}`, "", []string{
			`w.yaml:1:24: name: ".." cannot be the name of an object: it may not be '..'`,
		}},
		"NameUnknown": {"An unknown name in a template has its place.", `{resource: pods, name: "x-${nope}"}`, "", []string{
			`w.yaml:1:29: name: unknown name "nope"; did you mean the function none(...)?`,
		}},
		"NamesUnclosed": {"An element that is no template has its place.", `{resource: pods, names: ["${text}", "${"]}`, "", []string{
			`w.yaml:1:38: names[1]: the ${ that starts here is not closed; end it with }, or write $${ for a literal ${`,
		}},
		"NamesText": {"A text is not a list.", `{resource: pods, names: a}`, "", []string{
			`w.yaml:1:25: names: names must be a list of strings, have a string; write [a, b], or name for one`,
		}},
		"NamesMap": {"Neither is a map.", `{resource: pods, names: {a: b}}`, "", []string{
			`w.yaml:1:25: names: want a list or a string, have a map; write "- " before each element, or [a, b]`,
		}},
		"NamesEmpty": {"An empty list reads nothing.", `{resource: pods, names: []}`, "", []string{
			`w.yaml:1:25: names: names is empty, so nothing is ever read; give it a value, or remove found`,
		}},
		"NamesNil": {"Nor does one of nothing.", `{resource: pods, names: [null, ""]}`, "", []string{
			`w.yaml:1:25: names: names is empty, so nothing is ever read; give it a value, or remove found`,
		}},
		"NamesElements": {"Every element is checked, beside templates too.", `{resource: pods, names: [5, "${text}", a/b, {name: x}, ok]}`, "", []string{
			`w.yaml:1:26: names[0]: the name of an object is a string, have an integer; put it in quotes, or write string(...)`,
			`w.yaml:1:40: names[2]: "a/b" cannot be the name of an object: it may not contain '/'; the namespace has a field of its own`,
			`w.yaml:1:45: names[3]: the name of an object is a string, have a map; for the field name of every element, write names: ${map(list, .name)}`,
		}},
		"LabelsText": {"Labels are a map.", `{resource: pods, matchLabels: app=web}`, "", []string{
			`w.yaml:1:31: matchLabels: matchLabels must be a map of labels, have a string; write {app: web}`,
		}},
		"LabelsList": {"And not a list.", `{resource: pods, matchLabels: [app]}`, "", []string{
			`w.yaml:1:31: matchLabels: want a map or a string, have a list; write lines of key: value, or {key: value}`,
		}},
		"LabelsEmpty": {"No labels would match everything.", `{resource: pods, matchLabels: {}}`, "", []string{
			`w.yaml:1:31: matchLabels: matchLabels is empty; write all: true if every object is meant`,
		}},
		"LabelsNull": {"So would an absent map.", `{resource: pods, matchLabels: }`, "", []string{
			`w.yaml:1:18: matchLabels: want a map or a string, have no value; give it a value or remove it`,
		}},
		"LabelsValues": {"Values are strings, and not null; templates beside them do not hide it.", `{resource: pods, matchLabels: {a: 5, b: null, c: true, d: [x], e: "${text}", f: "x y"}}`, "", []string{
			`w.yaml:1:35: matchLabels.a: the value of the label a must be a string, have an integer; put it in quotes, or write string(...)`,
			`w.yaml:1:41: matchLabels.b: the label b has no value; ?? gives a default, and ?? omit() leaves the label out`,
			`w.yaml:1:50: matchLabels.c: the value of the label c must be a string, have a boolean; put it in quotes, or write string(...)`,
			`w.yaml:1:59: matchLabels.d: the value of the label d must be a string, have a list`,
			`w.yaml:1:81: matchLabels.f: "x y" cannot be the value of a label: a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character`,
		}},
		"LabelsKeys": {"A key must be one that a label can have.", `{resource: pods, matchLabels: {"a b": "${text}", "a/b/c": x}}`, "", []string{
			`w.yaml:1:32: matchLabels["a b"]: "a b" cannot be the key of a label: name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character`,
			`w.yaml:1:50: matchLabels["a/b/c"]: "a/b/c" cannot be the key of a label: a valid label key must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character`,
		}},
		"SelectorText": {"A selector is a map too.", `{resource: pods, selector: app=web}`, "", []string{
			`w.yaml:1:28: selector: selector must be a LabelSelector, have a string; write {matchLabels: {app: web}}`,
		}},
		"SelectorEmpty": {"In Kubernetes an empty selector selects everything.", `{resource: pods, selector: {}}`, "", []string{
			`w.yaml:1:28: selector: selector is empty; write all: true if every object is meant`,
		}},
		"SelectorEmptyParts": {"This is empty as well.", `{resource: pods, selector: {matchLabels: {}, matchExpressions: []}}`, "", []string{
			`w.yaml:1:28: selector: selector is empty; write all: true if every object is meant`,
		}},
		"SelectorNull": {"A null would select nothing, ever.", `{resource: pods, selector: null}`, "", []string{
			`w.yaml:1:28: selector: want a map or a string, have no value; give it a value or remove it`,
		}},
		"SelectorService": {"The selector of a Service is not a LabelSelector.", `{resource: pods, selector: {app: "${text}"}}`, "", []string{
			`w.yaml:1:29: selector.app: a LabelSelector has matchLabels and matchExpressions, have "app"; for a map of labels, such as the selector of a Service, write matchLabels in place of selector`,
		}},
		"SelectorLabels": {"What is written below is checked.", `{resource: pods, selector: {matchLabels: {app: 5}}}`, "", []string{
			`w.yaml:1:42: selector.matchLabels: the value of the label app must be a string, have an integer; put it in quotes, or write string(...)`,
		}},
		"SelectorLabelsText": {"The labels of a selector are a map.", `{resource: pods, selector: {matchLabels: app}}`, "", []string{
			`w.yaml:1:42: selector.matchLabels: matchLabels must be a map of labels, have a string; write {app: web}`,
		}},
		"SelectorExpressions": {"A list of requirements is wanted.", `{resource: pods, selector: {matchExpressions: {key: app}}}`, "", []string{
			`w.yaml:1:47: selector.matchExpressions: matchExpressions must be a list, have a map; write [{key: app, operator: Exists}]`,
		}},
		"SelectorExpression": {"A requirement is a map.", `{resource: pods, selector: {matchExpressions: [app]}}`, "", []string{
			`w.yaml:1:47: selector.matchExpressions: an element of matchExpressions must be a map, have a string; write {key: app, operator: Exists}`,
		}},
		"SelectorKey": {"An unknown key would be passed over.", `{resource: pods, selector: {matchExpressions: [{key: app, op: Exists}]}}`, "", []string{
			`w.yaml:1:47: selector.matchExpressions: matchExpressions has key, operator and values, have "op"`,
		}},
		"SelectorOperator": {"Kubernetes knows four operators.", `{resource: pods, selector: {matchExpressions: [{key: app, operator: Equals, values: [a]}]}}`, "", []string{
			`w.yaml:1:28: selector: not a LabelSelector: "Equals" is not a valid label selector operator; the operators are In and NotIn, with values, Exists and DoesNotExist`,
		}},
		"SelectorNoValues": {"In without values is refused there too.", `{resource: pods, selector: {matchExpressions: [{key: app, operator: In}]}}`, "", []string{
			`w.yaml:1:28: selector: not a LabelSelector: values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty; the operators are In and NotIn, with values, Exists and DoesNotExist`,
		}},
		"SelectorKeyNumber": {"Keys are strings.", `{resource: pods, selector: {matchExpressions: [{key: 5, operator: Exists}]}}`, "", []string{
			`w.yaml:1:47: selector.matchExpressions: key of matchExpressions must be a string, have an integer; put it in quotes, or write string(...)`,
		}},
		"SelectorOperatorNull": {"An operator is needed.", `{resource: pods, selector: {matchExpressions: [{key: app, operator: null}]}}`, "", []string{
			`w.yaml:1:47: selector.matchExpressions: operator of matchExpressions must be a string, have nil`,
		}},
		"SelectorNoKey": {"So is a key.", `{resource: pods, selector: {matchExpressions: [{operator: Exists}]}}`, "", []string{
			`w.yaml:1:47: selector.matchExpressions: an element of matchExpressions needs key and operator; write {key: app, operator: Exists}`,
		}},
		"SelectorValuesText": {"Values are a list.", `{resource: pods, selector: {matchExpressions: [{key: app, operator: In, values: a}]}}`, "", []string{
			`w.yaml:1:47: selector.matchExpressions: values of matchExpressions must be a list, have a string; write [a, b]`,
		}},
		"SelectorValueNumber": {"Of strings.", `{resource: pods, selector: {matchExpressions: [{key: app, operator: In, values: [5]}]}}`, "", []string{
			`w.yaml:1:47: selector.matchExpressions: a value of matchExpressions must be a string, have an integer; put it in quotes, or write string(...)`,
		}},
		"FieldsText": {"Fields are a map.", `{resource: pods, matchFields: spec.nodeName=a}`, "", []string{
			`w.yaml:1:31: matchFields: matchFields must be a map of fields, have a string; write {spec.nodeName: node-1}`,
		}},
		"FieldsEmpty": {"No fields would match everything.", `{resource: pods, matchFields: {}}`, "", []string{
			`w.yaml:1:31: matchFields: matchFields is empty; write all: true if every object is meant`,
		}},
		"FieldsBrackets": {"A field is a path without brackets.", `{resource: pods, matchFields: {"spec.containers[0].image": a}}`, "", []string{
			`w.yaml:1:32: matchFields["spec.containers[0].image"]: "spec.containers[0].image" is not a path of fields; write a path such as spec.nodeName; for more, select otherwise and filter(...)`,
		}},
		"FieldsWildcard": {"And without wildcards.", `{resource: pods, matchFields: {"spec.*.image": "${text}"}}`, "", []string{
			`w.yaml:1:32: matchFields["spec.*.image"]: "spec.*.image" is not a path of fields; write a path such as spec.nodeName; for more, select otherwise and filter(...)`,
		}},
		"FieldsJSONPath": {"Nor is it a JSONPath.", `{resource: pods, matchFields: {".spec.nodeName": a}}`, "", []string{
			`w.yaml:1:32: matchFields[".spec.nodeName"]: ".spec.nodeName" is not a path of fields; write a path such as spec.nodeName; for more, select otherwise and filter(...)`,
		}},
		"FieldsIndex": {"A list has no fields.", `{resource: pods, matchFields: {spec.containers.0: a}}`, "", []string{
			`w.yaml:1:32: matchFields["spec.containers.0"]: "spec.containers.0" is not a path of fields; write a path such as spec.nodeName; for more, select otherwise and filter(...)`,
		}},
		"FieldsEmptyKey": {"An empty path leads nowhere.", `{resource: pods, matchFields: {"": a}}`, "", []string{
			`w.yaml:1:32: matchFields[""]: "" is not a path of fields; write a path such as spec.nodeName; for more, select otherwise and filter(...)`,
		}},
		"FieldsValues": {"A null and what is not a scalar cannot be looked up.", `{resource: pods, matchFields: {spec.a: null, spec.b: [x], spec.c: {x: z}, spec.d: 5, spec.e: "${text}"}}`, "", []string{
			`w.yaml:1:40: matchFields["spec.a"]: the field spec.a has no value; ?? gives a default, and ?? omit() leaves the field out`,
			`w.yaml:1:54: matchFields["spec.b"]: the field spec.b can only equal a string, a number or a boolean, have a list; select otherwise and filter(...)`,
			`w.yaml:1:67: matchFields["spec.c"]: the field spec.c can only equal a string, a number or a boolean, have a map; select otherwise and filter(...)`,
		}},
		"OwnerTemplate": {"The owner is a bare name.", `{resource: pods, ownedBy: "${owner}"}`, "", []string{
			`w.yaml:1:27: ownedBy: ownedBy takes a name, not a template; write it without ${ }`,
		}},
		"OwnerTemplateSpaced": {"However it is spaced.", `{resource: pods, ownedBy: " ${ object } "}`, "", []string{
			`w.yaml:1:27: ownedBy: ownedBy takes a name, not a template; write it without ${ }`,
		}},
		"OwnerExpression": {"An expression has no place here.", `{resource: pods, ownedBy: "filter(owners, true)"}`, "", []string{
			`w.yaml:1:27: ownedBy: ownedBy takes the name of a value, not an expression; put the expression into let, and write its name here`,
		}},
		"OwnerExpressionTemplate": {"Not in a template either.", `{resource: pods, ownedBy: "${owners[0]}"}`, "", []string{
			`w.yaml:1:27: ownedBy: ownedBy takes the name of a value, not an expression; put the expression into let, and write its name here`,
		}},
		"OwnerNear": {"A slip of the pen is told.", `{resource: pods, ownedBy: owners2}`, "", []string{
			`w.yaml:1:27: ownedBy: unknown name "owners2"; did you mean "owners"?`,
		}},
		"OwnerUnknown": {"Another name is not known.", `{resource: pods, ownedBy: deployment}`, "", []string{
			`w.yaml:1:27: ownedBy: unknown name "deployment"; write object, or a name from with or let`,
		}},
		"OwnerList": {"One name.", `{resource: pods, ownedBy: [owner]}`, "", []string{
			`w.yaml:1:27: ownedBy: want a string, have a list; write text`,
		}},
		"AllFalse": {"All of nothing is nothing.", `{resource: pods, all: false}`, "", []string{
			`w.yaml:1:23: all: all: false selects nothing; write true, or remove the entry`,
		}},
		"AllText": {"It is true, and not a text.", `{resource: pods, all: "true"}`, "", []string{
			`w.yaml:1:23: all: want a boolean, have a string; write it without quotes: true`,
		}},
		"AllTemplate": {"And not computed.", `{resource: pods, all: "${true}"}`, "", []string{
			`w.yaml:1:23: all: want a boolean, have a string; write true or false`,
		}},
		"NamespaceNumber": {"A namespace is a string.", `{resource: pods, all: true, namespace: 5}`, "", []string{
			`w.yaml:1:40: namespace: want a string, have an integer; put it in quotes: "5"`,
		}},
		"NamespaceEmpty": {"An empty namespace could mean every one.", `{resource: pods, all: true, namespace: ""}`, "", []string{
			`w.yaml:1:40: namespace: the namespace is empty; write "*" for every namespace, or leave it out for the object's own`,
		}},
		"NamespaceNull": {"So could none.", `{resource: pods, all: true, namespace: }`, "", []string{
			`w.yaml:1:29: namespace: want a string, have no value; give it a value or remove it`,
		}},
		"NamespaceInvalid": {"No namespace is called so.", `{resource: pods, all: true, namespace: Kube_System}`, "", []string{
			`w.yaml:1:40: namespace: "Kube_System" cannot be a namespace: a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character`,
		}},
		"NamespaceList": {"Only one can be given.", `{resource: pods, all: true, namespace: [a, b]}`, "", []string{
			`w.yaml:1:40: namespace: want a string, have a list; write text`,
		}},
		"NameInEvery": {"One name in every namespace may be several objects.", `{resource: pods, name: x, namespace: "*"}`, "", []string{
			`w.yaml:1:38: namespace: there may be one such object in every namespace, and name gives one; write names: [...] for a list, or name one namespace`,
		}},
		"RuleSetNamespace": {"A RuleSet sees its own namespace only.", `{resource: pods, all: true, namespace: b}`, "a", []string{
			`w.yaml:1:40: namespace: a RuleSet acts in its own namespace only, which is "a", not "b"; make it a ClusterRuleSet`,
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
