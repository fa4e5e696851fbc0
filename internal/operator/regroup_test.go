package operator

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"

	"github.com/dyncontroller/dyncontroller/internal/source"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
)

// TestFailure holds that rules which cannot be put into effect leave all as it was, and
// are tried again.
func TestFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKit(t, nil)
		k.configMap("shop", "a", nil)
		defer k.start()()
		k.files(paints("own", "", "red"))
		set := asObject(t, paints("anns", "ann", "red"))
		k.setObjects(set)
		cluster := k.options.Cluster.Config
		broken := *cluster
		broken.Host = "http://[::1" // No client can be made of it.
		k.options.Cluster.Config = &broken
		if err := k.SetFiles(load(t, paints("own", "", "blue"), paints("other", "carl", "x"))); err == nil {
			t.Fatal("it cannot be")
		}
		k.configMap("shop", "b", nil)
		k.pass(moment)
		if got := k.field("configmaps", "shop", "b", "data", "own"); got != "red" {
			t.Errorf("the rules from before are not in effect: %v", got)
		}
		other := asObject(t, paints("dans", "dan", "red"))
		k.setObjects(set, other)
		if !k.log.says("rules of set objects could not be put into effect") {
			t.Errorf("it is not told:\n%s", k.log)
		}
		if got := k.status(other); got != "Ready=False Syncing, Reconciling=True Syncing" {
			t.Errorf("the set is %s", got)
		}
		k.options.Cluster.Config = cluster
		k.account("shop", "dan")
		k.setObjects(set, other)
		k.pass(20 * time.Second)
		if got := k.field("configmaps", "shop", "b", "data", "dans"); got != "red" {
			t.Errorf("it is not tried again: %v", got)
		}
	})
}

// TestChanged holds that it is told which rules there are, of files and objects.
func TestChanged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told [][]string
		k := newKit(t, func(o *Options) {
			o.Changed = func(all *rules.Set) {
				var names []string
				for _, id := range all.IDs() {
					names = append(names, id.String())
				}
				told = append(told, names)
			}
		})
		defer k.stand()()
		k.files(paints("own", "", "red"))
		set := asObject(t, paints("anns", "ann", "red"))
		k.setObjects(set)
		k.setObjects(set) // Which is no news.
		k.setObjects()
		want := [][]string{nil, {"own/paint"}, {"anns/paint", "own/paint"}, {"own/paint"}}
		if diff := cmp.Diff(want, told); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	})
}

// TestConcerns holds what wakes a tenant whose rules stay the same.
func TestConcerns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKit(t, nil)
		defer k.stand()()
		ann := asObject(t, paints("anns", "ann", "red"))
		k.setObjects(ann)
		of := func() string {
			k.mu2().Lock()
			defer k.mu2().Unlock()
			return string(k.concerns()[shop("ann")])
		}
		before := of()
		for _, step := range []struct {
			reason string
			all    []source.Object
			news   bool
		}{
			{"Another one's set is not its concern.", []source.Object{ann, asObject(t, paints("bobs", "bob", "x"))}, false},
			{"What it has left for another set is.", []source.Object{ann, leaving(asObject(t, paints("old", "bob", "x")), "ann")}, true},
			{"So is a set of its own.", []source.Object{ann, asObject(t, paints("more", "ann", "x"))}, true},
			{"So is that one is another of the name.", []source.Object{func() source.Object { s := ann; s.UID = "another"; return s }()}, true},
			{"A status is not.", []source.Object{func() source.Object { s := ann; s.ResourceVersion = "9"; return s }()}, false},
		} {
			k.setObjects(step.all...)
			if got := of(); (got != before) != step.news {
				t.Errorf("%s\n%s", step.reason, got)
			}
		}
	})
}

