package election

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestElapsed(t *testing.T) {
	t.Parallel()
	start := time.Now()
	wall := start.Round(0)
	tests := map[string]struct {
		reason string
		now    time.Time
		want   time.Duration
	}{
		"both":               {"They agree.", start.Add(3 * time.Second), 3 * time.Second},
		"the machine slept":  {"Only the wall clock went on.", wall.Add(time.Minute), time.Minute},
		"nothing has passed": {"No time is no time.", start, 0},
	}
	for name, tc := range tests {
		if got := elapsed(start, tc.now); got != tc.want {
			t.Errorf("%s: %s\ngot %s, want %s", name, tc.reason, got, tc.want)
		}
	}
	// A clock that was set back, for times without a monotonic part, cannot be made; the longer of the two counts.
	if got := elapsed(wall, wall.Add(-time.Hour)); got != -time.Hour {
		t.Errorf("got %s", got)
	}
}

func TestFence(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := NewFence(10 * time.Second)
		expect := func(reason string, want time.Duration) {
			t.Helper()
			if got := f.Left(); got != want {
				t.Errorf("%s\nwrites may be sent for %s, want %s", reason, got, want)
			}
		}
		expect("Nothing is sent before the lease is ours.", 0)
		sent := time.Now()
		<-time.After(3 * time.Second)
		f.renewed(sent)
		expect("What counts is when the renewal was sent, not when it was answered.", 7*time.Second)
		<-time.After(7 * time.Second)
		expect("The time is over.", 0)
		<-time.After(time.Minute)
		expect("It stays over.", 0)
		f.renewed(time.Now())
		expect("A renewal that succeeds shows that nobody else had the lease.", 10*time.Second)
		f.close()
		expect("The lease is given up.", 0)
		f.close()
		expect("It may be closed again.", 0)
		f.renewed(time.Now())
		expect("It may be opened again.", 10*time.Second)
	})
}

func TestNoFence(t *testing.T) {
	t.Parallel()
	var f *Fence
	if f.Left() < 1000*time.Hour {
		t.Errorf("without an election writes may be sent for ever, have %s", f.Left())
	}
	base := tripper(func(*http.Request) (*http.Response, error) { return nil, errBroken })
	if err := try(f.Wrap(base), post(t)); !errors.Is(err, errBroken) {
		t.Errorf("the request did not pass: %v", err)
	}
}

// tripper is a function as a transport.
type tripper func(*http.Request) (*http.Response, error)

func (f tripper) RoundTrip(request *http.Request) (*http.Response, error) { return f(request) }

// try sends a request whose answer is of no interest.
func try(through http.RoundTripper, r *http.Request) error {
	response, err := through.RoundTrip(r)
	if err != nil {
		return err
	}
	return response.Body.Close()
}

// closed notes whether it was closed.
type closed struct {
	io.Reader
	closed bool
}

func (c *closed) Close() error {
	c.closed = true
	return nil
}

func post(t *testing.T) *http.Request {
	t.Helper()
	return request(t, http.MethodPost, strings.NewReader("{}"))
}

func request(t *testing.T, method string, body io.Reader) *http.Request {
	t.Helper()
	out, err := http.NewRequestWithContext(t.Context(), method, "http://api/", body)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestClosedFence holds which requests a closed fence lets through.
func TestClosedFence(t *testing.T) {
	t.Parallel()
	for method, passes := range map[string]bool{
		http.MethodGet: true, http.MethodHead: true, http.MethodOptions: true, "": true,
		http.MethodPost: false, http.MethodPut: false, http.MethodPatch: false, http.MethodDelete: false,
		http.MethodConnect: false, "MADEUP": false, "get": false,
	} {
		sent := false
		wrapped := NewFence(deadline).Wrap(tripper(func(*http.Request) (*http.Response, error) {
			sent = true
			return &http.Response{Body: http.NoBody}, nil
		}))
		body := &closed{Reader: strings.NewReader("{}")}
		r := request(t, http.MethodPost, body)
		r.Method = method
		err := try(wrapped, r)
		if sent != passes || errors.Is(err, ErrFenced) == passes || errors.Is(err, ErrCutOff) {
			t.Errorf("%s was sent: %t, error: %v", method, sent, err)
		}
		if !passes && !body.closed {
			t.Errorf("%s: the body was not closed", method)
		}
	}
	r := request(t, http.MethodDelete, nil)
	if err := try(NewFence(deadline).Wrap(nil), r); !errors.Is(err, ErrFenced) {
		t.Errorf("a request without a body ended with %v", err)
	}
}

// TestUnderWay holds when a request that is under way is given up.
func TestUnderWay(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		reason   string
		renewals int           // one each second
		closes   time.Duration // when the fence is closed; 0 for never
		want     time.Duration // when the request ends
	}{
		"no renewal": {"It ends with the renew deadline.", 0, 0, 10 * time.Second},
		"renewed":    {"A webhook may take its time while the lease is held.", 25, 0, 35 * time.Second},
		"closed":     {"Somebody else was found to have the lease.", 5, 7 * time.Second, 7 * time.Second},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f := NewFence(deadline)
				f.renewed(time.Now())
				go func() {
					for range tc.renewals {
						<-time.After(time.Second)
						f.renewed(time.Now())
					}
				}()
				if tc.closes > 0 {
					time.AfterFunc(tc.closes, f.close)
				}
				began := time.Now()
				err := try(f.Wrap(tripper(func(r *http.Request) (*http.Response, error) {
					<-r.Context().Done()
					return nil, r.Context().Err()
				})), post(t))
				if !errors.Is(err, ErrCutOff) || !errors.Is(err, context.Canceled) || errors.Is(err, ErrFenced) {
					t.Errorf("%s\nended with %v, want %v", tc.reason, err, ErrCutOff)
				}
				if took := time.Since(began); took != tc.want {
					t.Errorf("%s\nended after %s, want %s", tc.reason, took, tc.want)
				}
			})
		})
	}
}

// TestAnswerUnderWay holds that an answer is read under the fence, that the caller's own end is no fault of the fence, and
// that nothing is left running.
func TestAnswerUnderWay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := NewFence(deadline)
		f.renewed(time.Now())
		endless := f.Wrap(tripper(func(r *http.Request) (*http.Response, error) {
			from, to := io.Pipe()
			context.AfterFunc(r.Context(), func() { _ = to.CloseWithError(r.Context().Err()) })
			return &http.Response{Body: from}, nil
		}))
		response, err := endless.RoundTrip(post(t))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadAll(response.Body); !errors.Is(err, ErrCutOff) {
			t.Errorf("reading ended with %v", err)
		}
		_ = response.Body.Close()

		f.renewed(time.Now())
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		if response, err = endless.RoundTrip(post(t).WithContext(ctx)); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadAll(response.Body); !errors.Is(err, context.Canceled) || errors.Is(err, ErrCutOff) {
			t.Errorf("reading ended with %v, want the caller's cancellation", err)
		}
		_ = response.Body.Close()

		quick := f.Wrap(tripper(func(*http.Request) (*http.Response, error) {
			return &http.Response{Body: io.NopCloser(strings.NewReader("answer"))}, nil
		}))
		if response, err = quick.RoundTrip(post(t)); err != nil {
			t.Fatal(err)
		}
		if data, err := io.ReadAll(response.Body); string(data) != "answer" || err != nil {
			t.Errorf("read %q, %v", data, err)
		}
		_ = response.Body.Close()
		// The bubble ends only if no goroutine waits for the fence any more.
	})
}
