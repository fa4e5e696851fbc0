package lint_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
)

// many writes n rules, each with its number.
func many(n int, rule string) string {
	var text strings.Builder
	text.WriteString(head + "  rules:\n")
	for i := range n {
		text.WriteString("  - {" + strings.ReplaceAll(rule, "%d", fmt.Sprint(i)) + "}\n")
	}
	return text.String()
}

// TestConflictsBounded holds that very many rules that write one field are not compared one by one for ever, and that it is said
// where that ends.
func TestConflictsBounded(t *testing.T) {
	const rule = "name: r%d, watch: gateways, when: object.spec.replicas == %d, actions: [{patch: {merge: {spec: {host: h%d}}}}]"
	for _, tc := range []struct {
		reason, text string
		least, most  int // warnings
		ends         bool
	}{
		{"Few that exclude each other.", many(100, rule), 0, 0, false},
		{"Many that do.", many(1000, rule), 0, 0, true},
		{"Many that do not.", many(1000, strings.Replace(rule, "==", "!=", 1)), 101, 101, true},
		{"Many that have nothing to do with each other.", many(1000, strings.NewReplacer("replicas", "r%d", "host", "h%d", "gateways", "things").Replace(rule)), 0, 0, false},
	} {
		found := findings(t, tc.text)
		if got := len(found.Of(document.Warning)); got < tc.least || got > tc.most {
			t.Errorf("%s There are %d warnings, want %d to %d", tc.reason, got, tc.least, tc.most)
		}
		ends := 0
		for _, err := range found {
			if err.Code == document.CodeUnchecked {
				ends++
			}
		}
		if (ends > 0) != tc.ends {
			t.Errorf("%s It is said %d times that not all was compared, want that: %t", tc.reason, ends, tc.ends)
		}
	}
}

// TestLongConditions holds that conditions which are shared by many rules are cheap to compare.
func TestLongConditions(t *testing.T) {
	list := make([]string, 1900)
	for i := range list {
		list[i] = fmt.Sprint(i)
	}
	ways := make([]string, 16)
	for i := range ways {
		ways[i] = fmt.Sprintf("object.spec.x%d == 1", i)
	}
	for reason, let := range map[string]string{
		"A long list.": "object.spec.x in [" + strings.Join(list, ",") + "]",
		"Many ways.":   strings.Join(ways, " || "),
	} {
		text := many(40, "name: r%d, watch: things, when: hot && object.spec.y == %d, actions: [{patch: {merge: {spec: {a: %d}}}}]")
		text = strings.Replace(text, "  rules:", "  let:\n    hot: \""+let+"\"\n  rules:", 1)
		for _, err := range findings(t, text) {
			if err.Code != document.CodeUntyped {
				t.Errorf("%s %s", reason, err)
			}
		}
	}
}

// TestCyclesOfMany holds that rules which read and write the same are compared once.
func TestCyclesOfMany(t *testing.T) {
	text := many(500, "name: a%d, watch: gateways, when: object.spec.replicas > 3, actions: [{patch: {merge: {spec: {step: 5}}}}]") +
		"  - {name: last, watch: gateways, when: object.spec.step == 3, actions: [{patch: {merge: {spec: {replicas: 5}}}}]}\n"
	got := findings(t, text).Of(document.Note)[1:] // The first is on things.
	if len(got) != 1 || !strings.Contains(got[0].Message, `the rules "a0" and "last" each read`) {
		t.Errorf("got\n%s", got.Render())
	}
}
