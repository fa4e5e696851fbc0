package v1alpha1_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/spec"
)

// whole has every kind of object that a set consists of.
const whole = `apiVersion: dyncontroller.dev/v1alpha1
kind: ClusterRuleSet
metadata: {name: set}
spec:
  serviceAccountName: rules
  serviceAccountNamespace: rules
  mode: Audit
  params: {least: 3}
  let: {prod: object.metadata.name == "a"}
  resources: {pods: {version: v1, resource: pods}, maps: {version: v1, resource: configmaps}}
  rules:
  - name: rule
    watch: pods
    with: {found: {resource: maps, all: true}}
    when: prod
    for: 5m
    limits: {maxObjects: 10%, per: 10m}
    actions:
    - when: true
      patch: {merge: {metadata: {labels: {a: b}}}}
    - apply: {resource: maps, manifest: {metadata: {name: m}}}
    - create: {in: found, manifest: {metadata: {generateName: m-}}}
    - event: {reason: Seen, message: seen}
    onDelete: {actions: [{delete: {target: object}}]}
`

// TestTypoIsKept says that a field that does not exist is stored wherever it is, and that
// the language refuses the set then: it must not be dropped on the way, which would make
// other rules of what somebody wrote.
func TestTypoIsKept(t *testing.T) {
	t.Parallel()
	typos := []struct{ reason, before, after, unknown string }{
		{"beside spec, where somebody did not indent", "spec:\n", "mode: Audit\nspec:\n", "mode"},
		{"in spec", "mode: Audit", "moode: Audit", "moode"},
		{"in a resource", "resource: configmaps", "resource: configmaps, labelSelecter: a=b", "labelSelecter"},
		{"in a rule: without its condition it would match everything", "when: prod", "whenn: prod", "whenn"},
		{"in with", "all: true", "all: true, namespaec: a", "namespaec"},
		{"in limits", "per: 10m", "perr: 10m", "perr"},
		{"in an action: without its condition it would always be done", "- when: true", "- whenn: true", "whenn"},
		{"in patch", "patch: {", "patch: {forse: true, ", "forse"},
		{"in apply", "apply: {", "apply: {ownd: false, ", "ownd"},
		{"in create", "create: {", "create: {ownd: false, ", "ownd"},
		{"in event", "event: {", "event: {typ: Warning, ", "typ"},
		{"in onDelete", "onDelete: {", "onDelete: {hodl: false, ", "hodl"},
		{"in delete", "delete: {", "delete: {gracePeriod: 5, ", "gracePeriod"},
	}
	for _, tc := range typos {
		text := replaced(t, tc.before, tc.after)
		if problem := unchanged(t, decoded(t, []byte(text))); problem != "" {
			t.Errorf("%s: %s", tc.reason, problem)
		}
		if _, errs := load(text); !strings.Contains(errs.Render(), fmt.Sprintf("unknown field %q", tc.unknown)) {
			t.Errorf("%s: the language says of %q %v", tc.reason, tc.after, errs)
		}
	}
	if _, errs := load(whole); len(errs) > 0 || unchanged(t, decoded(t, []byte(whole))) != "" {
		t.Errorf("the set is wrong without a typo too: %v", errs)
	}
}

// TestNullIsKept says that what lost its value is stored as it is, and that the language
// refuses the set then: a `when:` without a value must not mean that there is no condition.
// Only for a mode is the API server itself in the way, since null is none of the words.
func TestNullIsKept(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ before, after string }{
		{"let: {prod: object.metadata.name == \"a\"}", "let:"},
		{"resource: configmaps", "resource: configmaps, labelSelector: "},
		{"with: {found: {resource: maps, all: true}}", "with:"},
		{"all: true", "all: "},
		{"when: prod", "when:"},
		{"for: 5m", "for:"},
		{"limits: {maxObjects: 10%, per: 10m}", "limits:"},
		{"per: 10m", "per: "},
		{"- when: true", "- when:"},
		{"- when: true", "- forEach:\n      when: true"},
		{"onDelete: {actions: [{delete: {target: object}}]}", "onDelete:"},
		{"onDelete: {", "onDelete: {done: , "},
		{"event: {reason: Seen, message: seen}", "event:"},
		{"merge: {metadata: {labels: {a: b}}}", "merge: "},
	} {
		text := replaced(t, tc.before, tc.after)
		if problem := unchanged(t, decoded(t, []byte(text))); problem != "" {
			t.Errorf("%q: %s", tc.after, problem)
		}
		if right(text) {
			t.Errorf("%q: the language takes it", tc.after)
		}
	}
}

// replaced is the whole with something else in it.
func replaced(t *testing.T, before, after string) string {
	t.Helper()
	if !strings.Contains(whole, before) {
		t.Fatalf("there is no %q", before)
	}
	return strings.Replace(whole, before, after, 1)
}

// TestValuesAreKept says that what is of any shape comes back as it was sent, though the
// clients in between may not send it so.
func TestValuesAreKept(t *testing.T) {
	t.Parallel()
	values := []string{
		"null", "true", "0", "9223372036854775807", "-9223372036854775808", "0.5", "1e-7", `""`, `"${nil}"`, "[]", "{}",
		"[null, 1, [a], {b: null}]", "{a: {b: {c: null}}}", `{"${object.metadata.name}": "${omit()}"}`,
		`{apiVersion: v1, kind: Pod, metadata: {name: 5, creationTimestamp: null, "x/y": 1}}`,
	}
	places := map[string]string{
		"params": "least: 3", "let": `prod: object.metadata.name == "a"`, "merge": "labels: {a: b}", "manifest": "name: m",
	}
	for place, before := range places {
		key, _, _ := strings.Cut(before, ":")
		for _, value := range values {
			text := replaced(t, before, key+": "+value)
			if problem := unchanged(t, decoded(t, []byte(text))); problem != "" {
				t.Errorf("%s in %s: %s", value, place, problem)
			}
		}
	}
}

// TestStoredSetIsRead says that the language reads what the API server answers, with all
// that it adds to an object, as it reads the file.
func TestStoredSetIsRead(t *testing.T) {
	t.Parallel()
	got, message := stored(t, decoded(t, []byte(whole)))
	if message != "" {
		t.Fatal(message)
	}
	file := document.File{Name: "stored.yaml", Data: asYAML(t, got)}
	sets, errs := spec.Parse([]document.File{file}, "default")
	if len(errs) > 0 || len(sets) != 1 || len(sets[0].Rules) != 1 {
		t.Errorf("%d sets: %v", len(sets), errs)
	}
}
