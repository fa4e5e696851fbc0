package proxy_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/test/proxy"
)

func TestFaults(t *testing.T) {
	tests := map[string]struct {
		reason string
		action proxy.Action
		code   int // 0: the connection breaks
		stored int32
		want   proxy.Request
	}{
		"break before": {
			reason: "The API server never sees the request.",
			action: proxy.Action{Before: proxy.Break},
		},
		"answer before": {
			reason: "Somebody else answers.",
			action: proxy.Action{Before: proxy.Answer(http.StatusTooManyRequests)}, code: http.StatusTooManyRequests,
		},
		"break after": {
			reason: "The write is stored, and the client does not know.",
			action: proxy.Action{Committed: proxy.Break},
			stored: 1, want: proxy.Request{Code: http.StatusCreated, Faulted: true},
		},
		"answer after": {
			reason: "A load balancer has lost its patience.",
			action: proxy.Action{Committed: proxy.Answer(http.StatusGatewayTimeout)},
			code:   http.StatusGatewayTimeout, stored: 1, want: proxy.Request{Code: http.StatusCreated, Faulted: true},
		},
		"too late": {
			reason: "The client has its answer already.",
			action: proxy.Action{Answered: proxy.Break},
			code:   http.StatusCreated, stored: 1, want: proxy.Request{Code: http.StatusCreated},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			both(t, func(t *testing.T, o proxy.Options) {
				b := newBackend(t)
				o.Fault = proxy.Nth(2, proxy.Request.Writes, tc.action)
				p, c := begin(t, b, o)
				for number := 1; number <= 3; number++ {
					stored := b.created.Load()
					code, _, err := c.do(http.MethodPost, configMaps, "{}")
					wantCode, wantStored := http.StatusCreated, int32(1)
					if number == 2 {
						wantCode, wantStored = tc.code, tc.stored
					}
					if code != wantCode || (err != nil) != (wantCode == 0) || b.created.Load()-stored != wantStored {
						t.Errorf("%s\nrequest %d: %d %v, stored %d", tc.reason, number, code, err, b.created.Load()-stored)
					}
				}
				got := p.Requests()[1]
				if got.Code != tc.want.Code || got.Faulted != tc.want.Faulted {
					t.Errorf("%s\nthe log says %s", tc.reason, got)
				}
			})
		})
	}
}

// TestMoments holds in which order things happen, by what the client and the API server know at each moment.
func TestMoments(t *testing.T) {
	b := newBackend(t)
	var mu sync.Mutex
	var seen []string
	received := make(chan struct{})
	note := func(what string) proxy.Step {
		return proxy.Do(func() {
			mu.Lock()
			defer mu.Unlock()
			seen = append(seen, fmt.Sprintf("%s: %d stored", what, b.created.Load()))
		})
	}
	_, c := begin(t, b, proxy.Options{Fault: proxy.On(proxy.Request.Writes, proxy.Action{
		Before:    note("before"),
		Committed: note("committed"),
		// The client has the whole answer while this is still being done.
		Answered: proxy.Hold(received).Then(note("answered")),
	})})
	if code, text, err := c.do(http.MethodPost, configMaps, strings.Repeat("x", 1<<16)); code != http.StatusCreated || len(text) != 1<<16 {
		t.Errorf("%d, %d bytes, %v", code, len(text), err)
	}
	mu.Lock()
	before := slices.Clone(seen)
	mu.Unlock()
	if diff := cmp.Diff([]string{"before: 0 stored", "committed: 1 stored"}, before); diff != "" {
		t.Errorf("when the answer was there (-want +got):\n%s", diff)
	}
	close(received)
}

// TestHeld holds that a held request stays where it is until it is released or its client gives up, and that others
// pass meanwhile.
func TestHeld(t *testing.T) {
	both(t, func(t *testing.T, o proxy.Options) {
		b := newBackend(t)
		arrived, released := make(chan struct{}, 2), make(chan struct{})
		o.Fault = proxy.On(proxy.Request.Writes, proxy.Action{
			Before: proxy.Do(func() { arrived <- struct{}{} }).Then(proxy.Hold(released)),
		})
		_, c := begin(t, b, o)

		ctx, giveUp := context.WithCancel(t.Context())
		gone := make(chan error)
		go func() {
			response, err := c.send(ctx, http.MethodPost, configMaps, "{}")
			if err == nil {
				_ = response.Body.Close()
			}
			gone <- err
		}()
		<-arrived
		giveUp()
		if err := <-gone; !errors.Is(err, context.Canceled) {
			t.Errorf("the client gave up: %v", err)
		}

		answered := make(chan int)
		go func() {
			code, _, _ := c.do(http.MethodPost, configMaps, "{}")
			answered <- code
		}()
		<-arrived
		if code, _, err := c.do(http.MethodGet, pods, ""); code != http.StatusOK {
			t.Errorf("another request: %d %v", code, err)
		}
		if stored := b.created.Load(); stored != 0 {
			t.Errorf("%d were stored while held", stored)
		}
		close(released)
		if code := <-answered; code != http.StatusCreated || b.created.Load() != 1 {
			t.Errorf("released: %d, stored %d; want the one that nobody gave up", code, b.created.Load())
		}
	})
}
