package operator

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// world is an API server without a network, so that time can be faked: it lists,
// watches, patches and answers access reviews for everything that it is asked about.
type world struct {
	events   []string // the bodies of requests for new ones; guarded by mu
	mu       sync.Mutex
	version  int
	objects  map[string]map[string]any // by resource/namespace/name
	watchers map[chan map[string]any]string
	requests []string        // user, method and path of what is not read
	reads    []string        // the same of the rest
	denied   map[string]bool // "verb resource" that nobody may
	fails    map[string]int  // the status of requests, by "METHOD resource"
	// Requests wait until it is closed, by "METHOD resource", their answers by "ANSWER METHOD
	// resource", and the events of watches by "WATCH resource user".
	hold map[string]chan struct{}
}

func newWorld() *world {
	return &world{
		version: 1, objects: map[string]map[string]any{}, watchers: map[chan map[string]any]string{},
		denied: map[string]bool{}, fails: map[string]int{}, hold: map[string]chan struct{}{},
	}
}

// target is what a path names.
type target struct{ resource, namespace, name, subresource string }

func (t target) key() string { return t.resource + "/" + t.namespace + "/" + t.name }

func targetOf(path string) (target, bool) {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	skip := map[string]int{"api": 2, "apis": 3}[parts[0]]
	if skip == 0 || len(parts) <= skip {
		return target{}, false
	}
	var out target
	parts = parts[skip:]
	if parts[0] == "namespaces" && len(parts) > 2 {
		out.namespace, parts = parts[1], parts[2:]
	}
	parts = append(parts, "", "", "")
	out.resource, out.name, out.subresource = parts[0], parts[1], parts[2]
	return out, true
}

// userOf is who sends a request, empty for the process.
func userOf(r *http.Request) string {
	user := strings.TrimPrefix(r.Header.Get("Impersonate-User"), "system:serviceaccount:")
	return strings.ReplaceAll(user, ":", "/")
}

// RoundTrip implements [http.RoundTripper].
func (w *world) RoundTrip(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		body, _ = io.ReadAll(r.Body)
		_ = r.Body.Close()
	}
	at, known := targetOf(r.URL.Path)
	if !known {
		code, out := discovered(r.URL.Path)
		return reply(r, code, out), nil
	}
	w.mu.Lock()
	hold, slow := w.hold[r.Method+" "+at.resource], w.hold["ANSWER "+r.Method+" "+at.resource]
	line := strings.TrimSpace(userOf(r) + " " + r.Method + " " + strings.TrimSuffix(at.key(), "/") + " " + at.subresource)
	if r.Method == http.MethodGet {
		w.reads = append(w.reads, line)
	} else if !strings.HasPrefix(at.resource, "selfsubject") {
		w.requests = append(w.requests, line)
	}
	status := w.fails[r.Method+" "+at.resource]
	w.mu.Unlock()
	if err := held(r, hold); err != nil {
		return nil, err
	}
	switch {
	case status != 0:
		return reply(r, status, failure(status)), nil
	case at.resource == "selfsubjectrulesreviews": // As of an authorizer that cannot list.
		return reply(r, http.StatusCreated, authorizationv1.SelfSubjectRulesReview{Status: authorizationv1.SubjectRulesReviewStatus{Incomplete: true}}), nil
	case at.resource == "selfsubjectaccessreviews":
		return reply(r, http.StatusCreated, w.review(body)), nil
	case at.resource == "events":
		w.set(func(w *world) { w.events = append(w.events, string(body)) })
		return reply(r, http.StatusCreated, map[string]any{"kind": "Event", "apiVersion": "events.k8s.io/v1"}), nil
	case r.Method == http.MethodGet && r.URL.Query().Get("watch") != "":
		return w.watch(r, at), nil
	default:
		code, out := w.answer(r, at, body)
		if err := held(r, slow); err != nil {
			return nil, err
		}
		return reply(r, code, out), nil
	}
}

// held returns once a request may go on, or its context is done. Nil keeps nobody.
func held(r *http.Request, until chan struct{}) error {
	if until == nil {
		return nil
	}
	select {
	case <-until:
		return nil
	case <-r.Context().Done():
		return r.Context().Err()
	}
}

