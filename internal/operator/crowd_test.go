package operator

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/dynamic"

	"github.com/dyncontroller/dyncontroller/internal/source"
)

// selects is a RuleSet with a rule for each of so many selectors, from a number on.
func selects(name string, from, count int) string {
	text := strings.Replace(paints(name, "ann", "red"), "  resources: {configmaps: {version: v1, resource: configmaps}}\n  rules:\n", "  resources:\n", 1)
	resources, rule, _ := strings.Cut(text, "  - name: paint\n")
	rules := "  rules:\n"
	for i := from; i < from+count; i++ {
		resources += fmt.Sprintf("    c%d: {version: v1, resource: configmaps, labelSelector: n=v%[1]d}\n", i)
		rules += fmt.Sprintf("  - name: paint-%d\n", i) + strings.ReplaceAll(rule, "watch: configmaps", fmt.Sprintf("watch: c%d", i))
	}
	return resources + rules
}

// TestAccountMaxCaches holds that an account has no more caches than it may, that the oldest sets get theirs, whatever their names and
// the order in which they are seen, that the others say what they lack, and get it when there is room; and that no other account
// notices.
func TestAccountMaxCaches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKit(t, func(o *Options) { o.Settings.AccountCaches = 10 })
		k.account("shop", "ann")
		k.account("shop", "bob")
		at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		aged := func(set source.Object, hours int) source.Object {
			set.Created = at.Add(time.Duration(hours) * time.Hour)
			k.store(set)
			return set
		}
		oldest := aged(asObject(t, selects("z", 0, 6)), 0)
		large := aged(asObject(t, selects("m", 6, 100)), 1)
		newest := aged(asObject(t, selects("a", 0, 3)), 2) // With caches that there are already.
		other := aged(asObject(t, paintsServices("bobs", "bob")), 3)
		stop := k.start()
		defer stop()
		expect := func(reason, wantOldest, wantLarge, message string, caches int) {
			t.Helper()
			k.pass(moment)
			for set, want := range map[*source.Object]string{&oldest: wantOldest, &large: wantLarge, &newest: "Ready=True Running", &other: "Ready=True Running"} {
				if got := k.status(*set); got != want {
					t.Errorf("%s\n%s: %s, want %s", reason, set.Name, got, want)
				}
			}
			if text := k.message(large); !strings.Contains(text, message) {
				t.Errorf("%s\nit says %q, want %q", reason, text, message)
			}
			running := 0
			for _, cache := range k.Caches() {
				if cache.Account == shop("ann") && cache.Synced {
					running++
				}
			}
			if running != caches {
				t.Errorf("%s\nthere are %d caches, want %d", reason, running, caches)
			}
		}
		const ready, over = "Ready=True Running", "Ready=False OverLimit, Stalled=True OverLimit"
		k.setObjects(large, newest, other, oldest)
		expect("The oldest set has its 6, and 4 are left.", ready, over, "96 of 100 rules wait (paint-10, paint-11, paint-12, paint-13, paint-14, and 91 more): "+
			"there are too many caches: the rules of ServiceAccount shop/ann need 106, and may have 10; use fewer selectors", 10)
		large = edited(t, large, selects("m", 6, 101))
		k.setObjects(newest, large, other, oldest)
		expect("Another rule changes nothing for the others.", ready, over, "97 of 101 rules wait", 10)
		large = edited(t, large, selects("m", 100, 5))
		k.setObjects(newest, large, other, oldest)
		expect("Other caches take the places of those from before.", ready, over, "1 of 5 rules wait (paint-104)", 10)
		large = edited(t, large, selects("m", 100, 4))
		k.setObjects(newest, large, other, oldest)
		expect("They fit.", ready, ready, "4 rules in effect", 10)
		oldest = edited(t, oldest, selects("z", 0, 8))
		k.setObjects(newest, large, other, oldest)
		expect("The oldest set takes what it needs.", ready, over, "2 of 4 rules wait (paint-102, paint-103)", 10)
	})
}

