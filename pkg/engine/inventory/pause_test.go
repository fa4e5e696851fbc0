package inventory_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/dyncontroller/dyncontroller/pkg/api/v1alpha1"
	"github.com/dyncontroller/dyncontroller/pkg/engine/inventory"
	"github.com/dyncontroller/dyncontroller/pkg/engine/limit"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/spec"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// pauseOf is a pause of the rule "set/rule" of a ClusterRuleSet.
func pauseOf(text string) limit.Pause {
	rule := leftover(text + " finalizer pods.v1").Rule
	return limit.Pause{Rule: rule, Pause: v1alpha1.Pause{
		Rule: rule.Name, Digest: "d", Since: metav1.NewTime(noon), Objects: 3, Of: 30, Limit: "10%", Per: "10m",
	}}
}

func pausesOf(texts ...string) map[plan.Rule]limit.Stored {
	var all []limit.Pause
	for _, text := range texts {
		all = append(all, pauseOf(text))
	}
	return stored(all...)
}

func stored(pauses ...limit.Pause) map[plan.Rule]limit.Stored {
	out := map[plan.Rule]limit.Stored{}
	for _, p := range pauses {
		out[p.Rule] = limit.Stored{Pause: &p.Pause}
	}
	return out
}

// paused names the rules that a book says to be paused.
func paused(b inventory.Book) []string {
	var out []string
	for rule, stored := range b.Limits() {
		if stored.Pause != nil {
			out = append(out, rule.String())
		}
	}
	slices.Sort(out)
	return out
}

