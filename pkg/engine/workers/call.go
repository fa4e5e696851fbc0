package workers

import (
	"context"
	"errors"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// ErrCrowded is why something is not asked now.
var ErrCrowded = errors.New("too many earlier requests of the kind are still without an answer, so it waits")

// Purpose is what a call to the API server is for.
type Purpose struct {
	GVR   schema.GroupVersionResource
	Rules []plan.Rule // none where it is not known
}

// spot is where those may crowd who wait: a resource, a rule, or a rule at a resource.
// Rules that send one request together are as one.
type spot struct {
	gvr   schema.GroupVersionResource
	rules string
}

// spots are where a call counts. Of rules together it is not known which one is slow.
func (p Purpose) spots() []spot {
	out := []spot{{gvr: p.GVR}}
	if len(p.Rules) > 0 {
		var all strings.Builder
		for _, rule := range p.Rules {
			all.WriteString(rule.ID() + " ")
		}
		out = append(out, spot{rules: all.String()}, spot{p.GVR, all.String()})
	}
	return out
}

// near are the spots where there must be room for a call: those of each rule, too.
func (p Purpose) near() []spot {
	out := p.spots()
	for _, rule := range p.Rules {
		out = append(out, Purpose{GVR: p.GVR, Rules: []plan.Rule{rule}}.spots()...)
	}
	return out
}

// room is how many may wait there; almost as many more may be about to. A slow rule leaves
// room for others at its resources, also if it was together with them at first, and a slow
// resource leaves its rules room elsewhere.
func (c *Pool) room(s spot) int {
	if s.rules != "" && s.gvr != (schema.GroupVersionResource{}) {
		return c.size
	}
	return 4 * c.size
}

// Crowded reports whether as many wait as may for calls like this one.
func (c *Pool) Crowded(purpose Purpose) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range purpose.near() {
		if c.away[s] >= c.room(s) {
			return true
		}
	}
	return false
}

// In reports whether a context is that of one of a pool.
func In(ctx context.Context) bool {
	_, of := ctx.Value(memberKey{}).(*member)
	return of
}

// Call does something that may take long. Where the context is that of one of the pool,
// and it does take long, another takes the place meanwhile.
func Call(ctx context.Context, purpose Purpose, do func()) {
	m, of := ctx.Value(memberKey{}).(*member)
	if !of {
		do()
		return
	}
	timer := m.pool.clock.NewTimer(Moment)
	over, gone := make(chan struct{}), false // gone is guarded by the crew's mu
	go func() {
		defer timer.Stop()
		select {
		case <-over:
		case <-timer.C():
			m.pool.mu.Lock()
			defer m.pool.mu.Unlock()
			select {
			case <-over: // At the same time.
			default:
				gone = true
				m.leave(purpose.spots())
			}
		}
	}()
	defer func() { // Also if it panics.
		m.pool.mu.Lock()
		defer m.pool.mu.Unlock()
		close(over)
		if gone {
			m.comeBack(purpose.spots())
		}
	}()
	do()
}
