package operator

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/internal/source"
	"github.com/dyncontroller/dyncontroller/pkg/engine/cleanup"
	"github.com/dyncontroller/dyncontroller/pkg/engine/inventory"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/spec"
)

// left is what a rule of a RuleSet in the namespace shop has left there.
func left(set, rule, account string) plan.Leftover {
	out := plan.Leftover{
		Rule: plan.Rule{Kind: spec.KindRuleSet, Namespace: "shop", Set: set, Name: rule}, Kind: plan.LeftFields, Namespace: "shop",
		GVR: apischema.GroupVersionResource{Version: "v1", Resource: "configmaps"}, Release: plan.OrphanFields,
	}
	if account != "" {
		out.Account = shop(account)
	}
	return out
}

// leave notes that sets in files have left something.
func (k *kit) leave(all ...plan.Leftover) {
	k.t.Helper()
	_, err := inventory.Update(k.t.Context(), k.leftovers.files, func(b inventory.Book) inventory.Book { return b.With(all...) })
	if err != nil {
		k.t.Fatal(err)
	}
}

// leavings is what is noted of sets in files, as "set.rule account".
func (k *kit) leavings() []string {
	k.t.Helper()
	book, err := inventory.Load(k.t.Context(), k.leftovers.files)
	if err != nil {
		k.t.Fatal(err)
	}
	return shown(book.All())
}

func shown(all []plan.Leftover) []string {
	out := []string{}
	for _, l := range all {
		out = append(out, strings.TrimSpace(l.Rule.Set+"."+l.Rule.Name+" "+l.Account.Name))
	}
	slices.Sort(out)
	return out
}

// TestOwnership holds which leftovers of sets in files somebody looks after.
func TestOwnership(t *testing.T) {
	all := []plan.Leftover{
		left("file", "now", ""), left("file", "before", "ann"), left("gone", "a", ""), left("gone", "b", "ann"),
		left("object", "a", "ann"), left("refused", "a", "ann"), left("deleted", "a", "ann"),
	}
	refused := asObject(t, paints("refused", "", "x"))
	objects := []source.Object{
		asObject(t, keeps("object", "bob", "a")), refused, leaving(asObject(t, keeps("deleted", "bob", "a"))),
	}
	cases := map[string]struct {
		reason    string
		unlisted  bool
		withoutIt bool // --rules-from-cluster
		want      map[string][]string
	}{
		"listed": {
			reason: "Who runs a set looks after it; what it left for a set that is gone is for who left it. A set with an object is not gone, refused or deleted.",
			want: map[string][]string{
				"":    {"file.before ann", "file.now", "gone.a"},
				"ann": {"gone.b ann"},
				"bob": {"object.a ann"},
			},
		},
		"not listed yet": {
			reason: "It is not known whether there is an object, so nothing is gone.", unlisted: true,
			want: map[string][]string{"": {"file.before ann", "file.now"}, "ann": {}, "bob": {}},
		},
		"never listed": {
			reason: "There are no objects to wait for.", unlisted: true, withoutIt: true,
			want: map[string][]string{
				"":    {"file.before ann", "file.now", "gone.a"},
				"ann": {"deleted.a ann", "gone.b ann", "object.a ann", "refused.a ann"}, "bob": {},
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := newKit(t, func(o *Options) { o.Settings.FromCluster = !tc.withoutIt })
				defer k.start()()
				k.files(keeps("file", "", "now"))
				if !tc.unlisted {
					k.setObjects(objects...)
				}
				for account, want := range tc.want {
					who := types.NamespacedName{}
					if account != "" {
						who = shop(account)
					}
					k.mu2().Lock()
					mine := k.leftovers.ownership(who)
					k.mu2().Unlock()
					got := shown(slices.DeleteFunc(slices.Clone(all), func(l plan.Leftover) bool { return !mine(l) }))
					if diff := cmp.Diff(want, got); diff != "" {
						t.Errorf("%s\nof %q (-want +got):\n%s", tc.reason, account, diff)
					}
				}
			})
		})
	}
}

// TestPrunes holds what is cleaned up after of sets that are gone.
func TestPrunes(t *testing.T) {
	for name, prune := range map[string]bool{"with --prune": true, "without": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := newKit(t, func(o *Options) { o.Settings.Prune = prune })
				defer k.start()()
				k.setObjects(asObject(t, paints("refused", "", "x")), leaving(asObject(t, paints("deleted", "bob", "x"))))
				for set, want := range map[string]bool{"refused": false, "deleted": true, "gone": prune} {
					if got := k.leftovers.prunes(left(set, "", "").Rule); got != want {
						t.Errorf("%s: got %v", set, got)
					}
				}
			})
		})
	}
}