// TestAccountRulesLimit holds that the sets of an account are not longer than they may be together: the oldest are in effect, whatever
// their names, the others say why they are not, and come into effect when there is room; and that no other account notices.
func TestAccountRulesLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKit(t, nil)
		k.account("shop", "ann")
		k.account("shop", "bob")
		aged := func(text string, hour int) source.Object {
			set := asObject(t, text)
			set.Created = time.Date(2026, 1, 1, hour, 0, 0, 0, time.UTC)
			k.store(set)
			return set
		}
		length := func(set source.Object) int64 { return int64(len(set.Document.Data)) }
		oldest, middle, newest := aged(selects("z", 0, 2), 0), aged(selects("m", 0, 9), 1), aged(selects("a", 0, 1), 2)
		other := aged(paintsServices("bobs", "bob"), 3)
		k.options.Settings.AccountRules = length(oldest) + length(newest) + 100
		stop := k.start()
		defer stop()
		expect := func(reason, wantOldest, wantMiddle, wantNewest string) {
			t.Helper()
			k.pass(moment)
			got := fmt.Sprintln(k.status(oldest), "|", k.status(middle), "|", k.status(newest), "|", k.status(other))
			if want := fmt.Sprintln(wantOldest, "|", wantMiddle, "|", wantNewest, "|", "Ready=True Running"); got != want {
				t.Errorf("%s\n%swant %s", reason, got, want)
			}
		}
		const ready, over = "Ready=True Running", "Ready=False OverLimit, Stalled=True OverLimit"
		k.setObjects(newest, middle, oldest, other)
		expect("One is too long, a shorter one is not.", ready, over, ready)
		want := fmt.Sprintf("the set takes %d bytes as JSON, and the older sets of ServiceAccount shop/ann take %d; together they may take %d; delete sets",
			length(middle), length(oldest), k.options.Settings.AccountRules)
		if got := k.message(middle); !strings.Contains(got, want) {
			t.Errorf("it says %q, want %q", got, want)
		}
		oldest = edited(t, oldest, selects("z", 0, 20))
		k.setObjects(newest, middle, oldest, other)
		expect("The next version is too long, and leaves the one before in effect.", over, over, ready)
		if got := k.message(oldest); !strings.Contains(got, "; the version before stays in effect") || k.tenant(shop("ann")).engine.Rules().IDs() == nil {
			t.Errorf("it says %q", got)
		}
		oldest = edited(t, oldest, selects("z", 0, 1))
		middle = edited(t, middle, selects("m", 0, 1))
		k.setObjects(newest, middle, oldest, other)
		expect("They are shorter, and the newest has no room.", ready, ready, over)
		if got := k.tenant(shop("ann")).engine.Rules().IDs(); len(got) != 2 {
			t.Errorf("%v are in effect", got)
		}
		k.setObjects(newest, middle, other)
		expect("One is gone.", "", ready, ready)
	})
}

// TestAccountCompiles holds that sets of one account which are refused do not keep the sets of others waiting while they are compiled,
// and that all of them are compiled in the end.
func TestAccountCompiles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKit(t, nil)
		k.account("shop", "ann")
		k.account("shop", "bob")
		stop := k.start()
		defer stop()
		k.setObjects()
		var all []source.Object
		for i := range 5 {
			all = append(all, asObject(t, strings.Replace(selects(fmt.Sprintf("ann-%d", i), 0, 9), "labelSelector: n=v0", "labelSelector: '='", 1)))
		}
		k.options.Settings.AccountRules = 2 * int64(len(all[0].Document.Data))
		bobs := asObject(t, paintsServices("bobs", "bob"))
		bobs.Created = all[0].Created.Add(time.Hour)
		all = append(all, bobs)
		for i, want := range []int{2, 4, 5} {
			if again := k.SetObjects(t.Context(), all, said{}); again != (want < 5) {
				t.Errorf("pass %d: there is more to do: %t", i, again)
			}
			refused := 0
			for _, set := range all {
				if object := k.object(set); object != nil && object.refused() {
					refused++
				}
			}
			if refused != want {
				t.Errorf("pass %d: %d are refused, want %d", i, refused, want)
			}
			if object := k.object(bobs); object == nil || object.effective() == nil {
				t.Errorf("pass %d: bob waits", i)
			}
		}
		if again := k.SetObjects(t.Context(), all, said{}); again {
			t.Error("there is more to do when nothing has changed")
		}
	})
}

// TestAccountCompilesOn holds that sets which had to wait for the next turn get it at once, though nothing changes in the cluster.
func TestAccountCompilesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var all []source.Object
		var texts []string
		for i := range 9 {
			texts = append(texts, strings.Replace(selects(fmt.Sprintf("ann-%d", i), 0, 9), "labelSelector: n=v0", "labelSelector: '='", 1))
			all = append(all, asObject(t, texts[i]))
		}
		k := newKit(t, func(o *Options) { o.Settings.AccountRules = int64(len(all[0].Document.Data)) * 3 / 2 })
		k.account("shop", "ann")
		defer k.stand()() // A leader would write statuses, which are changes.
		k.setObjects()
		for _, text := range texts {
			k.putSet(text)
		}
		client, err := dynamic.NewForConfig(k.options.Cluster.Config)
		if err != nil {
			t.Fatal(err)
		}
		objects := source.NewObjects(client, k.options.Log)
		ctx, cancel := context.WithCancel(t.Context())
		var following sync.WaitGroup
		following.Go(func() { objects.Run(ctx) })
		k.pass(moment)
		following.Go(func() { k.Follow(ctx, objects, said{}) })
		k.pass(moment)
		for _, set := range all {
			if object := k.object(set); object == nil || !object.refused() {
				t.Errorf("%s waits", set)
			}
		}
		cancel()
		following.Wait()
	})
}
