package election

import (
	"net/http"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestDeleted holds that a lease that somebody deletes is not up for grabs while its holder lives.
func TestDeleted(t *testing.T) {
	bubble(t, func(t *testing.T, s *server) {
		first := s.leader(t)
		next := s.start(t)
		<-time.After(5 * time.Second)
		s.change(func(*coordinationv1.Lease) *coordinationv1.Lease { return nil })
		s.endWatches()
		<-time.After(time.Minute)
		if s.holder() != first.Identity() || next.IsLeader() {
			t.Errorf("the lease is held by %s, want the first to have made it again", s.holder())
		}
		first.link.cut()
		s.change(func(*coordinationv1.Lease) *coordinationv1.Lease { return nil })
		deleted := time.Now()
		if at := <-next.leads; at.Sub(deleted) > lease || at.Sub(deleted) < lease-retry {
			t.Errorf("the next led after %s, want the rest of the lease", at.Sub(deleted))
		}
	})
}

// TestWithoutWatch holds that a candidate which may not watch asks now and then, and is late by one such pause at most.
func TestWithoutWatch(t *testing.T) {
	t.Parallel()
	tests := map[string]func(string) *http.Response{
		"forbidden": func(verb string) *http.Response {
			if verb == "WATCH" {
				return status(http.StatusForbidden, metav1.StatusReasonForbidden)
			}
			return nil
		},
		"expired": func(verb string) *http.Response {
			if verb == "WATCH" {
				return answer(http.StatusOK, metav1.WatchEvent{Type: "ERROR"})
			}
			return nil
		},
		"ends at once": func(verb string) *http.Response {
			if verb == "WATCH" {
				return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: http.NoBody}
			}
			return nil
		},
	}
	for name, fault := range tests {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, s *server) {
				first := s.leader(t)
				next := s.newProcess(t)
				next.link.set(fault, nil)
				next.start(t)
				before := s.count(http.MethodGet)
				<-time.After(60*time.Second + time.Second)
				if asked := s.count(http.MethodGet) - before; asked < 30 || asked > 70 {
					t.Errorf("it asked %d times in a minute", asked)
				}
				first.link.cut()
				cut := time.Now()
				if at := <-next.leads; at.Sub(cut) > lease+retry {
					t.Errorf("it led after %s", at.Sub(cut))
				}
			})
		})
	}
}

// TestWatchEnds holds that a watch which ends, as each does, is begun again, and nothing is missed.
func TestWatchEnds(t *testing.T) {
	bubble(t, func(t *testing.T, s *server) {
		first := s.leader(t)
		next := s.start(t)
		for range 10 {
			<-time.After(5 * time.Second)
			s.endWatches()
		}
		<-time.After(time.Second)
		if watches := s.count("WATCH"); watches != 11 {
			t.Errorf("it watched %d times, want 11", watches)
		}
		stopped := time.Now()
		first.stop()
		if at := <-next.leads; !at.Equal(stopped) {
			t.Errorf("the next began %s later", at.Sub(stopped))
		}
	})
}

// TestAnnotated holds that only its holder keeps a lease alive, not somebody who writes something else on it.
func TestAnnotated(t *testing.T) {
	bubble(t, func(t *testing.T, s *server) {
		first := s.leader(t)
		next := s.start(t)
		<-time.After(time.Second)
		first.link.cut()
		for range 14 {
			<-time.After(time.Second)
			s.change(func(l *coordinationv1.Lease) *coordinationv1.Lease {
				l.Annotations = map[string]string{"now": time.Now().String()}
				return l
			})
		}
		if at := <-next.leads; time.Since(at) != 0 || first.fence.Left() != 0 {
			t.Errorf("it led %s ago", time.Since(at))
		}
	})
}

func TestStoppedWhileWaiting(t *testing.T) {
	bubble(t, func(t *testing.T, s *server) {
		s.leader(t)
		p := s.start(t)
		<-time.After(5 * time.Second)
		began := time.Now()
		p.stop()
		if err := p.end(); err != nil || time.Since(began) != 0 {
			t.Errorf("ended with %v after %s", err, time.Since(began))
		}
		if p.Holder() != s.holder() || len(s.holders) != 1 {
			t.Errorf("it saw %q, and the holders were %q", p.Holder(), s.holders)
		}
	})
}

// TestStoppedWhileTaking holds that a lease which was still on its way is released, and nothing done with it.
func TestStoppedWhileTaking(t *testing.T) {
	bubble(t, func(t *testing.T, s *server) {
		p := s.newProcess(t)
		p.link.set(func(verb string) *http.Response {
			if verb == http.MethodPost {
				p.stop()
			}
			return nil
		}, nil)
		p.start(t)
		if err := p.end(); err != nil || s.holder() != "" {
			t.Errorf("ended with %v, the lease is held by %q", err, s.holder())
		}
		if len(p.leads) > 0 {
			t.Error("it led")
		}
	})
}

// TestTroubleAtTheStart holds that a candidate waits for the API server, or for rights, and gets what it had written
// itself.
func TestTroubleAtTheStart(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		reason string
		before func(string) *http.Response
		after  func(string) error
	}{
		"no server":   {"It may come.", func(string) *http.Response { return hang }, nil},
		"no rights":   {"They may come.", func(string) *http.Response { return status(http.StatusForbidden, metav1.StatusReasonForbidden) }, nil},
		"no creation": {"It may be allowed.", onlyGet, nil},
		"lost answer": {"The lease is held by us, though we were not told.", nil, func(verb string) error {
			if verb == http.MethodPost {
				return errBroken
			}
			return nil
		}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, s *server) {
				p := s.newProcess(t)
				p.link.set(tc.before, tc.after)
				p.start(t)
				<-time.After(time.Minute)
				p.link.set(nil, nil)
				from := time.Now()
				if at := <-p.leads; at.Sub(from) > deadline/attempts+retry {
					t.Errorf("%s\nit led %s after the trouble was over", tc.reason, at.Sub(from))
				}
				if total := s.count(http.MethodGet) + s.count(http.MethodPost); total > 150 {
					t.Errorf("%s\nit asked %d times", tc.reason, total)
				}
			})
		})
	}
}

func onlyGet(verb string) *http.Response {
	if verb == http.MethodGet {
		return nil
	}
	return status(http.StatusForbidden, metav1.StatusReasonForbidden)
}
