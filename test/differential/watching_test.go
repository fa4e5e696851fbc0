package differential

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
)

// history is what is done to some objects of a kind, in two namespaces, and how that is watched.
type history struct {
	of      *kind
	turns   []turn
	watches []watching
}

// spot is where an object of a history is: in one of its namespaces.
type spot struct {
	space int
	name  string
}

// turn is what is done to one of the objects.
type turn struct {
	spot
	operation
}

// watching is a watch as it is told to both API servers.
type watching struct {
	what string // for counting
	of   *kind  // the kind, or another version of it
	// space is the namespace, and everywhere stands for all.
	space int
	query url.Values
	// old asks by the form of a path that says that it is one of a watch.
	old bool
	// metadata asks for no more of the objects.
	metadata bool
	// opened is before which turn it begins, and since that after which it asks for events where the version is a token.
	opened, since int
	// last is what it is shown at the end; without, it ends by itself.
	last *last
}

const everywhere = -1

// last is a write that a watch shows, with a note by which it is known.
type last struct {
	spot
	labels map[string]any
	color  string
}

// Tokens in the query of a watch.
const (
	tokenListed  = "@listed@"    // the version of a list
	tokenWritten = "@written@"   // the version of the object that an answer told last
	tokenSpace   = "@space%d@"   // a namespace
	toCome       = "99999999999" // a version
)

// String shows the watch as a client could send it.
func (w watching) String() string {
	query, _ := url.QueryUnescape(w.query.Encode())
	at := "both namespaces"
	if w.space != everywhere {
		at = fmt.Sprint("namespace ", w.space)
	}
	out := fmt.Sprintf("%s, of %s in %s, before %d: %s", w.what, w.of.GroupVersion(), at, w.opened+1, query)
	if strings.Contains(query, tokenListed) || strings.Contains(query, tokenWritten) {
		out += fmt.Sprintf(", the version after %d", w.since)
	}
	if w.metadata {
		out += ", only metadata"
	}
	if w.old {
		out += ", by the old path"
	}
	return out
}

func (h history) String() string {
	var out strings.Builder
	fmt.Fprintf(&out, "%s\n", h.of.path("@namespace@"))
	for i, t := range h.turns {
		fmt.Fprintf(&out, "%3d. %d/%s: %s\n", i+1, t.space, t.name, t.operation)
	}
	return out.String()
}

// spots are the objects of each history. Two have the same name.
func spots() []spot { return []spot{{0, "a"}, {0, "b"}, {1, "a"}} }

// history makes the history of an index. It is the same for the same seed.
func (w *world) history(ctx context.Context, seed uint64, index int, of *kind) (history, error) {
	random := values{Rand: rand.New(rand.NewPCG(seed, uint64(index)))}
	out := history{of: of}
	objects := spots()
	client := w.client(newRemembering())
	var generators []*generator
	for _, at := range objects {
		generators = append(generators, &generator{
			values: random, of: of, scratch: newSide(client, "http://simulated", of, fmt.Sprint("space", at.space), at.name),
			made: sequence{of: of, operations: []operation{{}}}, // Names are not generated: selectors have them.
		})
	}
	for range 8 + random.IntN(12) {
		i := random.IntN(len(objects))
		o, err := generators[i].turn(ctx)
		if err != nil {
			return history{}, fmt.Errorf("%s: %w", out, err)
		}
		out.turns = append(out.turns, turn{objects[i], o})
	}
	for i := range 4 {
		m := &watchMaker{values: random, history: &out, others: w.versionsOf(of), at: watching{of: of, query: url.Values{}}}
		out.watches = append(out.watches, m.watching(i))
	}
	return out, nil
}

