package engine_test

import (
	"strings"
	"testing"
	"time"

	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// TestTouched holds that a change of what no rule reads wakes nobody but who waits, of the object itself and of what rules have
// looked up.
func TestTouched(t *testing.T) {
	const own = `
  - name: own
    watch: widgets
    when: object.spec.size < 3
    actions:
    - patch: {merge: {spec: {size: 3}}}
`
	const related = `
  - name: related
    watch: widgets
    with: {item: {resource: items, name: i}}
    when: item?.spec.size < 3
    actions:
    - patch: {merge: {spec: {size: 3}}}
`
	const version = `
  - name: version
    watch: widgets
    with: {item: {resource: items, name: i}}
    when: item?.metadata.resourceVersion == ""
    actions:
    - patch: {merge: {spec: {size: 3}}}
`
	const whole = `
  - name: whole
    watch: widgets
    when: toJSON(object) == ""
    actions:
    - patch: {merge: {spec: {size: 3}}}
`
	widget := func(size, other string) string {
		return `{metadata: {namespace: ns, name: a}, spec: {size: ` + size + `, other: ` + other + `}}`
	}
	item := func(size, other string) string {
		return `{apiVersion: example.com/v1, kind: Item, metadata: {namespace: ns, name: i}, spec: {size: ` + size + `, other: ` + other + `}}`
	}
	for name, tc := range map[string]struct {
		reason, rules string
		before        []string
		refused       bool // writes are
		change        string
		want          int
	}{
		"nothing read":         {"Nobody reads what has changed.", own, []string{widget("5", "a")}, false, widget("5", "b"), 0},
		"read":                 {"A rule reads it.", own, []string{widget("5", "a")}, false, widget("4", "a"), 1},
		"waits":                {"The API server has refused the write, and may not any more.", own, []string{widget("1", "a")}, true, widget("1", "b"), 1},
		"related nothing read": {"Nobody reads that of a related object.", related, []string{widget("5", "a"), item("5", "a")}, false, item("5", "b"), 0},
		"related read":         {"A rule reads it.", related, []string{widget("5", "a"), item("5", "a")}, false, item("4", "a"), 1},
		"related version":      {"A rule reads the version.", version, []string{widget("5", "a"), item("5", "a")}, false, item("5", "b"), 1},
		"whole":                {"A rule reads all, which has the version.", whole, []string{widget("5", "a")}, false, widget("5", "a"), 1},
		"related waits":        {"The object still wants to be written.", related, []string{widget("1", "a"), item("1", "a")}, true, item("1", "b"), 1},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster()
			if tc.refused {
				c.answer = func(plan.Operation) *write.Result { return &write.Result{Class: write.Terminal, Err: errRefused} }
			}
			for _, object := range tc.before {
				c.put(t, object)
			}
			runWith(t, c, engine.Housekeeping{}, families(t, tc.rules), func(t *testing.T, _ *engine.Engine) {
				pass(time.Hour)
				before := c.seen.of(&c.seen.evaluated)
				c.put(t, tc.change)
				pass(time.Second)
				if got := c.seen.of(&c.seen.evaluated) - before; got != tc.want {
					t.Errorf("%d evaluations, want %d: %s", got, tc.want, tc.reason)
				}
			})
		})
	}
}

// TestTouchedLate holds that rules which were left out, as their cache was behind another one, are asked once it has caught up,
// although nothing that they read has changed by then: later, or while the object is looked at for the first time since.
func TestTouchedLate(t *testing.T) {
	version := func(size, other string) string {
		return `{metadata: {namespace: ns, name: a, labels: {other: "yes"}}, spec: {size: ` + size + `, other: ` + other + `}}`
	}
	other := strings.NewReplacer("size < 3", "size > 9", "at-least-three", "other").Replace(atLeastThree)
	for name, meanwhile := range map[string]bool{"Later": false, "Meanwhile": true} {
		t.Run(name, func(t *testing.T) {
			c := newCluster()
			c.put(t, version("5", "a"))
			var looked func() // by the only worker
			c.tune = func(options *engine.Options) {
				options.Workers = 1
				options.Observer = hooks{Observer: &c.seen, looked: func() {
					if do := looked; do != nil {
						looked = nil
						do()
					}
				}}
			}
			run(t, c, grown+other, func(t *testing.T, _ *engine.Engine) {
				catchUp := func() { c.thaw(otherWidgets) }
				looked = func() {
					c.locked(func() { c.frozen[otherWidgets] = true })
					c.put(t, version("1", "a"))
					smaller := c.get("a")
					c.put(t, version("1", "b"))
					c.show(otherWidgets, smaller)
					if meanwhile {
						looked = catchUp
					}
				}
				c.put(t, strings.Replace(small, "name: a", "name: busy", 1))
				pass(time.Second)
				if !meanwhile {
					if got := size(c, "a"); got != int64(1) {
						t.Errorf("size is %v by a cache that is behind", got)
					}
					catchUp()
					pass(time.Second)
				}
				if got := size(c, "a"); got != int64(3) {
					t.Errorf("size is %v, so the rule was not asked again", got)
				}
			})
		})
	}
}
