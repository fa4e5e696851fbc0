package engine_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
	types "github.com/dyncontroller/dyncontroller/pkg/rules/schema"
)

const (
	// makesItem is a rule that makes an item of each widget, and cleans nothing up.
	makesItem = `
  - name: makes
    watch: widgets
    actions:
    - create: {in: found, manifest: {metadata: {name: "${object.metadata.name}-item", labels: {of: "${object.metadata.name}"}}}, owned: false}
      when: len(found) == 0
    with: {found: {resource: items, matchLabels: {of: "${object.metadata.name}"}}}
`
	// holdsItems deletes the items of a widget before that goes.
	holdsItems = `
  - name: holds
    watch: widgets
    with: {found: {resource: items, matchLabels: {of: "${object.metadata.name}"}}}
    limits: {maxObjects: 100%}
    onDelete: {actions: [{delete: {target: found}}], done: len(found) == 0}
`
	// deletesIt deletes each widget at once.
	deletesIt = `
  - name: deletes
    watch: widgets
    limits: {maxObjects: 100%}
    actions: [{delete: {}}]
`
)

// held is how many objects are made or deleted where that is done for each widget that has the finalizer, and for no other.
const held = -1

// putsOn reports whether an operation puts the finalizer of a rule on.
func putsOn(o plan.Operation) bool {
	return slices.ContainsFunc(o.Parts, func(part plan.Part) bool { return part.First == 0 })
}

// TestFinalizersFirst holds that nothing which a rule must clean up later is sent before its finalizer is on the object, in whatever order
// the rules stand, and whatever keeps the finalizer off: an object may be deleted at any time.
func TestFinalizersFirst(t *testing.T) {
	terminal := &write.Result{Class: write.Terminal, Err: errRefused}
	refuse := func(_ *cluster, o plan.Operation) *write.Result {
		if putsOn(o) {
			return terminal
		}
		return nil
	}
	const resources = head + `
    gadgets: {group: example.com, version: v1, resource: gadgets}
    items: {group: example.com, version: v1, resource: items}
  rules:
`
	tests := map[string]struct {
		reason     string
		one, other string // rules of two sets
		answer     func(c *cluster, o plan.Operation) *write.Result
		free       bool // the rule that holds has nothing to clean up
		want       int  // how many objects are made or deleted for three widgets
	}{
		"OrderOfRules": {reason: "The rule that makes stands first.", one: makesItem + holdsItems, want: 3},
		"OrderOfSets":  {reason: "So does its set.", one: makesItem, other: holdsItems, want: 3},
		"Deletes":      {reason: "So does a rule that deletes: an object on its way out gets no finalizer any more.", one: deletesIt, other: holdsItems, want: 3},
		"Refused":      {reason: "The finalizer is refused.", one: makesItem + holdsItems, answer: refuse},
		"RefusedOfSets": {
			reason: "So it is where it travels with the change of another rule, which is not refused without it.",
			one:    makesItem + labelled, other: holdsItems, answer: refuse,
		},
		"RefusedDeletes": {reason: "So it is where a rule deletes the object.", one: deletesIt, other: holdsItems, answer: refuse},
		"Stripped": {
			reason: "Admission takes it off, which only the answer shows.", one: makesItem + holdsItems,
			answer: func(c *cluster, o plan.Operation) *write.Result {
				if !putsOn(o) {
					return nil
				}
				object := c.get(o.Target.Name)
				return &write.Result{Class: write.Unchanged, Object: object, Echo: echo(o.Target, object, false)}
			},
		},
		"Limited": {
			reason: "The rule that holds is paused after its first object. Another one may have got its finalizer alone before, which counts for no limit.",
			one:    makesItem, other: replaced("100%", "1")(holdsItems) + "    actions: [{patch: {merge: {spec: {held: true}}}}]\n", want: held,
		},
		"Audited": {reason: "The rule holds nothing.", one: makesItem, other: holdsItems + "    mode: Audit\n", free: true, want: 3},
		"Unrelated": {
			reason: "The rule cleans up something else, so the failure is no concern of others.", one: makesItem,
			other: replaced("items", "gadgets")(holdsItems), answer: refuse, free: true, want: 3,
		},
		"ActionFails": {
			reason: "An ordinary action of the rule cannot be evaluated: it holds the object all the same.", one: makesItem,
			other: holdsItems + `    actions: [{patch: {merge: {spec: {other: "${object.spec.absent + 1}"}}}}]`, want: 3,
		},
		"ActionRefused": {
			reason: "An ordinary action of the rule is refused, in the request that puts the finalizer on too.", one: makesItem,
			other: holdsItems + "    actions: [{patch: {merge: {spec: {bad: true}}}}]", want: 3,
			answer: func(_ *cluster, o plan.Operation) *write.Result {
				if _, bad := plan.Lookup(o.Predicted, plan.Path{"spec", "bad"}); bad {
					return terminal
				}
				return nil
			},
		},
		"Withheld": {
			reason: "The rule wants another value than an earlier one: it holds the object all the same.",
			one:    makesItem + "  - {name: one, watch: widgets, actions: [{patch: {merge: {spec: {value: 1}}}}]}\n",
			other:  holdsItems + "    actions: [{patch: {merge: {spec: {value: 2}}}}]", want: 3,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			sets := []string{resources + tc.one}
			if tc.other != "" {
				sets = append(sets, replaced("name: set", "name: other")(resources)+tc.other)
			}
			set := compile(t, rules.Options{Schemas: types.NewCatalog(kinds{})}, sets...)
			finalizer := set.Holding()[0].ID.Finalizer()
			c := newCluster()
			for _, name := range []string{"a", "b", "c"} {
				c.put(t, replaced("name: a", "name: "+name)(small))
			}
			acted := map[plan.Object]bool{}
			c.answer = func(o plan.Operation) *write.Result {
				if o.Target.GVR != widgets || o.Type == plan.Delete {
					widget := c.get(strings.TrimSuffix(o.Target.Name, "-item"))
					if !tc.free && !strings.Contains(string(encode(widget)), finalizer) {
						t.Errorf("%s %s is sent before the finalizer", o.Type, o.Target)
					}
					o.Target.UID, o.Target.ResourceVersion = "", ""
					c.locked(func() { acted[o.Target] = true })
				}
				if tc.answer != nil {
					return tc.answer(c, o)
				}
				return nil
			}
			runWith(t, c, engine.Housekeeping{}, set, func(t *testing.T, _ *engine.Engine) {
				pass(time.Hour)
				want := tc.want
				if want == held {
					has := func(name string) bool { return strings.Contains(string(encode(c.get(name))), finalizer) }
					if want = len(slices.DeleteFunc([]string{"a", "b", "c"}, func(name string) bool { return !has(name) })); want == 0 {
						t.Errorf("%s\nno widget has the finalizer", tc.reason)
					}
				}
				if len(acted) != want {
					t.Errorf("%s\n%d objects are made or deleted, want %d\n%s", tc.reason, len(acted), want, c.log.String())
				}
			})
		})
	}
}
