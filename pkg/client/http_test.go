package client_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"

	"github.com/dyncontroller/dyncontroller/pkg/client"
)

// TestRedirects holds that no client follows a redirect, whatever the request, that nothing reaches the other host, and that the error
// says so without the rest of the address, which may hold a secret.
func TestRedirects(t *testing.T) {
	t.Parallel()
	var reached atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Add(1) }))
	t.Cleanup(other.Close)
	code := http.StatusFound
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", strings.Replace(other.URL, "http://", "http://user:hidden@", 1)+"/hidden?token=hidden")
		w.WriteHeader(code)
	}))
	t.Cleanup(server.Close)
	config := &rest.Config{Host: server.URL, BearerToken: "abc", QPS: -1}
	dynamic, err := client.Dynamic(config)
	if err != nil {
		t.Fatal(err)
	}
	single, err := client.For(config, eventsv1.SchemeGroupVersion, &eventsv1.Event{})
	if err != nil {
		t.Fatal(err)
	}
	plain, err := client.HTTP(config)
	if err != nil {
		t.Fatal(err)
	}
	requests := map[string]func() error{
		"get": func() error {
			_, err := dynamic.Resource(things).Get(t.Context(), "a", metav1.GetOptions{})
			return err
		},
		"list":  func() error { _, err := dynamic.Resource(things).List(t.Context(), metav1.ListOptions{}); return err },
		"watch": func() error { _, err := dynamic.Resource(things).Watch(t.Context(), metav1.ListOptions{}); return err },
		"patch": func() error {
			_, err := dynamic.Resource(things).Patch(t.Context(), "a", types.MergePatchType, []byte("{}"), metav1.PatchOptions{}, "proxy")
			return err
		},
		"delete": func() error { return dynamic.Resource(things).Delete(t.Context(), "a", metav1.DeleteOptions{}) },
		"create": func() error { return single.Post().Resource("events").Body(&eventsv1.Event{}).Do(t.Context()).Error() },
		"HTTP": func() error {
			_, err := plain.Post(server.URL, "", strings.NewReader("x")) //nolint:bodyclose // There is none.
			return err
		},
	}
	for _, code = range []int{300, 301, 302, 303, 304, 307, 308, 399} {
		for name, request := range requests {
			err := request()
			redirect, is := errors.AsType[*client.RedirectError](err)
			if !is || redirect.Code != code || redirect.Host != "127.0.0.1" || strings.Contains(err.Error(), "hidden") {
				t.Errorf("%d, %s: got %v", code, name, err)
			}
		}
	}
	if reached.Load() > 0 {
		t.Errorf("%d requests went to the other host", reached.Load())
	}
}

// endless is a body without an end: a beginning, then the rest again and again. It counts what is read of it.
type endless struct {
	begin, again string
	read         atomic.Int64
}

// Read implements [io.Reader].
func (e *endless) Read(into []byte) (n int, _ error) {
	for n < len(into) {
		at := int(e.read.Load())
		if at < len(e.begin) {
			at = copy(into[n:], e.begin[at:])
		} else {
			at = copy(into[n:], e.again[(at-len(e.begin))%len(e.again):])
		}
		n += at
		e.read.Add(int64(at))
	}
	return n, nil
}

