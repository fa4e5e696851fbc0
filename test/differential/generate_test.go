package differential

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"github.com/dyncontroller/dyncontroller/pkg/simulate/storage"
)

// generator makes a sequence. It tries what it makes on the simulated API server, so that
// most of it can be done: a sequence of refusals would show little. It is for one goroutine.
type generator struct {
	values
	of      *kind
	also    []*kind // the other versions
	scratch *side
	made    sequence
}

// pair is a sequence and what the simulated API server answered.
type pair struct {
	sequence
	answers []answer
}

// tries is how often another operation is made where one is refused.
const tries = 4

// generate makes the sequence of an index. It is the same for the same seed.
func (w *world) generate(ctx context.Context, seed uint64, index int, of *kind) (pair, error) {
	g := &generator{
		values:  values{Rand: rand.New(rand.NewPCG(seed, uint64(index)))},
		of:      of,
		also:    w.versionsOf(of),
		scratch: w.simulated(of, namespaceOf(index), nameOf(index)),
	}
	g.made.of = of
	var answers []answer
	for n := 3 + g.IntN(8); n >= 0; n-- {
		last := n == 0
		o, a, err := g.step(ctx, len(answers) == 0, last)
		if err != nil {
			return pair{}, fmt.Errorf("%s: %w", g.made, err)
		}
		g.made.operations = append(g.made.operations, o)
		answers = append(answers, a)
	}
	return pair{g.made, answers}, nil
}

// versionsOf are the other versions of a kind.
func (w *world) versionsOf(of *kind) (out []*kind) {
	for _, other := range w.kinds {
		if other != of && other.GroupResource() == of.GroupResource() {
			out = append(out, other)
		}
	}
	return out
}

// start is the time of the simulated clusters, which stands still: nothing that happens may
// depend on the machine's.
var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// simulated is a side that is a simulated cluster of its own.
func (w *world) simulated(of *kind, namespace, name string) *side {
	return newSide(w.client(storage.NewWorld(clocktesting.NewFakeClock(start))), "http://simulated", of, namespace, name)
}

func (w *world) client(of *storage.World) *http.Client {
	return &http.Client{Transport: w.server.Transport(of)}
}

func namespaceOf(index int) string { return fmt.Sprintf("pair%d", index) }

func nameOf(index int) string { return fmt.Sprintf("thing%d", index) }

// step makes an operation and does it.
func (g *generator) step(ctx context.Context, first, last bool) (operation, answer, error) {
	if last {
		o := operation{what: "read", method: http.MethodGet}
		a, err := g.scratch.do(ctx, o)
		return o, a, err
	}
	_, current, err := g.scratch.send(ctx, http.MethodGet, g.scratch.at(operation{}), "", nil)
	if err != nil {
		return operation{}, answer{}, err
	}
	object, _ := current.(map[string]any)
	if object["kind"] == "Status" {
		object = nil
	}
	fine := g.maybe(0.8)
	for n := 0; ; n++ {
		g.wrong = 0
		if !fine {
			g.wrong = 0.06
		}
		o := g.operation(object, first)
		a, err := g.scratch.do(ctx, o)
		if err != nil || !fine || n >= tries || a.Code < http.StatusMultipleChoices {
			return o, a, err
		}
	}
}

func (g *generator) operation(current map[string]any, first bool) operation {
	if current == nil && (first || g.maybe(0.6)) {
		return g.create()
	}
	makers := []struct {
		weight int
		of     func(map[string]any) operation
	}{
		{20, g.merge},
		{12, g.json},
		{22, g.apply},
		{10, g.update},
		{6, g.strategic},
		{14, g.status},
		{6, g.scale},
		{7, g.remove},
		{3, g.read},
		{3, func(map[string]any) operation { return g.create() }},
		{10, g.metadata},
	}
	sum := 0
	for _, maker := range makers {
		sum += maker.weight
	}
	if current == nil && !g.of.custom {
		// What is filled in where a built-in object is made of a part is not compared.
		makers[2].of, makers[3].of = func(map[string]any) operation { return g.create() }, makers[0].of
	}
	at := g.IntN(sum)
	for _, maker := range makers {
		if at -= maker.weight; at < 0 {
			return maker.of(current)
		}
	}
	return g.create()
}

// query says who writes, and how.
func (g *generator) query() url.Values {
	out := url.Values{}
	if g.maybe(0.85) {
		out.Set("fieldManager", pick(g.Rand, "alice", "bob", "dyncontroller"))
	}
	if g.maybe(0.4) {
		out.Set("fieldValidation", pick(g.Rand, "Strict", "Warn", "Ignore"))
	}
	if g.maybe(0.04) {
		out.Set("dryRun", "All")
	}
	return out
}

// guard puts into metadata which object is meant.
func (g *generator) guard(metadata map[string]any) {
	switch n := g.IntN(100); {
	case n < 50:
	case n < 70:
		metadata["resourceVersion"] = tokenVersion
	case n < 82:
		metadata["uid"], metadata["resourceVersion"] = tokenUID, tokenVersion
	case n < 88:
		metadata["resourceVersion"] = tokenStale
	case n < 92:
		metadata["uid"] = "00000000-0000-0000-0000-000000000000"
	case n < 94:
		metadata["uid"], metadata["resourceVersion"] = "00000000-0000-0000-0000-000000000000", tokenVersion
	default:
		metadata["resourceVersion"] = pick(g.Rand, "0", "1", "none", "")
	}
}

// moment is a time that both sides are told.
var moment = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC).Format(time.RFC3339)

// owners are references that an object can have, and ones that are refused.
func (g *generator) owners() []any {
	owner := map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": "11111111-1111-1111-1111-111111111111"}
	second := map[string]any{
		"apiVersion": "apps/v1", "kind": "Deployment", "name": "second", "uid": "22222222-2222-2222-2222-222222222222", "controller": true,
		"blockOwnerDeletion": g.maybe(0.5),
	}
	third := merged(second, map[string]any{"uid": "33333333-3333-3333-3333-333333333333", "name": "third"})
	return pick(g.Rand, []any{owner}, []any{second}, []any{owner, second}, []any{second, third},
		[]any{merged(owner, map[string]any{"name": tokenAbsent})}, []any{})
}
