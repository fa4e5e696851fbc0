package conflict

import (
	"context"
	"errors"
	"log/slog"
	"strconv"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	testingclock "k8s.io/utils/clock/testing"

	"github.com/dyncontroller/dyncontroller/pkg/engine/guard"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

var (
	widgets  = schema.GroupResource{Group: "example.com", Resource: "widgets"}
	target   = named("target")
	source   = named("source")
	start    = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)
	replicas = plan.Path{"spec", "replicas"}
)

func named(name string) Object { return Object{Resource: widgets, Namespace: "ns", Name: name} }

func rule(name string) plan.Rule {
	return plan.Rule{Kind: "RuleSet", Namespace: "ns", Set: "set", Name: name}
}

// game is an API server with a few objects, rules that write to them, and others.
type game struct {
	t         *testing.T
	clock     *testingclock.FakeClock
	conflicts *Guard
	version   int
	objects   map[Object]*piece
	// admission changes what a rule sends; default: not at all.
	admission func(sent any) any
	named     []Conflict
	writes    int
}

// piece is an object of a game.
type piece struct {
	uid     types.UID
	version string
	values  map[string]any
}

func newGuard(clock clock.PassiveClock) *Guard {
	return New(clock, managedBy("x"), NewMade(), slog.New(slog.DiscardHandler))
}

func newGame(t *testing.T) *game {
	t.Helper()
	clock := testingclock.NewFakeClock(start)
	g := &game{t: t, clock: clock, conflicts: newGuard(clock), objects: map[Object]*piece{}}
	g.make(target)
	g.make(source)
	return g
}

func (g *game) next() string {
	g.version++
	return strconv.Itoa(g.version)
}

// make has somebody make an object.
func (g *game) make(o Object) {
	version := g.next()
	g.objects[o] = &piece{uid: types.UID("uid-" + version), version: version, values: map[string]any{}}
}

// edit is by somebody else.
func (g *game) edit(o Object, path plan.Path, value any) {
	g.objects[o].values[path.String()] = value
	g.objects[o].version = g.next()
}

// move is a write of a rule.
type move struct {
	rule    string
	watched Object    // default: the target
	target  Object    // default: target
	path    plan.Path // default: replicas
	due     bool
	reads   []Object // besides what is watched
	live    map[string]any
}

func (m move) defaults() move {
	if m.target == (Object{}) {
		m.target = target
	}
	if m.watched == (Object{}) {
		m.watched = m.target
	}
	if m.path == nil {
		m.path = replicas
	}
	return m
}

func (g *game) basis(m move) *basis {
	var read []guard.Input
	for _, o := range append([]Object{m.watched}, m.reads...) {
		if known := g.objects[o]; known != nil {
			read = append(read, guard.Input{Object: o, UID: known.uid, Version: known.version})
		}
	}
	var due []plan.Rule
	if m.due {
		due = []plan.Rule{rule(m.rule)}
	}
	return basisOf(g.conflicts, due, read...)
}

func basisOf(conflicts *Guard, due []plan.Rule, read ...guard.Input) *basis {
	a := &guard.Attempt{}
	a.Due, a.Read = due, func() []guard.Input { return read }
	return conflicts.basisOf(a)
}

// write is by a rule, of a value.
func (g *game) write(m move, value any) {
	g.t.Helper()
	m = m.defaults()
	of := g.objects[m.target]
	w := g.begun(m)
	w.uid, w.found = of.uid, of.version
	stored := value
	if g.admission != nil {
		stored = g.admission(value)
	}
	w.fields = []field{{
		rule: rule(m.rule), path: m.path, shown: m.path,
		before: of.values[m.path.String()], after: value, answered: stored,
	}}
	of.values[m.path.String()], of.version = stored, g.next()
	w.left = of.version
	g.record(w)
}

func (g *game) begun(m move) written {
	w := written{watched: m.watched, target: m.target, basis: g.basis(m), live: m.live}
	if watched := g.objects[m.watched]; watched != nil {
		w.watchedUID = watched.uid
	}
	return w
}

func (g *game) record(w written) {
	g.writes++
	g.named = append(g.named, g.conflicts.record(&w)...)
}

// deletes is by a rule.
func (g *game) deletes(m move) {
	m = m.defaults()
	w := g.begun(m)
	w.uid, w.found, w.fields = g.objects[m.target].uid, g.objects[m.target].version, []field{deleting(rule(m.rule))}
	delete(g.objects, m.target)
	g.record(w)
}

// makes is by a rule.
func (g *game) makes(m move) {
	m = m.defaults()
	w := g.begun(m)
	g.make(m.target)
	w.uid, w.left, w.fields = g.objects[m.target].uid, g.objects[m.target].version, []field{{rule: rule(m.rule), before: absent, after: present, answered: present}}
	g.record(w)
}

func deleting(rule plan.Rule) field {
	return field{rule: rule, before: present, after: absent, answered: absent}
}

// held is the conflict for which a rule has to wait, and whether there is one.
func held(conflicts *Guard, rule plan.Rule, target Object) (Conflict, bool) {
	begun, _ := conflicts.Begin(&guard.Attempt{})
	o := plan.Operation{Rules: []plan.Rule{rule}, Target: objectOf(target)}
	delay := begun.Admit(context.Background(), o)
	if delay == nil {
		begun.Observe(guard.Operation{Operation: o, Admitted: o}, guard.Answer{})
		return Conflict{}, false
	}
	slowed, is := errors.AsType[*Error](delay.Err)
	return slowed.Conflict, is && delay.Until.Equal(slowed.Conflict.Next)
}

func (g *game) held(rule plan.Rule, target Object) (Conflict, bool) {
	return held(g.conflicts, rule, target)
}

func objectOf(o Object) plan.Object {
	return plan.Object{GVR: o.Resource.WithVersion("v1"), Namespace: o.Namespace, Name: o.Name}
}

func keyOf(o Object) guard.Key { return guard.KeyOf(objectOf(o)) }

// pass lets time go by.
func (g *game) pass(d time.Duration) { g.clock.Step(d) }

// told are contests in short.
func told(all []Conflict) []string {
	var out []string
	for _, c := range all {
		out = append(out, c.String())
	}
	return out
}

// managed is an object with owners of spec.replicas.
func managed(entries ...any) map[string]any {
	return map[string]any{"metadata": map[string]any{"managedFields": entries}}
}

func entry(manager, at string) any {
	return map[string]any{
		"manager": manager, "time": at,
		"fieldsV1": map[string]any{"f:spec": map[string]any{"f:replicas": map[string]any{}}},
	}
}
