package engine_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/engine/conflict"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

const (
	counting = `
  - name: counts
    watch: widgets
    actions: [{patch: {merge: {spec: {size: "${object.spec.size + 1}"}}}}]
`
	upAndDown = `
  - name: up
    watch: widgets
    when: object.spec.size != 5
    actions: [{patch: {merge: {spec: {size: 5}}}}]
  - name: down
    watch: widgets
    when: object.spec.size == 5
    actions: [{patch: {merge: {spec: {size: 6}}}}]
`
	// hereAndThere are about an item, for widgets and for gadgets.
	hereAndThere = `
  - name: here
    watch: widgets
    with: {it: {resource: items, name: it}}
    when: it?.spec?.size != 5
    actions: [{patch: {target: it, merge: {spec: {size: 5}}}}]
  - name: there
    watch: gadgets
    with: {it: {resource: items, name: it}}
    when: it?.spec?.size != 6
    actions: [{patch: {target: it, merge: {spec: {size: 6}}}}]
`
	made = `
  - name: makes
    watch: widgets
    actions: [{apply: {resource: items, manifest: {metadata: {name: it}, spec: {size: 1}}}}]
`
	gone = `
  - name: deletes
    watch: widgets
    with: {it: {resource: items, name: it}}
    actions: [{delete: {target: it}}]
`
)

// rival is who undoes what rules write, until it stops.
type rival struct {
	mu      sync.Mutex
	stopped bool
}

func (r *rival) stop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stopped = true
}

func (r *rival) acts() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !r.stopped
}

// script changes the widget back whenever a rule has changed it.
func (r *rival) script(t *testing.T, c *cluster) {
	c.after = func(_ plan.Operation, result write.Result) write.Result {
		if r.acts() {
			c.put(t, `{metadata: {namespace: ns, name: a, labels: {seen: "yes"}, managedFields: [
  {manager: earlier, operation: Update, time: "2026-01-01T00:00:00Z", fieldsV1: {"f:spec": {"f:size": {}}}},
  {manager: script, operation: Update, time: "2026-01-01T00:00:01Z", fieldsV1: {"f:spec": {"f:size": {}}}},
  {manager: other, operation: Update, time: "2026-01-01T00:00:02Z", fieldsV1: {"f:spec": {"f:other": {}}}}]}, spec: {size: 1}}`)
		}
		return result
	}
}

// admission changes the size in each request, and something besides.
func (r *rival) admission(_ *testing.T, c *cluster) {
	c.answer = func(operation plan.Operation) *write.Result {
		if !r.acts() {
			return nil
		}
		operation.Body = map[string]any{"spec": map[string]any{"size": 1, "touched": len(c.writes)}}
		result := c.carryOut(operation)
		return &result
	}
}

// collector deletes whatever rules make.
func (r *rival) collector(_ *testing.T, c *cluster) {
	c.after = func(_ plan.Operation, result write.Result) write.Result {
		if r.acts() {
			c.drop(item("it"))
		}
		return result
	}
}

// maker makes what rules delete.
func (r *rival) maker(t *testing.T, c *cluster) {
	n := 0
	c.after = func(_ plan.Operation, result write.Result) write.Result {
		if n++; r.acts() {
			c.put(t, fmt.Sprintf(`{apiVersion: example.com/v1, kind: Item, metadata: {namespace: ns, name: it, uid: u%d, managedFields: [
  {manager: maker, operation: Update, time: "2026-01-01T00:00:00Z", fieldsV1: {"f:spec": {"f:size": {}}}}]}}`, n))
		}
		return result
	}
}

