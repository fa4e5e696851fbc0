package write_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// TestWriteIsSentOnce holds that client-go's own retries are off, whatever the
// answer says: a repeated write would carry a plan that is out of date.
func TestWriteIsSentOnce(t *testing.T) {
	tests := map[string]struct {
		reason     string
		code       int
		retryAfter string
		want       write.Class
		wait       time.Duration
	}{
		"Overloaded":    {"The wait is handed on to the queue.", http.StatusTooManyRequests, "7", write.Overloaded, 7 * time.Second},
		"Unavailable":   {"So it is for a server that starts up.", http.StatusServiceUnavailable, "1", write.Ambiguous, time.Second},
		"ServerError":   {"A 500 with the header would be repeated too.", http.StatusInternalServerError, "3", write.Ambiguous, 3 * time.Second},
		"NoHeader":      {"Without the header there is nothing to wait for.", http.StatusTooManyRequests, "", write.Overloaded, 0},
		"Date":          {"A date is not what the API server sends.", http.StatusTooManyRequests, "Wed, 21 Oct 2026 07:28:00 GMT", write.Overloaded, 0},
		"NegativeValue": {"Nonsense is no time.", http.StatusTooManyRequests, "-5", write.Overloaded, 0},
	}
	created := operation(plan.Create, map[string]any{"metadata": map[string]any{"name": "a"}})
	created.Target = absent(target)
	sent := []plan.Operation{operation(plan.Merge, map[string]any{}), operation(plan.Delete, plan.Deletion{}), created}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var requests atomic.Int32
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				requests.Add(1)
				if tc.retryAfter != "" {
					w.Header().Set("Retry-After", tc.retryAfter)
				}
				w.WriteHeader(tc.code)
			}))
			defer server.Close()
			client, err := write.NewClient(&rest.Config{Host: server.URL})
			if err != nil {
				t.Fatal(err)
			}
			for _, each := range sent {
				result := client.Write(t.Context(), each)
				if n := requests.Swap(0); n != 1 {
					t.Errorf("%s %s: sent %d requests, want 1", tc.reason, each.Type, n)
				}
				if result.Class != tc.want || result.RetryAfter != tc.wait || result.Err == nil {
					t.Errorf("%s %s: got %s after %s (%v), want %s after %s", tc.reason, each.Type, result.Class, result.RetryAfter, result.Err, tc.want, tc.wait)
				}
			}
		})
	}
}

// TestWriteOutlivesCancellation holds that a write under way when the process
// is told to stop is finished, so that its answer is known.
func TestWriteOutlivesCancellation(t *testing.T) {
	arrived, release := make(chan struct{}), make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		close(arrived)
		<-release
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a","namespace":"ns","uid":"u","resourceVersion":"8"}}`))
	}))
	defer server.Close()
	client, err := write.NewClient(&rest.Config{Host: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-arrived
		cancel()
		close(release)
	}()
	result := client.Write(ctx, plan.Operation{Target: target, Type: plan.Merge, Body: map[string]any{}})
	if result.Class != write.Written || result.Echo == nil || result.Echo.Object.ResourceVersion != "8" {
		t.Errorf("got %+v, want the answer of the finished write", result)
	}
}

// TestWriteThatIsLate holds that a write is not sent once it is decided by the past, and is as if it never arrived.
func TestWriteThatIsLate(t *testing.T) {
	var requests atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		requests.Add(1)
		w.WriteHeader(http.StatusTooManyRequests)
	}))
	defer server.Close()
	client, err := write.NewClient(&rest.Config{Host: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	for still, want := range map[bool]write.Class{true: write.Overloaded, false: write.Unreachable} {
		ctx := write.While(t.Context(), func() bool { return still })
		result := client.Write(ctx, plan.Operation{Target: target, Type: plan.Merge, Body: map[string]any{}})
		if n := requests.Swap(0); result.Class != want || n > 0 != still {
			t.Errorf("still: %t; %d requests, %+v", still, n, result)
		}
	}
}

// TestAnswerThatIsLate holds that what became of a write is read however late its answer comes.
func TestAnswerThatIsLate(t *testing.T) {
	still := true
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.Method == http.MethodGet {
			_, _ = w.Write([]byte(`{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a","namespace":"ns","uid":"u","resourceVersion":"9"}}`))
			return
		}
		still = false
		w.WriteHeader(http.StatusConflict)
		_, _ = w.Write([]byte(`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Conflict","code":409}`))
	}))
	defer server.Close()
	client, err := write.NewClient(&rest.Config{Host: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	ctx := write.While(t.Context(), func() bool { return still })
	result := client.Write(ctx, plan.Operation{Target: target, Type: plan.Merge, Body: map[string]any{}})
	if result.Class != write.Stale || result.Echo == nil {
		t.Errorf("%+v, want what is there now", result)
	}
}