// TestRefusedAfterRestart holds that what a set has left is left alone while it is only
// refused, wherever it is noted, even with --prune.
func TestRefusedAfterRestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKit(t, func(o *Options) { o.Settings.Prune = true })
		k.account("shop", "ann")
		k.leave(left("refused", "a", "ann"), left("object", "a", "ann"))
		k.sent()
		defer k.start()()
		k.pass(20 * time.Second)
		if diff := cmp.Diff([]string{"object.a ann", "refused.a ann"}, k.leavings()); diff != "" {
			t.Errorf("before it is known that the sets are gone (-want +got):\n%s", diff)
		}
		set := asObject(t, paints("refused", "", "x"))
		set.Status = leaving(set, "ann").Status
		k.store(set, "dyncontroller.dev/cleanup")
		object := asObject(t, keeps("object", "ann", "a"))
		k.store(object)
		k.setObjects(set, object)
		k.pass(20 * time.Second)
		if diff := cmp.Diff([]string{"refused.a ann"}, k.leavings()); diff != "" {
			t.Errorf("one takes over what it left, the other is left alone (-want +got):\n%s", diff)
		}
		if inventory, _ := k.field("rulesets", "shop", "refused", "status", "inventory").([]any); len(inventory) != 1 {
			t.Errorf("the set has %v", inventory)
		}
		if inventory, _ := k.field("rulesets", "shop", "object", "status", "inventory").([]any); len(inventory) != 1 {
			t.Errorf("the other has %v", inventory)
		}
		if k.log.says("sets are gone") {
			t.Errorf("it is not gone:\n%s", k.log)
		}
	})
}

// TestOrphans holds that somebody looks after what sets in files have left as an
// identity that no set has any more: at the start, and when the files change.
func TestOrphans(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKit(t, func(o *Options) { o.Settings.Prune, o.Settings.FromCluster = true, false })
		k.account("shop", "ann")
		k.account("shop", "bob")
		k.leave(left("old", "a", "ann"))
		k.set(func(w *world) { w.fails["GET configmaps"] = 500 })
		k.files(keeps("new", "bob", "a"))
		defer k.start()()
		if diff := cmp.Diff([]string{"/", "shop/bob"}, k.names()); diff != "" {
			t.Errorf("it cannot be known yet (-want +got):\n%s", diff)
		}
		k.set(func(w *world) { delete(w.fails, "GET configmaps") })
		k.pass(6 * time.Minute)
		if diff := cmp.Diff([]string{"new.a bob"}, k.leavings()); diff != "" {
			t.Errorf("it is not cleaned up:\n%s\n%s", diff, k.log)
		}
		k.files()
		k.pass(20 * time.Second)
		if diff := cmp.Diff([]string{}, k.leavings()); diff != "" {
			t.Errorf("after a change of the files (-want +got):\n%s\n%s", diff, k.log)
		}
	})
}

// TestTroubles holds that it is known what goes wrong, by set.
func TestTroubles(t *testing.T) {
	failing := errors.New("refused")
	b := &book{changed: func() {}, stored: map[source.Key]stored{}, unkept: map[source.Key]error{}, unswept: map[source.Key]error{}}
	one, two := source.Key{Kind: "RuleSet", Name: "one"}, source.Key{Kind: "RuleSet", Name: "two"}
	for _, step := range []struct {
		reason string
		err    error
		want   error
	}{
		{"It fails.", failing, failing},
		{"That we stop is no trouble, and no news.", context.Canceled, failing},
		{"Nor is a version of the set that is yet to be seen.", inventory.ErrChanged, failing},
		{"It succeeds.", nil, nil},
	} {
		n := noting{failingStore{step.err}, b, &object{Object: source.Object{Key: one}}}
		if _, err := inventory.Update(t.Context(), n, func(x inventory.Book) inventory.Book { return x }); !errors.Is(err, step.err) {
			t.Errorf("%s: the error is %v", step.reason, err)
		}
		if unkept, unswept := b.troubles(one); !errors.Is(unkept, step.want) || unswept != nil {
			t.Errorf("%s: got %v and %v", step.reason, unkept, unswept)
		}
		if unkept, unswept := b.troubles(two); unkept != nil || unswept != nil {
			t.Errorf("%s: the other set has %v and %v", step.reason, unkept, unswept)
		}
	}
}