// TestContests holds that what undoes rules is named, within ten rounds, once, and slowed
// down, but never dropped: when it stops, the object settles without a new event.
func TestContests(t *testing.T) {
	tests := map[string]struct {
		reason  string
		rules   string
		objects []string
		rival   func(*rival, *testing.T, *cluster)
		want    []string // without what all have in common
	}{
		"WithinAnObject": {
			reason: "Two rules write the same field of an object.", rules: upAndDown,
			want: []string{
				"spec.size of widgets.example.com ns/a: rule set/up undoes what rule set/down writes",
				"spec.size of widgets.example.com ns/a: rule set/down undoes what rule set/up writes",
			},
		},
		"AcrossObjects": {
			reason: "Two rules that watch two objects write the same field of a third.", rules: hereAndThere,
			objects: []string{
				`{apiVersion: example.com/v1, kind: Gadget, metadata: {namespace: ns, name: b}}`,
				`{apiVersion: example.com/v1, kind: Item, metadata: {namespace: ns, name: it}}`,
			},
			want: []string{
				"spec.size of items.example.com ns/it: rule set/there for gadgets.example.com ns/b undoes what rule set/here writes for widgets.example.com ns/a",
				"spec.size of items.example.com ns/it: rule set/here for widgets.example.com ns/a undoes what rule set/there writes for gadgets.example.com ns/b",
			},
		},
		"Itself": {
			reason: "A rule is never content with what it wrote.", rules: counting,
			want: []string{"spec.size of widgets.example.com ns/a: rule set/counts undoes itself"},
		},
		"Script": {
			reason: "Somebody else knows better.", rules: atLeastThree, rival: (*rival).script,
			want: []string{`spec.size of widgets.example.com ns/a: field manager "script" (Update) undoes what rule set/at-least-three writes`},
		},
		"Admission": {
			reason: "What is written does not stay as it is even in the answer.", rules: atLeastThree, rival: (*rival).admission,
			want: []string{"spec.size of widgets.example.com ns/a: admission undoes what rule set/at-least-three writes"},
		},
		"Collected": {
			reason: "What a rule makes is deleted.", rules: made, rival: (*rival).collector,
			want: []string{"items.example.com ns/it: somebody unknown undoes what rule set/makes writes"},
		},
		"MadeAgain": {
			reason: "What a rule deletes comes back.", rules: gone, rival: (*rival).maker,
			objects: []string{`{apiVersion: example.com/v1, kind: Item, metadata: {namespace: ns, name: it}}`},
			want:    []string{`items.example.com ns/it: field manager "maker" (Update) undoes what rule set/deletes writes`},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c, r := newCluster(), &rival{}
			c.put(t, small)
			for _, object := range tc.objects {
				c.put(t, object)
			}
			if tc.rival != nil {
				tc.rival(r, t, c)
			}
			runWith(t, c, engine.Housekeeping{}, families(t, tc.rules), func(t *testing.T, e *engine.Engine) {
				pass(time.Second) // Of two who write at the same time, one waits for a moment.
				if n := c.count(); n > 10*len(tc.want) {
					t.Errorf("%s named after %d writes", tc.reason, n)
				}
				got := contests(c)
				slices.Sort(got)
				slices.Sort(tc.want)
				if diff := cmp.Diff(tc.want, got); diff != "" {
					t.Errorf("%s told by Events (-want +got):\n%s", tc.reason, diff)
				}
				before := c.count()
				pass(10 * time.Minute)
				synctest.Wait()
				if n := c.count() - before; n < 10 || n > 60 {
					t.Errorf("%s %d writes in ten minutes, want some, and at most 60", tc.reason, n)
				}
				if got := contests(c); len(got) != len(tc.want) {
					t.Errorf("%s told again: %q", tc.reason, got)
				}
				if n := len(e.Contests()); n != len(tc.want) {
					t.Errorf("%s %d contests", tc.reason, n)
				}
				if n := strings.Count(c.log.String(), "is undone again and again"); n != len(tc.want) {
					t.Errorf("%s logged %d times:\n%s", tc.reason, n, c.log.String())
				}
				if tc.rival != nil {
					settlesWithout(t, c, e, r)
				}
			})
		})
	}
}

// settlesWithout holds what becomes of a contest when the rival stops.
func settlesWithout(t *testing.T, c *cluster, e *engine.Engine, r *rival) {
	t.Helper()
	r.stop()
	before := c.count()
	pass(conflict.Interval)
	synctest.Wait()
	if n := c.count() - before; n != 1 {
		t.Errorf("%d writes when the rival has stopped, want one", n)
	}
	pass(time.Hour)
	if n := c.count() - before; n != 1 || len(e.Contests()) > 0 {
		t.Errorf("%d writes an hour later, want one; contests %v", n, e.Contests())
	}
}

// contests are the Events that tell of them, in order.
func contests(c *cluster) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []string
	for _, event := range c.events {
		if text, is := strings.CutPrefix(event, "Contested "); is {
			text, _ = strings.CutSuffix(text, " (again)")
			out = append(out, strings.TrimSuffix(text, "; slowed down to one write in 30s"))
		}
	}
	return out
}
