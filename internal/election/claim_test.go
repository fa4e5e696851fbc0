package election

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

// claim claims as a process that reaches the server by a link.
func claim(ctx context.Context, l *link) (release func(), err error) {
	config := &rest.Config{Host: "http://api", Transport: l, ContentConfig: rest.ContentConfig{ContentType: "application/json"}}
	return Claim(ctx, config, "system", "test", discard())
}

// TestClaim holds that a claim is refused while another process has it and lives, given at once when it was released, and soon when its
// process has died.
func TestClaim(t *testing.T) {
	bubble(t, func(t *testing.T, s *server) {
		first := &link{server: s}
		release, err := claim(t.Context(), first)
		if err != nil {
			t.Fatal(err)
		}
		<-time.After(time.Minute)
		var claimed *ClaimedError
		if _, err := claim(t.Context(), &link{server: s}); !errors.As(err, &claimed) || claimed.Holder != s.holder() || claimed.Since.IsZero() {
			t.Fatalf("want to be told who has it, have %v", err)
		}
		release()

		release, err = claim(t.Context(), first)
		if err != nil {
			t.Fatalf("it was released: %v", err)
		}
		holder := s.holder()
		first.cut()
		<-time.After(time.Second)
		cut := time.Now()
		second, err := claim(t.Context(), &link{server: s})
		if waited := time.Since(cut); err != nil || waited > claimLease+claimRetry || s.holder() == holder {
			t.Errorf("want the claim of a dead process soon, have %s after %s: %v", s.holder(), waited, err)
		}
		first.set(nil, nil)
		<-time.After(time.Minute) // The first one finds out, and lets it be.
		release()
		if s.holder() == holder || s.holder() == "" {
			t.Errorf("the claim is with %q, want it with the second", s.holder())
		}
		second()
		if s.holder() != "" {
			t.Errorf("the claim is with %q, want it released", s.holder())
		}
	})
}

// TestClaimUnknown holds that whoever may not read leases is not refused.
func TestClaimUnknown(t *testing.T) {
	bubble(t, func(t *testing.T, s *server) {
		forbidden := &link{server: s}
		forbidden.set(func(string) *http.Response { return status(http.StatusForbidden, metav1.StatusReasonForbidden) }, nil)
		_, err := claim(t.Context(), forbidden)
		var claimed *ClaimedError
		if err == nil || errors.As(err, &claimed) {
			t.Errorf("want an error that is no claim of another process, have %v", err)
		}
	})
}

// TestClaimLasts holds that a claim is renewed again once the API server is back.
func TestClaimLasts(t *testing.T) {
	bubble(t, func(t *testing.T, s *server) {
		l := &link{server: s}
		release, err := claim(t.Context(), l)
		if err != nil {
			t.Fatal(err)
		}
		defer release()
		l.cut()
		<-time.After(time.Minute)
		l.set(nil, nil)
		<-time.After(time.Minute)
		if _, renewed := s.times(); time.Since(renewed) > claimRetry {
			t.Errorf("it was renewed last %s ago", time.Since(renewed))
		}
	})
}

// TestClaimCleared holds that a process claims again what somebody has cleared.
func TestClaimCleared(t *testing.T) {
	bubble(t, func(t *testing.T, s *server) {
		release, err := claim(t.Context(), &link{server: s})
		if err != nil {
			t.Fatal(err)
		}
		defer release()
		holder := s.holder()
		s.change(func(lease *coordinationv1.Lease) *coordinationv1.Lease {
			lease.Spec.HolderIdentity = new("")
			return lease
		})
		<-time.After(claimLease)
		if s.holder() != holder {
			t.Errorf("the claim is with %q, want it with %q", s.holder(), holder)
		}
	})
}

// TestClaimStopped holds that a claim which is made while its process is asked to stop can be released.
func TestClaimStopped(t *testing.T) {
	bubble(t, func(t *testing.T, s *server) {
		ctx, stop := context.WithCancel(t.Context())
		l := &link{server: s}
		l.set(nil, func(verb string) error {
			if verb == http.MethodPost {
				stop()
			}
			return nil
		})
		release, err := claim(ctx, l)
		if err != nil {
			t.Fatal(err)
		}
		if release(); s.holder() != "" {
			t.Errorf("the claim is with %q, want it released", s.holder())
		}
	})
}