// counting counts how often a part is read.
type counting struct {
	*inventory.Memory
	reads int
}

func (c *counting) Read(ctx context.Context) (inventory.Book, inventory.Replace, error) {
	c.reads++
	return c.Memory.Read(ctx)
}

// TestNoting holds that what is known to be stored is read only to store something else, and that nothing is lost where
// somebody else has written to it.
func TestNoting(t *testing.T) {
	b := &book{changed: func() {}, stored: map[source.Key]stored{}, unkept: map[source.Key]error{}, unswept: map[source.Key]error{}}
	part := &counting{Memory: &inventory.Memory{}}
	n := noting{part, b, &object{Object: source.Object{Key: source.Key{Kind: "RuleSet", Name: "one"}}}}
	leaving := func(rule string) func(inventory.Book) inventory.Book {
		left := plan.Leftover{Rule: plan.Rule{Kind: "RuleSet", Set: "one", Name: rule}, Kind: plan.LeftFinalizer}
		return func(x inventory.Book) inventory.Book { return x.With(left) }
	}
	for _, step := range []struct {
		reason string
		by     inventory.Part
		rule   string
		reads  int // since the step before
		want   int // leftovers
	}{
		{"What is stored is not known yet.", n, "a", 1, 1},
		{"Now it is.", n, "a", 0, 1},
		{"Something else is to be stored.", n, "b", 1, 2},
		{"Somebody else writes.", part.Memory, "c", 0, 3},
		{"That is not known, and what is the same is not stored.", n, "b", 0, 2},
		{"It is seen before something is.", n, "d", 2, 4},
	} {
		before := part.reads
		stored, err := inventory.Update(t.Context(), step.by, leaving(step.rule))
		if err != nil || len(stored.All()) != step.want || part.reads-before != step.reads {
			t.Errorf("%s Stored are %v after %d reads: %v", step.reason, stored.All(), part.reads-before, err)
		}
	}
}

type failingStore struct{ err error }

func (f failingStore) Read(context.Context) (inventory.Book, inventory.Replace, error) {
	return inventory.Book{}, func(_ context.Context, after inventory.Book) (inventory.Book, error) { return after, f.err }, nil
}

// reader fails for ConfigMaps, and finds nothing else.
type reader struct{ err error }

func (r reader) Get(context.Context, apischema.GroupVersionResource, string, string) (map[string]any, error) {
	return nil, r.err
}

func (r reader) List(_ context.Context, from plan.Selection, _ func(map[string]any) error) error {
	if from.GVR.Resource == "configmaps" {
		return r.err
	}
	return nil
}

func (r reader) Served(_ context.Context, of apischema.GroupResource) (cleanup.Resource, bool, error) {
	return cleanup.Resource{GVR: of.WithVersion("v1"), Namespaced: true}, true, nil
}

// TestSweep holds that one set does not keep another from being cleaned up.
func TestSweep(t *testing.T) {
	b := &book{changed: func() {}, stored: map[source.Key]stored{}, unkept: map[source.Key]error{}, unswept: map[source.Key]error{}}
	bad, good := left("bad", "a", "ann"), left("good", "a", "ann")
	good.GVR.Resource = "widgets"
	failing := errors.New("refused")
	options := cleanup.Options{Reader: reader{failing}}
	done, err := b.sweep(t.Context(), options, []plan.Leftover{bad, good, left("bad", "b", "ann")})
	if diff := cmp.Diff([]string{"good.a ann"}, shown(done)); diff != "" || !errors.Is(err, failing) {
		t.Errorf("done (-want +got):\n%s\nerror: %v", diff, err)
	}
	if _, unswept := b.troubles(keyOf(bad.Rule)); !errors.Is(unswept, failing) {
		t.Errorf("the bad one has %v", unswept)
	}
	if _, unswept := b.troubles(keyOf(good.Rule)); unswept != nil {
		t.Errorf("the good one has %v", unswept)
	}
	options.Reader = reader{}
	done, err = b.sweep(t.Context(), options, []plan.Leftover{bad})
	if _, unswept := b.troubles(keyOf(bad.Rule)); unswept != nil || err != nil || len(done) != 1 {
		t.Errorf("then it is done: %v, %v, %v", done, err, unswept)
	}
}
