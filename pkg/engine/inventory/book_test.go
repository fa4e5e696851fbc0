package inventory_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"pgregory.net/rapid"

	"github.com/dyncontroller/dyncontroller/pkg/engine/inventory"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// leftover reads "set/rule kind resource.version[ namespace][ Remove][ prune]".
func leftover(text string) plan.Leftover {
	words := strings.Fields(text)
	set, rule, _ := strings.Cut(words[0], "/")
	resource, version, _ := strings.Cut(words[2], ".")
	l := plan.Leftover{
		Rule: plan.Rule{Kind: "ClusterRuleSet", Set: set, Name: rule},
		GVR:  schema.GroupVersionResource{Group: "example.com", Version: version, Resource: resource},
		Kind: plan.LeftoverKind(words[1]),
	}
	for _, word := range words[3:] {
		switch word {
		case "Remove", "Orphan":
			l.Release = plan.ReleasePolicy(word)
		case "prune":
			l.Prune = true
		default:
			l.Namespace = word
		}
	}
	return l
}

func leftovers(lines ...string) []plan.Leftover {
	var out []plan.Leftover
	for _, line := range lines {
		out = append(out, leftover(line))
	}
	return out
}

func shown(b inventory.Book) []string {
	var out []string
	for _, l := range b.All() {
		words := []string{l.Rule.String(), string(l.Kind), l.GVR.Resource + "." + l.GVR.Version}
		if l.Namespace != "" {
			words = append(words, l.Namespace)
		}
		if l.Release != "" {
			words = append(words, string(l.Release))
		}
		if l.Prune {
			words = append(words, "prune")
		}
		out = append(out, strings.Join(words, " "))
	}
	return out
}

