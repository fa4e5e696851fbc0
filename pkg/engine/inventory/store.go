package inventory

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// Store keeps a book. It is safe for concurrent use, by several processes too.
type Store interface {
	// Update stores what change makes of the book, and returns that. Change may be called several times, each time with the
	// newest book, and must do nothing else. Where it changes nothing, nothing is written. With a [PartialError] the book is
	// what is stored now.
	Update(ctx context.Context, change func(Book) Book) (Book, error)
}

// Part is where a book is stored, or a part of one.
type Part interface {
	// Read returns the book, an empty one where nothing was ever stored, and what replaces it.
	Read(ctx context.Context) (Book, Replace, error)
}

// Replace stores a book in place of the one that was read, and returns what is stored then. The error is [ErrOvertaken]
// where somebody else has written since.
type Replace func(ctx context.Context, after Book) (Book, error)

// ErrOvertaken says that somebody else has written since a book was read.
var ErrOvertaken = errors.New("somebody else has written it in the meantime")

// attempts bounds how often a change is made anew because somebody else was faster.
const attempts = 10

// Update changes the book of a part; see [Store].
func Update(ctx context.Context, part Part, change func(Book) Book) (book Book, err error) {
	for range attempts {
		before, replace, errRead := part.Read(ctx)
		if errRead != nil {
			return Book{}, errRead //nolint:wrapcheck // It says what was read.
		}
		if book, err = replace(ctx, change(before)); !errors.Is(err, ErrOvertaken) {
			break
		}
	}
	return book, err
}

// Load returns the book of a part.
func Load(ctx context.Context, part Part) (Book, error) {
	book, _, err := part.Read(ctx)
	return book, err //nolint:wrapcheck // It says what was read.
}

// Memory is a [Part] that ends with the process. The zero value is empty.
type Memory struct {
	mu      sync.Mutex
	from    Part // read once, before anything is stored; nil for nothing; guarded by mu
	book    Book // guarded by mu
	version int  // how often it was stored; guarded by mu
}

// NewDryRun returns the store of a dry run, which begins with what another one has and never writes to it.
func NewDryRun(from Part) *Memory { return &Memory{from: from} }

// Read implements [Part].
func (m *Memory) Read(ctx context.Context) (Book, Replace, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.from != nil {
		book, err := Load(ctx, m.from)
		if err != nil {
			return Book{}, nil, err
		}
		m.book, m.from = book, nil
	}
	version := m.version
	return m.book, func(_ context.Context, after Book) (Book, error) {
		m.mu.Lock()
		defer m.mu.Unlock()
		if m.version != version {
			return Book{}, ErrOvertaken
		}
		if !after.Equal(m.book) { // What changes nothing overtakes nobody.
			m.book, m.version = after, version+1
		}
		return after, nil
	}, nil
}

// Scope returns the part of a part that is somebody's own, where several keep one book: of the others' leftovers nothing
// is seen, and they are kept as they are. Only what a rule leaves now that is in the others' part passes to whoever says
// so. What is not mine is not stored.
func Scope(part Part, mine func(plan.Leftover) bool) Part { return scope{part, mine} }

type scope struct {
	part Part
	mine func(plan.Leftover) bool
}

// Read implements [Part].
func (s scope) Read(ctx context.Context) (Book, Replace, error) {
	whole, replace, err := s.part.Read(ctx)
	before := groups(whole, s.mine)
	return before[true], func(ctx context.Context, after Book) (Book, error) {
		stored, err := replace(ctx, before[false].And(groups(after, s.mine)[true]))
		return groups(stored, s.mine)[true], err
	}, err
}

// Parts are what keeps a book together.
type Parts struct {
	// Sets have what their own set has left, by the set: the name of the rule is empty.
	Sets map[plan.Rule]Part
	// Rest has what is left of all other sets.
	Rest Part
	// Account is who runs the sets. It takes over what passes from Rest to one of them: as whom that was left, a process
	// itself maybe, is not for the set to say.
	Account types.NamespacedName
}

