package conflict

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	testingclock "k8s.io/utils/clock/testing"

	"github.com/dyncontroller/dyncontroller/pkg/engine/guard"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// nursery is where rules make objects, as engines of one process.
type nursery struct {
	clock *testingclock.FakeClock
	made  *Made
	born  int
	// answer is that of the API server to the next objects, written if it is empty.
	answer write.Class
}

func (n *nursery) guard() *Guard {
	return New(n.clock, managedBy("x"), n.made, slog.New(slog.DiscardHandler))
}

func newNursery() *nursery { return &nursery{clock: testingclock.NewFakeClock(start), made: NewMade()} }

// child has a rule make an object of a resource for another one, and reports whether it is let.
func (n *nursery) child(g *Guard, by string, parent Object, of string) (child Object, let bool) {
	version := func(r schema.GroupResource) schema.GroupVersionResource { return r.WithVersion("v1") }
	a := &guard.Attempt{Key: guard.Key{GVR: version(parent.Resource), Namespace: parent.Namespace, Name: parent.Name}}
	a.UID, a.Read = types.UID(parent.Name), func() []guard.Input { return nil }
	n.born++
	child = Object{Resource: schema.GroupResource{Group: "example.com", Resource: of}, Namespace: "ns", Name: fmt.Sprint("o", n.born)}
	o := plan.Operation{
		Type: plan.Apply, Rules: []plan.Rule{rule(by)},
		Target: plan.Object{GVR: version(child.Resource), Namespace: child.Namespace, Name: child.Name},
	}
	check, _ := g.Begin(a)
	if check.Admit(context.Background(), o) != nil {
		return child, false
	}
	answered := g.Sending(a, o)
	result := write.Result{Class: cmp.Or(n.answer, write.Written)}
	answered(result.Class)
	if result.Class == write.Written {
		echo := o.Target
		echo.UID = types.UID(child.Name)
		result.Echo = &write.Echo{Object: echo}
	}
	check.Observe(guard.Operation{Operation: o, Admitted: o}, guard.Answer{Result: result})
	return child, true
}

func user(name string) Object {
	return Object{Resource: widgets, Namespace: "ns", Name: name}
}

// TestLineage holds how many objects rules make before they are slowed down, and which rules are not.
func TestLineage(t *testing.T) {
	const many = 3000
	tests := map[string]struct {
		reason string
		grow   func(n *nursery, g *Guard) (made int)
		want   int
	}{
		"Children": {"One object may have as many as it wants.", func(n *nursery, g *Guard) (made int) {
			for range many {
				made += n.each(g, "a", []Object{user("u")}, "items")
			}
			return made
		}, many},
		"Parents": {"Those of users may each have one, of the same resource too.", func(n *nursery, g *Guard) (made int) {
			for i := range many {
				made += n.each(g, "a", []Object{user(fmt.Sprint("u", i))}, "widgets")
			}
			return made
		}, many},
		"Chain": {"Each rule of a chain has a place in it.", func(n *nursery, g *Guard) (made int) {
			for i := range many {
				x, _ := n.child(g, "a", user(fmt.Sprint("u", i)), "items")
				y, _ := n.child(g, "b", x, "gadgets")
				made += 2 + n.each(g, "c", []Object{y}, "pods")
			}
			return made
		}, 3 * many},
		"SeveralKinds": {"So has a rule for each kind that it watches.", func(n *nursery, g *Guard) (made int) {
			for i := range many {
				x, _ := n.child(g, "a", user(fmt.Sprint("u", i)), "items")
				made += 1 + n.each(g, "a", []Object{x}, "gadgets")
			}
			return made
		}, 2 * many},
		"Stages": {"However many families there are.", func(n *nursery, g *Guard) (made int) {
			for i := range many {
				made += n.line(g, 3, user(fmt.Sprint("u", i)), "a")
			}
			return made
		}, 3 * many},
		"ManyRules": {"A line remembers its last rules, however many there are.", func(n *nursery, g *Guard) (made int) {
			rules := make([]string, 100)
			for i := range rules {
				rules[i] = fmt.Sprint("r", i)
			}
			made = n.line(g, 100, user("u"), rules...)
			found, _ := g.lineage.made.origins.Get(nameKey(Object{Resource: schema.GroupResource{Group: "example.com", Resource: "widgets"}, Namespace: "ns", Name: fmt.Sprint("o", made)}))
			if of, is := found.(origin); !is || len(of.line) != maxLine {
				t.Errorf("the line is %v", found)
			}
			return made
		}, 100},
		"Levels": {"A few levels, for many.", func(n *nursery, g *Guard) (made int) {
			for i := range Descendants / 4 {
				made += n.line(g, 5, user(fmt.Sprint("u", i)), "a")
			}
			return made
		}, Descendants / 4 * 5},
		"Deep": {"It is slowed down at its depth.", func(n *nursery, g *Guard) int { return n.line(g, many, user("u"), "a") }, Generations + 1},
		"Overtaken": {"Each object is seen before there is an answer.", func(n *nursery, g *Guard) int {
			n.answer = write.Ambiguous
			return n.line(g, many, user("u"), "a")
		}, Generations + 1},
		"Alternate": {"So are two rules.", func(n *nursery, g *Guard) int { return n.line(g, many, user("u"), "a", "b") }, 2*Generations + 2},
		"Wide": {"It spreads before it is deep.", func(n *nursery, g *Guard) (made int) {
			parents := []Object{user("u")}
			for len(parents) > 0 && made < many {
				var next []Object
				for _, parent := range parents {
					for range 10 {
						if child, let := n.child(g, "a", parent, "widgets"); let {
							made++
							next = append(next, child)
						}
					}
				}
				parents = next
			}
			return made
		}, 10 + Descendants + 1},
		"Identities": {"Rules of two identities answer each other.", func(n *nursery, g *Guard) (made int) {
			guards, at := []*Guard{g, n.guard()}, user("u")
			for made < many {
				var let bool
				if at, let = n.child(guards[made%2], string("ab"[made%2]), at, "widgets"); !let {
					break
				}
				made++
			}
			return made
		}, 2*Generations + 2},
		"LongAfter": {"A successor from time to time is none.", func(n *nursery, g *Guard) (made int) {
			for at := user("u"); made < 100; made++ {
				var let bool
				if at, let = n.child(g, "a", at, "widgets"); !let {
					break
				}
				n.clock.Step(Window + 1)
			}
			return made
		}, 100},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			n := newNursery()
			g := n.guard()
			if made := tc.grow(n, g); made != tc.want {
				t.Errorf("%s %d objects, want %d; %v", tc.reason, made, tc.want, g.Conflicts())
			}
		})
	}
}