// TestStandsBy holds that who does not lead fills its caches and writes nothing, and is
// quick to act once it leads.
func TestStandsBy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKit(t, nil)
		k.account("shop", "ann")
		k.configMap("shop", "a", nil)
		stop := k.stand()
		set := leaving(asObject(t, paints("old", "carl", "x")))
		k.store(set, hold)
		k.files(paints("own", "", "red"))
		k.setObjects(asObject(t, paints("anns", "ann", "red")), set)
		k.pass(20 * time.Second)
		if sent := k.sent(); len(sent) > 0 || k.watching() != "[configmaps/shop configmaps/shop]" {
			t.Errorf("sent %q, watches %s", sent, k.watching())
		}
		ctx, cancel := context.WithCancel(t.Context())
		var lead sync.WaitGroup
		lead.Go(func() { k.Lead(ctx) })
		k.pass(moment)
		sent := k.sent()
		slices.Sort(sent)
		for _, want := range []string{"PATCH configmaps/shop/a", "shop/ann PATCH configmaps/shop/a", "PATCH rulesets/shop/old"} {
			if !slices.Contains(sent, want) {
				t.Errorf("it does not send %q, but %q", want, sent)
			}
		}
		cancel()
		lead.Wait()
		k.configMap("shop", "b", nil)
		k.pass(moment)
		if sent := k.sent(); len(sent) > 0 {
			t.Errorf("it leads no more, and sends %q", sent)
		}
		stop()
	})
}

// TestEnd holds that an operator that has ended begins nothing for sets that come after, as none of it would end: the bubble waits for all that runs.
func TestEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKit(t, nil)
		k.account("shop", "ann")
		k.start()()
		k.setObjects(asObject(t, paints("anns", "ann", "red")))
		k.files(paints("own", "", "red"))
	})
}

// TestFollow holds that set objects are in effect as they come, and only once they are
// known.
func TestFollow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKit(t, nil)
		k.account("shop", "ann")
		k.configMap("shop", "a", nil)
		client, err := dynamic.NewForConfig(k.options.Cluster.Config)
		if err != nil {
			t.Fatal(err)
		}
		objects := source.NewObjects(client, k.options.Log)
		ctx, cancel := context.WithCancel(t.Context())
		var following sync.WaitGroup
		k.set(func(w *world) { w.fails["GET clusterrulesets"] = http.StatusNotFound })
		following.Go(func() { objects.Run(ctx) })
		following.Go(func() { k.Follow(ctx, objects, said{}) })
		stop := k.start()
		k.putSet(paints("anns", "ann", "red"))
		k.pass(time.Minute)
		if diff := cmp.Diff([]string{"/"}, k.names()); diff != "" {
			t.Errorf("one kind is not known yet (-want +got):\n%s", diff)
		}
		k.set(func(w *world) { delete(w.fails, "GET clusterrulesets") })
		k.pass(2 * time.Minute)
		if got := k.field("configmaps", "shop", "a", "data", "anns"); got != "red" {
			t.Errorf("the rule does not act: %v\n%s", got, k.log)
		}
		if got := k.field("rulesets", "shop", "anns", "status", "observedGeneration"); got == nil {
			t.Error("it has no status")
		}
		k.remove("rulesets", "shop", "anns")
		k.pass(time.Minute)
		if diff := cmp.Diff([]string{"/"}, k.names()); diff != "" {
			t.Errorf("it is gone (-want +got):\n%s", diff)
		}
		cancel()
		following.Wait()
		stop()
		k.pass(time.Minute)
	})
}

// putSet stores a text as a set object.
func (k *kit) putSet(text string) {
	k.t.Helper()
	fields := map[string]any{}
	set := asObject(k.t, text)
	if err := yaml.Unmarshal([]byte(text), &fields); err != nil {
		k.t.Fatal(err)
	}
	metadata := fields["metadata"].(map[string]any)
	metadata["generation"], metadata["uid"] = 1, string(set.UID)
	k.put("rulesets", fields)
}

