package controlplane

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
)

// Pool lends control planes to tests that run at the same time. A control plane is lent to one test at a time, which
// may therefore count its requests, stop it, and change what is of the whole cluster. The methods of Pool may be called
// concurrently.
type Pool struct {
	start func(context.Context) (*ControlPlane, error)

	mu   sync.Mutex
	all  []*ControlPlane          // guarded by mu
	idle []*ControlPlane          // guarded by mu
	lent map[string]*ControlPlane // by the name of a test; guarded by mu
}

// NewPool starts nothing yet. The function starts a control plane with what all tests need.
func NewPool(start func(context.Context) (*ControlPlane, error)) *Pool {
	return &Pool{start: start, lent: map[string]*ControlPlane{}}
}

// Lend gives a test and its subtests a control plane until the test ends. It starts one if all that run are lent.
func (p *Pool) Lend(t T) *ControlPlane {
	c, err := p.take(t.Context())
	if err != nil {
		t.Fatalf("%v", err)
		return nil
	}
	t.Cleanup(func() { p.giveBack(c) })
	p.Use(t, c)
	return c
}

// Use has Of return a control plane that the test has started itself.
func (p *Pool) Use(t T, c *ControlPlane) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lent[t.Name()] = c
	t.Cleanup(func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.lent, t.Name())
	})
}

// Of is the control plane that was lent to the test, or to the test that it is a subtest of.
func (p *Pool) Of(t T) *ControlPlane {
	p.mu.Lock()
	defer p.mu.Unlock()
	for name := t.Name(); name != ""; name = name[:max(strings.LastIndex(name, "/"), 0)] {
		if c := p.lent[name]; c != nil {
			return c
		}
	}
	t.Fatalf("no control plane was lent to %s", t.Name())
	return nil
}

func (p *Pool) take(ctx context.Context) (*ControlPlane, error) {
	p.mu.Lock()
	if last := len(p.idle) - 1; last >= 0 {
		defer p.mu.Unlock()
		c := p.idle[last]
		p.idle = p.idle[:last]
		return c, nil
	}
	p.mu.Unlock()
	c, err := p.start(ctx)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all = append(p.all, c)
	return c, nil
}

// giveBack keeps a control plane for the next test, if it still runs.
func (p *Pool) giveBack(c *ControlPlane) {
	select {
	case <-c.child.exited:
		return
	default:
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.idle = append(p.idle, c)
}

// Main runs body, usually m.Run of a TestMain, then stops all control planes, and returns the exit code as [Main] does.
func (p *Pool) Main(body func() int) int {
	code := body()
	out := code
	for _, c := range p.all {
		out = max(out, c.end(code))
	}
	return out
}

// end stops the control plane after body has ended with the code, and returns the code to exit with.
func (c *ControlPlane) end(code int) int {
	if code != 0 && c.remove != "" {
		c.remove = c.file(Etcd, "data") // It is large and tells nothing.
		fmt.Fprintln(os.Stderr, "the logs of the control plane are kept in", c.Dir())
	}
	if err := c.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return max(code, 1)
	}
	return code
}
