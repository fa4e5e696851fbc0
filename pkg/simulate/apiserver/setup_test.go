package apiserver_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/yaml"

	"github.com/dyncontroller/dyncontroller/pkg/simulate/apiserver"
	"github.com/dyncontroller/dyncontroller/pkg/simulate/storage"
)

// start is when worlds begin.
var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// Media types of what is sent.
const (
	plain     = "application/json"
	merge     = "application/merge-patch+json"
	jsonPatch = "application/json-patch+json"
	apply     = "application/apply-patch+yaml"
	strategic = "application/strategic-merge-patch+json"
)

// absent is wanted of a field that is not to be there.
const absent = "<absent>"

// definitions are those of a file.
func definitions(t testing.TB, path string) []*apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var out []*apiextensionsv1.CustomResourceDefinition
	for part := range strings.SplitSeq(string(data), "\n---\n") {
		out = append(out, definition(t, part))
	}
	return out
}

func definition(t testing.TB, text string) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	var document map[string]any
	if err := yaml.Unmarshal([]byte(text), &document); err != nil {
		t.Fatal(err)
	}
	out, err := apiserver.Definition(document)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// gadgets is a server of the definitions of the file of that name.
func gadgets(t testing.TB) *apiserver.Server {
	t.Helper()
	server, err := apiserver.New(definitions(t, "testdata/gadgets.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return server
}

// client asks a server about one world.
type client struct {
	http  http.RoundTripper
	world *storage.World
	clock *clocktesting.FakeClock
}

func inNew(server *apiserver.Server) *client {
	clock := clocktesting.NewFakeClock(start)
	world := storage.NewWorld(clock)
	return &client{server.Transport(world), world, clock}
}

// call is a request and what is to come of it.
type call struct {
	do     string // the method and the path
	as     string // the media type, by default of plain JSON
	body   string
	status int
	want   []string // a dotted path of the answer, and its value as JSON
	after  time.Duration
}

// send sends a request and reads the status and the body of the answer.
func (c *client) send(t testing.TB, r call) (int, map[string]any) {
	t.Helper()
	method, path, _ := strings.Cut(r.do, " ")
	request, err := http.NewRequestWithContext(t.Context(), method, "http://server"+path, bytes.NewBufferString(r.body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", plain)
	if r.as != "" {
		request.Header.Set("Content-Type", r.as)
	}
	answer, err := c.http.RoundTrip(request)
	if err != nil {
		t.Fatalf("%s: %v", r.do, err)
	}
	defer answer.Body.Close() //nolint:errcheck // It is in memory.
	data, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	var out map[string]any
	if err := json.Unmarshal(data, &out); err != nil {
		out = map[string]any{"text": string(data)}
	}
	return answer.StatusCode, out
}

// play sends requests in order and compares what comes of them.
func (c *client) play(t *testing.T, calls []call) {
	t.Helper()
	for i, r := range calls {
		c.clock.Step(r.after)
		status, got := c.send(t, r)
		if status != r.status {
			t.Fatalf("call %d, %s: %d, want %d: %v", i, r.do, status, r.status, got)
		}
		for _, want := range r.want {
			path, value, _ := strings.Cut(want, "=")
			if have := at(got, path); have != value {
				t.Errorf("call %d, %s: %s is %s, want %s", i, r.do, path, have, value)
			}
		}
	}
}

// at is the value at a dotted path as JSON.
func at(from any, path string) string {
	for key := range strings.SplitSeq(path, ".") {
		var found bool
		switch have := from.(type) {
		case map[string]any:
			from, found = have[key]
		case []any:
			if i, err := strconv.Atoi(key); err == nil && i < len(have) {
				from, found = have[i], true
			} else if key == "length" {
				from, found = len(have), true
			}
		}
		if !found {
			return absent
		}
	}
	text := &strings.Builder{}
	encoder := json.NewEncoder(text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(from); err != nil {
		return err.Error()
	}
	return strings.TrimSpace(text.String())
}
