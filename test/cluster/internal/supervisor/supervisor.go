// Package supervisor keeps the components of a control plane running and lets tests kill each of them.
//
// A component that is killed by a signal is started again at once with the same command line. One for which a file
// "down" appears in its directory is killed and kept down until that file is removed. One that ends by itself is a
// failure, reported with the end of its log, unless a component it needs was down or starting meanwhile: a
// kube-apiserver gives up without etcd, a kube-controller-manager that has waited ten seconds for a kube-apiserver, and
// both are then started again.
package supervisor

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"sync"
	"time"
)

const (
	// pollInterval is how soon a "down" file is noticed.
	pollInterval = 100 * time.Millisecond
	// retryPause keeps a component that waits for another from spinning.
	retryPause = 300 * time.Millisecond
	// patience is how long a component waits for another one that is starting before it gives up, at most.
	patience = 30 * time.Second
	// grace is short, since nobody needs the state after the end: kube-apiserver waits a minute for open watches.
	grace = 2 * time.Second
)

// Supervisor runs components until Stop. Its methods must be called by one goroutine.
type Supervisor struct {
	log     *slog.Logger
	env     []string
	inherit []*os.File
	failed  chan error

	stops []func()

	mu sync.Mutex
	// members are in the order of Add: each may need those before it.
	members []*member
}

// member is a component's state as the others' excuses need it; Supervisor.mu guards it.
type member struct {
	Component
	running bool
	since   time.Time
}

// New makes a supervisor whose components get env added to their environment, and inherit as open files.
func New(log *slog.Logger, env []string, inherit ...*os.File) *Supervisor {
	return &Supervisor{log: log, env: env, inherit: inherit, failed: make(chan error, 1)}
}

// Add starts a component and keeps it running until Stop, even when ctx is done, as Stop has an order to keep. The
// components it needs must have been added before.
func (s *Supervisor) Add(ctx context.Context, c Component) error {
	if err := c.prepare(); err != nil {
		return fmt.Errorf("preparing %s: %w", c.Name, err)
	}
	m := &member{Component: c}
	s.mu.Lock()
	s.members = append(s.members, m)
	s.mu.Unlock()

	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := s.keep(ctx, m); err != nil {
			select {
			case s.failed <- err:
			default: // An earlier failure is the more telling one.
			}
		}
	}()
	s.stops = append(s.stops, func() {
		cancel()
		<-ended
	})
	return nil
}

// Failed delivers the first failure; the control plane is of no use after it.
func (s *Supervisor) Failed() <-chan error { return s.failed }

// Stop ends all components, the last added first, and returns when they have ended.
func (s *Supervisor) Stop() {
	for _, stop := range slices.Backward(s.stops) {
		stop()
	}
}

// keep runs life after life of a component until ctx is done.
func (s *Supervisor) keep(ctx context.Context, m *member) error {
	for {
		for m.heldDown() && !done(ctx) {
			pause(ctx, pollInterval)
		}
		if done(ctx) {
			return nil
		}
		p, err := s.start(ctx, m.Component)
		if err != nil {
			return fmt.Errorf("starting %s: %w", m.Name, err)
		}
		started := s.setRunning(m, true)
		asked := watch(ctx, p)
		s.setRunning(m, false)
		_ = os.Remove(m.path("pid"))
		switch {
		case done(ctx):
			return nil
		case asked:
			s.log.Info("component is held down", "component", m.Name)
		case p.killed():
			s.log.Info("component was killed, starting it again", "component", m.Name)
		case s.excused(m, started):
			s.log.Info("component ended for want of another, starting it again", "component", m.Name)
			pause(ctx, retryPause)
		default:
			return p.died()
		}
	}
}

// watch returns when the process has ended, and whether that was because the component is to be down.
func watch(ctx context.Context, p *process) (asked bool) {
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for {
		select {
		case <-p.exited:
			return p.component.heldDown()
		case <-ctx.Done():
			p.stop(grace)
			return true
		case <-tick.C:
			if p.component.heldDown() {
				p.kill()
				return true
			}
		}
	}
}

// setRunning notes a change of state and returns when it was.
func (s *Supervisor) setRunning(m *member, running bool) time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	m.running, m.since = running, time.Now()
	return m.since
}

// excused says whether a component that m may need was not there all the time since m was started, or began so shortly before that m may
// have waited for it in vain: by less than m has run.
func (s *Supervisor) excused(m *member, started time.Time) bool {
	waited := time.Since(started)
	if waited > patience {
		waited = 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, other := range s.members {
		if other == m {
			return false
		}
		if !other.running || other.since.After(started.Add(-waited)) {
			return true
		}
	}
	return false
}

func done(ctx context.Context) bool { return ctx.Err() != nil }

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}
