package engine_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/engine/cleanup"
	"github.com/dyncontroller/dyncontroller/pkg/engine/inventory"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
)

// shelf is an inventory that can fail, and a sweep that notes what it is asked for.
type shelf struct {
	inventory.Memory
	mu      sync.Mutex
	fails   error
	asks    []string // the rules of the set "set" that its object asks to resume; guarded by mu
	changed int      // guarded by mu
	swept   []string
	// during is called by each sweep, with what ends it early.
	during func(ctx context.Context) error
	// writes is what each sweep sends, and wrote what becomes of that.
	writes *plan.Operation
	wrote  func() write.Result
}

// Write implements [cleanup.Writer].
func (s *shelf) Write(context.Context, plan.Operation) write.Result { return s.wrote() }

// Read implements [inventory.Part].
func (s *shelf) Read(ctx context.Context) (inventory.Book, inventory.Replace, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fails != nil {
		return inventory.Book{}, nil, s.fails
	}
	before, replace, err := s.Memory.Read(ctx)
	before = before.Asking(plan.Rule{Kind: "ClusterRuleSet", Set: "set"}, s.asks...)
	return before, func(ctx context.Context, after inventory.Book) (inventory.Book, error) {
		book, err := replace(ctx, after)
		s.mu.Lock()
		defer s.mu.Unlock()
		if !book.Equal(before) {
			s.changed++
		}
		return book, err
	}, err
}

// resume has an engine read which rules are asked to resume now.
func (s *shelf) resume(e *engine.Engine, rules ...string) {
	s.mu.Lock()
	s.asks = rules
	s.mu.Unlock()
	e.Tidy()
	synctest.Wait()
}

// changes is how often something else was stored.
func (s *shelf) changes() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changed
}

func (s *shelf) failing(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fails = err
}

func (s *shelf) sweep(ctx context.Context, leftovers []plan.Leftover, wrap func(cleanup.Writer) cleanup.Writer) ([]plan.Leftover, error) {
	if s.during != nil {
		if err := s.during(ctx); err != nil {
			return nil, err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, leftover := range leftovers {
		s.swept = append(s.swept, leftover.String())
	}
	if s.writes != nil {
		wrap(s).Write(ctx, *s.writes)
	}
	return leftovers, nil
}

// asked lists what was to be cleaned up.
func (s *shelf) asked() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.swept)
}

func (s *shelf) house(prune bool) engine.Housekeeping {
	return engine.Housekeeping{Inventory: s, Sweep: s.sweep, Prune: func(plan.Rule) bool { return prune }}
}

// all lists what is recorded.
func (s *shelf) all(t *testing.T) []string {
	t.Helper()
	book, err := inventory.Load(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, leftover := range book.All() {
		out = append(out, leftover.String())
	}
	return out
}

// remembering is a shelf on which earlier rules have left something.
func remembering(t *testing.T, sets ...*rules.Set) *shelf {
	t.Helper()
	s := &shelf{}
	for _, set := range sets {
		_, err := inventory.Update(t.Context(), s, func(book inventory.Book) inventory.Book { return book.With(set.Leftovers()...) })
		if err != nil {
			t.Fatal(err)
		}
	}
	return s
}
