package engine_test

import (
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/engine/informer"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
	types "github.com/dyncontroller/dyncontroller/pkg/rules/schema"
)

// typos is a resource that the API server does not serve.
var typos = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "typos"}

// withTypos compiles rules of a set that also declares what is not served.
func withTypos(t *testing.T, set, text string) *rules.Set {
	t.Helper()
	return compile(t, rules.Options{Schemas: types.NewCatalog(kinds{})}, strings.Replace(head, "name: set", "name: "+set, 1)+`
    items: {group: example.com, version: v1, resource: items}
    typos: {group: example.com, version: v1, resource: typos}
  rules:
`+text)
}

// TestUnableRules holds that nothing is cleaned up of a set while a rule of it names what is not served, or cannot be listed: what
// is left may be what that rule is to take over. Nobody else waits for it.
func TestUnableRules(t *testing.T) {
	const reads = `
  - name: reads
    watch: widgets
    with: {some: {resource: typos, all: true}}
    when: len(some) > 3
    actions: [{patch: {merge: {metadata: {labels: {seen: "yes"}}}}}]
`
	typed := strings.NewReplacer("resource: items", "resource: typos")
	tests := map[string]struct {
		reason   string
		before   string
		now      []*rules.Set
		prune    bool
		at       []string // what is cleaned up while typos are not served
		then     []*rules.Set
		children string // what is cleaned up once they are, or with other rules then
	}{
		"Target": {
			reason: "The same rule makes its children of another resource.", before: pruned,
			now: []*rules.Set{withTypos(t, "set", typed.Replace(pruned))}, children: prunedText,
		},
		"Corrected": {
			reason: "The mistake is mended before anything is lost.", before: pruned,
			now:  []*rules.Set{withTypos(t, "set", typed.Replace(pruned))},
			then: []*rules.Set{families(t, pruned)}, children: strings.Replace(prunedText, "items", "typos", 1),
		},
		"RenamedTarget": {
			reason: "So does one with a new name.", before: pruned,
			now: []*rules.Set{withTypos(t, "set", typed.Replace(heir))}, children: prunedText,
		},
		"Watched": {
			reason: "The rule watches what is not there, and holds nothing.", before: holder,
			now: []*rules.Set{withTypos(t, "set", strings.Replace(holder, "watch: others", "watch: typos", 1))}, children: heldText,
		},
		"Read": {
			reason: "The rule waits for what it reads.", before: pruned,
			now:      []*rules.Set{withTypos(t, "set", strings.Replace(heir, "watch: others", "watch: others\n    with: {some: {resource: typos, all: true}}", 1))},
			children: prunedText,
		},
		"LeavesNothing": {
			reason: "A rule that leaves nothing takes nothing over.", before: pruned,
			now: []*rules.Set{withTypos(t, "set", reads)}, at: []string{prunedText},
		},
		"Suspended": {
			reason: "The rule comes back as it is.", before: pruned,
			now: []*rules.Set{withTypos(t, "set", typed.Replace(pruned)+"    suspend: true\n")}, children: prunedText,
		},
		"RemovedOnly": {
			reason: "All other rules work.", before: pruned + holder,
			now: []*rules.Set{families(t, holder)}, at: []string{prunedText},
		},
		"OtherSet": {
			reason: "Another set has trouble of its own.", before: pruned + holder,
			now: []*rules.Set{families(t, holder), withTypos(t, "other", reads)}, at: []string{prunedText},
		},
		"SetGone": {
			reason: "Nothing of the set comes back.", before: pruned, prune: true,
			now: []*rules.Set{withTypos(t, "other", typed.Replace(pruned))}, at: []string{prunedText},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c, s := newCluster(), remembering(t, families(t, tc.before))
			cache := informer.Key{GVR: typos}
			c.unsynced[cache] = true
			var kept atomic.Int64
			house := s.house(tc.prune)
			house.Kept = func(why map[plan.Rule]error) { kept.Store(int64(len(why))) }
			runWith(t, c, house, rules.Join(tc.now...), func(t *testing.T, e *engine.Engine) {
				c.handler.Troubled(cache, apierrors.NewNotFound(typos.GroupResource(), ""))
				pass(time.Hour)
				if diff := cmp.Diff(tc.at, s.asked()); diff != "" {
					t.Errorf("%s\ncleaned up meanwhile (-want +got):\n%s", tc.reason, diff)
				}
				if stays := tc.at == nil; strings.Contains(c.logText(), "typos.v1.example.com is not listed") != stays || (kept.Load() == 1) != stays {
					t.Errorf("%s\n%d sets are told of:\n%s", tc.reason, kept.Load(), c.logText())
				}
				if tc.at != nil {
					return
				}
				if tc.then != nil {
					e.SetRules(rules.Join(tc.then...))
				} else {
					c.sync(cache)
				}
				pass(time.Hour)
				if diff := cmp.Diff([]string{tc.children}, s.asked()); diff != "" || kept.Load() != 0 {
					t.Errorf("%s\n%d sets are told of, cleaned up in the end (-want +got):\n%s", tc.reason, kept.Load(), diff)
				}
			})
		})
	}
}