// turn makes an operation, and does it: one that brings an object into a selection or out of it, or any.
func (g *generator) turn(ctx context.Context) (operation, error) {
	if g.maybe(0.5) {
		o, _, err := g.step(ctx, true, false)
		return o, err
	}
	merge := func(metadata map[string]any) operation {
		return operation{what: "selection", method: http.MethodPatch, kind: typeMerge, body: map[string]any{"metadata": metadata}}
	}
	watched := merge(map[string]any{"labels": map[string]any{"watched": pick[any](g.Rand, "yes", "yes", "no", nil)}})
	removed := operation{what: "delete", method: http.MethodDelete, query: url.Values{}}
	several := removed
	several.what, several.collection = "delete collection", true
	several.query = url.Values{"labelSelector": {pick(g.Rand, "watched=yes", "watched!=yes")}}
	o := pick(g.Rand,
		watched, watched, watched,
		merge(map[string]any{"labels": map[string]any{"app": pick[any](g.Rand, "x", nil)}}),
		merge(map[string]any{"annotations": map[string]any{"note": fmt.Sprint(g.IntN(100))}}),
		merge(map[string]any{"finalizers": []any{"example.com/hold"}}),
		merge(map[string]any{"finalizers": []any{}}),
		removed, removed, several,
	)
	if g.of.custom && g.maybe(0.3) {
		o = operation{
			what: "selection", method: http.MethodPatch, kind: typeMerge,
			body: map[string]any{"spec": map[string]any{"color": pick(g.Rand, "red", "green", "blue")}},
		}
	}
	a, err := g.scratch.do(ctx, o)
	if err == nil && a.Code == http.StatusNotFound {
		o = g.create()
		_, err = g.scratch.do(ctx, o)
	}
	return o, err
}

// watchMaker makes a watch of a history. It is for one goroutine.
type watchMaker struct {
	values
	*history
	others []*kind
	at     watching
}

// watching makes the watch of a number: the last of a history is a rare one, most of the time.
func (m *watchMaker) watching(number int) watching {
	w := &m.at
	w.opened = m.IntN(len(m.turns) + 1)
	w.since = m.IntN(w.opened + 1)
	w.space = pick(m.Rand, everywhere, 0, 0, 1)
	w.old, w.metadata = m.maybe(0.1), m.maybe(0.15)
	if len(m.others) > 0 && m.maybe(0.15) {
		w.of = pick(m.Rand, m.others...)
	}
	rare := number == 3 && m.maybe(0.8)
	switch {
	case rare && m.maybe(0.35):
		m.refused()
	case rare && m.maybe(0.4):
		m.unreached()
	default:
		m.version()
		m.begins()
		m.selects(fmt.Sprint("last", number))
		if rare {
			m.ends()
		}
	}
	return *w
}

// version draws from where events are wanted.
func (m *watchMaker) version() {
	switch n := m.IntN(100); {
	case n < 20:
		m.at.what = "watch from nowhere"
	case n < 40:
		m.at.what = "watch from 0"
		m.at.query.Set("resourceVersion", "0")
	case n < 70:
		m.at.what = "watch from a list"
		m.at.query.Set("resourceVersion", tokenListed)
	default:
		m.at.what = "watch from a write"
		m.at.query.Set("resourceVersion", tokenWritten)
	}
}

// begins draws whether what is there is shown first, and whether there are bookmarks.
func (m *watchMaker) begins() {
	bookmarks := 0.4
	if m.maybe(0.35) {
		sends := m.maybe(0.9)
		if bookmarks = 0.85; sends {
			m.at.what = strings.Replace(m.at.what, "watch", "initial events", 1)
		}
		m.at.query.Set("sendInitialEvents", fmt.Sprint(sends))
		m.at.query.Set("resourceVersionMatch", "NotOlderThan")
	}
	if m.maybe(bookmarks) {
		m.at.query.Set("allowWatchBookmarks", "true")
	}
}

