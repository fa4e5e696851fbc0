package operator

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/internal/source"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
)

// TestJudged holds what becomes of set objects, one after the other.
func TestJudged(t *testing.T) {
	good := paints("color", "bot", "blue")
	lost := func(set source.Object) source.Object {
		set.LostNull = "spec.rules[0].when"
		return set
	}
	type step struct {
		files  string // empty for none
		set    func(before source.Object) source.Object
		news   bool
		want   string // the first mistake, empty for none
		runs   bool
		reason string
	}
	same := func(set source.Object) source.Object { return set }
	becomes := func(text string) func(source.Object) source.Object {
		return func(before source.Object) source.Object { return edited(t, before, text) }
	}
	const duplicate = "a file that dyncontroller runs has the same RuleSet"
	cases := map[string][]step{
		"good": {{set: same, runs: true, reason: "It is in effect."}},
		"nobody": {
			{set: becomes(paints("color", "", "blue")), want: "a RuleSet in the cluster must have a serviceAccountName", reason: "It may not act as the process."},
		},
		"last good": {
			{set: same, runs: true, reason: "It is in effect."},
			{set: becomes(paints("color", "bot", "blue") + "  mood: x\n"), want: `unknown field "mood"`, runs: true, reason: "What it said before stays."},
			{set: same, news: true, want: `unknown field "mood"`, runs: true, reason: "So it does when schemas change."},
			{set: becomes(good), runs: true, reason: "It is right again."},
		},
		"never good": {{set: becomes("kind: RuleSet\nmetadata: {name: color, namespace: shop}\nspec: {}\n"), want: `the field "resources" is missing`, reason: "There is nothing before."}},
		"another of the name": {
			{set: same, runs: true, reason: "It is in effect."},
			{
				set: func(before source.Object) source.Object {
					after := edited(t, before, paints("color", "", "blue"))
					after.UID = "another"
					return after
				},
				want: "a RuleSet in the cluster must have a serviceAccountName", reason: "What the one before said is not its own.",
			},
		},
		"a file comes and goes": {
			{set: same, runs: true, reason: "It is in effect."},
			{files: good, set: same, want: duplicate, reason: "The file counts, and no rule runs twice."},
			{set: same, runs: true, reason: "The object is as it was."},
		},
		"a file is first": {
			{files: good, set: same, want: duplicate, reason: "The file counts."},
			{set: same, runs: true, reason: "It takes no change of the object to be in effect then."},
		},
		"a file of the last good": {
			{set: same, runs: true, reason: "It is in effect."},
			{set: becomes(paints("color", "", "blue")), want: "a RuleSet in the cluster must have a serviceAccountName", runs: true, reason: "What it said before stays."},
			{files: good, set: same, want: "a RuleSet in the cluster must have a serviceAccountName", reason: "But not besides a file."},
			{set: same, want: "a RuleSet in the cluster must have a serviceAccountName", runs: true, reason: "It is back with the object."},
		},
		"another file": {{files: paints("other", "", "x"), set: same, runs: true, reason: "It has another name."}},
		"lost null": {
			{set: same, runs: true, reason: "It is in effect."},
			{set: lost, want: "a null was lost on its way into the cluster", runs: true, reason: "An annotation is no new generation, but it tells."},
			{set: same, runs: true, reason: "The author has mended it, the generation is still the same."},
		},
		"deleted": {{set: func(set source.Object) source.Object { return leaving(set) }, reason: "It is not in effect any more."}},
	}
	for name, steps := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := newKit(t, nil)
				defer k.start()()
				set := asObject(t, good)
				for _, step := range steps {
					if step.files == "" {
						k.files()
					} else {
						k.files(step.files)
					}
					next := step.set(set)
					if next.LostNull == "" && !next.Deleting {
						set = next
					}
					k.SetObjects(t.Context(), []source.Object{next}, said{news: step.news})
					k.check(next, step.want, step.runs, step.reason)
				}
			})
		})
	}
}