// TestLineageRefused holds that what the API server refuses to make is not made: a user may make an object of that name.
func TestLineageRefused(t *testing.T) {
	tests := map[string]struct {
		reason string
		before []write.Class // the answers to former attempts to make the object
		answer write.Class
		made   int // by the rule, in the line of the object
	}{
		"Terminal":    {"A webhook refuses it.", nil, write.Terminal, 0},
		"Owned":       {"The object is there, and is another manager's.", nil, write.OwnedByAnother, 0},
		"Taken":       {"So it may be.", nil, write.Taken, 0},
		"Unreachable": {"The request never arrived.", nil, write.Unreachable, 0},
		"Simulated":   {"It is a dry run.", nil, write.Simulated, 0},
		"Again":       {"It is refused each time.", []write.Class{write.Terminal, write.Overloaded}, write.Terminal, 0},
		"Ambiguous":   {"It may have been made.", nil, write.Ambiguous, 1},
		"Lost":        {"It may have been made before.", []write.Class{write.Ambiguous}, write.Taken, 1},
		"Written":     {"It was made.", nil, write.Written, 1},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			n := newNursery()
			g := n.guard()
			var child Object
			for _, n.answer = range append(tc.before, tc.answer) {
				n.born = 0 // It has the same name each time.
				child, _ = n.child(g, "a", user("u"), "widgets")
			}
			of := g.lineage.of(&guard.Attempt{Key: guard.Key{GVR: child.Resource.WithVersion("v1"), Namespace: child.Namespace, Name: child.Name}})
			if got := len(of.line); got != tc.made {
				t.Errorf("%s %d rules have led to it, want %d", tc.reason, got, tc.made)
			}
		})
	}
}

// each has a rule make an object for each of some, and returns how many are made.
func (n *nursery) each(g *Guard, by string, parents []Object, of string) (made int) {
	for _, parent := range parents {
		if _, let := n.child(g, by, parent, of); let {
			made++
		}
	}
	return made
}

// line has rules make one object for the other in turn, until one is not let.
func (n *nursery) line(g *Guard, most int, from Object, by ...string) (made int) {
	for at := from; made < most; made++ {
		var let bool
		if at, let = n.child(g, by[made%len(by)], at, "widgets"); !let {
			break
		}
	}
	return made
}

// TestLineageSlow holds that a rule which is slowed down makes one object in a while, that what users make is not concerned, and when
// it is over.
func TestLineageSlow(t *testing.T) {
	n := newNursery()
	g := n.guard()
	at := user("u")
	grow := func() bool {
		child, let := n.child(g, "a", at, "widgets")
		if let {
			at = child
		}
		return let
	}
	for range Generations + 1 {
		grow()
	}
	made := 0
	for range 3600 {
		n.clock.Step(time.Second)
		if grow() {
			made++
		}
	}
	if made != 120 {
		t.Errorf("%d objects in an hour, want 120", made)
	}
	if _, let := n.child(g, "a", user("v"), "widgets"); !let {
		t.Error("the object of a user waits")
	}
	if got := g.Conflicts(); len(got) != 1 || got[0].Rival.String() != "recursion" {
		t.Errorf("got %v", got)
	}
	n.clock.Step(Window + 1)
	if got := g.Conflicts(); len(got) != 0 || !grow() || !grow() {
		t.Errorf("it is not over: %v", got)
	}
}