// discovered says what is served.
func discovered(path string) (int, any) {
	switch path {
	case "/api":
		return http.StatusOK, metav1.APIVersions{Versions: []string{"v1"}}
	case "/api/v1":
		return http.StatusOK, metav1.APIResourceList{GroupVersion: "v1", APIResources: []metav1.APIResource{
			{Name: "configmaps", Kind: "ConfigMap", Namespaced: true},
		}}
	case "/apis":
		return http.StatusOK, metav1.APIGroupList{}
	default:
		return http.StatusNotFound, failure(http.StatusNotFound)
	}
}

func (w *world) review(body []byte) any {
	var review authorizationv1.SelfSubjectAccessReview
	if err := json.Unmarshal(body, &review); err != nil {
		return failure(http.StatusBadRequest)
	}
	about := review.Spec.ResourceAttributes
	w.mu.Lock()
	defer w.mu.Unlock()
	review.Status.Allowed = !w.denied[about.Verb+" "+about.Resource]
	return review
}

// answer reads or changes an object.
func (w *world) answer(r *http.Request, at target, body []byte) (int, any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	before, found := w.objects[at.key()]
	switch {
	case r.Method == http.MethodGet && at.name == "":
		return http.StatusOK, map[string]any{
			"kind": "List", "apiVersion": "v1", "metadata": map[string]any{"resourceVersion": strconv.Itoa(w.version)}, "items": w.in(at),
		}
	case r.Method == http.MethodPost:
		var object map[string]any
		_ = json.Unmarshal(body, &object)
		return http.StatusCreated, w.store(at.resource, object)
	case !found:
		return http.StatusNotFound, failure(http.StatusNotFound)
	case r.Method == http.MethodGet:
		return http.StatusOK, before
	case r.Method == http.MethodDelete:
		w.drop(at, before)
		return http.StatusOK, map[string]any{"kind": "Status", "status": "Success"}
	}
	after := body
	if r.Method == http.MethodPatch {
		text, _ := json.Marshal(before)
		var err error
		if after, err = jsonpatch.MergePatch(text, body); err != nil {
			return http.StatusUnsupportedMediaType, failure(http.StatusUnsupportedMediaType)
		}
	}
	var object map[string]any
	_ = json.Unmarshal(after, &object)
	metadata, _ := object["metadata"].(map[string]any)
	was, _ := before["metadata"].(map[string]any)
	if metadata["resourceVersion"] != was["resourceVersion"] {
		return http.StatusConflict, failure(http.StatusConflict)
	}
	if finalizers, _ := metadata["finalizers"].([]any); metadata["deletionTimestamp"] != nil && len(finalizers) == 0 {
		w.drop(at, object)
		return http.StatusOK, object
	}
	return http.StatusOK, w.store(at.resource, object)
}

// in lists what is in a collection, in order.
func (w *world) in(at target) []any {
	out := []any{}
	for _, key := range slices.Sorted(maps.Keys(w.objects)) {
		if inside(at, key) {
			out = append(out, w.objects[key])
		}
	}
	return out
}

func inside(at target, key string) bool {
	parts := strings.Split(key, "/")
	return parts[0] == at.resource && (at.namespace == "" || parts[1] == at.namespace)
}

func (w *world) store(resource string, object map[string]any) map[string]any {
	w.version++
	metadata := maps.Clone(object["metadata"].(map[string]any))
	metadata["resourceVersion"] = strconv.Itoa(w.version)
	if metadata["uid"] == nil {
		metadata["uid"] = "uid-" + strconv.Itoa(w.version)
	}
	object = maps.Clone(object)
	object["metadata"] = metadata
	namespace, _ := metadata["namespace"].(string)
	key := target{resource: resource, namespace: namespace, name: metadata["name"].(string)}.key()
	kind := "ADDED"
	if _, found := w.objects[key]; found {
		kind = "MODIFIED"
	}
	w.objects[key] = object
	w.tell(key, kind, object)
	return object
}

func (w *world) drop(at target, object map[string]any) {
	delete(w.objects, at.key())
	w.tell(at.key(), "DELETED", object)
}

func (w *world) tell(key, kind string, object map[string]any) {
	for watcher, of := range w.watchers {
		resource, namespace, _ := strings.Cut(of, "/")
		if inside(target{resource: resource, namespace: namespace}, key) {
			watcher <- map[string]any{"type": kind, "object": object}
		}
	}
}