// check compares what has become of a set object.
func (k *kit) check(set source.Object, want string, runs bool, reason string) {
	k.t.Helper()
	got := k.object(set)
	first := ""
	if wrong := got.mistakes.Of(document.Mistake); len(wrong) > 0 {
		first = wrong[0].Message
	}
	if first != want || got.refused() != (want != "") {
		k.t.Errorf("%s\nrefused: got %q, want %q", reason, first, want)
	}
	if (got.effective() != nil) != runs {
		k.t.Errorf("%s\nin effect: got %v, want %v", reason, got.effective() != nil, runs)
	}
	if version := k.Version(set.Key); (version.Refused != "") != (want != "") || (len(version.Object) > 0) != runs {
		k.t.Errorf("%s\nexplain is told of %+v", reason, version)
	}
	k.mu2().Lock()
	defer k.mu2().Unlock()
	count := 0
	for _, id := range k.joined().IDs() {
		if keyOf(id) == set.Key {
			count++
		}
	}
	if count > 1 {
		k.t.Errorf("%s\nits rule runs %d times", reason, count)
	}
}

// TestVerdictIsKept holds that nothing is compiled again that is the same.
func TestVerdictIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKit(t, nil)
		defer k.start()()
		a, b := asObject(t, paints("a", "bot", "x")), asObject(t, paints("b", "bot", "x"))
		k.setObjects(a, b)
		before := k.object(a)
		k.setObjects(a, edited(t, b, paints("b", "bot", "y")))
		if k.object(a).built != before.built {
			t.Error("a set is compiled again because of another one")
		}
		k.SetObjects(t.Context(), []source.Object{a, b}, said{news: true})
		if k.object(a).built != before.built {
			t.Error("a set is compiled again though nothing has changed of what it names")
		}
	})
}

// TestInOrder holds the order of precedence: by name, kind and namespace.
func TestInOrder(t *testing.T) {
	o := &state{objects: map[source.Key]*object{}}
	for _, key := range []source.Key{{Kind: "RuleSet", Namespace: "b", Name: "x"}, {Kind: "RuleSet", Namespace: "a", Name: "x"}, {Kind: "ClusterRuleSet", Name: "x"}, {Kind: "RuleSet", Namespace: "z", Name: "a"}} {
		o.objects[key] = &object{Object: source.Object{Key: key}}
	}
	var got []string
	for _, set := range o.inOrder() {
		got = append(got, set.String())
	}
	if diff := cmp.Diff([]string{"RuleSet z/a", "ClusterRuleSet x", "RuleSet a/x", "RuleSet b/x"}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestSuspendRefused holds that a version which is refused suspends all the same, and starts nothing that the version in effect suspends.
func TestSuspendRefused(t *testing.T) {
	const wrong = "  mood: x\n"
	good := paints("color", "bot", "blue")
	whole, rule := "  suspend: true\n", "    suspend: true\n"
	for name, tc := range map[string]struct {
		versions  []string
		suspended bool
		reason    string
	}{
		"set":                  {[]string{good, good + whole + wrong}, true, "A mistake elsewhere does not take the brake away."},
		"rule":                 {[]string{good, good + rule + wrong}, true, "A rule is told by its name."},
		"another rule":         {[]string{good, strings.Replace(good, "name: paint", "name: draw", 1) + rule + wrong}, false, "It is of another name."},
		"resumed":              {[]string{good, good + whole + wrong, good + wrong}, false, "The version in effect goes on."},
		"suspended before":     {[]string{good + whole, good + wrong}, true, "What is refused starts nothing."},
		"suspended, corrected": {[]string{good + whole, good + wrong, good}, false, "It is right again."},
		"no list of rules":     {[]string{good, strings.Replace(good, "rules:\n  -", "suspend: true\n  rules:\n   ", 1)}, true, "Whatever else is wrong."},
		"repeated name":        {[]string{good, good + rule + strings.TrimPrefix(good[strings.Index(good, "  - name:"):], "")}, true, "One of them is enough."},
		"name that is no text": {[]string{good, strings.Replace(good, "name: paint", "name: [paint]", 1) + rule}, false, "It names no rule."},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := newKit(t, nil)
				k.account("shop", "bot")
				defer k.start()()
				set := asObject(t, tc.versions[0])
				for _, version := range tc.versions {
					set = edited(t, set, version)
					k.setObjects(set)
					k.pass(20 * time.Second)
				}
				acts := k.painted("one", "color") == "blue"
				if got := k.object(set); acts == tc.suspended || got.effective() == nil {
					t.Errorf("%s It acts: %t; %v", tc.reason, acts, got.mistakes)
				}
				before := k.object(set).effective()
				if k.setObjects(edited(t, set, tc.versions[len(tc.versions)-1])); k.object(set).refused() && k.object(set).effective() != before {
					t.Error("what is in effect is compiled anew though it says the same")
				}
			})
		})
	}
}