// labelSelections are label selectors, and the labels of what they select. The last one selects only what has never been labelled.
func labelSelections() []selection {
	return []selection{
		{"watched=yes", map[string]any{"watched": "yes"}},
		{"watched!=yes", map[string]any{"watched": "no"}},
		{"watched in (yes,no)", map[string]any{"watched": "no"}},
		{"watched notin (no)", map[string]any{"watched": "yes"}},
		{"app", map[string]any{"app": "z"}},
		{"app!=x,watched=yes", map[string]any{"app": "z", "watched": "yes"}},
		{"!watched", map[string]any{}},
	}
}

type selection struct {
	selector string
	labels   map[string]any
}

// selects draws selectors, and what is selected by them at the end, which has a name of its own unless one is selected.
func (m *watchMaker) selects(name string) {
	w := &m.at
	w.last = &last{spot: spot{max(w.space, 0), name}, labels: map[string]any{}, color: "red"}
	selections := labelSelections()
	if m.maybe(0.5) {
		fields := []func() string{
			func() string { w.last.name = "a"; return "metadata.name=a" },
			func() string { return "metadata.name!=a" },
			func() string { return "metadata.namespace=" + spaceToken(w.last.space) },
			func() string {
				w.last.name = "b"
				return "metadata.name=b,metadata.namespace=" + spaceToken(w.last.space)
			},
		}
		if w.space == everywhere {
			fields = append(fields, func() string { w.last.space = 1; return "metadata.namespace!=" + spaceToken(0) })
		}
		if w.of.custom && w.of.Version == "v1" {
			color := func() string { return "spec.color=red" }
			otherColor := func() string { w.last.color = "green"; return "spec.color!=red" }
			fields = append(fields, color, color, otherColor)
		}
		w.query.Set("fieldSelector", pick(m.Rand, fields...)())
		selections = selections[:len(selections)-1]
	}
	if m.maybe(0.5) {
		drawn := pick(m.Rand, selections...)
		w.query.Set("labelSelector", drawn.selector)
		w.last.labels = drawn.labels
	}
}

func spaceToken(space int) string { return fmt.Sprintf(tokenSpace, space) }

// ends has a watch end by itself, after the history, so that it does not depend on the machine what it shows. Where there are bookmarks,
// one comes two seconds before.
func (m *watchMaker) ends() {
	w := &m.at
	w.opened, w.last = len(m.turns)+1, nil
	w.what += ", which ends"
	w.query.Set("timeoutSeconds", "2")
	if w.query.Has("allowWatchBookmarks") {
		w.query.Set("timeoutSeconds", "4")
	}
}

// refused makes a watch that no API server serves.
func (m *watchMaker) refused() {
	m.at.what, m.at.old = "refused watch", false // By the old path, some of them are served.
	m.at.query = pick(m.Rand,
		url.Values{"resourceVersion": {"abc"}},
		url.Values{"resourceVersion": {"-1"}},
		url.Values{"resourceVersion": {"abc"}, "sendInitialEvents": {"true"}, "resourceVersionMatch": {"NotOlderThan"}},
		url.Values{"sendInitialEvents": {"true"}},
		url.Values{"sendInitialEvents": {"true"}, "resourceVersionMatch": {"Exact"}, "resourceVersion": {tokenListed}},
		url.Values{"resourceVersionMatch": {"NotOlderThan"}, "resourceVersion": {tokenListed}},
		url.Values{"labelSelector": {"a=b=c"}},
		url.Values{"fieldSelector": {"spec.bogus=x"}},
		url.Values{"timeoutSeconds": {"soon"}},
	)
}

// unreached makes a watch from a version that is no more, or not yet.
func (m *watchMaker) unreached() {
	w := &m.at
	// Of a built-in kind, the watch cache of a real API server that has just begun still has all that ever was.
	if w.of.custom && m.maybe(0.5) {
		w.what = "watch from a version that is gone"
		w.query.Set("resourceVersion", "1")
		return
	}
	w.what = "watch from a version to come"
	w.query = url.Values{"resourceVersion": {toCome}}
	m.begins()
	w.query.Set("timeoutSeconds", pick(m.Rand, "2", "4"))
}
