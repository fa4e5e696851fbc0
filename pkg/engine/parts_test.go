package engine_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/engine/inventory"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
)

// partly is a shelf of which the part of one set can fail.
type partly struct {
	*shelf
	mu     sync.Mutex
	broken string // the name of the set
}

func (p *partly) breaks(set string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.broken = set
}

// Read implements [inventory.Part].
func (p *partly) Read(ctx context.Context) (inventory.Book, inventory.Replace, error) {
	before, replace, err := p.shelf.Read(ctx)
	return before, func(ctx context.Context, after inventory.Book) (inventory.Book, error) {
		p.mu.Lock()
		defer p.mu.Unlock()
		var held bool
		var rest []plan.Leftover
		for _, leftover := range after.All() {
			if leftover.Rule.Set == p.broken {
				held = true
			} else {
				rest = append(rest, leftover)
			}
		}
		book, err := replace(ctx, inventory.NewBook(rest...))
		if err == nil && held {
			err = &inventory.PartialError{Err: errRefused}
		}
		return book, err
	}, err
}

// inTwo are two sets of rules.
func inTwo(t *testing.T, one, other string) *rules.Set {
	t.Helper()
	return compile(t, rules.Options{}, head+"  rules:\n"+one, strings.Replace(head, "name: set", "name: other", 1)+"  rules:\n"+other)
}

// TestPartOfTheInventoryFails holds that only the rules wait of which nothing can be
// recorded, and that what is to be cleaned up of others is.
func TestPartOfTheInventoryFails(t *testing.T) {
	const (
		mine  = "dyncontroller.dev/set.holder"
		other = "dyncontroller.dev/other.holder"
	)
	c, p := newCluster(), &partly{shelf: remembering(t, families(t, pruned))}
	c.put(t, parent)
	p.breaks("other")
	house := p.house(false)
	house.Inventory = p
	held := func(finalizer string) bool { return strings.Contains(string(encode(c.get("a"))), finalizer) }
	runWith(t, c, house, inTwo(t, holder, holder), func(t *testing.T, e *engine.Engine) {
		pass(time.Minute)
		if !held(mine) || held(other) {
			t.Errorf("want just the set to write that is recorded:\n%s", encode(c.get("a")))
		}
		if diff := cmp.Diff([]string{prunedText}, p.asked()); diff != "" {
			t.Errorf("swept (-want +got):\n%s", diff)
		}
		if n := strings.Count(c.log.String(), "housekeeping is not done"); n == 0 || n > 2 {
			t.Errorf("it was logged %d times:\n%s", n, c.log.String())
		}
		p.breaks("")
		pass(10 * time.Minute)
		if !held(other) {
			t.Error("the set still waits, though it is recorded")
		}
		p.breaks("set")
		e.SetRules(inTwo(t, holder, holder))
		pass(time.Minute)
		c.put(t, strings.Replace(parent, "name: a", "name: late", 1))
		pass(time.Minute)
		if late := string(encode(c.get("late"))); strings.Contains(late, mine) || !strings.Contains(late, other) {
			t.Errorf("what is not recorded any more was written:\n%s", late)
		}
	})
}

// TestPrunesSets holds that it is asked for each set that is gone whether to clean up.
func TestPrunesSets(t *testing.T) {
	text := func(set string) string { return strings.Replace(heldText, "set/", set+"/", 1) }
	tests := map[string]struct {
		reason string
		prune  func(plan.Rule) bool
		swept  []string
		told   bool
	}{
		"Never": {reason: "Nobody says so.", told: true},
		"One": {
			reason: "Of the other it is told.",
			prune:  func(set plan.Rule) bool { return set == plan.Rule{Kind: "ClusterRuleSet", Set: "other"} },
			swept:  []string{text("other")}, told: true,
		},
		"All": {reason: "There is nothing to tell.", prune: func(plan.Rule) bool { return true }, swept: []string{text("other"), text("set")}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c, s := newCluster(), remembering(t, inTwo(t, holder, holder))
			house := s.house(false)
			house.Prune = tc.prune
			third := compile(t, rules.Options{}, strings.Replace(head, "name: set", "name: third", 1)+"  rules:\n"+labelled)
			runWith(t, c, house, third, func(t *testing.T, _ *engine.Engine) {
				pass(time.Minute)
				swept := slices.Sorted(slices.Values(s.asked()))
				if diff := cmp.Diff(tc.swept, swept); diff != "" {
					t.Errorf("%s\nswept (-want +got):\n%s", tc.reason, diff)
				}
				if told := strings.Contains(c.log.String(), "sets are gone"); told != tc.told {
					t.Errorf("%s\ntold: %v\n%s", tc.reason, told, c.log.String())
				}
			})
		})
	}
}

// TestSharedInventory holds that engines which share a book see their own part of it:
// the sets of another are neither gone nor cleaned up, though they are to be pruned.
func TestSharedInventory(t *testing.T) {
	s := remembering(t, otherSet(t))
	house := s.house(true)
	scope := inventory.Scope(s, func(l plan.Leftover) bool { return l.Rule.Set != "other" })
	house.Inventory = inventory.Join(func() inventory.Parts { return inventory.Parts{Rest: scope} })
	c := newCluster()
	c.put(t, parent)
	synctest.Test(t, func(t *testing.T) {
		defer start(t, c.engineWith(house), families(t, holder))()
		pass(time.Minute)
		if got := s.asked(); got != nil || strings.Contains(c.log.String(), "sets are gone") {
			t.Errorf("swept %v, and logged\n%s", got, c.log.String())
		}
		if diff := cmp.Diff([]string{strings.Replace(heldText, "set/", "other/", 1), heldText}, s.all(t)); diff != "" {
			t.Errorf("recorded (-want +got):\n%s", diff)
		}
	})
}
