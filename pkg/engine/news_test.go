package engine_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// Settled implements [engine.Observer].
func (c *counts) Settled(key engine.Key, took time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.took = append(c.took, fmt.Sprintf("%s %s", key.Name, took))
}

// Spared implements [engine.Observer].
func (c *counts) Spared(_ engine.Key, n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.spared += n
}

// settled are the objects that have settled since the last call, and how long it took.
func (c *counts) settled() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := c.took
	c.took = nil
	return out
}

// TestSettled holds what is told of how long objects take.
func TestSettled(t *testing.T) {
	c := newCluster()
	c.put(t, small)
	c.answer = func(plan.Operation) *write.Result { pass(2 * time.Second); return nil }
	run(t, c, atLeastThree, func(t *testing.T, e *engine.Engine) {
		steps := []struct {
			reason string
			do     func()
			want   []string
		}{
			{"What is listed first is no change.", func() {}, nil},
			{"A write takes its time, and its echo is no change.", func() { c.put(t, small) }, []string{"a 2s"}},
			{"Nothing is to be done.", func() { c.put(t, widget("a", 4)) }, []string{"a 0s"}},
			{"The first of several changes counts.", func() {
				c.put(t, small)
				pass(time.Second)
				c.put(t, widget("a", 2))
			}, []string{"a 4s"}},
			{"What fails is not done.", func() {
				c.locked(func() {
					c.answer = func(plan.Operation) *write.Result { return &write.Result{Class: write.Terminal, Err: errRefused} }
				})
				c.put(t, small)
			}, nil},
			{"It is done later, and took that long.", func() {
				c.locked(func() { c.answer = nil })
				pass(10 * time.Minute)
			}, []string{"a 10m10s"}},
			{"New rules are no change.", func() {
				e.SetRules(load(t, atLeastThree+labelled))
			}, nil},
			{"Rules have nothing to do with what is gone.", func() { c.remove("a") }, nil},
		}
		for _, step := range steps {
			step.do()
			pass(10 * time.Minute)
			if diff := cmp.Diff(step.want, c.seen.settled()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", step.reason, diff)
			}
		}
		if left := e.Remembered()["news"]; left > 0 {
			t.Errorf("%d changes are remembered in the end", left)
		}
	})
}

// TestSpared holds that changes are counted that are wanted and not sent.
func TestSpared(t *testing.T) {
	c := newCluster()
	c.put(t, small)
	c.answer = func(plan.Operation) *write.Result {
		return &write.Result{Class: write.Unchanged, Object: c.get("a")}
	}
	run(t, c, atLeastThree, func(t *testing.T, _ *engine.Engine) {
		before := c.seen.of(&c.seen.spared)
		for range 3 {
			c.touch()
			pass(time.Second)
		}
		if got := c.seen.of(&c.seen.spared) - before; got != 3 {
			t.Errorf("%d changes were spared in three evaluations, want 3", got)
		}
	})
}
