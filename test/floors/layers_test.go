package floors_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/test/floors"
)

// TestRefer reads a small pkg/engine: what refers to what there, what runs against its layers, in circles, and how
// large its types are.
func TestRefer(t *testing.T) {
	dir := write(t, map[string]string{
		"go.mod":                 "module example.org/m\n\ngo 1.26.0\n",
		"test/floors/layers.txt": "# Top-down.\nloop.go\n\nbooks.go # The state.\nwords.go\n",
		"pkg/plan/plan.go":       "package plan\n\ntype Plan struct{ Name string }\n",
		"pkg/engine/lane/lane.go": `package lane

type Queue[T any] struct{ items []T }

func (q *Queue[T]) Len() int { return len(q.items) }
`,
		"pkg/engine/loop.go": `package engine

import (
	"example.org/m/pkg/engine/lane"
	"example.org/m/pkg/plan"
)

type Engine struct {
	books *books
	queue lane.Queue[key]
	plan.Plan
}

func (e *Engine) Run() { e.books.note(e.Name); e.queue.Len(); e.turn() }

func (e *Engine) turn() {
	turn := limit
	if turn > 0 {
		e.Run()
	}
}
`,
		"pkg/engine/books.go": `package engine

const limit = 3

type books struct{ engine *Engine; seen, kept map[key]told }

func (b *books) note(name string) { b.seen[key{name}] = told{}; b.engine.turn() }
`,
		"pkg/engine/words.go": `package engine

type key struct{ name string }

type told struct{}

func (key) again(b *books) told { return b.kept[key{}] }

func alone() { alone() }
`,
		"pkg/engine/words_test.go": "package engine\n\nvar _ Engine\n",
	})
	packages, err := floors.Load(t.Context(), dir, "./pkg/engine/...")
	if err != nil {
		t.Fatal(err)
	}
	references := floors.Refer(packages)

	in := func(file, name string) floors.Declaration {
		return floors.Declaration{Package: "./pkg/engine", File: file, Name: name}
	}
	queue := func(name string) floors.Declaration {
		return floors.Declaration{Package: "./pkg/engine/lane", File: "lane.go", Name: name}
	}
	all := func(of ...floors.Declaration) map[floors.Declaration]bool {
		set := map[floors.Declaration]bool{}
		for _, d := range of {
			set[d] = true
		}
		return set
	}
	engine, run, turn := in("loop.go", "Engine"), in("loop.go", "Engine.Run"), in("loop.go", "Engine.turn")
	limit, books, note := in("books.go", "limit"), in("books.go", "books"), in("books.go", "books.note")
	key, told, again, alone := in("words.go", "key"), in("words.go", "told"), in("words.go", "key.again"), in("words.go", "alone")
	want := floors.References{
		engine: all(books, key, queue("Queue")),
		run:    all(engine, note, turn, queue("Queue.Len")),
		turn:   all(engine, limit, run),
		limit:  all(),
		books:  all(engine, key, told),
		note:   all(books, key, told, turn),
		key:    all(),
		told:   all(),
		again:  all(key, books, told),
		alone:  all(),

		queue("Queue"):     all(),
		queue("Queue.Len"): all(queue("Queue")),
	}
	if diff := cmp.Diff(want, references); diff != "" {
		t.Errorf("Names of locals are no references, fields are, and instances count as what is generic (-want +got)\n%s", diff)
	}

	layers, err := floors.Layers(dir)
	if err != nil {
		t.Fatal(err)
	}
	against, wrong := floors.Against(references, layers)
	const text = `
books.go refers to loop.go above it: Engine Engine.turn
words.go refers to books.go above it: books`
	if diff := cmp.Diff(text, floors.Describe(against)); diff != "" || wrong != nil {
		t.Errorf("against the layers: %q (-want +got)\n%s", wrong, diff)
	}

	circles := [][]floors.Declaration{{books, note, engine, run, turn, key, again}}
	if diff := cmp.Diff(circles, floors.Circles(references)); diff != "" {
		t.Errorf("a type with its methods alone is no circle (-want +got)\n%s", diff)
	}

	fields, methods := floors.Sizes(packages)
	wantFields := []floors.Size{
		{Type: "./pkg/engine Engine", N: 3},
		{Type: "./pkg/engine books", N: 3},
		{Type: "./pkg/engine key", N: 1},
		{Type: "./pkg/engine/lane Queue", N: 1},
		{Type: "./pkg/engine told", N: 0},
	}
	if diff := cmp.Diff(wantFields, fields); diff != "" {
		t.Errorf("fields (-want +got)\n%s", diff)
	}
	if want := (floors.Size{Type: "./pkg/engine Engine", N: 2}); methods[0] != want {
		t.Errorf("Want %v as the type with most methods, have %v", want, methods[0])
	}
}

func TestAgainst(t *testing.T) {
	in := func(file string) floors.Declaration {
		return floors.Declaration{Package: "./pkg/engine", File: file, Name: "x"}
	}
	below := floors.Declaration{Package: "./pkg/engine/lane", File: "a.go", Name: "x"}
	references := floors.References{in("a.go"): {in("b.go"): true, below: true}, in("b.go"): {}, below: {in("a.go"): true}}
	tests := map[string]struct {
		reason string
		layers []string
		want   []string
	}{
		"in order":  {reason: "Files of other packages are not in the list.", layers: []string{"a.go", "b.go"}},
		"new file":  {reason: "A file that nobody placed could refer to anything.", layers: []string{"a.go"}, want: []string{"b.go is not in layers.txt: add it above the files that it refers to"}},
		"lost file": {reason: "A list of what is gone is not read any more.", layers: []string{"a.go", "b.go", "c.go"}, want: []string{"c.go is in layers.txt, but declares nothing in ./pkg/engine: take it off"}},
		"twice":     {reason: "A file has one place.", layers: []string{"a.go", "b.go", "a.go"}, want: []string{"a.go is listed twice in layers.txt: take one off"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, wrong := floors.Against(references, test.layers)
			if diff := cmp.Diff(test.want, wrong); diff != "" {
				t.Errorf("%s (-want +got)\n%s", test.reason, diff)
			}
		})
	}
}