// TestAnswersWithoutEnd holds that of an answer not much more is read than it may have, whatever was asked for and whatever the code is.
func TestAnswersWithoutEnd(t *testing.T) {
	const object, other = 16 << 20, 64 << 20
	for name, tc := range map[string]struct {
		reason string
		code   int
		prefix string // of the paths of the server
		path   string
		limit  int64
	}{
		"object":           {"One object has the limit of etcd, written as JSON.", 200, "", "/apis/example.com/v1/namespaces/ns/things/a", object},
		"of the cluster":   {"It has no namespace.", 200, "", "/apis/example.com/v1/things/a", object},
		"of no group":      {"The path is another one.", 200, "", "/api/v1/namespaces/ns/pods/a", object},
		"subresource":      {"It is an object, too.", 200, "", "/api/v1/namespaces/ns/pods/a/status", object},
		"a namespace":      {"It is no list of what is in it.", 200, "", "/api/v1/namespaces/ns", object},
		"behind a gateway": {"The server has a path of its own.", 200, "/clusters/api/v1", "/clusters/api/v1/apis/example.com/v1/things/a", object},
		"list":             {"It has many objects.", 200, "", "/apis/example.com/v1/namespaces/ns/things", other},
		"list of all":      {"It has many objects.", 200, "", "/api/v1/pods?watch=false", other},
		"discovery":        {"It has many resources.", 200, "", "/apis", other},
		"document":         {"It has many schemas.", 200, "", "/openapi/v3/apis/example.com/v1", other},
		"error":            {"An error is one Status.", 500, "", "/api/v1/pods", object},
		"error of a watch": {"An error is one Status, and no event.", 403, "", "/api/v1/pods?watch=true", object},
		"partly":           {"It is not what was asked for.", 206, "", "/api/v1/pods?watch=true", object},
	} {
		body := &endless{begin: `{"kind":"Thing","apiVersion":"example.com/v1","x":"`, again: "0123456789abcdef"}
		config := &rest.Config{Host: "http://example.com" + tc.prefix, Transport: answer{tc.code, "application/json", func() io.Reader { return body }}}
		transport, err := client.HTTP(config)
		if err != nil {
			t.Fatal(err)
		}
		response, err := transport.Get("http://example.com" + tc.path)
		if err != nil {
			t.Fatal(err)
		}
		_, err = io.Copy(io.Discard, response.Body)
		_ = response.Body.Close()
		if tooLarge, is := errors.AsType[*client.SizeError](err); !is || tooLarge.Limit != tc.limit || body.read.Load() > tc.limit+1 {
			t.Errorf("%s: %s Got %v after %d bytes", name, tc.reason, err, body.read.Load())
		}
	}
	exact := &endless{begin: strings.Repeat("x", object)}
	config := &rest.Config{Host: "http://example.com", Transport: answer{200, "text/plain", func() io.Reader { return io.LimitReader(exact, object) }}}
	transport, err := client.HTTP(config)
	if err != nil {
		t.Fatal(err)
	}
	response, err := transport.Get("http://example.com/api/v1/nodes/a")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if n, err := io.Copy(io.Discard, response.Body); err != nil || n != object {
		t.Errorf("what has the limit is read whole, got %d, %v", n, err)
	}
}

// TestInflatedAnswer holds that the limit is one of what an answer is after decompression: 64 MiB of zeros have 64 KiB.
func TestInflatedAnswer(t *testing.T) {
	t.Parallel()
	var packed bytes.Buffer
	into := gzip.NewWriter(&packed)
	if _, err := into.Write(bytes.Repeat([]byte(" "), 64<<20)); err != nil {
		t.Fatal(err)
	}
	if err := into.Close(); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = w.Write(packed.Bytes())
	}))
	t.Cleanup(server.Close)
	dynamic, err := client.Dynamic(&rest.Config{Host: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	_, err = dynamic.Resource(things).Get(t.Context(), "a", metav1.GetOptions{})
	if _, is := errors.AsType[*client.SizeError](err); !is {
		t.Errorf("got %v", err)
	}
}

// TestEventsWithoutEnd holds that an event without an end is not read on and on, in whatever form it begins.
func TestEventsWithoutEnd(t *testing.T) {
	for name, begin := range map[string]string{
		"a line":      line("ADDED", thing) + `{"type":"ADDED","object":{"apiVersion":"example.com/v1","kind":"Thing","x":"`,
		"other order": `{"object":{"apiVersion":"example.com/v1","kind":"Thing","x":"`,
		"spaces":      line("ADDED", thing) + `{ "type":"ADDED","object":{"apiVersion":"example.com/v1","kind":"Thing","x":"`,
		"afterwards":  `{"object":` + thing + `,"type":"ADDED"}` + "\n" + `{"type":"ADDED","object":{"apiVersion":"example.com/v1","kind":"Thing","x":"`,
	} {
		body := &endless{begin: begin, again: "0123456789abcdef"}
		_, ours := clients(t, answer{200, "application/json", func() io.Reader { return body }}, nil)
		w, err := ours.Watch(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		var last watch.Event
		for last = range w.ResultChan() {
			if _, is := last.Object.(*unstructured.Unstructured); !is {
				break
			}
		}
		w.Stop()
		if _, is := last.Object.(*metav1.Status); !is || body.read.Load() > 40<<20 {
			t.Errorf("%s: got %v after %d bytes", name, last, body.read.Load())
		}
	}
}