// TestFailureOfOthers holds that a tenant which cannot be had keeps nobody else from
// what they are to do.
func TestFailureOfOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told []string
		k := newKit(t, func(o *Options) {
			o.Changed = func(all *rules.Set) {
				told = nil
				for _, id := range all.IDs() {
					told = append(told, id.String())
				}
			}
		})
		for _, name := range []string{"ann", "bob", "zoe"} {
			k.account("shop", name)
		}
		k.configMap("shop", "a", nil)
		defer k.start()()
		ann, zoe := asObject(t, paints("anns", "ann", "red")), asObject(t, paints("zoes", "zoe", "red"))
		k.setObjects(ann, zoe)
		cluster := k.options.Cluster.Config
		broken := *cluster
		broken.Host = "http://[::1" // No client can be made of it.
		k.options.Cluster.Config = &broken
		bob, carl := asObject(t, paints("bobs", "bob", "red")), asObject(t, paints("carls", "carl", "red"))
		zoe = edited(t, zoe, paints("zoes", "zoe", "blue"))
		k.setObjects(bob, carl, zoe)
		k.pass(20 * time.Second)
		if got := k.field("configmaps", "shop", "a", "data", "zoes"); got != "blue" {
			t.Errorf("the rules of another tenant are not in effect: %v", got)
		}
		if diff := cmp.Diff([]string{"/", "shop/zoe"}, k.names()); diff != "" {
			t.Errorf("tenants (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]string{"bobs/paint", "carls/paint", "zoes/paint"}, told); diff != "" {
			t.Errorf("it is not told (-want +got):\n%s", diff)
		}
		for _, who := range []string{"shop/bob", "shop/carl"} {
			if !k.log.says(who) {
				t.Errorf("the log does not name %s:\n%s", who, k.log)
			}
		}
		k.options.Cluster.Config = cluster
		k.setObjects(bob, carl, zoe)
		k.pass(20 * time.Second)
		if got := k.field("configmaps", "shop", "a", "data", "bobs"); got != "red" {
			t.Errorf("it is not tried again: %v", got)
		}
	})
}

// TestFilesAreWhole holds that nobody gets the rules of files when a tenant of theirs
// cannot be had.
func TestFilesAreWhole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKit(t, nil)
		k.configMap("shop", "a", nil)
		defer k.start()()
		k.files(paints("own", "", "red"))
		k.pass(moment)
		before := k.tenant(types.NamespacedName{}).given
		broken := *k.options.Cluster.Config
		broken.Host = "http://[::1"
		k.options.Cluster.Config = &broken
		if err := k.SetFiles(load(t, paints("own", "", "blue"), paints("other", "carl", "x"))); err == nil {
			t.Fatal("it cannot be")
		}
		if k.tenant(types.NamespacedName{}).given != before {
			t.Error("a tenant was given rules that are not to be in effect")
		}
	})
}

// TestConcernsOfTaken holds that a set which a file has as well concerns the tenant of
// the file alone.
func TestConcernsOfTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKit(t, nil)
		defer k.stand()()
		k.files(paints("both", "owner", "red"))
		ann := asObject(t, paints("anns", "ann", "red"))
		both := asObject(t, paints("both", "bob", "red"))
		k.setObjects(ann)
		of := func() map[types.NamespacedName]string {
			k.mu2().Lock()
			defer k.mu2().Unlock()
			all := k.concerns()
			return map[types.NamespacedName]string{shop("ann"): string(all[shop("ann")]), shop("owner"): string(all[shop("owner")]), {}: string(all[types.NamespacedName{}])}
		}
		before := of()
		for _, set := range []source.Object{both, leaving(both, "ann", "owner")} {
			k.setObjects(ann, set)
			after := of()
			for account, text := range after {
				if disturbed := text != before[account]; disturbed != (account == shop("owner")) {
					t.Errorf("%s, deleting %v: %q, before %q", account, set.Deleting, text, before[account])
				}
			}
		}
	})
}
