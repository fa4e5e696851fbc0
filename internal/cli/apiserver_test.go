package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	"k8s.io/apimachinery/pkg/types"
)

// apiServer knows ConfigMaps, takes Events, and nothing else. It has what the
// commands need of an API server: the e2e tests have the real one.
type apiServer struct {
	t      *testing.T
	server *httptest.Server

	mu       sync.Mutex
	objects  map[string]map[string]any // by namespace/name
	version  int
	watchers map[chan map[string]any]bool
	requests []string // method and path of what changes something
	refuse   string   // why patches are refused, empty to take them
	keeps    bool     // patches are taken, and change nothing
	status   int      // what /version answers
	// unreadable is why an object cannot be read, by namespace/name.
	unreadable map[string]string
	// unlisted says that ConfigMaps can be neither listed nor watched.
	unlisted bool
}

// newAPIServer serves until the test ends.
func newAPIServer(t *testing.T) *apiServer {
	t.Helper()
	a := &apiServer{
		t: t, objects: map[string]map[string]any{}, watchers: map[chan map[string]any]bool{}, version: 1, status: http.StatusOK,
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /version", a.getVersion)
	mux.HandleFunc("GET /api/v1/configmaps", a.list)
	mux.HandleFunc("GET /api/v1/namespaces/{namespace}/configmaps", a.list)
	mux.HandleFunc("PATCH /api/v1/namespaces/{namespace}/configmaps/{name}", a.patch)
	mux.HandleFunc("POST /apis/events.k8s.io/v1/namespaces/{namespace}/events", a.create)
	a.keepHouse(mux)
	a.reviews(mux)
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		answerStatus(w, http.StatusNotFound, "the server could not find the requested resource")
	})
	a.server = httptest.NewServer(mux)
	t.Cleanup(func() {
		a.server.CloseClientConnections()
		a.server.Close()
	})
	return a
}

func answerJSON(w http.ResponseWriter, code int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(value)
}

func answerStatus(w http.ResponseWriter, code int, message string) {
	answerJSON(w, code, map[string]any{
		"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "message": message, "reason": strings.ReplaceAll(http.StatusText(code), " ", ""),
	})
}

func (a *apiServer) getVersion(w http.ResponseWriter, _ *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.status != http.StatusOK {
		answerStatus(w, a.status, "no")
		return
	}
	answerJSON(w, http.StatusOK, map[string]any{"gitVersion": "v1.37.1"})
}

func (a *apiServer) list(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	unlisted := a.unlisted
	a.mu.Unlock()
	if unlisted {
		answerStatus(w, http.StatusForbidden, "configmaps is forbidden: you cannot list them")
		return
	}
	if r.URL.Query().Get("watch") != "" {
		a.watch(w, r)
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	items := []any{}
	for _, object := range a.objects {
		items = append(items, object)
	}
	answerJSON(w, http.StatusOK, map[string]any{
		"kind": "ConfigMapList", "apiVersion": "v1", "metadata": map[string]any{"resourceVersion": strconv.Itoa(a.version)}, "items": items,
	})
}

// watch sends what is there first if it is asked to, and then what changes.
func (a *apiServer) watch(w http.ResponseWriter, r *http.Request) {
	changes := make(chan map[string]any, 100)
	a.mu.Lock()
	var first []map[string]any
	if r.URL.Query().Get("sendInitialEvents") == "true" {
		for _, object := range a.objects {
			first = append(first, map[string]any{"type": "ADDED", "object": object})
		}
		first = append(first, map[string]any{"type": "BOOKMARK", "object": map[string]any{
			"kind": "ConfigMap", "apiVersion": "v1",
			"metadata": map[string]any{
				"resourceVersion": strconv.Itoa(a.version),
				"annotations":     map[string]any{"k8s.io/initial-events-end": "true"},
			},
		}})
	}
	a.watchers[changes] = true
	a.mu.Unlock()
	defer func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		delete(a.watchers, changes)
	}()
	w.Header().Set("Content-Type", "application/json")
	flush := http.NewResponseController(w)
	for _, event := range first {
		_ = json.NewEncoder(w).Encode(event)
	}
	_ = flush.Flush()
	for {
		select {
		case event := <-changes:
			_ = json.NewEncoder(w).Encode(event)
			_ = flush.Flush()
		case <-r.Context().Done():
			return
		}
	}
}

func (a *apiServer) patch(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		a.t.Error(err)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.requests = append(a.requests, "PATCH "+r.URL.Path)
	key := r.PathValue("namespace") + "/" + r.PathValue("name")
	if a.refuse != "" {
		answerStatus(w, http.StatusForbidden, a.refuse)
		return
	}
	before, err := json.Marshal(a.objects[key])
	if err != nil {
		a.t.Error(err)
	}
	if a.keeps {
		body = []byte("{}")
	}
	after, err := patched(r.Header.Get("Content-Type"), before, body)
	if err != nil {
		a.t.Error(err)
	}
	var object map[string]any
	if err := json.Unmarshal(after, &object); err != nil {
		a.t.Error(err)
	}
	if r.URL.Query().Get("dryRun") == "" {
		object = a.store(object, "MODIFIED")
	}
	answerJSON(w, http.StatusOK, object)
}

// patched takes merge and JSON patches.
func patched(kind string, before, body []byte) ([]byte, error) {
	if kind != string(types.JSONPatchType) {
		return jsonpatch.MergePatch(before, body)
	}
	steps, err := jsonpatch.DecodePatch(body)
	if err != nil {
		return nil, err
	}
	return steps.Apply(before)
}

// create takes an Event, which comes as protobuf and is not looked into.
func (a *apiServer) create(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.requests = append(a.requests, "POST "+r.URL.Path)
	answerJSON(w, http.StatusCreated, map[string]any{"kind": "Event", "apiVersion": "events.k8s.io/v1"})
}

// store keeps an object in a new version, tells the watchers, and returns it.
func (a *apiServer) store(object map[string]any, event string) map[string]any {
	a.version++
	object = maps.Clone(object)
	metadata := maps.Clone(object["metadata"].(map[string]any))
	metadata["resourceVersion"] = strconv.Itoa(a.version)
	object["metadata"] = metadata
	a.objects[fmt.Sprint(metadata["namespace"], "/", metadata["name"])] = object
	for changes := range a.watchers {
		changes <- map[string]any{"type": event, "object": object}
	}
	return object
}

// configMap makes a ConfigMap in the namespace default.
func (a *apiServer) configMap(name string, data map[string]any) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.store(map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "data": data,
		"metadata": map[string]any{"namespace": "default", "name": name, "uid": "uid-" + name},
	}, "ADDED")
}

// data is the data of a ConfigMap.
func (a *apiServer) data(name string) any {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.objects["default/"+name]["data"]
}

// changes lists the requests that could change something.
func (a *apiServer) changes() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return append([]string(nil), a.requests...)
}

func (a *apiServer) set(change func(*apiServer)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	change(a)
}

// kubeconfig writes one for the server.
func (a *apiServer) kubeconfig() string { return kubeconfig(a.t, a.server.URL) }

func kubeconfig(t *testing.T, server string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kubeconfig")
	text := fmt.Sprintf(`apiVersion: v1
kind: Config
clusters: [{name: local, cluster: {server: %q}}]
users: [{name: admin, user: {token: t}}]
contexts:
- {name: main, context: {cluster: local, user: admin}}
- {name: shop, context: {cluster: local, user: admin, namespace: shop}}
current-context: main
`, server)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
