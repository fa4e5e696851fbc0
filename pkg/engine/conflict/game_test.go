package conflict

import (
	"strconv"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	testingclock "k8s.io/utils/clock/testing"

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
	t       *testing.T
	clock   *testingclock.FakeClock
	tracker *Tracker
	version int
	objects map[Object]*piece
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

func newGame(t *testing.T) *game {
	t.Helper()
	clock := testingclock.NewFakeClock(start)
	g := &game{t: t, clock: clock, tracker: NewTracker(clock), objects: map[Object]*piece{}}
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
	until   time.Time
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

func (g *game) basis(m move) Basis {
	var read []Input
	for _, o := range append([]Object{m.watched}, m.reads...) {
		if known := g.objects[o]; known != nil {
			read = append(read, Input{Object: o, UID: known.uid, Version: known.version})
		}
	}
	return g.tracker.Basis(read, m.due, m.until)
}

// write is by a rule, of a value.
func (g *game) write(m move, value any) {
	g.t.Helper()
	m = m.defaults()
	of := g.objects[m.target]
	w := g.begun(m)
	w.UID, w.Found = of.uid, of.version
	stored := value
	if g.admission != nil {
		stored = g.admission(value)
	}
	w.Fields = []Field{{
		Rule: rule(m.rule), Path: m.path, Shown: m.path,
		Before: of.values[m.path.String()], After: value, Answered: stored,
	}}
	of.values[m.path.String()], of.version = stored, g.next()
	w.Left = of.version
	g.record(w)
}

func (g *game) begun(m move) Write {
	w := Write{Watched: m.watched, Target: m.target, Basis: g.basis(m), Live: m.live}
	if watched := g.objects[m.watched]; watched != nil {
		w.WatchedUID = watched.uid
	}
	return w
}

func (g *game) record(w Write) {
	g.writes++
	g.tracker.Begin(w.Target)
	g.tracker.Record(w)
	g.named = append(g.named, g.tracker.News(w.Watched)...)
}

// deletes is by a rule.
func (g *game) deletes(m move) {
	m = m.defaults()
	w := g.begun(m)
	w.UID, w.Found, w.Fields = g.objects[m.target].uid, g.objects[m.target].version, []Field{Deleting(rule(m.rule))}
	delete(g.objects, m.target)
	g.record(w)
}

// makes is by a rule.
func (g *game) makes(m move) {
	m = m.defaults()
	w := g.begun(m)
	g.make(m.target)
	w.UID, w.Left, w.Fields = g.objects[m.target].uid, g.objects[m.target].version, []Field{Making(rule(m.rule))}
	g.record(w)
}

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
