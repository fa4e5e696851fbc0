package election

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/rest"
)

// start runs a process until the test ends.
func (s *server) start(t *testing.T) *process {
	t.Helper()
	p := s.newProcess(t)
	p.start(t)
	return p
}

func (p *process) start(t *testing.T) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	p.stop = stop
	go func() {
		defer close(p.done)
		p.err = p.Run(ctx, func(ctx context.Context) error {
			p.leads <- time.Now()
			<-ctx.Done()
			p.cause = context.Cause(ctx)
			<-p.windsUp
			return nil
		})
	}()
	t.Cleanup(func() {
		stop()
		p.link.set(nil, nil)
		<-p.done
	})
}

// end waits for Run.
func (p *process) end() error {
	<-p.done
	return p.err
}

// leader starts one that leads when this returns.
func (s *server) leader(t *testing.T) *process {
	t.Helper()
	p := s.start(t)
	<-p.leads
	synctest.Wait()
	return p
}

// bubble runs a test on a virtual clock, with a server.
func bubble(t *testing.T, test func(*testing.T, *server)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { test(t, newServer()) })
}

func TestFirstLeadsAtOnce(t *testing.T) {
	bubble(t, func(t *testing.T, s *server) {
		began := time.Now()
		p := s.start(t)
		if at := <-p.leads; !at.Equal(began) {
			t.Errorf("it waited for %s, though nobody has the lease", at.Sub(began))
		}
		if got := s.holder(); got != p.Identity() || !p.IsLeader() || p.Holder() != got {
			t.Errorf("the lease is held by %q, want %q; it leads: %t", got, p.Identity(), p.IsLeader())
		}
		if left := p.fence.Left(); left != deadline {
			t.Errorf("writes may be sent for %s, want %s", left, deadline)
		}
	})
}

// TestKilled holds that the next leader begins when the lease expires, to the moment, however the candidates'
// attempts fall, and never before the fence of the last one has closed.
func TestKilled(t *testing.T) {
	bubble(t, func(t *testing.T, s *server) {
		first := s.leader(t)
		others := []*process{s.start(t), s.start(t), s.start(t)}
		<-time.After(21 * time.Second) // Renewed at 20 s.
		first.link.cut()
		renewed := time.Now().Add(-time.Second)
		var at time.Time
		var next *process
		select {
		case at = <-others[0].leads:
			next = others[0]
		case at = <-others[1].leads:
			next = others[1]
		case at = <-others[2].leads:
			next = others[2]
		}
		if got := at.Sub(renewed); got != lease {
			t.Errorf("the next led %s after the last renewal, want %s", got, lease)
		}
		if left := first.fence.Left(); left != 0 {
			t.Errorf("the first could write for another %s", left)
		}
		if err := first.end(); !errors.Is(err, ErrLost) || !errors.Is(first.cause, ErrLost) {
			t.Errorf("it ended with %v, its work with %v; want both to be %v", err, first.cause, ErrLost)
		}
		<-time.After(time.Minute)
		for _, p := range others {
			if p.IsLeader() != (p == next) || p.Holder() != next.Identity() {
				t.Errorf("%s leads: %t, sees %s as the leader; want %s alone", p.Identity(), p.IsLeader(), p.Holder(), next.Identity())
			}
		}
	})
}

// TestHandOver holds that a leader which is told to end keeps the lease until its work has ended, however long that
// takes, and that the next one begins that moment.
func TestHandOver(t *testing.T) {
	bubble(t, func(t *testing.T, s *server) {
		first := s.newProcess(t)
		first.windsUp = make(chan struct{})
		first.start(t)
		<-first.leads
		next := s.start(t)
		<-time.After(5 * time.Second)
		first.stop()
		<-time.After(time.Minute)
		if s.holder() != first.Identity() || first.fence.Left() < deadline-retry {
			t.Errorf("the lease was not kept while the work went on: %s", s.holder())
		}
		ended := time.Now()
		close(first.windsUp)
		if at := <-next.leads; !at.Equal(ended) {
			t.Errorf("the next began %s later", at.Sub(ended))
		}
		for range 2 { // Also after it was renewed.
			if acquired, renewed := s.times(); acquired.Before(ended.Truncate(time.Second)) || renewed.Before(acquired) {
				t.Errorf("the lease says that it was taken at %s and renewed at %s, at %s", acquired, renewed, ended)
			}
			<-time.After(3 * retry)
		}
		if err := first.end(); err != nil || !errors.Is(first.cause, context.Canceled) {
			t.Errorf("it ended with %v, its work with %v", err, first.cause)
		}
		if left := first.fence.Left(); left != 0 || first.IsLeader() {
			t.Errorf("it could write for another %s", left)
		}
		want := []string{first.Identity(), "", next.Identity()}
		synctest.Wait()
		s.mu.Lock()
		defer s.mu.Unlock()
		if diff := cmp.Diff(want, s.holders); diff != "" || next.Holder() != next.Identity() {
			t.Errorf("the next sees %q, the holders were: -want +got:\n%s", next.Holder(), diff)
		}
	})
}

func TestWorkEndsByItself(t *testing.T) {
	bubble(t, func(t *testing.T, s *server) {
		wrong := errors.New("wrong")
		p := s.newProcess(t)
		if err := p.Run(t.Context(), func(context.Context) error { return wrong }); !errors.Is(err, wrong) {
			t.Errorf("Run returned %v, want what the work returned", err)
		}
		if got := s.holder(); got != "" {
			t.Errorf("the lease is held by %q", got)
		}
	})
}

func TestNew(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		reason  string
		options Options
	}{
		"short lease": {"A leader would not have stopped when the next one begins.", Options{Lease: 10 * time.Second, Retry: retry, Fence: NewFence(deadline)}},
		"slow retry":  {"Nothing would be tried twice.", Options{Lease: lease, Retry: 9 * time.Second, Fence: NewFence(deadline)}},
		"no fence":    {"Nothing would bound the writes.", Options{Lease: lease, Retry: retry}},
		"no retry":    {"It would ask without a pause.", Options{Lease: lease, Fence: NewFence(deadline)}},
	}
	for name, tc := range tests {
		tc.options.Log = discard()
		if _, err := New(&rest.Config{Host: "http://api"}, tc.options); err == nil {
			t.Errorf("%s: %s", name, tc.reason)
		}
	}
	if _, err := New(&rest.Config{Host: "::"}, Options{Lease: lease, Retry: retry, Fence: NewFence(deadline), Log: discard()}); err == nil {
		t.Error("there is no such host")
	}
}

func TestNoElection(t *testing.T) {
	t.Parallel()
	var c *Candidate
	wrong := errors.New("wrong")
	if err := c.Run(t.Context(), func(context.Context) error { return wrong }); !errors.Is(err, wrong) || !c.IsLeader() {
		t.Errorf("without an election the work is simply done, got %v", err)
	}
}

func TestIdentities(t *testing.T) {
	bubble(t, func(t *testing.T, s *server) {
		ids := []string{s.newProcess(t).Identity(), s.newProcess(t).Identity()}
		if ids[0] == ids[1] {
			t.Errorf("two candidates of one host are both %s", ids[0])
		}
	})
}
