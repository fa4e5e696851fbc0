package election

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestTaken holds that a leader which finds the lease in other hands stops at its next renewal, rather than after all of
// the renew deadline. This is what a process finds that was stopped for long.
func TestTaken(t *testing.T) {
	bubble(t, func(t *testing.T, s *server) {
		p := s.leader(t)
		<-time.After(5 * time.Second)
		s.change(func(l *coordinationv1.Lease) *coordinationv1.Lease {
			l.Spec.HolderIdentity = new("thief")
			return l
		})
		taken := time.Now()
		if err := p.end(); !errors.Is(err, ErrLost) {
			t.Errorf("ended with %v", err)
		}
		if late := time.Since(taken); late > retry {
			t.Errorf("noticed after %s", late)
		}
		if p.fence.Left() != 0 || s.holder() != "thief" {
			t.Errorf("writes may be sent for %s, the lease is held by %s", p.fence.Left(), s.holder())
		}
	})
}

// TestFailedRenewals holds what becomes of a leader some of whose requests fail.
func TestFailedRenewals(t *testing.T) {
	t.Parallel()
	busy := func(string) *http.Response {
		return status(http.StatusInternalServerError, metav1.StatusReasonInternalError)
	}
	tests := map[string]struct {
		reason string
		before func(string) *http.Response
		after  func(string) error
		lasts  time.Duration
		lost   bool
	}{
		"shortly":      {"There is time for several.", busy, nil, 7 * time.Second, false},
		"hanging":      {"A request that hangs does not use up all of the time.", func(string) *http.Response { return hang }, nil, 5 * time.Second, false},
		"lost answers": {"What was stored has the version that the next one must name.", nil, func(string) error { return errBroken }, 5 * time.Second, false},
		"for long":     {"The next leader may begin.", busy, nil, time.Minute, true},
		"long hanging": {"The next leader may begin.", func(string) *http.Response { return hang }, nil, time.Minute, true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, s *server) {
				p := s.leader(t)
				<-time.After(5 * time.Second) // Renewed at 4 s.
				p.link.set(tc.before, tc.after)
				<-time.After(tc.lasts)
				p.link.set(nil, nil)
				<-time.After(3 * time.Second)
				if p.IsLeader() == tc.lost || (p.fence.Left() == 0) != tc.lost {
					t.Errorf("%s\nit leads: %t; writes may be sent for %s", tc.reason, p.IsLeader(), p.fence.Left())
				}
				if !tc.lost {
					return
				}
				if err := p.end(); !errors.Is(err, ErrLost) {
					t.Errorf("%s\nended with %v", tc.reason, err)
				}
				if s.holder() != p.Identity() {
					t.Errorf("%s\na lease that was lost was touched: it is held by %s", tc.reason, s.holder())
				}
			})
		})
	}
}

// TestFenceClosesInTime holds that writes end with the renew deadline, though the library goes on trying for longer.
func TestFenceClosesInTime(t *testing.T) {
	bubble(t, func(t *testing.T, s *server) {
		p := s.leader(t)
		<-time.After(5 * time.Second) // Renewed at 4 s.
		p.link.cut()
		<-time.After(deadline - time.Second - time.Nanosecond)
		if left := p.fence.Left(); left != time.Nanosecond {
			t.Errorf("writes may be sent for %s, want 1ns", left)
		}
		<-time.After(time.Nanosecond)
		if left := p.fence.Left(); left != 0 {
			t.Errorf("writes may be sent for %s, want none", left)
		}
		if !p.IsLeader() {
			t.Error("it gave up before it had tried for the renew deadline")
		}
	})
}

// TestRelease holds whose lease is released.
func TestRelease(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		reason string
		change func(*coordinationv1.Lease) *coordinationv1.Lease
		want   string
	}{
		"ours":    {"Nobody holds it.", func(l *coordinationv1.Lease) *coordinationv1.Lease { return l }, ""},
		"theirs":  {"They lead.", func(l *coordinationv1.Lease) *coordinationv1.Lease { l.Spec.HolderIdentity = new("other"); return l }, "other"},
		"deleted": {"There is nothing to release.", func(*coordinationv1.Lease) *coordinationv1.Lease { return nil }, "no lease"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, s *server) {
				p := s.newProcess(t)
				if err := p.Run(t.Context(), func(context.Context) error {
					s.change(tc.change)
					return nil
				}); err != nil {
					t.Fatal(err)
				}
				if got := s.holder(); got != tc.want {
					t.Errorf("%s\nit is held by %q, want %q", tc.reason, got, tc.want)
				}
			})
		})
	}
}

func TestReleaseFails(t *testing.T) {
	bubble(t, func(t *testing.T, s *server) {
		p := s.leader(t)
		p.link.cut()
		began := time.Now()
		p.stop()
		if err := p.end(); err != nil || time.Since(began) > deadline {
			t.Errorf("ended with %v after %s", err, time.Since(began))
		}
	})
}

// TestReleaseAfterConflict holds that a renewal which overtakes the release does not keep the lease.
func TestReleaseAfterConflict(t *testing.T) {
	bubble(t, func(t *testing.T, s *server) {
		p := s.leader(t)
		conflicts := 0
		p.link.set(func(verb string) *http.Response {
			if verb == http.MethodPut && conflicts < 3 {
				conflicts++
				return status(http.StatusConflict, metav1.StatusReasonConflict)
			}
			return nil
		}, nil)
		p.stop()
		if err := p.end(); err != nil || s.holder() != "" || conflicts != 3 {
			t.Errorf("ended with %v after %d conflicts, the lease is held by %q", err, conflicts, s.holder())
		}
	})
}
