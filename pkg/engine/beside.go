package engine

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/dyncontroller/dyncontroller/pkg/engine/informer"
)

// BesideLongest is how long rules wait for caches that are filled beside those of the
// rules in effect.
const BesideLongest = 5 * time.Second

// beside are rules that wait for their caches. It is safe for concurrent use.
type beside struct {
	news chan struct{} // has a value when there is something else to wait for

	mu     sync.Mutex
	rules  *active               // nil where none wait; guarded by mu
	awaits map[informer.Key]bool // guarded by mu
	until  time.Time             // when they wait no more; guarded by mu
}

func newBeside() *beside { return &beside{news: make(chan struct{}, 1)} }

// begin has rules wait for caches. Those that take the place of others which wait have
// no more time than these: who changes rules all the time would never see any of them.
func (b *beside) begin(rules *active, awaits []informer.Key, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.rules == nil {
		b.until = now.Add(BesideLongest)
	}
	b.rules, b.awaits = rules, map[informer.Key]bool{}
	for _, key := range awaits {
		b.awaits[key] = true
	}
	b.tell()
}

// end has no rules wait.
func (b *beside) end() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.rules, b.awaits = nil, nil
	b.tell()
}

// without notes a cache that is complete, or will not be.
func (b *beside) without(key informer.Key) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.awaits, key)
	b.tell()
}

// tell has them looked at again; the lock is held.
func (b *beside) tell() {
	select {
	case b.news <- struct{}{}:
	default:
	}
}

// complete reports whether nothing is waited for any more.
func (b *beside) complete() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.awaits) == 0
}

// due returns the rules that wait, nil for none, and how long they still do. The caches
// are those that are missing.
func (b *beside) due(now time.Time) (rules *active, left time.Duration, missing []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for key := range b.awaits {
		missing = append(missing, key.String())
	}
	slices.SortFunc(missing, strings.Compare)
	if len(missing) == 0 {
		return b.rules, 0, nil
	}
	return b.rules, max(b.until.Sub(now), 0), missing
}

// followRules puts rules into effect that have waited for long enough, until the context
// is done.
func (e *Engine) followRules(ctx context.Context) {
	for ctx.Err() == nil {
		rules, left, _ := e.next.due(e.options.Clock.Now())
		if rules != nil && left == 0 {
			e.takeOver()
			continue
		}
		e.next.wait(ctx, e.options.Clock, rules != nil, left)
	}
}

// wait returns when there is news, or if it is limited, after a time at the latest.
func (b *beside) wait(ctx context.Context, clock clock.Clock, limited bool, most time.Duration) {
	var over <-chan time.Time
	if limited {
		timer := clock.NewTimer(most)
		defer timer.Stop()
		over = timer.C()
	}
	select {
	case <-b.news:
	case <-over:
	case <-ctx.Done():
	}
}

// takeOver goes over to the rules that wait, unless there are others by now.
func (e *Engine) takeOver() {
	e.swap.Lock()
	defer e.swap.Unlock()
	rules, left, missing := e.next.due(e.options.Clock.Now())
	if rules == nil || left > 0 {
		return
	}
	if len(missing) > 0 {
		e.options.Log.Warn("rules take effect before all that they read is listed", "informers", missing)
	}
	if err := e.goOver(rules); err != nil {
		e.options.Log.Error("rules that waited for their caches do not take effect", "err", err)
	}
}
