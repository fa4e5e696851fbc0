package rules_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
)

// applied is a rule that gets as many warnings as it has steps.
func applied(name string, steps int) string {
	return fmt.Sprintf("  - name: %s\n    watch: pods\n    when: object.metadata.labels.n == '%s'\n    actions:\n", name, name) +
		strings.Repeat("    - patch: {apply: {spec: {dnsConfig: {nameservers: [a, b]}}}}\n", steps)
}

func loadTyped(t testing.TB, text string) (*rules.Set, document.Errors) {
	t.Helper()
	return rules.Load([]document.File{{Name: "rules.yaml", Data: []byte(text)}}, typed(t))
}

// TestManyWarnings holds that no number of warnings or notes keeps a rule from being loaded, or a mistake from being found.
func TestManyWarnings(t *testing.T) {
	const right, wrong = "true", "object.spec.nope == 1"
	last := func(when string) string {
		return "  - name: last\n    watch: pods\n    when: " + when + "\n    actions: [{patch: {merge: {metadata: {labels: {a: b}}}}}]\n"
	}
	unknown := func(n int) string {
		var text strings.Builder
		for i := range n {
			fmt.Fprintf(&text, "    r%d: {group: nowhere.example.com, version: v1, resource: r%d}\n", i, i)
		}
		return text.String()
	}
	for n := 98; n <= 103; n++ {
		var each strings.Builder
		for i := range n {
			each.WriteString(applied(fmt.Sprintf("r%d", i), 1))
		}
		head, rulesKey := typedHead, "  rules:\n"
		for name, tc := range map[string]struct {
			reason, text string
			loaded       int // with the last rule, where it is right
		}{
			"rules":     {"A warning of each rule.", head + rulesKey + each.String(), n + 1},
			"steps":     {"All warnings are of one rule.", head + rulesKey + applied("r", n), 2},
			"resources": {"A note of each resource.", head + unknown(n) + rulesKey, 1},
		} {
			t.Run(fmt.Sprint(name, " ", n), func(t *testing.T) {
				if set, errs := loadTyped(t, tc.text+last(wrong)); set != nil || len(errs.Of(document.Mistake)) != 1 {
					t.Errorf("%s The mistake in the last rule is lost; loaded: %t, mistakes: %v", tc.reason, set != nil, errs.Of(document.Mistake))
				}
				set, errs := loadTyped(t, tc.text+last(right))
				if set == nil {
					t.Fatalf("%s Right rules are refused:\n%s", tc.reason, errs.Render())
				}
				if len(set.Rules()) != tc.loaded {
					t.Errorf("%s %d rules are loaded, want %d", tc.reason, len(set.Rules()), tc.loaded)
				}
			})
		}
	}
}

// TestWarningsBounded holds that findings of one file stay few in memory, however many there are, and that it takes no time.
func TestWarningsBounded(t *testing.T) {
	var text strings.Builder
	text.WriteString(typedHead + "  rules:\n")
	for i := range 20 {
		text.WriteString(applied(fmt.Sprintf("r%d", i), 100))
	}
	set, errs := loadTyped(t, text.String())
	if set == nil {
		t.Fatal(errs.Render())
	}
	if got := len(set.Warnings().Of(document.Warning)); got != 101 {
		t.Errorf("%d warnings are kept", got)
	}
}

// TestMoreIsChecked holds that who corrects one kind of mistake is told that another is looked for after that.
func TestMoreIsChecked(t *testing.T) {
	tests := map[string]struct {
		reason string
		rest   string
		more   bool
	}{
		"Right":     {"There is nothing wrong.", oneRule("pods", noted), false},
		"Type":      {"All was looked at.", oneRule("pods", "    when: object.spec.nope == 1\n"+noted), false},
		"Structure": {"A field that there is not.", oneRule("pods", "    wen: true\n"+noted), true},
		"Name":      {"A name that there is not.", oneRule("pods", "    when: nope\n"+noted), true},
		"Let":       {"One of a let of the set.", "  let: {a: nope}\n" + oneRule("pods", noted), true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			set, errs := loadTyped(t, typedHead+tc.rest)
			if set != nil {
				errs = set.Warnings()
			}
			notes := slices.DeleteFunc(errs.Of(document.Note), func(err *document.Error) bool { return err.Code != document.CodeUnchecked })
			if got := len(notes) == 1; got != tc.more || len(notes) > 1 {
				t.Errorf("%s It is said that more is checked: %t, want %t\n%s", tc.reason, got, tc.more, errs.Render())
			}
		})
	}
}

// TestDoubtsBesideMistakes holds that rules which types refuse are doubted, too, but not where they are wrong anyhow.
func TestDoubtsBesideMistakes(t *testing.T) {
	found := said(t, oneRule("pods", "    when: object.spec.nope == 1\n    actions: [{delete: {}}, {patch: {merge: {spec: {nodeSelector: null, schedulerName: {a: null}}}}}]\n"))
	want := []string{
		`spec.rules[0].when: object.spec has no field "nope"`,
		`warning spec.rules[0].actions[0].delete: the rule "rule" deletes, and has no limits: a mistake in it may delete everything`,
	}
	for _, line := range want {
		if !slices.Contains(found, line) {
			t.Errorf("want %s in\n%s", line, strings.Join(found, "\n"))
		}
	}
}

// TestManyKinds holds that a rule may watch very many kinds: then all of each counts as read.
func TestManyKinds(t *testing.T) {
	for _, kinds := range []int{50, 51, 300} {
		var text, watch strings.Builder
		text.WriteString(typedHead)
		for i := range kinds {
			fmt.Fprintf(&text, "    k%d: {group: nowhere.example.com, version: v1, resource: k%d}\n", i, i)
			fmt.Fprintf(&watch, ",k%d", i)
		}
		text.WriteString(oneRule(watch.String()[1:], "    let: {it: object}\n    when: object.spec.a == 1\n    actions: [{patch: {target: it, merge: {spec: {b: 2}}}}]\n"))
		set, errs := loadTyped(t, text.String())
		if set == nil {
			t.Fatal(errs.Render())
		}
		all := set.Footprint().All()
		if len(all) != kinds {
			t.Errorf("%d of %d kinds are in the footprint", len(all), kinds)
		}
		for _, access := range all {
			reads := []string{"spec.a"}
			if kinds > 50 {
				reads = []string{"*"}
			}
			if !slices.Equal(access.Reads.Paths(), reads) || !slices.Equal(access.Writes.Paths(), []string{"spec.b"}) {
				t.Fatalf("of %d kinds %s is read by %v and written by %v", kinds, access.Name, access.Reads.Paths(), access.Writes.Paths())
			}
		}
	}
}
