package engine_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/engine/conflict"
	"github.com/dyncontroller/dyncontroller/pkg/engine/guard"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
	types "github.com/dyncontroller/dyncontroller/pkg/rules/schema"
)

const (
	// copying makes an object for each one that it watches, also for those that it has made.
	copying = `
  - name: copies
    watch: widgets
    actions: [{apply: {resource: widgets, manifest: {metadata: {name: "${sha256(object.metadata.name)[:20]}"}}}}]
`
	creates = `
  - name: creates
    watch: widgets
    with: {own: {resource: widgets, ownedBy: object}}
    when: len(own) == 0
    actions: [{create: {in: own, manifest: {metadata: {generateName: "w-"}}}}]
`
	// toAndFro are two rules of which each makes objects for those of the other.
	toAndFro = `
  - name: to
    watch: widgets
    actions: [{apply: {resource: items, manifest: {metadata: {name: "${object.metadata.name}-i"}}}}]
  - name: fro
    watch: items
    actions: [{apply: {resource: widgets, manifest: {metadata: {name: "${object.metadata.name}-w"}}}}]
`
	// doubles makes two objects for each one.
	doubles = `
  - name: doubles
    watch: widgets
    actions:
    - forEach: {i: "${[1, 2]}"}
      apply: {resource: widgets, manifest: {metadata: {name: "${sha256(object.metadata.name + string(i))[:20]}"}}}
`
)

// TestRecursion holds that a rule which makes objects because of objects that it has made is found, slowed down and named, once.
func TestRecursion(t *testing.T) {
	tests := map[string]struct {
		reason  string
		rules   string
		objects []string
		most    int      // writes until it is slowed down
		want    []string // how it is told
	}{
		"Itself": {
			reason: "A rule watches what it makes.", rules: copying, most: conflict.Generations + 1,
			want: []string{"rule set/copies makes objects because of objects that it has made: widgets.example.com ns/"},
		},
		"Create": {
			reason: "Names that are made up are new each time.", rules: creates, most: conflict.Generations + 1,
			want: []string{"rule set/creates makes objects because of objects that it has made: widgets.example.com ns/w-"},
		},
		"Two": {
			reason: "Two rules answer each other.", rules: toAndFro, most: 2*conflict.Generations + 2,
			want: []string{
				"rule set/to makes objects because of objects that it has made through rule set/fro: items.example.com ns/a-i-w-i",
				"rule set/fro makes objects because of objects that it has made through rule set/to: widgets.example.com ns/a-i-w-i",
			},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := newCluster()
			c.put(t, small)
			runWith(t, c, engine.Housekeeping{}, families(t, tc.rules), func(t *testing.T, e *engine.Engine) {
				pass(time.Second)
				if n := c.count(); n > tc.most {
					t.Fatalf("%s slowed down after %d writes, want at most %d", tc.reason, n, tc.most)
				}
				pass(10 * time.Minute)
				if n := c.count() - tc.most; n < 5 || n > 2*20 {
					t.Errorf("%s %d more writes in ten minutes, want one in 30 s at most, and for each one of the other rule", tc.reason, n)
				}
				told := contests(c)
				if len(told) != len(tc.want) || len(e.Contests()) != len(tc.want) {
					t.Errorf("%s told %q, contests %v", tc.reason, told, e.Contests())
				}
				for _, want := range tc.want {
					if !slices.ContainsFunc(told, func(text string) bool {
						return strings.HasPrefix(text, want) && strings.HasSuffix(text, "; slowed down to one new object in 30s")
					}) {
						t.Errorf("%s told %q, want %q", tc.reason, told, want)
					}
				}
				before := c.count() // What users make is not concerned.
				c.put(t, `{metadata: {namespace: ns, name: another}, spec: {size: 1}}`)
				pass(time.Second)
				if c.count() == before {
					t.Errorf("%s nothing is made for the object of a user", tc.reason)
				}
			})
		})
	}
}

// TestNoRecursion holds that rules of a chain, and what ends after a few levels, are left alone.
func TestNoRecursion(t *testing.T) {
	tests := map[string]struct {
		reason, rules string
		want          int
	}{
		"Chain": {
			"Each rule of a chain has a place in it.",
			made1 + `
  - name: then
    watch: items
    actions: [{apply: {resource: gadgets, manifest: {metadata: {name: "${object.metadata.name}"}}}}]
  - name: last
    watch: gadgets
    actions: [{apply: {resource: gadgets, manifest: {metadata: {name: "${object.metadata.name}-last"}}}, when: "!(object.metadata.name endsWith 'last')"}]
`, 120,
		},
		"FewLevels": {
			"What ends after a few levels ends.",
			`
  - name: levels
    watch: widgets
    when: object.spec.size < 5
    actions: [{apply: {resource: widgets, manifest: {metadata: {name: "${object.metadata.name}x"}, spec: {size: "${object.spec.size + 1}"}}}}]
`, 160,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := newCluster()
			for i := range 40 {
				c.put(t, fmt.Sprintf(`{apiVersion: example.com/v1, kind: Widget, metadata: {namespace: ns, name: a%d}, spec: {size: 1}}`, i))
			}
			runWith(t, c, engine.Housekeeping{}, families(t, tc.rules), func(t *testing.T, e *engine.Engine) {
				pass(time.Minute)
				if n := c.count(); n != tc.want || len(e.Contests()) > 0 {
					t.Errorf("%s %d writes, want %d; contests %v", tc.reason, n, tc.want, e.Contests())
				}
			})
		})
	}
}

