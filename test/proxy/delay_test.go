package proxy

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestDelay holds, on a virtual clock, when lines arrive that were written at certain moments.
func TestDelay(t *testing.T) {
	t.Parallel()
	type line struct {
		At   time.Duration
		Text string
	}
	tests := map[string]struct {
		reason string
		wrote  []line
		want   []line
	}{
		"one by one": {
			"Each is late by the same time, whatever came before it.",
			[]line{{0, "a"}, {time.Second, "b"}, {10 * time.Second, "c"}},
			[]line{{2 * time.Second, "a"}, {3 * time.Second, "b"}, {12 * time.Second, "c"}},
		},
		"a burst": {
			"The delay does not add up.",
			[]line{{0, "a"}, {0, "b"}, {0, "c"}, {time.Millisecond, "d"}},
			[]line{{2 * time.Second, "a"}, {2 * time.Second, "b"}, {2 * time.Second, "c"}, {2001 * time.Millisecond, "d"}},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				from, to := io.Pipe()
				start := time.Now()
				late := delay(t.Context(), from, 2*time.Second)
				go func() {
					for _, l := range tc.wrote {
						<-time.After(time.Until(start.Add(l.At)))
						_, _ = fmt.Fprintln(to, l.Text)
					}
					_ = to.Close()
				}()
				var got []line
				for lines := bufio.NewScanner(late); lines.Scan(); {
					got = append(got, line{time.Since(start), lines.Text()})
				}
				if diff := cmp.Diff(tc.want, got); diff != "" {
					t.Errorf("%s\n-want +got:\n%s", tc.reason, diff)
				}
				if err := late.Close(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

func TestDelayReadsInPieces(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		from, to := io.Pipe()
		late := delay(t.Context(), from, time.Second)
		defer late.Close()
		go func() {
			_, _ = io.WriteString(to, "abcdef")
			_ = to.CloseWithError(io.ErrNoProgress)
		}()
		var got []string
		for {
			piece := make([]byte, 4)
			n, err := late.Read(piece)
			got = append(got, string(piece[:n]))
			if err != nil {
				if !errors.Is(err, io.ErrNoProgress) {
					t.Errorf("ended with %v, want what the source ended with", err)
				}
				break
			}
		}
		if diff := cmp.Diff([]string{"abcd", "ef", ""}, got); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
		if _, err := late.Read(make([]byte, 1)); err == nil {
			t.Error("there is something after the end")
		}
	})
}

// TestDelayEndsWithTheRequest holds that nobody waits for an answer that nobody wants any more: neither for a part that
// has not come, nor for one that is not due.
func TestDelayEndsWithTheRequest(t *testing.T) {
	t.Parallel()
	for name, write := range map[string]bool{"nothing came": false, "not due yet": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				from, to := io.Pipe()
				ctx, cancel := context.WithCancel(t.Context())
				late := delay(ctx, from, time.Hour)
				if write {
					_, _ = io.WriteString(to, "early")
				}
				time.AfterFunc(time.Second, cancel)
				start := time.Now()
				if _, err := late.Read(make([]byte, 10)); !errors.Is(err, context.Canceled) {
					t.Errorf("ended with %v", err)
				}
				if waited := time.Since(start); waited != time.Second {
					t.Errorf("waited for %s", waited)
				}
				if err := late.Close(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}
