package editor_test

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/simulate"
)

const (
	head       = "apiVersion: dyncontroller.dev/v1alpha1\nkind: ClusterRuleSet\n"
	named      = head + "metadata: {name: set}\n"
	pods       = "resources: {pods: {version: v1, resource: pods}}"
	seen       = "{event: {reason: Seen, message: seen}}"
	ruled      = named + "spec:\n  " + pods + "\n  rules: [{name: r, watch: pods, with: {list: {resource: pods, all: true}}, "
	tested     = "apiVersion: dyncontroller.dev/v1alpha1\nkind: RuleTest\n"
	testedName = tested + "metadata: {name: t}\n"
	stepped    = testedName + "spec: {rules: [r.yaml], cases: [{name: c, objects: [o.yaml], steps: ["
)

// maps in documents, with a hole for what is written in them.
var places = map[string]struct {
	definition string
	text       string
}{
	"metadata of a set":  {"metadata", head + "metadata: %s\nspec: {" + pods + ", rules: [{name: r, watch: pods, actions: [" + seen + "]}]}\n"},
	"set":                {"set", named + "spec: %s\n"},
	"resource":           {"resource", named + "spec: {resources: {pods: %s}, rules: [{name: r, watch: pods, actions: [" + seen + "]}]}\n"},
	"rule":               {"rule", named + "spec: {" + pods + ", rules: [%s]}\n"},
	"related":            {"related", named + "spec: {" + pods + ", rules: [{name: r, watch: pods, with: {list: %s}, actions: [" + seen + "]}]}\n"},
	"onDelete":           {"onDelete", ruled + "onDelete: %s}]\n"},
	"limits":             {"limits", ruled + "limits: %s, actions: [" + seen + "]}]\n"},
	"action":             {"action", ruled + "actions: [%s]}]\n"},
	"action of onDelete": {"action", ruled + "onDelete: {actions: [%s]}}]\n"},
	"patch":              {"patch", ruled + "actions: [{patch: %s}]}]\n"},
	"apply":              {"apply", ruled + "actions: [{apply: %s}]}]\n"},
	"create":             {"create", ruled + "actions: [{create: %s}]}]\n"},
	"delete":             {"delete", ruled + "actions: [{delete: %s}]}]\n"},
	"event":              {"event", ruled + "actions: [{event: %s}]}]\n"},
	"test":               {"test", testedName + "spec: %s\n"},
	"case":               {"case", testedName + "spec: {rules: [r.yaml], cases: [%s]}\n"},
	"step":               {"step", stepped + "%s]}]}\n"},
	"patch of a step":    {"stepPatch", stepped + "{patch: %s}]}]}\n"},
	"expectation":        {"expect", testedName + "spec: {rules: [r.yaml], cases: [{name: c, objects: [o.yaml], expect: %s}]}\n"},
	"operation":          {"stepOperation", stepped + "{patch: {resource: pods, name: p, json: [%s]}}]}]}\n"},
}

// said are the mistakes that are told of a text.
func said(text string) document.Errors {
	if strings.Contains(text, "kind: RuleTest") {
		_, errs := simulate.Load("rules_test.yaml", beside{"rules_test.yaml": text})
		return errs
	}
	_, errs := rules.Load([]document.File{{Name: "rules.yaml", Data: []byte(text)}}, rules.Options{DefaultNamespace: "default"})
	return errs
}

const knownHint = "the fields here are "

// knownFields returns what the decoder of a place says that it takes.
func knownFields(t *testing.T, text string) []string {
	t.Helper()
	for _, err := range said(fmt.Sprintf(text, "{qq: 1}")) {
		if fields, ok := strings.CutPrefix(err.Hint, knownHint); ok {
			return slices.Sorted(slices.Values(strings.Split(fields, ", ")))
		}
	}
	t.Fatalf("nothing is said of an unknown field in %s", text)
	return nil
}

// TestFields says that the schema and the decoders know the same fields.
func TestFields(t *testing.T) {
	t.Parallel()
	g := newSchema(t)
	for name, place := range places {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			properties, _ := g.definition(t, place.definition)["properties"].(map[string]any)
			if diff := cmp.Diff(knownFields(t, place.text), slices.Sorted(maps.Keys(properties))); diff != "" {
				t.Errorf("the fields of %s (-decoder +schema):\n%s", name, diff)
			}
			if err := g.judge(fmt.Sprintf(place.text, "{qq: 1}")); err == nil {
				t.Error("the schema takes an unknown field")
			}
		})
	}
}

// TestRoot does that for documents as a whole, of which a schema has one for all
// kinds.
func TestRoot(t *testing.T) {
	t.Parallel()
	g := newSchema(t)
	properties, _ := g.json["properties"].(map[string]any)
	for kind, more := range map[string][]string{"RuleSet": {"status"}, "ClusterRuleSet": {"status"}, "RuleTest": nil} {
		text := "apiVersion: dyncontroller.dev/v1alpha1\nkind: " + kind + "\nqq: 1\n"
		want := slices.Sorted(slices.Values(append(more, "apiVersion", "kind", "metadata", "spec")))
		for _, err := range said(text) {
			fields, ok := strings.CutPrefix(err.Hint, knownHint)
			if ok && !cmp.Equal(want, slices.Sorted(slices.Values(strings.Split(fields, ", ")))) {
				t.Errorf("%s takes %s, the schema %s", kind, fields, want)
			}
		}
		for _, field := range want {
			if properties[field] == nil {
				t.Errorf("the schema lacks %s", field)
			}
		}
	}
	if err := g.judge(testedName + "spec: {rules: [a], cases: [{name: c, objects: [b]}]}\nstatus: {}\n"); err == nil {
		t.Error("a RuleTest has no status")
	}
	testMetadata := knownFields(t, tested+"metadata: %s\nspec: {}\n")
	for _, field := range knownFields(t, places["metadata of a set"].text) {
		err := g.judge(tested + "metadata: {name: t, " + field + ": name}\nspec: {rules: [a], cases: [{name: c, objects: [b]}]}\n")
		if field != "name" && slices.Contains(testMetadata, field) != (err == nil) {
			t.Errorf("metadata.%s of a RuleTest: %v", field, err)
		}
	}
}