// TestUnableRulesAreChanged holds the same of a rule that is changed while it runs, and of one that runs once.
func TestUnableRulesAreChanged(t *testing.T) {
	mistyped := withTypos(t, "set", strings.Replace(pruned, "resource: items", "resource: typos", 1))
	t.Run("Runs", func(t *testing.T) {
		c, s := newCluster(), &shelf{}
		c.put(t, parent)
		c.unsynced[informer.Key{GVR: typos}] = true
		runWith(t, c, s.house(false), families(t, pruned), func(t *testing.T, e *engine.Engine) {
			pass(time.Minute)
			e.SetRules(mistyped)
			c.handler.Troubled(informer.Key{GVR: typos}, apierrors.NewNotFound(typos.GroupResource(), ""))
			pass(time.Hour)
			if diff := cmp.Diff([]string{"a-child"}, c.list(items)); diff != "" || len(s.asked()) > 0 {
				t.Errorf("cleaned up: %q, children (-want +got):\n%s", s.asked(), diff)
			}
		})
	})
	t.Run("Once", func(t *testing.T) {
		settleUnable(t, mistyped)
	})
}

func settleUnable(t *testing.T, set *rules.Set) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		c, s := newCluster(), remembering(t, families(t, pruned))
		cache := informer.Key{GVR: typos}
		c.unsynced[cache] = true
		c.onWant = func() { go c.handler.Troubled(cache, apierrors.NewNotFound(typos.GroupResource(), "")) }
		report, err := c.engineWith(s.house(false)).Settle(t.Context(), set)
		if err != nil || report.Unkept == nil || len(s.asked()) > 0 {
			t.Errorf("err %v, unkept: %v, cleaned up: %q", err, report.Unkept, s.asked())
		}
	})
}

// wholeKinds knows all resources.
type wholeKinds struct{ kinds }

// Whole implements [types.Source].
func (wholeKinds) Whole(string) bool { return true }

// TestUnservedIsNotListed holds that it is told what is not served, where that is known, and that a cache knows better.
func TestUnservedIsNotListed(t *testing.T) {
	set := compile(t, rules.Options{Schemas: types.NewCatalog(wholeKinds{}).Growing()}, head+`
    typos: {group: example.com, version: v1, resource: typos}
  rules:
`+strings.Replace(pruned, "resource: items", "resource: typos", 1))
	c, s := newCluster(), remembering(t, families(t, pruned))
	cache := informer.Key{GVR: typos}
	c.unsynced[cache] = true
	runWith(t, c, s.house(false), set, func(t *testing.T, _ *engine.Engine) {
		pass(time.Hour)
		const told = "what rules have left stays until rule set/pruned can work: typos.v1.example.com is not listed: the API server has no resource typos.v1.example.com"
		if len(s.asked()) > 0 || strings.Count(c.logText(), told) != 1 {
			t.Errorf("cleaned up: %q\n%s", s.asked(), c.logText())
		}
		c.sync(cache)
		pass(time.Hour)
		if diff := cmp.Diff([]string{prunedText}, s.asked()); diff != "" {
			t.Errorf("cleaned up in the end (-want +got):\n%s", diff)
		}
	})
}
