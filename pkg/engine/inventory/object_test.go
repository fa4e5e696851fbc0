package inventory_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/pkg/api/v1alpha1"
	"github.com/dyncontroller/dyncontroller/pkg/engine/inventory"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

const theirs = "example.com/theirs"

// TestObject holds what becomes of a set and of its finalizers with each change.
func TestObject(t *testing.T) {
	const one, two = "s/a finalizer pods.v1", "s/b children pods.v1 x prune"
	drop := func(b inventory.Book) inventory.Book { return b.Without(b.All()...) }
	tests := map[string]struct {
		reason     string
		before     []string
		arrange    func(*sets)
		change     func(inventory.Book) inventory.Book
		want       []string // finalizers and leftovers; nil for no object
		writes     []string
		gone, fail bool
	}{
		"Nothing": {reason: "A set that leaves nothing needs no finalizer.", change: acting(), want: []string{theirs}},
		"First": {
			reason: "The finalizer comes before what it is for.", change: acting(one, two),
			want: []string{theirs, v1alpha1.Finalizer, one, two}, writes: []string{"finalizers", "status"},
		},
		"Unchanged": {
			reason: "What is stored is not written again.", before: []string{one}, change: acting(one),
			want: []string{theirs, v1alpha1.Finalizer, one},
		},
		"More": {
			reason: "The finalizer is there.", before: []string{one}, change: acting(two),
			want: []string{theirs, v1alpha1.Finalizer, one, two}, writes: []string{"status"},
		},
		"FinalizerTakenOff": {
			reason: "Somebody took it off.", before: []string{one}, change: acting(one),
			arrange: func(s *sets) { s.edit(func(o object) { o.SetFinalizers(nil) }) },
			want:    []string{v1alpha1.Finalizer, one}, writes: []string{"finalizers"},
		},
		"Emptied": {
			reason: "It goes after what it was for.", before: []string{one}, change: drop,
			want: []string{theirs}, writes: []string{"status", "finalizers"},
		},
		"EmptyWithFinalizer": {
			reason: "One that was forgotten goes too.", change: acting(),
			arrange: func(s *sets) { s.edit(func(o object) { o.SetFinalizers([]string{v1alpha1.Finalizer, theirs}) }) },
			want:    []string{theirs}, writes: []string{"finalizers"},
		},
		"DeletedAndKept": {
			reason: "It waits until it is clean.", before: []string{one, two}, arrange: (*sets).delete,
			change: func(b inventory.Book) inventory.Book { return b.Without(leftovers(two)...) },
			want:   []string{theirs, v1alpha1.Finalizer, one}, writes: []string{"status"},
		},
		"DeletedAndClean": {
			reason: "Then it is let go.", before: []string{one}, change: drop,
			arrange: func(s *sets) {
				s.edit(func(o object) { o.SetFinalizers([]string{v1alpha1.Finalizer}) })
				s.delete()
			},
			writes: []string{"status", "finalizers"},
		},
		"DeletedEmpty": {
			reason: "So it is by a change that changes nothing.", change: acting(),
			arrange: func(s *sets) {
				s.edit(func(o object) { o.SetFinalizers([]string{v1alpha1.Finalizer}) })
				s.delete()
			},
			writes: []string{"finalizers"},
		},
		"DeletedNotHeld": {
			reason: "What is about to go cannot note any more.", change: acting(one), arrange: (*sets).delete,
			want: []string{theirs}, gone: true, fail: true,
		},
		"Gone":    {reason: "Nothing is left.", before: []string{one}, arrange: (*sets).drop, change: drop},
		"Missing": {reason: "There is nothing to note it on.", arrange: (*sets).drop, change: acting(one), gone: true, fail: true},
		"Conflict": {
			reason: "Somebody was faster: it begins with what is there now.", before: []string{one}, change: acting(two),
			arrange: func(s *sets) {
				s.meantime = func() { mustUpdate(t, s.store(), acting("s/c fields pods.v1 Orphan")) }
			},
			want: []string{theirs, v1alpha1.Finalizer, one, two, "s/c fields pods.v1 Orphan"}, writes: []string{"status", "status"},
		},
		"DeletedMeanwhile": {
			reason: "It is seen that it is gone.", change: acting(one), arrange: func(s *sets) { s.meantime = s.drop },
			gone: true, fail: true,
		},
		"RecreatedMeanwhile": {
			reason: "The new one is noted on.", change: acting(one),
			arrange: func(s *sets) { s.meantime = s.recreate },
			want:    []string{v1alpha1.Finalizer, one}, writes: []string{"finalizers", "status"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := newSets()
			if tc.before != nil {
				mustUpdate(t, s.store(), acting(tc.before...))
			}
			s.writes = nil
			if tc.arrange != nil {
				tc.arrange(s)
			}
			book, err := inventory.Update(t.Context(), s.store(), tc.change)
			if errors.Is(err, inventory.ErrGone) != tc.gone || (err != nil) != tc.fail {
				t.Fatalf("%s\nthe error is %v", tc.reason, err)
			}
			if diff := cmp.Diff(tc.want, s.state(t)); diff != "" {
				t.Errorf("%s\nfinalizers and leftovers (-want +got):\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.writes, s.writes); diff != "" {
				t.Errorf("%s\nwrites (-want +got):\n%s", tc.reason, diff)
			}
			if err == nil && !book.Equal(mustLoad(t, s.store())) {
				t.Errorf("%s\nreturned was %v", tc.reason, shown(book))
			}
			if status := s.status("conditions"); s.there() && tc.want != nil && name != "RecreatedMeanwhile" && status == nil {
				t.Errorf("%s\nthe rest of the status is lost", tc.reason)
			}
		})
	}
}

// TestObjectForm holds what is stored, which later versions must understand.
func TestObjectForm(t *testing.T) {
	s := newSets()
	mustUpdate(t, s.store(), with(as("bot", leftover("s/a fields pods.v1 x Remove"))...))
	want := []any{map[string]any{
		"rule": "a", "kind": "fields", "group": "example.com", "version": "v1", "resource": "pods", "namespace": "x",
		"release": "Remove", "serviceAccount": "bot", "serviceAccountNamespace": "ns",
	}}
	if diff := cmp.Diff(any(want), s.status("inventory")); diff != "" {
		t.Errorf("status.inventory (-want +got):\n%s", diff)
	}
	if got := mustLoad(t, s.store()).All(); len(got) != 1 || got[0].Account.Name != "bot" || got[0].Account.Namespace != "ns" {
		t.Errorf("it reads as %v", got)
	}
}

// TestObjectUnreadable holds that what is not understood is not forgotten.
func TestObjectUnreadable(t *testing.T) {
	for name, stored := range map[string]any{
		"NoList":      "x",
		"NoEntry":     []any{"x"},
		"Unknown":     []any{map[string]any{"rule": "a", "kind": "finalizer", "version": "v1", "resource": "pods", "more": true}},
		"UnknownKind": []any{map[string]any{"rule": "a", "kind": "status", "version": "v1", "resource": "pods", "serviceAccount": "bot", "serviceAccountNamespace": "ns"}},
		"Incomplete":  []any{map[string]any{"rule": "a", "kind": "finalizer", "version": "v1", "serviceAccount": "bot", "serviceAccountNamespace": "ns"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSets()
			s.edit(func(o object) { o.Object["status"] = map[string]any{"inventory": stored} })
			s.writes = nil
			_, err := inventory.Update(t.Context(), s.store(), func(inventory.Book) inventory.Book { return inventory.Book{} })
			if err == nil || !strings.Contains(err.Error(), "ClusterRuleSet s: status.inventory") || len(s.writes) > 0 {
				t.Errorf("after %v got %v", s.writes, err)
			}
		})
	}
}

// TestObjectForged holds that a set of one namespace cannot be made to clean up in another
// one, or as somebody of another one, by what is in its status.
func TestObjectForged(t *testing.T) {
	tests := map[string]struct {
		reason string
		left   map[string]any
		want   bool
	}{
		"Unnamable":        {"Nobody has such a name, so nobody could ever clean up.", map[string]any{"namespace": "shop", "serviceAccount": "a/b", "serviceAccountNamespace": "shop"}, false},
		"Own":              {"What it has left.", map[string]any{"namespace": "shop", "serviceAccount": "bot", "serviceAccountNamespace": "shop"}, true},
		"Elsewhere":        {"It never was there.", map[string]any{"namespace": "bank", "serviceAccount": "bot", "serviceAccountNamespace": "shop"}, false},
		"Everywhere":       {"Nor everywhere.", map[string]any{"serviceAccount": "bot", "serviceAccountNamespace": "shop"}, false},
		"SomebodyElse":     {"Nor as that one.", map[string]any{"namespace": "shop", "serviceAccount": "bot", "serviceAccountNamespace": "bank"}, false},
		"TheProcessItself": {"Nor as dyncontroller.", map[string]any{"namespace": "shop"}, false},
		"Nameless":         {"Nor as nobody.", map[string]any{"namespace": "shop", "serviceAccountNamespace": "shop"}, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			tc.left["rule"], tc.left["kind"], tc.left["version"], tc.left["resource"] = "a", "children", "v1", "pods"
			s := newSets()
			s.edit(func(o object) { o.Object["status"] = map[string]any{"inventory": []any{tc.left}} })
			store := inventory.NewObject(s, plan.Rule{Kind: "RuleSet", Namespace: "shop", Set: "s"}, "", 0)
			if got := len(mustLoad(t, store).All()); (got == 1) != tc.want {
				t.Errorf("%s %d leftovers are read", tc.reason, got)
			}
		})
	}
}