// watch sends what is there first if it is asked to, and then what changes.
func (w *world) watch(r *http.Request, at target) *http.Response {
	changes := make(chan map[string]any, 1000)
	w.mu.Lock()
	if r.URL.Query().Get("sendInitialEvents") == "true" {
		for _, object := range w.in(at) {
			changes <- map[string]any{"type": "ADDED", "object": object}
		}
		changes <- map[string]any{"type": "BOOKMARK", "object": map[string]any{
			"kind": "ConfigMap", "apiVersion": "v1", "metadata": map[string]any{
				"resourceVersion": strconv.Itoa(w.version), "annotations": map[string]any{"k8s.io/initial-events-end": "true"},
			},
		}}
	}
	w.watchers[changes] = at.resource + "/" + at.namespace
	w.mu.Unlock()
	reader, writer := io.Pipe()
	go func() {
		defer writer.Close()
		defer w.set(func(w *world) { delete(w.watchers, changes) })
		for {
			select {
			case event := <-changes:
				w.mu.Lock()
				hold := w.hold["WATCH "+at.resource+" "+userOf(r)]
				w.mu.Unlock()
				if hold != nil {
					select {
					case <-hold:
					case <-r.Context().Done():
					}
				}
				if json.NewEncoder(writer).Encode(event) != nil {
					return
				}
			case <-time.After(time.Minute): // As API servers do, about.
				w.mu.Lock()
				if len(changes) == 0 {
					changes <- map[string]any{"type": "BOOKMARK", "object": map[string]any{
						"kind": "ConfigMap", "apiVersion": "v1", "metadata": map[string]any{"resourceVersion": strconv.Itoa(w.version)},
					}}
				}
				w.mu.Unlock()
			case <-r.Context().Done():
				return
			}
		}
	}()
	out := reply(r, http.StatusOK, nil)
	out.Body = reader
	return out
}

func reply(r *http.Request, code int, body any) *http.Response {
	data, _ := json.Marshal(body)
	return &http.Response{
		StatusCode: code, Status: strconv.Itoa(code), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r,
		Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(bytes.NewReader(data)),
	}
}

func failure(code int) any {
	return map[string]any{
		"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code,
		"reason": strings.ReplaceAll(http.StatusText(code), " ", ""), "message": "refused",
	}
}

// put stores an object.
func (w *world) put(resource string, object map[string]any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.store(resource, object)
}

// remove takes an object away, whatever its finalizers.
//
//nolint:unparam // It reads as what it is about.
func (w *world) remove(resource, namespace, name string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	at := target{resource: resource, namespace: namespace, name: name}
	w.drop(at, w.objects[at.key()])
}

//nolint:unparam // It reads as what it is about.
func (w *world) configMap(namespace, name string, data map[string]any) {
	w.put("configmaps", under(map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "data": data}, namespace, name))
}

//nolint:unparam // It reads as what it is about.
func (w *world) account(namespace, name string) {
	w.put("serviceaccounts", under(map[string]any{"apiVersion": "v1", "kind": "ServiceAccount"}, namespace, name))
}

func under(object map[string]any, namespace, name string) map[string]any {
	metadata := map[string]any{"name": name}
	if namespace != "" {
		metadata["namespace"] = namespace
	}
	object["metadata"] = metadata
	return object
}

// deny says which rights nobody has, such as "list configmaps".
func (w *world) deny(rights ...string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.denied = map[string]bool{}
	for _, right := range rights {
		w.denied[right] = true
	}
}

func (w *world) set(change func(*world)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	change(w)
}

// field returns a part of an object, nil where there is none.
func (w *world) field(resource, namespace, name string, path ...string) any {
	w.mu.Lock()
	defer w.mu.Unlock()
	object, found := w.objects[target{resource: resource, namespace: namespace, name: name}.key()]
	if !found {
		return nil
	}
	var value any = object
	for _, key := range path {
		fields, _ := value.(map[string]any)
		value = fields[key]
	}
	return value
}

// sent returns what has been sent since the last time that changes something, but for
// Events.
func (w *world) sent() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := w.requests
	w.requests = nil
	return out
}

// by lists what an account, or by its empty name the process itself, has read or written so
// far, as of [world.RoundTrip].
func (w *world) by(user string) []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []string
	for _, line := range slices.Concat(w.reads, w.requests) {
		who, _, _ := strings.Cut(line, " ")
		if itself := !strings.Contains(who, "/"); who == user || user == "" && itself { // Then it begins with the method.
			out = append(out, line)
		}
	}
	return out
}

// watching is how many watches there are.
func (w *world) watching() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return fmt.Sprint(slices.Sorted(maps.Values(w.watchers)))
}

// moment is long enough for all that does not wait for anything.
const moment = 500 * time.Millisecond
