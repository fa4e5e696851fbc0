package client

import (
	"context"
	"sync/atomic"

	"golang.org/x/time/rate"
	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/utils/clock"
)

// Limiter limits the requests of a process, as a token bucket. Unlike the limiter of client-go, it lets a caller wait for its turn before
// it reads what its write depends on: after the wait, what was read would be out of date, and to read it again would take the turn of
// another write. It is safe for concurrent use.
type Limiter struct{ all, ahead *rate.Limiter }

var _ flowcontrol.RateLimiter = (*Limiter)(nil)

// NewLimiter returns a limiter of so many requests per second, and so many at once.
func NewLimiter(qps float32, burst int) *Limiter {
	return &Limiter{rate.NewLimiter(rate.Limit(qps), burst), rate.NewLimiter(rate.Limit(qps/2), max(1, burst/2))}
}

// turnKey is the key of a context of requests that do not wait for their turn, with a *turn.
type turnKey struct{}

// turn is one that has come, until the first request takes it; further requests go ahead of others.
type turn struct{ has atomic.Bool }

// Turn waits for a turn, and returns a context whose first request has it; further ones are made as those of [Ahead]. Without a limiter
// there is no wait.
func (l *Limiter) Turn(ctx context.Context) (context.Context, error) {
	if l == nil {
		return ctx, nil
	}
	t := &turn{}
	t.has.Store(true)
	return context.WithValue(ctx, turnKey{}, t), l.all.Wait(ctx)
}

// Ahead returns a context of requests that are made ahead of those that wait: others wait longer for it. At most half of all requests
// are made so.
func Ahead(ctx context.Context) context.Context { return context.WithValue(ctx, turnKey{}, &turn{}) }

// Wait implements [flowcontrol.RateLimiter].
func (l *Limiter) Wait(ctx context.Context) error {
	t, is := ctx.Value(turnKey{}).(*turn)
	switch {
	case is && t.has.CompareAndSwap(true, false):
		return nil
	case is && l.ahead.Allow():
		l.all.Reserve()
		return nil
	default:
		return l.all.Wait(ctx)
	}
}

// Accept implements [flowcontrol.RateLimiter].
func (l *Limiter) Accept() { clock.RealClock{}.Sleep(l.all.Reserve().Delay()) }

// TryAccept implements [flowcontrol.RateLimiter].
func (l *Limiter) TryAccept() bool { return l.all.Allow() }

// QPS implements [flowcontrol.RateLimiter].
func (l *Limiter) QPS() float32 { return float32(l.all.Limit()) }

// Stop implements [flowcontrol.RateLimiter].
func (l *Limiter) Stop() {}
