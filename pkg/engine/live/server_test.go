package live_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/dyncontroller/dyncontroller/pkg/engine/live"
)

var widgets = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"}

const (
	group = "/apis/example.com/v1"
	// limited is how each list begins.
	limited = "limit=500"
)

// answers are what an API server says, by path and parameters; several for one are
// given in turn, the last again and again. It notes what was asked.
type answers struct {
	t  *testing.T
	by map[string][]string

	mu    sync.Mutex
	asked []string // guarded by mu
}

// reader returns a reader of an API server with these answers, and what will have
// been asked of it.
func reader(t *testing.T, by map[string][]string) (*live.Reader, *answers) {
	t.Helper()
	a := &answers{t: t, by: by}
	server := httptest.NewServer(a)
	t.Cleanup(server.Close)
	r, err := live.NewReader(&rest.Config{Host: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	return r, a
}

// ServeHTTP implements [http.Handler]. An answer may begin with a code.
func (a *answers) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	asked := r.URL.String()
	a.asked = append(a.asked, asked)
	if r.Method != http.MethodGet {
		a.t.Errorf("%s %s", r.Method, asked)
	}
	left := a.by[asked]
	if len(left) == 0 {
		a.t.Errorf("was not expected: %s", asked)
		w.WriteHeader(http.StatusTeapot)
		return
	}
	if len(left) > 1 {
		a.by[asked] = left[1:]
	}
	w.Header().Set("Content-Type", "application/json")
	body := left[0]
	code := http.StatusOK
	if _, err := fmt.Sscanf(body, "%d ", &code); err == nil {
		w.Header().Set("Retry-After", "3")
		w.WriteHeader(code)
		body = strings.TrimPrefix(body, fmt.Sprint(code, " "))
	}
	_, _ = io.WriteString(w, body)
}

// object is one as JSON, with more metadata.
func object(namespace, name string, more ...string) string {
	metadata := append([]string{`"name":"` + name + `","namespace":"` + namespace + `"`}, more...)
	return `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{` + strings.Join(metadata, ",") + `}}`
}

// list is a page; next is the token of the one after it, empty for the last.
func list(next string, items ...string) string {
	return `{"apiVersion":"example.com/v1","kind":"WidgetList","metadata":{"resourceVersion":"9","continue":"` + next + `"},"items":[` + strings.Join(items, ",") + `]}`
}

// refusal is one as the API server words it.
func refusal(code int, reason, details string) string {
	return fmt.Sprintf(`%d {"apiVersion":"v1","kind":"Status","status":"Failure","code":%d,"reason":%q,"message":"no","details":{%s}}`, code, code, reason, details)
}

// expired is what is said of a token that has expired; next goes on.
func expired(next string) string {
	return `410 {"apiVersion":"v1","kind":"Status","metadata":{"continue":"` + next + `"},"status":"Failure","code":410,"reason":"Expired","message":"no"}`
}
