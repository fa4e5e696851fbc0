package write_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
)

// exchange is a request that is expected, as method, path with parameters, and body,
// and the answer to it.
type exchange struct {
	request, body string // any body where it is empty
	code          int    // default: 200
	answer        string
}

// scripted answers the exchanges in order, and anything else with a failure.
type scripted struct {
	t  *testing.T
	mu sync.Mutex

	left []exchange // guarded by mu
}

// serve returns a client of an API server that answers as the script says; all of it
// must have come by the end of the test.
func serve(t *testing.T, newClient func(*rest.Config) (*write.Client, error), script ...exchange) *write.Client {
	t.Helper()
	s := &scripted{t: t, left: script}
	server := httptest.NewServer(s)
	t.Cleanup(func() {
		server.Close()
		for _, each := range s.left {
			t.Errorf("was not sent: %s", each.request)
		}
	})
	client, err := newClient(&rest.Config{Host: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// ServeHTTP implements [http.Handler].
func (s *scripted) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	got := r.Method + " " + r.URL.String()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		s.t.Error(err)
	}
	if len(s.left) == 0 {
		s.t.Errorf("was not expected: %s %s", got, body)
		w.WriteHeader(http.StatusTeapot)
		return
	}
	next := s.left[0]
	s.left = s.left[1:]
	if got != next.request {
		s.t.Errorf("sent     %s\nexpected %s", got, next.request)
	}
	if next.body != "" && string(body) != next.body {
		s.t.Errorf("%s\nsent     %s\nexpected %s", got, body, next.body)
	}
	w.Header().Set("Content-Type", "application/json")
	if next.code != 0 {
		w.WriteHeader(next.code)
	}
	_, _ = io.WriteString(w, strings.Replace(next.answer, "CODE", strconv.Itoa(next.code), 1))
}

// newDryRun returns a client whose writes are not stored.
func newDryRun(config *rest.Config) (*write.Client, error) {
	client, err := write.NewClient(config)
	if err != nil {
		return nil, err
	}
	return client.DryRun(), nil
}