const made1 = `
  - name: makes
    watch: widgets
    actions: [{apply: {resource: items, manifest: {metadata: {name: "${object.metadata.name}"}}}}]
`

// TestRecursionSlow holds that successors which are made long after each other are none.
func TestRecursionSlow(t *testing.T) {
	c := newCluster()
	c.put(t, small)
	runWith(t, c, engine.Housekeeping{}, families(t, `
  - name: succeeds
    watch: widgets
    for: 11m
    actions: [{apply: {resource: widgets, owned: false, manifest: {metadata: {name: "${sha256(object.metadata.name)[:20]}"}}}}]
`), func(t *testing.T, e *engine.Engine) {
		pass(5 * time.Hour)
		if n := c.count(); n < 25 || len(e.Contests()) > 0 {
			t.Errorf("%d writes, contests %v", n, e.Contests())
		}
	})
}

// TestRecursionOfOwners holds that what a controller makes for an object that a rule made counts as made by the rule.
func TestRecursionOfOwners(t *testing.T) {
	c := newCluster()
	c.put(t, small)
	n := 0
	c.after = func(o plan.Operation, result write.Result) write.Result {
		if o.Target.GVR == items {
			n++
			text := fmt.Sprintf(`{metadata: {namespace: ns, name: a%d, ownerReferences: [{uid: %q}]}}`, n, result.Echo.Object.UID)
			time.AfterFunc(time.Millisecond, func() { c.put(t, text) }) // A controller sees the item about when its maker gets the answer, not before.
		}
		return result
	}
	runWith(t, c, engine.Housekeeping{}, families(t, made1), func(t *testing.T, e *engine.Engine) {
		pass(time.Second)
		if len(e.Contests()) != 1 || c.count() > conflict.Generations+1 {
			t.Errorf("%d writes, contests %v", c.count(), e.Contests())
		}
	})
}

// TestRecursionSettles holds that an engine that settles gives a recursion up, and says so.
func TestRecursionSettles(t *testing.T) {
	for name, text := range map[string]string{"Itself": copying, "Two": toAndFro, "Wide": doubles} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCluster()
				c.put(t, small)
				report, err := c.engine().Settle(t.Context(), families(t, text))
				if err != nil || len(report.Failures) == 0 || report.Written > conflict.Descendants+40 {
					t.Fatalf("err %v, %d written, %d failures", err, report.Written, len(report.Failures))
				}
				if err := report.Failures[0].Err; !errors.Is(err, guard.ErrRestless) || !strings.Contains(err.Error(), "makes objects because of objects that it has made") {
					t.Errorf("failed with: %v", err)
				}
			})
		})
	}
}

var events = schema.GroupVersionResource{Version: "v1", Resource: "events"}

// TestRecursionOfEvents holds the same of Events about Events.
func TestRecursionOfEvents(t *testing.T) {
	kindOf[events] = "Event"
	t.Cleanup(func() { delete(kindOf, events) })
	set := compile(t, rules.Options{Schemas: types.NewCatalog(kinds{})}, `
apiVersion: dyncontroller.dev/v1alpha1
kind: ClusterRuleSet
metadata: {name: set}
spec:
  resources:
    events: {version: v1, resource: events}
  rules:
  - name: echo
    watch: events
    actions: [{event: {reason: Echo, message: "saw ${object.metadata.name}"}}]
`)
	c := newCluster()
	recorder := storing{c, t}
	c.tune = func(o *engine.Options) { o.Recorder = recorder }
	c.put(t, `{apiVersion: v1, kind: Event, metadata: {namespace: ns, name: first.1}}`)
	runWith(t, c, engine.Housekeeping{}, set, func(t *testing.T, e *engine.Engine) {
		pass(time.Second)
		if n := len(c.list(events)); n > conflict.Generations+3 {
			t.Fatalf("%d Events, want a few", n)
		}
		pass(10 * time.Minute)
		if n := len(c.list(events)); n < conflict.Generations+10 || n > conflict.Generations+25 {
			t.Errorf("%d Events after ten minutes, want one more in 30 s", n)
		}
		want := "rule set/echo makes objects because of objects that it has made: events ns/"
		if got := e.Contests(); len(got) != 1 || !strings.HasPrefix(got[0].String(), want) {
			t.Errorf("contests %v, want %q", got, want)
		}
		if n := strings.Count(c.log.String(), "a rule makes objects because"); n != 1 {
			t.Errorf("logged %d times:\n%s", n, c.log.String())
		}
	})
	if diff := cmp.Diff(0, strings.Count(c.log.String(), "events were not recorded")); diff != "" {
		t.Errorf("what is held back is no failure (-want +got):\n%s", diff)
	}
}

// storing stores Events as the API server would, so that rules see them.
type storing struct {
	*cluster
	t *testing.T
}

func (r storing) Record(_ context.Context, event plan.Event, _ bool) error {
	name := write.EventName(event)
	r.put(r.t, fmt.Sprintf(`{apiVersion: v1, kind: Event, metadata: {namespace: %q, name: %q}}`, name.Namespace, name.Name))
	return nil
}