var missingPattern = regexp.MustCompile(`^the field "(\w+)" is missing$`)

// TestRequired says that they want the same fields.
func TestRequired(t *testing.T) {
	t.Parallel()
	g := newSchema(t)
	for name, place := range places {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := []string{}
			for _, err := range said(fmt.Sprintf(place.text, "{}")) {
				if match := missingPattern.FindStringSubmatch(err.Message); match != nil {
					want = append(want, match[1])
				}
			}
			got := []string{}
			listed, _ := g.definition(t, place.definition)["required"].([]any)
			for _, field := range listed {
				got = append(got, field.(string))
			}
			slices.Sort(want)
			slices.Sort(got)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("what %s needs (-decoder +schema):\n%s", name, diff)
			}
		})
	}
}

// TestExclusive says that they want exactly one of the same fields.
func TestExclusive(t *testing.T) {
	t.Parallel()
	g := newSchema(t)
	values := map[string]map[string]string{
		"action": {
			"patch": "{merge: {a: 1}}", "event": "{reason: A, message: a}", "delete": "{}",
			"apply": "{resource: pods, manifest: {metadata: {name: a}}}", "create": "{in: list, manifest: {metadata: {name: a}}}",
		},
		"patch": {"merge": "{a: 1}", "json": "[{op: remove, path: /a}]", "apply": "{a: 1}"},
		"related": {
			"name": "a", "names": "[a]", "matchLabels": "{a: a}", "selector": "{matchLabels: {a: a}}", "matchFields": "{a: a}",
			"ownedBy": "object", "all": "true",
		},
	}
	for name, forms := range values {
		start := map[string]string{"related": "resource: pods, "}[name]
		check := func(written string) {
			text := fmt.Sprintf(places[name].text, "{"+start+written+"}")
			if errs, err := said(text), g.judge(text); (len(errs) == 0) != (err == nil) {
				t.Errorf("%s of %s: the decoder says %v, the schema %v", written, name, errs, err)
			}
		}
		for form, value := range forms {
			check(form + ": " + value)
			for other, otherValue := range forms {
				if form != other {
					check(form + ": " + value + ", " + other + ": " + otherValue)
				}
			}
		}
		check("")
	}
}

// TestWords says that they take the same words where there is a choice.
func TestWords(t *testing.T) {
	t.Parallel()
	g := newSchema(t)
	tests := map[string]struct {
		place, text string
		words       []string
	}{
		"mode of a set":     {"set", "{mode: %s, " + pods + ", rules: [{name: r, watch: pods, actions: [" + seen + "]}]}", []string{"Enforce", "Audit"}},
		"mode of a rule":    {"rule", "{name: r, watch: pods, mode: %s, actions: [" + seen + "]}", []string{"Enforce", "Audit"}},
		"existing":          {"apply", "{resource: pods, manifest: {metadata: {name: a}}, existing: %s}", []string{"Update", "Keep"}},
		"release":           {"patch", "{apply: {a: 1}, release: %s}", []string{"Orphan", "Remove"}},
		"propagationPolicy": {"delete", "{propagationPolicy: %s}", []string{"Background", "Foreground", "Orphan"}},
		"type":              {"event", "{reason: A, message: a, type: %s}", []string{"Normal", "Warning"}},
		"op":                {"patch", "{json: [{op: %s, path: /a, from: /b, value: 1}]}", nil},
		"operator": {
			"related", "{resource: pods, selector: {matchExpressions: [{key: a, operator: %s, values: [a]}]}}",
			[]string{"In", "NotIn"},
		},
		"operator without values": {
			"related", "{resource: pods, selector: {matchExpressions: [{key: a, operator: %s}]}}",
			[]string{"Exists", "DoesNotExist"},
		},
	}
	for name, tc := range tests {
		write := func(word string) string { return fmt.Sprintf(places[tc.place].text, fmt.Sprintf(tc.text, word)) }
		for _, word := range tc.words {
			if errs, err := said(write(word)), g.judge(write(word)); len(errs) > 0 || err != nil {
				t.Errorf("%s %s: the decoder says %v, the schema %v", name, word, errs, err)
			}
		}
		errs, err := said(write("qq")), g.judge(write("qq"))
		if len(errs) == 0 || err == nil {
			t.Errorf("%s qq: the decoder says %v, the schema %v", name, errs, err)
			continue
		}
		for _, listed := range regexp.MustCompile(`(?:one of|must be|is) ([\w, ]+)`).FindAllStringSubmatch(errs[0].Hint+"; "+errs[0].Message, -1) {
			for word := range strings.FieldsFuncSeq(listed[1], func(r rune) bool { return r == ',' || r == ' ' }) {
				known := word == "or" || slices.Contains(tc.words, word) || g.judge(write(word)) == nil || name == "op"
				if !known && word[0] >= 'A' && word[0] <= 'Z' {
					t.Errorf("the decoder of %s knows %s, the schema does not", name, word)
				}
			}
		}
	}
}
