package lookup_test

import (
	"strings"
	"testing"

	"github.com/dyncontroller/dyncontroller/pkg/rules/lookup"
)

// TestLongErrors holds that nothing that is written can fill the screen.
func TestLongErrors(t *testing.T) {
	const most = 600                  // Kubernetes' own words for what a label may be are long.
	long := strings.Repeat("x_", 500) // YAML takes no longer key.
	for name, text := range map[string]string{
		"Resource":    "{resource: LONG, all: true}",
		"Field":       "{resource: pods, LONG: true}",
		"Name":        "{resource: pods, name: a/LONG}",
		"Names":       "{resource: pods, names: [a/LONG]}",
		"LabelKey":    `{resource: pods, matchLabels: {"LONG": a}}`,
		"LabelValue":  "{resource: pods, matchLabels: {app: LONG}}",
		"Selector":    `{resource: pods, selector: {"LONG": a}}`,
		"Requirement": `{resource: pods, selector: {matchExpressions: [{key: a, operator: In, "LONG": a}]}}`,
		"Path":        `{resource: pods, matchFields: {"LONG[0]": a}}`,
		"PathValue":   `{resource: pods, matchFields: {"LONG": null}}`,
		"PathList":    `{resource: pods, matchFields: {"LONG": [a]}}`,
		"Owner":       "{resource: pods, ownedBy: LONG}",
		"Namespace":   "{resource: pods, all: true, namespace: LONG}",
	} {
		_, errs := lookup.Compile("found", parse(t, strings.ReplaceAll(text, "LONG", long)), scope, declared(""))
		if len(errs) != 1 {
			t.Errorf("%s: have %d errors, want 1", name, len(errs))
			continue
		}
		if got := len(errs[0].Message) + len(errs[0].Hint) + len(errs[0].Path); got > most {
			t.Errorf("%s: the error is %d bytes long: %.200s", name, got, errs[0])
		}
	}
}

// TestHostile holds that a question costs what it is worth, however it came about.
func TestHostile(t *testing.T) {
	for name, text := range map[string]string{
		"Names":    `{resource: pods, names: "${map(1..1000000, string(#))}"}`,
		"Labels":   `{resource: pods, matchLabels: "${fromPairs(map(1..100000, ['k' + string(#), 'v']))}"}`,
		"Values":   `{resource: pods, selector: {matchExpressions: [{key: a, operator: In, values: "${map(1..1000000, string(#))}"}]}}`,
		"Fields":   `{resource: pods, matchFields: "${fromPairs(map(1..100000, ['k' + string(#), 'v']))}"}`,
		"Text":     `{resource: pods, name: "${repeat('x', 100000000)}"}`,
		"Doubling": `{resource: pods, name: "${reduce(1..60, #acc + #acc, 'aa')}"}`,
	} {
		e, reader := evaluation(t)
		got, err := compile(t, text, declared("")).Evaluate(e, reader)
		if err == nil || got != nil || !strings.Contains(err.Error(), "over its budget") {
			t.Errorf("%s: have %v and %v, want an error of the budget", name, got, err)
		}
		if len(reader.Reads()) > 0 {
			t.Errorf("%s: it was asked for all the same", name)
		}
	}
}