func TestBookOfPauses(t *testing.T) {
	base := inventory.NewBook(leftovers("s/a finalizer pods.v1")...).Limiting(pausesOf("s/b", "s/a"))
	later := pauseOf("s/a")
	later.Since = metav1.NewTime(noon.Add(time.Hour))
	tests := map[string]struct {
		reason string
		book   inventory.Book
		want   []string
	}{
		"Sorted":  {"The order is that of the book.", base, []string{"s/a", "s/b"}},
		"With":    {"What is left besides is another matter.", base.With(leftovers("s/c finalizer pods.v1")...), []string{"s/a", "s/b"}},
		"Without": {"So is what has been cleaned up.", base.Without(leftovers("s/a finalizer pods.v1")...), []string{"s/a", "s/b"}},
		"Pausing": {"It has just those that it is given.", base.Limiting(pausesOf("s/c")), []string{"s/c"}},
		"None":    {"Which may be none.", base.Limiting(nil), nil},
		"And":     {"Two books have those of both, each once.", base.And(inventory.Book{}.Limiting(pausesOf("s/c", "s/a"))), []string{"s/a", "s/b", "s/c"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, paused(tc.book)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
	if got := base.And(inventory.Book{}.Limiting(stored(later))).Limits()[later.Rule].Pause; *got != later.Pause {
		t.Errorf("got %+v, want what the other book says", got)
	}
	if base.Equal(base.Limiting(stored(later, pauseOf("s/b")))) || base.Equal(base.Limiting(nil)) {
		t.Error("books with other pauses are equal")
	}
	far := pauseOf("s/a")
	far.Since = metav1.NewTime(far.Since.In(time.FixedZone("far", 3600)))
	if !base.Equal(base.Limiting(stored(far, pauseOf("s/b")))) {
		t.Error("an instant is another one where it is told in another zone")
	}
}

// TestPausesInConfigMap holds that they come back as they were, beside what is left.
func TestPausesInConfigMap(t *testing.T) {
	client := newClient()
	store := newStore(t, client)
	want := inventory.NewBook(leftovers("s/a finalizer pods.v1")...).Limiting(pausesOf("s/a", "t/b"))
	if _, err := inventory.Update(t.Context(), store, func(inventory.Book) inventory.Book { return want }); err != nil {
		t.Fatal(err)
	}
	got, err := inventory.Load(t.Context(), newStore(t, client))
	if err != nil || !got.Equal(want) {
		t.Errorf("err %v, got %+v, want %+v", err, got, want)
	}
	if diff := cmp.Diff(want.Limits(), got.Limits()); diff != "" {
		t.Errorf("pauses (-want +got):\n%s", diff)
	}
}

// TestCountsAreStored holds that they come back as they were.
func TestCountsAreStored(t *testing.T) {
	rule, other := pauseOf("s/a").Rule, pauseOf("t/b").Rule
	count := v1alpha1.Count{Rule: "a", Digest: "d", At: metav1.NewTime(noon), Objects: "AAAABBBB"}
	later := count
	later.At = metav1.NewTime(noon.Add(time.Minute))
	counting := func(rule plan.Rule, counts ...v1alpha1.Count) map[plan.Rule]limit.Stored {
		return map[plan.Rule]limit.Stored{rule: {Counts: counts}}
	}
	want := counting(rule, count, later)
	stores := map[string]inventory.Part{"ConfigMap": newStore(t, newClient()), "Object": newSets().store()}
	for name, store := range stores {
		mustUpdate(t, store, func(b inventory.Book) inventory.Book { return b.Limiting(counting(rule, later, count)) })
		if diff := cmp.Diff(want, mustLoad(t, store).Limits()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		mustUpdate(t, store, func(b inventory.Book) inventory.Book {
			return b.With(leftovers("s/b finalizer pods.v1")...).Without(leftovers("s/b finalizer pods.v1")...)
		})
		if diff := cmp.Diff(want, mustLoad(t, store).Limits()); diff != "" {
			t.Errorf("%s: after another change (-want +got):\n%s", name, diff)
		}
	}
	mine := func(l plan.Leftover) bool { return l.Rule.Set == "s" }
	shared := &inventory.Memory{}
	mustUpdate(t, shared, func(b inventory.Book) inventory.Book {
		return b.Limiting(counting(rule, count)).And(inventory.Book{}.Limiting(counting(other, count)))
	})
	mustUpdate(t, inventory.Scope(shared, mine), func(b inventory.Book) inventory.Book { return b.Limiting(counting(rule, later)) })
	both := counting(rule, later)
	both[other] = counting(other, count)[other]
	if diff := cmp.Diff(both, mustLoad(t, shared).Limits()); diff != "" {
		t.Errorf("shared (-want +got):\n%s", diff)
	}
}

// TestPausesInAnObject holds the same of a status, and that a pause alone holds no object:
// it is gone with its set.
func TestPausesInAnObject(t *testing.T) {
	client := newSets()
	pause := pauseOf("s/a")
	pause.Asked = true
	book := mustUpdate(t, client.store(), func(b inventory.Book) inventory.Book { return b.Limiting(stored(pause)) })
	if diff := cmp.Diff(stored(pause), book.Limits()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := client.finalizers(); slices.Contains(got, v1alpha1.Finalizer) {
		t.Errorf("the finalizers are %v", got)
	}
	if diff := cmp.Diff(stored(pause), mustLoad(t, client.store()).Limits()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	mustUpdate(t, client.store(), func(b inventory.Book) inventory.Book { return b.Limiting(nil) })
	if got := client.status("paused"); got != nil {
		t.Errorf("the status is %v", got)
	}
	client.drop()
	if _, err := inventory.Update(t.Context(), client.store(), func(b inventory.Book) inventory.Book { return b.Limiting(stored(pause)) }); err != nil {
		t.Errorf("a set that is gone needs no pause: %v", err)
	}
}

// TestAsked holds what becomes of the annotation that asks rules to resume: a name stays until that is answered.
func TestAsked(t *testing.T) {
	const both = " a, other"
	pause, none := stored(pauseOf("s/a")), map[plan.Rule]limit.Stored{}
	answered := func(all map[plan.Rule]limit.Stored) map[plan.Rule]limit.Stored {
		rule := pauseOf("s/a").Rule
		return map[plan.Rule]limit.Stored{rule: {Pause: all[rule].Pause, Answered: true}}
	}
	tests := map[string]struct {
		reason        string
		before, after map[plan.Rule]limit.Stored
		asks          string
		want          string
		writes        []string
	}{
		"Resumed":  {"It has to be asked for again the next time.", pause, answered(none), "a", "", []string{"status", "annotations"}},
		"OneOfTwo": {"The other one has not.", stored(pauseOf("s/a"), pauseOf("s/other")), answered(none), both, "other", []string{"status", "annotations"}},
		"Paused":   {"It has been asked for since.", pause, pause, both, both, nil},
		"Though":   {"It has paused though it was asked.", none, answered(pause), both, "other", []string{"status", "annotations"}},
		"Stored":   {"That could not be done before.", pause, answered(pause), both, "other", []string{"annotations"}},
		"Later":    {"So it is once the rule has resumed.", none, answered(none), "a", "", []string{"annotations"}},
		"Early":    {"It is for later, and that will not count.", none, none, both, both, nil},
		"NotAsked": {"There is nothing to take off.", pause, answered(none), "", "", []string{"status"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := newSets()
			mustUpdate(t, s.store(), func(b inventory.Book) inventory.Book { return b.Limiting(tc.before) })
			s.annotate(tc.asks)
			s.writes = nil
			book := mustUpdate(t, s.store(), func(b inventory.Book) inventory.Book { return b.Limiting(tc.after) })
			got := s.annotations()
			if got["theirs"] != "kept" || got[spec.ResumeAnnotation] != tc.want || tc.want == "" && len(got) > 1 {
				t.Errorf("%s annotations %v, want %q", tc.reason, got, tc.want)
			}
			if diff := cmp.Diff(tc.writes, s.writes); diff != "" {
				t.Errorf("%s writes (-want +got):\n%s", tc.reason, diff)
			}
			if !slices.Equal(book.Asked(setNamed("s")), mustLoad(t, s.store()).Asked(setNamed("s"))) {
				t.Errorf("%s the book returned asks for %q", tc.reason, book.Asked(setNamed("s")))
			}
		})
	}
}

// TestAskedStays holds that a book is stored, and known to be, though the annotation cannot be changed.
func TestAskedStays(t *testing.T) {
	s := newSets()
	s.annotate("a")
	s.failAnnotations = errors.New("a policy refuses it")
	pause := pauseOf("s/a")
	rule, want := pause.Rule, map[plan.Rule]limit.Stored{pause.Rule: {Pause: &pause.Pause, Answered: true}}
	joined := inventory.Join(func() inventory.Parts {
		return inventory.Parts{Sets: map[plan.Rule]inventory.Part{rule.OfSet(): s.store()}, Rest: &inventory.Memory{}}
	})
	change := func(b inventory.Book) inventory.Book { return b.Limiting(want) }
	book, err := inventory.Update(t.Context(), joined, change)
	partly, _ := errors.AsType[*inventory.PartialError](err)
	if !errors.Is(err, inventory.ErrAsked) || !errors.Is(err, s.failAnnotations) || partly == nil || partly.Lacks(rule.OfSet()) {
		t.Errorf("the error is %v", err)
	}
	if !slices.Equal(paused(book), []string{"s/a"}) || !slices.Equal(paused(mustLoad(t, s.store())), []string{"s/a"}) || !slices.Equal(book.Asked(rule), []string{"a"}) {
		t.Errorf("paused %v, asked %v", paused(book), book.Asked(rule))
	}
	s.failAnnotations = nil
	if mustUpdate(t, joined, change); s.annotations()[spec.ResumeAnnotation] != "" {
		t.Errorf("annotations %v", s.annotations())
	}
}

// TestAskedInABook holds that what sets ask stays with a book, is found with its part, and makes it another one.
func TestAskedInABook(t *testing.T) {
	one, other := leftover("s/a finalizer pods.v1").Rule, leftover("s/b finalizer pods.v1").Rule
	asking := inventory.Book{}.Asking(one, "a", "c")
	for name, book := range map[string]inventory.Book{
		"With": asking.With(leftovers("s/a finalizer pods.v1")...), "Without": asking.Without(leftovers("s/a finalizer pods.v1")...),
		"Limiting": asking.Limiting(pausesOf("s/a")), "And": inventory.NewBook().And(asking), "AndNothing": asking.And(inventory.NewBook()),
	} {
		asks, known := book.Asks(one)
		others, knownToo := book.Asks(other)
		if _, file := book.Asks(plan.Rule{Kind: one.Kind, Set: "file", Name: "a"}); !asks || !known || others || !knownToo || file {
			t.Errorf("%s: %v", name, book.Asked(one))
		}
	}
	if asking.Equal(inventory.Book{}.Asking(one, "a")) || asking.Equal(inventory.Book{}) {
		t.Error("books that ask for something else are equal")
	}
	s := newSets()
	ask := func(names string) {
		s.edit(func(o object) { o.SetAnnotations(map[string]string{spec.ResumeAnnotation: names}) })
	}
	ask("a")
	same := func(b inventory.Book) inventory.Book { return b }
	joined := inventory.Join(func() inventory.Parts {
		return inventory.Parts{Sets: map[plan.Rule]inventory.Part{one.OfSet(): s.store()}, Rest: &inventory.Memory{}}
	})
	dry := inventory.NewDryRun(s.store())
	for name, part := range map[string]inventory.Part{"Join": joined, "DryRun": dry} {
		if book := mustUpdate(t, part, same); !slices.Equal(book.Asked(one), []string{"a"}) {
			t.Errorf("%s: it asks for %q", name, book.Asked(one))
		}
	}
	mustUpdate(t, dry, func(b inventory.Book) inventory.Book { return b.Limiting(pausesOf("s/a")) })
	s.annotate("b")
	if again := mustLoad(t, dry); !slices.Equal(again.Asked(one), []string{"a"}) {
		t.Errorf("it is read again for %q, though nobody had it do so", again.Asked(one))
	}
	dry.Hear(s.store())
	if book := mustLoad(t, dry); !slices.Equal(book.Asked(one), []string{"b"}) || len(book.Limits()) != 1 {
		t.Errorf("a dry run goes on with %v and does not hear that %q is asked now", book.Limits(), book.Asked(one))
	}
}

// TestPausesThatCannotBeRead holds that who cannot tell what is paused says so, and where.
func TestPausesThatCannotBeRead(t *testing.T) {
	for name, text := range map[string]string{
		"no rule":   `[{"digest":"d","since":"2026-01-01T12:00:00Z","objects":1,"of":1,"limit":"1","per":"1m"}]`,
		"no digest": `[{"rule":"a","since":"2026-01-01T12:00:00Z","objects":1,"of":1,"limit":"1","per":"1m"}]`,
		"newer":     `[{"rule":"a","digest":"d","until":"2026-01-01T12:00:00Z"}]`,
		"no list":   `{"rule":"a"}`,
	} {
		t.Run(name, func(t *testing.T) {
			var list any
			if err := json.Unmarshal([]byte(text), &list); err != nil {
				t.Fatal(err)
			}
			client := newSets()
			client.edit(func(o object) { o.Object["status"] = map[string]any{"paused": list} })
			if _, err := inventory.Load(t.Context(), client.store()); err == nil || !strings.Contains(err.Error(), "status.paused") {
				t.Errorf("got %v", err)
			}
		})
	}
}

// TestPausesInParts holds that each set has its own, that those of a set move with it, and
// that somebody else's are left alone.
func TestPausesInParts(t *testing.T) {
	set, rest := &inventory.Memory{}, &inventory.Memory{}
	before := inventory.Book{}.Limiting(pausesOf("own/a", "file/b", "theirs/c"))
	mustUpdate(t, rest, func(inventory.Book) inventory.Book { return before })
	mine := func(l plan.Leftover) bool { return l.Rule.Set != "theirs" }
	joined := inventory.Join(func() inventory.Parts {
		return inventory.Parts{
			Sets: map[plan.Rule]inventory.Part{leftover("own/a finalizer pods.v1").Rule.OfSet(): set},
			Rest: inventory.Scope(rest, mine),
		}
	})
	got, err := inventory.Update(t.Context(), joined, func(b inventory.Book) inventory.Book { return b })
	if diff := cmp.Diff([]string{"file/b", "own/a"}, paused(got)); err != nil || diff != "" {
		t.Errorf("err %v (-want +got):\n%s", err, diff)
	}
	for name, tc := range map[string]struct {
		store inventory.Part
		want  []string
	}{"set": {set, []string{"own/a"}}, "rest": {rest, []string{"file/b", "theirs/c"}}} {
		if book, err := inventory.Load(t.Context(), tc.store); err != nil || cmp.Diff(tc.want, paused(book)) != "" {
			t.Errorf("%s: err %v, got %v, want %v", name, err, paused(book), tc.want)
		}
	}
}

// failing is a store that fails.
type failing struct{}

func (failing) Read(context.Context) (inventory.Book, inventory.Replace, error) {
	return inventory.Book{}, nil, errors.New("it fails")
}

// TestLacks holds of which sets nothing is known when a part fails.
func TestLacks(t *testing.T) {
	own, other, file := plan.Rule{Set: "own"}, plan.Rule{Set: "other"}, plan.Rule{Set: "file"}
	tests := map[string]struct {
		reason    string
		own, rest inventory.Part
		lacks     []plan.Rule
	}{
		"Set":  {reason: "A set that fails says nothing of others.", own: failing{}, rest: &inventory.Memory{}, lacks: []plan.Rule{own}},
		"Rest": {reason: "The rest is of all that have no part.", own: &inventory.Memory{}, rest: failing{}, lacks: []plan.Rule{file}},
		"Fine": {reason: "Nothing is lacking.", own: &inventory.Memory{}, rest: &inventory.Memory{}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			store := inventory.Join(func() inventory.Parts {
				return inventory.Parts{Sets: map[plan.Rule]inventory.Part{own: tc.own, other: &inventory.Memory{}}, Rest: tc.rest}
			})
			_, err := inventory.Update(t.Context(), store, func(b inventory.Book) inventory.Book { return b })
			partial, _ := errors.AsType[*inventory.PartialError](err)
			var got []plan.Rule
			for _, set := range []plan.Rule{own, other, file} {
				if partial.Lacks(set) {
					got = append(got, set)
				}
			}
			if diff := cmp.Diff(tc.lacks, got); diff != "" {
				t.Errorf("%s %v (-want +got):\n%s", tc.reason, err, diff)
			}
		})
	}
}