// TestObjectForgedByAdministrators holds the same of a ClusterRuleSet, which acts wherever
// its account may, but never as dyncontroller.
func TestObjectForgedByAdministrators(t *testing.T) {
	for name, tc := range map[string]struct {
		left map[string]any
		want bool
	}{
		"Anywhere":         {map[string]any{"namespace": "bank", "serviceAccount": "bot", "serviceAccountNamespace": "shop"}, true},
		"TheProcessItself": {map[string]any{"namespace": "bank"}, false},
		"Half":             {map[string]any{"namespace": "bank", "serviceAccount": "bot"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			tc.left["rule"], tc.left["kind"], tc.left["version"], tc.left["resource"] = "a", "children", "v1", "pods"
			s := newSets()
			s.edit(func(o object) { o.Object["status"] = map[string]any{"inventory": []any{tc.left}} })
			if got := len(mustLoad(t, s.store()).All()); (got == 1) != tc.want {
				t.Errorf("%d leftovers are read", got)
			}
		})
	}
}

// TestObjectSeen holds that nothing is known or done of an object but in the version that
// was seen.
func TestObjectSeen(t *testing.T) {
	for name, tc := range map[string]struct {
		reason     string
		uid        types.UID
		generation int64
		changed    bool
	}{
		"Same":    {reason: "It is the one.", uid: "u", generation: 3},
		"Older":   {reason: "It has changed since.", uid: "u", generation: 2, changed: true},
		"Newer":   {reason: "The API server that answers trails.", uid: "u", generation: 4, changed: true},
		"Another": {reason: "It was made anew.", uid: "v", generation: 3, changed: true},
	} {
		s := newSets()
		s.edit(func(o object) {
			o.SetUID("u")
			o.SetGeneration(3)
		})
		before := s.state(t)
		store := inventory.NewObject(s, setNamed("s"), tc.uid, tc.generation)
		_, load := inventory.Load(t.Context(), store)
		_, update := inventory.Update(t.Context(), store, acting("s/a finalizer pods.v1"))
		if errors.Is(load, inventory.ErrChanged) != tc.changed || errors.Is(update, inventory.ErrChanged) != tc.changed {
			t.Errorf("%s: %s The errors are %v and %v", name, tc.reason, load, update)
		}
		if unchanged := slices.Equal(before, s.state(t)); unchanged != tc.changed {
			t.Errorf("%s: %s It has %v", name, tc.reason, s.state(t))
		}
	}
}

// TestObjectFails holds that the error of the API server is passed on, and that somebody
// who is always faster is not followed for ever.
func TestObjectFails(t *testing.T) {
	for name, failure := range map[string]error{
		"Refused": errors.New("refused"), "Conflict": apierrors.NewConflict(v1alpha1.ClusterRuleSets().GroupResource(), "s", errors.New("modified")),
	} {
		s := newSets()
		s.fail = failure
		if _, err := inventory.Update(t.Context(), s.store(), acting("s/a finalizer pods.v1")); !errors.Is(err, failure) {
			t.Errorf("%s: %v", name, err)
		}
		s.unreadable = failure
		if _, err := inventory.Load(t.Context(), s.store()); !errors.Is(err, failure) {
			t.Errorf("%s: loading: %v", name, err)
		}
	}
	if slices.Contains(newSets().finalizers(), v1alpha1.Finalizer) {
		t.Error("the tests begin with the finalizer")
	}
}
