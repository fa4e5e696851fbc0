package inventory

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// Part is where a book is stored, or a part of one. It is safe for concurrent use, by several processes too.
type Part interface {
	// Read returns the book, an empty one where nothing was ever stored, and what replaces it.
	Read(ctx context.Context) (Book, Replace, error)
}

// Replace stores a book in place of the one that was read, and returns what is stored then. The error is [ErrOvertaken]
// where another client has written since. With [ErrAsked] the book is stored.
type Replace func(ctx context.Context, after Book) (Book, error)

// ErrOvertaken says that somebody else has written since a book was read.
var ErrOvertaken = errors.New("somebody else has written it in the meantime")

// attempts bounds how often a change is made anew because somebody else was faster.
const attempts = 10

// Update stores what change makes of the book of a part, and returns that. Change may be called several times, each time with
// the newest book; whatever else it does must be right also if the book is not stored. Where it changes nothing, nothing is written. With a
// [PartialError] the book is what is stored now.
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
	mu    sync.Mutex
	from  Part // to be read next; nil for nothing; guarded by mu
	begun bool // with what it had; guarded by mu
	book  Book // guarded by mu
}

// NewDryRun returns the part of a dry run, which begins with what another one has and never writes to it.
func NewDryRun(from Part) *Memory { return &Memory{from: from} }

// Hear has the next read of a dry run take what users ask from a part.
func (m *Memory) Hear(from Part) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.from = from
}

// Read implements [Part].
func (m *Memory) Read(ctx context.Context) (Book, Replace, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.from != nil {
		book, err := Load(ctx, m.from)
		if err != nil {
			return Book{}, nil, err
		}
		if !m.begun {
			m.book, m.begun = book, true
		}
		m.book.asked, m.from = book.asked, nil
	}
	before := m.book
	return before, func(_ context.Context, after Book) (Book, error) {
		m.mu.Lock()
		defer m.mu.Unlock()
		if !m.book.Equal(before) {
			return Book{}, ErrOvertaken
		}
		m.book = after
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
	before := split(whole, s.mine)
	return before[true], func(ctx context.Context, after Book) (Book, error) {
		stored, err := replace(ctx, before[false].And(split(after, s.mine)[true]))
		return split(stored, s.mine)[true], err
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

// Join returns what the parts make together. They are asked for each time, as they may be others by then. What is
// left of a set moves with it from one part to another.
//
// A part that fails does not keep the others from being stored: the error is then a [PartialError], unless all fail. Where
// somebody else has written to a part, all are read and changed anew.
func Join(parts func() Parts) Part { return joined{parts} }

type joined struct{ parts func() Parts }

// Read implements [Part]. A book that only a part of them has can be replaced, too: what could not be read is not.
func (j joined) Read(ctx context.Context) (Book, Replace, error) {
	parts, rest := j.parts(), plan.Rule{}
	all := map[plan.Rule]Part{rest: parts.Rest}
	maps.Copy(all, parts.Sets)
	owner := func(l plan.Leftover) plan.Rule {
		if set := l.Rule.OfSet(); all[set] != nil {
			return set
		}
		return rest
	}
	failed := map[plan.Rule]bool{}
	var errs []error
	fail := func(set plan.Rule, err error) {
		failed[set], errs = true, append(errs, err)
	}
	order := slices.SortedFunc(maps.Keys(all), plan.Rule.Compare) // The rest comes first.
	before, replace := map[plan.Rule]Book{}, map[plan.Rule]Replace{}
	for _, set := range order {
		var err error
		failed[set] = false
		if before[set], replace[set], err = all[set].Read(ctx); err != nil {
			fail(set, err)
		}
	}
	if len(errs) == len(all) {
		return Book{}, nil, errors.Join(errs...)
	}
	taken := split(before[rest], owner) // by the sets, of the rest
	before[rest] = taken[rest]
	var known []Book
	for _, set := range order {
		if set != rest {
			var moves []plan.Leftover
			for _, l := range taken[set].leftovers {
				l.Account = parts.Account
				moves = append(moves, l)
			}
			before[set] = Book{NewBook(moves...).leftovers, taken[set].limits, nil}.And(before[set])
		}
		if !failed[set] {
			known = append(known, before[set])
		}
	}
	return Book{}.And(known...), func(ctx context.Context, after Book) (Book, error) {
		wanted, stored, keeps := split(after, owner), []Book{}, []Book{}
		var errAsked []error                         // Of parts that are stored.
		for _, set := range slices.Backward(order) { // The rest is last: what a set takes over is given up when the set has it.
			if set == rest {
				wanted[set] = wanted[set].And(keeps...)
			}
			if !failed[set] {
				now, err := replace[set](ctx, wanted[set])
				if errors.Is(err, ErrAsked) {
					errAsked = append(errAsked, err)
				}
				if err == nil || errors.Is(err, ErrAsked) {
					stored = append(stored, now)
					continue
				}
				fail(set, err)
			}
			stored, keeps = append(stored, before[set]), append(keeps, taken[set])
		}
		now := Book{}.And(stored...)
		if why := errors.Join(append(errAsked, errs...)...); why != nil && len(errs) < len(all) {
			return now, &PartialError{Err: why, failed: failed}
		}
		return now, errors.Join(errs...)
	}, nil
}