// PartialError says that parts of a book are not stored, or cannot be read. The others are.
type PartialError struct {
	Err error
	// failed are the sets that have a part of their own, true where nothing is known of it; that without a name stands for
	// all others.
	failed map[plan.Rule]bool
}

// Error implements error.
func (e *PartialError) Error() string { return e.Err.Error() }

// Unwrap gives the errors of the parts.
func (e *PartialError) Unwrap() error { return e.Err }

// Lacks reports whether it is not known what is stored of a set. No error lacks nothing.
func (e *PartialError) Lacks(set plan.Rule) bool {
	if e == nil {
		return false
	}
	if failed, own := e.failed[set]; own {
		return failed
	}
	return e.failed[plan.Rule{}]
}

// Join returns the store that the parts make together. They are asked for each time, as they may be others by then. What is
// left of a set moves with it from one part to another.
//
// A part that fails does not keep the others from being stored: the error is then a [PartialError], unless all fail. Where
// somebody else has written to a part, all are read and changed anew.
func Join(parts func() Parts) Store { return joined{parts} }

// joined implements [Part], too.
type joined struct{ parts func() Parts }

// Update implements [Store].
func (j joined) Update(ctx context.Context, change func(Book) Book) (Book, error) {
	return Update(ctx, j, change)
}

// Read implements [Part]. A book that only a part of them has can be replaced, too: what could not be read is not.
func (j joined) Read(ctx context.Context) (Book, Replace, error) {
	parts := j.parts()
	failed := map[plan.Rule]bool{}
	var errs []error
	fail := func(set plan.Rule, err error) {
		if failed[set] = true; set != (plan.Rule{}) {
			err = fmt.Errorf("of %s: %w", set.SetName(), err)
		}
		errs = append(errs, err)
	}
	rest, replaceRest, errRest := parts.Rest.Read(ctx)
	if errRest != nil {
		fail(plan.Rule{}, errRest)
	}
	sets, others := slices.SortedFunc(maps.Keys(parts.Sets), plan.Rule.Compare), groups(rest, setOf)
	taken, before, replace := map[plan.Rule]Book{}, map[plan.Rule]Book{}, map[plan.Rule]Replace{}
	var all []Book
	for _, set := range sets {
		failed[set] = false
		taken[set] = others[set]
		delete(others, set)
		book := Book{taken[set].All(), taken[set].limits} // It is not the rest's any more.
		for i := range book.leftovers {
			book.leftovers[i].Account = parts.Account
		}
		had, do, err := parts.Sets[set].Read(ctx)
		if before[set], replace[set] = book.And(had), do; err != nil {
			fail(set, err)
			continue
		}
		all = append(all, before[set])
	}
	if len(errs) == len(sets)+1 {
		return Book{}, nil, errors.Join(errs...)
	}
	// The rest comes last: what a set takes over from there is given up when the set has it.
	return Book{}.And(slices.AppendSeq(all, maps.Values(others))...), func(ctx context.Context, after Book) (Book, error) {
		each := groups(after, setOf)
		var stored, keeps []Book
		for _, set := range sets {
			book := before[set] // Where it fails, that is stored still.
			if !failed[set] {
				if now, err := replace[set](ctx, each[set]); err != nil {
					fail(set, err)
				} else {
					book = now
				}
			}
			if failed[set] {
				keeps = append(keeps, taken[set])
			}
			stored = append(stored, book)
			delete(each, set)
		}
		if errRest == nil { // It would fail again.
			book, err := replaceRest(ctx, Book{}.And(slices.AppendSeq(keeps, maps.Values(each))...))
			if err != nil {
				fail(plan.Rule{}, err)
				book = rest
			}
			stored = append(stored, book)
		}
		now := Book{}.And(stored...)
		if len(errs) == 0 || len(errs) == len(sets)+1 {
			return now, errors.Join(errs...)
		}
		return now, &PartialError{Err: errors.Join(errs...), failed: failed}
	}, nil
}
