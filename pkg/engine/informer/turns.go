package informer

import (
	"cmp"
	"context"
	"slices"
	"sync"
)

const (
	// maxFirstLists is how many caches are filled at once, of all sets of one API server. A process may start with thousands, and
	// each list costs memory here and in the API server until it is complete.
	maxFirstLists = 10
	// maxOfOneSet is how many of them are of one set: its lists may take long, and another set has a turn meanwhile.
	maxOfOneSet = maxFirstLists - 1
)

// turns has the caches of several sets filled by turns. The next first list is one of the set that has the fewest under way, and
// among these of the set whose last turn is the longest ago. It is safe for concurrent use.
type turns struct {
	mu    sync.Mutex
	under int     // first lists that are under way; guarded by mu
	lines []*line // of the sets with first lists, the one whose last turn is the longest ago first; guarded by mu
}

// line has the first lists of one set.
type line struct {
	set     *Set
	under   int
	waiting []chan struct{} // each is closed when its turn has come
}

// take waits for the turn of a first list of a set, until the context is done. The caller calls done, once or more, when the list
// does not count any more.
func (t *turns) take(ctx context.Context, set *Set) (done func(), err error) {
	turn := make(chan struct{})
	t.mu.Lock()
	i := slices.IndexFunc(t.lines, func(l *line) bool { return l.set == set })
	if i < 0 {
		i, t.lines = len(t.lines), append(t.lines, &line{set: set})
	}
	mine := t.lines[i]
	mine.waiting = append(mine.waiting, turn)
	t.next()
	t.mu.Unlock()
	done = sync.OnceFunc(func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if i := slices.Index(mine.waiting, turn); i >= 0 {
			mine.waiting = slices.Delete(mine.waiting, i, i+1)
		} else {
			mine.under--
			t.under--
		}
		t.next()
	})
	select {
	case <-turn:
		return done, nil
	case <-ctx.Done():
		done()
		return nil, ctx.Err() //nolint:wrapcheck // The caller says what it waits for.
	}
}

// next gives as many turns as there are. The lock is held.
func (t *turns) next() {
	for {
		t.lines = slices.DeleteFunc(t.lines, func(l *line) bool { return l.under+len(l.waiting) == 0 })
		waiting := slices.DeleteFunc(slices.Clone(t.lines), func(l *line) bool { return len(l.waiting) == 0 })
		if len(waiting) == 0 {
			return
		}
		first := slices.MinFunc(waiting, func(a, b *line) int { return cmp.Compare(a.under, b.under) })
		if t.under == maxFirstLists || first.under == maxOfOneSet {
			return
		}
		close(first.waiting[0])
		first.waiting = first.waiting[1:]
		first.under++
		t.under++
		t.lines = append(slices.DeleteFunc(t.lines, func(l *line) bool { return l == first }), first)
	}
}