func TestBook(t *testing.T) {
	tests := map[string]struct {
		reason               string
		before, with, remove []string
		want                 []string
	}{
		"Sorted": {
			reason: "The order is that of the book, each is there once.",
			with:   []string{"s/b finalizer pods.v1", "s/a fields pods.v1 Orphan", "s/b finalizer pods.v1"},
			want:   []string{"s/a fields pods.v1 Orphan", "s/b finalizer pods.v1"},
		},
		"Grows": {
			reason: "What was left before stays until it has been cleaned up.",
			before: []string{"s/a finalizer pods.v1"}, with: []string{"s/b finalizer pods.v1", "s/a fields pods.v1 Orphan"},
			want: []string{"s/a fields pods.v1 Orphan", "s/a finalizer pods.v1", "s/b finalizer pods.v1"},
		},
		"Version": {
			reason: "Another version is the same thing, and the one that is served now counts.",
			before: []string{"s/a finalizer pods.v1beta1"}, with: []string{"s/a finalizer pods.v1"},
			want: []string{"s/a finalizer pods.v1"},
		},
		"Policy": {
			reason: "The last word about what becomes of it counts.",
			before: []string{"s/a fields pods.v1 Remove", "s/a children pods.v1 prune"},
			with:   []string{"s/a fields pods.v1 Orphan", "s/a children pods.v1"},
			want:   []string{"s/a children pods.v1", "s/a fields pods.v1 Orphan"},
		},
		"PolicyElsewhere": {
			reason: "Also where the rule is not any more: children that are not to go now must not go later.",
			before: []string{"s/a children pods.v1beta1 prune", "s/a children pods.v1beta1 x prune"},
			with:   []string{"s/a children pods.v1 y"},
			want:   []string{"s/a children pods.v1"},
		},
		"Wider": {
			reason: "Everywhere is in each namespace too.",
			before: []string{"s/a finalizer pods.v1 x", "s/a finalizer pods.v1 y"}, with: []string{"s/a finalizer pods.v1"},
			want: []string{"s/a finalizer pods.v1"},
		},
		"Narrower": {
			reason: "What was left everywhere is not forgotten.",
			before: []string{"s/a finalizer pods.v1"}, with: []string{"s/a finalizer pods.v1 x"},
			want: []string{"s/a finalizer pods.v1"},
		},
		"Without": {
			reason: "What is done goes, whatever the version was that it was done in.",
			before: []string{"s/a finalizer pods.v1", "s/b finalizer pods.v1"}, remove: []string{"s/a finalizer pods.v2"},
			want: []string{"s/b finalizer pods.v1"},
		},
		"WithoutCovered": {
			reason: "What is done everywhere is done in each namespace.",
			before: []string{"s/a finalizer pods.v1 x", "s/b finalizer pods.v1 x"}, remove: []string{"s/a finalizer pods.v1"},
			want: []string{"s/b finalizer pods.v1 x"},
		},
		"WithoutElsewhere": {
			reason: "What is done in one namespace is not done everywhere.",
			before: []string{"s/a finalizer pods.v1"}, remove: []string{"s/a finalizer pods.v1 x"},
			want: []string{"s/a finalizer pods.v1"},
		},
		"WithoutOther": {
			reason: "Another rule, set, resource or kind is another thing.",
			before: []string{"s/a finalizer pods.v1"},
			remove: []string{"s/b finalizer pods.v1", "t/a finalizer pods.v1", "s/a finalizer nodes.v1", "s/a fields pods.v1 Orphan"},
			want:   []string{"s/a finalizer pods.v1"},
		},
		"CameBack": {
			reason: "A rule that came back during the cleanup is still in the book.",
			before: []string{"s/a finalizer pods.v1"}, remove: []string{"s/a finalizer pods.v1"}, with: []string{"s/a finalizer pods.v1"},
			want: []string{"s/a finalizer pods.v1"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			before := inventory.NewBook(leftovers(tc.before...)...)
			kept := before.All()
			got := before.Without(leftovers(tc.remove...)...).With(leftovers(tc.with...)...)
			if diff := cmp.Diff(tc.want, shown(got)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if !slices.Equal(kept, before.All()) {
				t.Errorf("%s the book itself was changed", tc.reason)
			}
			if again := got.With(leftovers(tc.with...)...); !again.Equal(got) {
				t.Errorf("%s to add the same again changes the book to %v", tc.reason, shown(again))
			}
		})
	}
}

func TestStale(t *testing.T) {
	rule := func(text string) plan.Rule { return leftover(text + " finalizer pods.v1").Rule }
	tests := map[string]struct {
		reason              string
		book, current       []string
		rules               []plan.Rule
		removed, goneLonger []string
	}{
		"Nothing": {reason: "An empty book has nothing stale.", current: []string{"s/a finalizer pods.v1"}, rules: []plan.Rule{rule("s/a")}},
		"Current": {
			reason: "What a rule leaves now is wanted.",
			book:   []string{"s/a finalizer pods.v1"}, current: []string{"s/a finalizer pods.v1"}, rules: []plan.Rule{rule("s/a")},
		},
		"RuleRemoved": {
			reason: "The set is there, the rule is not.",
			book:   []string{"s/a finalizer pods.v1"}, rules: []plan.Rule{rule("s/b")},
			removed: []string{"s/a finalizer pods.v1"},
		},
		"RuleLeavesLess": {
			reason: "The rule is there, and has no onDelete any more.",
			book:   []string{"s/a finalizer pods.v1", "s/a fields pods.v1 Orphan"}, current: []string{"s/a fields pods.v1 Orphan"}, rules: []plan.Rule{rule("s/a")},
			removed: []string{"s/a finalizer pods.v1"},
		},
		"SetLeavesNothing": {
			reason: "A set whose rules leave nothing now exists all the same.",
			book:   []string{"s/a finalizer pods.v1"}, rules: []plan.Rule{rule("s/a")},
			removed: []string{"s/a finalizer pods.v1"},
		},
		"SetGone": {
			reason: "The set is gone: that may be a mistake.",
			book:   []string{"s/a finalizer pods.v1"}, current: []string{"t/a finalizer pods.v1"}, rules: []plan.Rule{rule("t/a")},
			goneLonger: []string{"s/a finalizer pods.v1"},
		},
		"AllGone": {
			reason: "So it may be where there are no rules at all.",
			book:   []string{"s/a finalizer pods.v1"}, goneLonger: []string{"s/a finalizer pods.v1"},
		},
		"SameNameElsewhere": {
			reason: "A set of that name in a namespace is another.",
			book:   []string{"s/a finalizer pods.v1"}, rules: []plan.Rule{{Kind: "RuleSet", Namespace: "x", Set: "s", Name: "a"}},
			goneLonger: []string{"s/a finalizer pods.v1"},
		},
		"Moved": {
			reason: "A rule that moved to another set has other marks there; those of the old place are nobody's.",
			book:   []string{"s/a finalizer pods.v1"}, current: []string{"t/a finalizer pods.v1"}, rules: []plan.Rule{rule("s/b"), rule("t/a")},
			removed: []string{"s/a finalizer pods.v1"},
		},
		"Renamed": {
			reason: "So has a rule that was renamed.",
			book:   []string{"s/a children pods.v1 prune"}, current: []string{"s/b children pods.v1 prune"}, rules: []plan.Rule{rule("s/b")},
			removed: []string{"s/a children pods.v1 prune"},
		},
		"Version": {
			reason: "The objects of another version are the same, and so are the finalizers on them.",
			book:   []string{"s/a finalizer pods.v1beta1"}, current: []string{"s/a finalizer pods.v1"}, rules: []plan.Rule{rule("s/a")},
		},
		"Policy": {
			reason: "Another policy does not make it unwanted.",
			book:   []string{"s/a children pods.v1 prune"}, current: []string{"s/a children pods.v1"}, rules: []plan.Rule{rule("s/a")},
		},
		"OtherResource": {
			reason: "The rule watches something else now.",
			book:   []string{"s/a finalizer pods.v1"}, current: []string{"s/a finalizer nodes.v1"}, rules: []plan.Rule{rule("s/a")},
			removed: []string{"s/a finalizer pods.v1"},
		},
		"Wider": {
			reason: "Everywhere is here too.",
			book:   []string{"s/a finalizer pods.v1 x"}, current: []string{"s/a finalizer pods.v1"}, rules: []plan.Rule{rule("s/a")},
		},
		"Narrower": {
			reason: "Some of what is everywhere is still wanted.",
			book:   []string{"s/a finalizer pods.v1"}, current: []string{"s/a finalizer pods.v1 x"}, rules: []plan.Rule{rule("s/a")},
		},
		"OtherNamespace": {
			reason: "The rule has nothing to do with that namespace any more.",
			book:   []string{"s/a finalizer pods.v1 x", "s/a finalizer pods.v1 y"}, current: []string{"s/a finalizer pods.v1 y"}, rules: []plan.Rule{rule("s/a")},
			removed: []string{"s/a finalizer pods.v1 x"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			removed, gone := inventory.NewBook(leftovers(tc.book...)...).Stale(leftovers(tc.current...), tc.rules)
			if diff := cmp.Diff(tc.removed, shown(inventory.NewBook(removed...))); diff != "" {
				t.Errorf("%s removed (-want +got):\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.goneLonger, shown(inventory.NewBook(gone...))); diff != "" {
				t.Errorf("%s gone (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestNothingWantedIsStale holds for any book and rules that what is stale meets
// nothing that a rule leaves now, and that nothing is lost on the way.
func TestNothingWantedIsStale(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		book := inventory.NewBook(draw(t, "book")...)
		current := draw(t, "current")
		var rules []plan.Rule
		for _, l := range current {
			rules = append(rules, l.Rule)
		}
		removed, gone := book.Stale(current, rules)
		stale := slices.Concat(removed, gone)
		for _, l := range book.All() {
			wanted := slices.ContainsFunc(current, func(c plan.Leftover) bool { return covers(l, c) || covers(c, l) })
			if wanted == slices.Contains(stale, l) {
				t.Fatalf("%v is wanted %v, stale %v", l, wanted, !wanted)
			}
		}
		now := book.With(current...)
		for _, l := range append(book.All(), current...) {
			if !slices.ContainsFunc(now.All(), func(n plan.Leftover) bool { return covers(n, l) }) {
				t.Fatalf("%v is lost in %v", l, shown(now))
			}
		}
		later, _ := now.Stale(current, rules)
		if !slices.EqualFunc(later, removed, func(a, b plan.Leftover) bool { return a.Thing() == b.Thing() }) {
			t.Fatalf("to record what there is makes %v stale, before it was %v", later, removed)
		}
		if rest := now.Without(stale...).With(current...); len(rest.All()) > len(now.All()) {
			t.Fatalf("cleaning up %v made of %v %v", stale, shown(now), shown(rest))
		}
	})
}

// covers reports whether what l may be on, by may be on too.
func covers(by, l plan.Leftover) bool {
	if by.Namespace == "" {
		l.Namespace = ""
	}
	return by.Thing() == l.Thing()
}

func draw(t *rapid.T, label string) []plan.Leftover {
	seen := map[plan.Leftover]bool{}
	var out []plan.Leftover
	for _, text := range rapid.SliceOfN(rapid.Custom(func(t *rapid.T) string {
		pick := func(of ...string) string { return rapid.SampledFrom(of).Draw(t, "word") }
		return pick("s/a", "s/b", "t/a") + " " + pick("finalizer", "children") + " pods." + pick("v1", "v2") + pick("", " x", " y")
	}), 0, 6).Draw(t, label) {
		l := leftover(text)
		// Of one rule a resource has one version and policy, wherever it is.
		wide := l
		wide.Namespace = ""
		if !seen[wide.Thing()] || !strings.HasSuffix(text, "v2") {
			seen[wide.Thing()] = true
			out = append(out, l)
		}
	}
	return out
}

// TestMemoryUnchanged holds that who changes nothing overtakes nobody: tenants of a process without files share a [inventory.Memory].
func TestMemoryUnchanged(t *testing.T) {
	var memory inventory.Memory
	before, replace, err := memory.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := replace(t.Context(), before); err != nil {
		t.Fatal(err)
	}
	if _, err := replace(t.Context(), before); err != nil {
		t.Errorf("overtaken by nothing: %v", err)
	}
}
