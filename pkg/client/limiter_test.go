package client_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dyncontroller/dyncontroller/pkg/client"
)

// TestLimiter holds when requests are made that wait for their turn, have had it, or go ahead of others; each takes a tenth of a second.
func TestLimiter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limiter := client.NewLimiter(10, 1)
		began := time.Now()
		wait := func(ctx context.Context, reason string, want time.Duration) {
			t.Helper()
			if err := limiter.Wait(ctx); err != nil {
				t.Fatal(err)
			}
			if got := time.Since(began).Round(10 * time.Millisecond); got != want {
				t.Errorf("%s It is made after %s, want %s", reason, got, want)
			}
		}
		wait(t.Context(), "The first one waits for nothing.", 0)
		turn, err := limiter.Turn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		wait(client.Ahead(t.Context()), "The turn has come, and another request goes ahead.", 100*time.Millisecond)
		wait(turn, "The turn is still there.", 100*time.Millisecond)
		wait(t.Context(), "It has waited for the request that went ahead.", 300*time.Millisecond)
		wait(client.Ahead(t.Context()), "Another one goes ahead.", 300*time.Millisecond)
		wait(client.Ahead(t.Context()), "More than half of the requests would go ahead, so it waits.", 500*time.Millisecond)
		wait(turn, "A second request with a turn has none, and goes ahead when it may.", 500*time.Millisecond)
		wait(t.Context(), "It was counted.", 700*time.Millisecond)
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if err := limiter.Wait(ended); err == nil {
			t.Error("it does not end with its context")
		}
		if turn, err := (*client.Limiter)(nil).Turn(ended); turn != ended || err != nil {
			t.Errorf("without a limiter there is something to wait for: %v", err)
		}
	})
}
