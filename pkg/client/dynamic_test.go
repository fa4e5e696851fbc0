package client_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/dyncontroller/dyncontroller/pkg/client"
	"github.com/dyncontroller/dyncontroller/pkg/rules/footprint"
	"github.com/dyncontroller/dyncontroller/pkg/rules/projection"
)

// keeping are fields that caches keep.
func keeping(fields ...string) *projection.Fields {
	tree := &footprint.Tree{}
	for _, field := range fields {
		tree.Add(footprint.Fields(strings.Split(field, ".")...), footprint.Value)
	}
	return projection.New(tree)
}

var things = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "things"}

// answer is an API server that gives the same answer to every request.
type answer struct {
	status      int
	contentType string
	body        func() io.Reader
}

func (a answer) RoundTrip(request *http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode: a.status, Header: http.Header{"Content-Type": {a.contentType}}, Body: io.NopCloser(a.body()), Request: request,
	}, nil
}

// clients are the one of client-go and ours.
func clients(t testing.TB, a answer, fields *projection.Fields) (stock, ours dynamic.ResourceInterface) {
	t.Helper()
	config := &rest.Config{Host: "http://example.com", QPS: -1}
	usual, err := dynamic.NewForConfigAndClient(config, &http.Client{Transport: a})
	if err != nil {
		t.Fatal(err)
	}
	projecting, err := client.NewDynamic(config, &http.Client{Transport: a}, fields)
	if err != nil {
		t.Fatal(err)
	}
	return usual.Resource(things), projecting.Resource(things)
}

// received is what a watch sends until it ends, projected.
func received(t testing.TB, client dynamic.ResourceInterface, fields *projection.Fields) (events []watch.Event) {
	t.Helper()
	w, err := client.Watch(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	for event := range w.ResultChan() {
		if u, is := event.Object.(*unstructured.Unstructured); is {
			event.Object = &unstructured.Unstructured{Object: fields.Project(u.Object)}
		}
		if status, is := event.Object.(*metav1.Status); is {
			status.Message, _, _ = strings.Cut(status.Message, ": ") // The errors of decoders are not the same.
			status.Details = nil
		}
		events = append(events, event)
	}
	return events
}

func line(kind, object string) string { return `{"type":"` + kind + `","object":` + object + "}\n" }

const (
	thing    = `{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"a","resourceVersion":"1"},"spec":{"a":1,"b":2}}`
	bookmark = `{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"resourceVersion":"9","annotations":{"k8s.io/initial-events-end":"true"}},"spec":{}}`
	expired  = `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"too old","reason":"Expired","code":410}`
)

// streams are bodies of watches that API servers send, or might.
func streams() map[string]string {
	long := func(n int) string { return strings.Replace(thing, `"b":2`, `"b":"`+strings.Repeat("x", n)+`"`, 1) }
	return map[string]string{
		"nothing":               "",
		"events":                line("ADDED", thing) + line("MODIFIED", thing) + line("DELETED", thing) + line("BOOKMARK", bookmark) + line("ERROR", expired),
		"errors of others":      line("ERROR", strings.Replace(expired, `"v1"`, `"meta.k8s.io/v1"`, 1)) + line("ERROR", thing),
		"blank lines":           "\n\r\n" + line("ADDED", thing) + "\n \n" + line("ADDED", thing) + "\n",
		"blank lines between":   line("ADDED", thing) + "\n \r\n" + line("ADDED", thing) + "\n",
		"carriage returns":      strings.ReplaceAll(line("ADDED", thing)+line("ADDED", thing), "\n", "\r\n"),
		"indented":              "{\n  \"type\": \"ADDED\",\n  \"object\": " + thing + "\n}\n" + line("ADDED", thing),
		"spaces":                `{"type":"ADDED", "object": ` + thing + " }\n" + line("ADDED", " "+thing+" "),
		"another order":         line("ADDED", thing) + `{"object":` + thing + `,"type":"DELETED"}` + "\n",
		"more keys":             `{"type":"ADDED","object":` + thing + `,"more":{"a":[1]}}` + "\n" + line("ADDED", thing),
		"more keys before":      `{"type":"ADDED","more":1,"object":` + thing + `}` + "\n" + line("ADDED", thing),
		"two objects":           `{"type":"ADDED","object":1,"object":` + thing + `}` + "\n" + line("ADDED", thing),
		"lines of all lengths":  line("ADDED", long(900)) + line("ADDED", long(3900)) + line("ADDED", long(3971)) + line("ADDED", long(9000)) + line("ADDED", long(70_000)) + line("ADDED", thing),
		"an unknown type":       line("ADDED", thing) + line("CHANGED", thing),
		"no type":               `{"type":"","object":` + thing + "}\n",
		"no object":             `{"type":"ADDED"}` + "\n",
		"null":                  line("ADDED", "null"),
		"a list":                line("ADDED", "[]"),
		"no kind":               line("ADDED", `{"apiVersion":"v1","metadata":{}}`),
		"no version":            line("ADDED", `{"kind":"Thing","metadata":{}}`) + line("ADDED", thing),
		"odd versions":          line("ADDED", `{"apiVersion":"a/b/c","kind":"Thing"}`),
		"no group":              line("ADDED", `{"apiVersion":"/v1","kind":"Thing"}`),
		"the version no text":   line("ADDED", `{"apiVersion":1,"kind":"Thing"}`),
		"a Status that is kept": line("ADDED", expired),
		"damaged between":       line("ADDED", thing) + "{\"type\":\"ADDED\",\"object\":{\"apiVersion\"\n" + line("ADDED", thing),
		"damaged object":        line("ADDED", thing) + line("ADDED", strings.Replace(thing, `"b":2`, `"b":}`, 1)),
		"too few brackets":      line("ADDED", thing[:len(thing)-1]) + line("ADDED", thing),
		"no JSON":               "<html>\n",
		"cut off":               line("ADDED", thing) + line("ADDED", thing)[:50],
		"cut off early":         line("ADDED", thing)[:5],
		"cut off at once":       line("ADDED", thing)[:len(line("ADDED", thing))-2],
	}
}

// TestWatch holds that the client sends what client-go's client does of the same bytes, projected, however they arrive.
func TestWatch(t *testing.T) {
	for name, stream := range streams() {
		for _, fields := range []*projection.Fields{nil, keeping("spec.a")} {
			for reads, in := range map[string]func(io.Reader) io.Reader{"all": func(r io.Reader) io.Reader { return r }, "bytes": iotest.OneByteReader, "halves": iotest.HalfReader} {
				stock, ours := clients(t, answer{200, "application/json", func() io.Reader { return in(strings.NewReader(stream)) }}, fields)
				if diff := cmp.Diff(received(t, stock, fields), received(t, ours, nil)); diff != "" {
					t.Errorf("%s, read by %s, with %q (-client-go +ours):\n%s", name, reads, fields, diff)
				}
			}
		}
	}
}

// TestWatchOfOtherLines holds that a line that is no event ends the watch with an error, after all events before it: whoever
// watches lists anew, or goes on where it was.
func TestWatchOfOtherLines(t *testing.T) {
	for name, stream := range map[string]string{
		"too many brackets": line("ADDED", thing) + line("ADDED", thing+"}"),
		"two in a line":     line("ADDED", thing) + strings.Trim(line("ADDED", thing), "\n") + line("ADDED", thing),
		"an open line":      line("ADDED", thing) + strings.Trim(line("ADDED", thing), "\n"),
		"more types":        line("ADDED", thing) + `{"type":"ADDED","object":` + thing + `,"type":"DELETED"}` + "\n",
	} {
		stock, ours := clients(t, answer{200, "application/json", func() io.Reader { return strings.NewReader(stream) }}, nil)
		got := received(t, ours, nil)
		checkPrefix(t, name, received(t, stock, nil), got)
		if len(got) == 0 {
			t.Errorf("%s: there are no events", name)
		}
	}
}

// checkPrefix fails unless got has the first of the events that are wanted, and no others but an error at the end.
func checkPrefix(t testing.TB, name string, want, got []watch.Event) {
	t.Helper()
	if last := len(got) - 1; last >= 0 && got[last].Type == watch.Error && (len(want) <= last || want[last].Type != watch.Error) {
		got = got[:last]
	}
	if diff := cmp.Diff(want[:min(len(got), len(want))], got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("%s (-client-go +ours):\n%s", name, diff)
	}
}

// FuzzWatch is TestWatch for any stream. Of one with lines that are no events the first events are the same.
func FuzzWatch(f *testing.F) {
	for _, stream := range streams() {
		f.Add(stream)
	}
	kept := keeping("spec.a")
	f.Fuzz(func(t *testing.T, stream string) {
		stock, ours := clients(t, answer{200, "application/json", func() io.Reader { return strings.NewReader(stream) }}, kept)
		if want, got := received(t, stock, kept), received(t, ours, nil); !cmp.Equal(want, got) {
			checkPrefix(t, stream, want, got)
		}
	})
}

// TestList is TestWatch for lists.
func TestList(t *testing.T) {
	list := func(content string) string {
		return `{"apiVersion":"example.com/v1","kind":"ThingList","metadata":{"resourceVersion":"7","continue":"c","remainingItemCount":3},` + content + "}\n"
	}
	tests := map[string]answer{}
	add := func(name string, status int, body string) {
		tests[name] = answer{status, "application/json", func() io.Reader { return strings.NewReader(body) }}
	}
	add("some", 200, list(`"items":[`+thing+","+thing+"]"))
	add("none", 200, list(`"items":[]`))
	add("items of a type in Go", 200, list(`"items":[{"metadata":{"name":"a"},"spec":{"a":1,"b":2}},{"kind":"Other"},{"apiVersion":"v2"},{"kind":{},"apiVersion":{}}]`))
	add("items first", 200, `{"items":[{"spec":{"b":1}}],"kind":"ThingList","apiVersion":"v1","more":{"a":1}}`)
	add("items twice", 200, list(`"items":[`+thing+`],"items":[]`))
	add("null", 200, list(`"items":null`))
	add("no items", 200, list(`"a":1`))
	add("items of other kinds", 200, list(`"items":[null,`+thing+`]`))
	add("texts", 200, list(`"items":["a"]`))
	add("no list", 200, list(`"items":{"a":1}`))
	add("an object", 200, thing)
	add("no kind", 200, `{"apiVersion":"v1","items":[]}`)
	add("no version", 200, `{"kind":"ThingList","items":[`+thing+`]}`)
	add("odd version", 200, `{"apiVersion":"a/b/c","kind":"ThingList","items":[]}`)
	add("nothing", 200, "")
	add("cut off", 200, list(`"items":[` + thing + "," + thing + "]")[:200])
	add("more", 200, list(`"items":[]`)+"x")
	add("a Status", 200, expired)
	add("an error", 410, expired)
	add("an error that is no Status", 500, "<html>")
	for name, tc := range tests {
		for _, fields := range []*projection.Fields{nil, keeping("spec.a")} {
			stock, ours := clients(t, tc, fields)
			want, wantErr := stock.List(t.Context(), metav1.ListOptions{})
			got, err := ours.List(t.Context(), metav1.ListOptions{})
			for i := 0; want != nil && i < len(want.Items); i++ {
				want.Items[i].Object = fields.Project(want.Items[i].Object)
			}
			if diff := cmp.Diff(want, got); diff != "" || apierrors.ReasonForError(wantErr) != apierrors.ReasonForError(err) || (err == nil) != (wantErr == nil) {
				t.Errorf("%s, with %q: %v and %v (-client-go +ours):\n%s", name, fields, wantErr, err, diff)
			}
		}
	}
}

// TestOtherRequests holds that objects of other requests are whole.
func TestOtherRequests(t *testing.T) {
	stock, ours := clients(t, answer{200, "application/json", func() io.Reader { return strings.NewReader(thing) }}, keeping())
	want, _ := stock.Get(t.Context(), "a", metav1.GetOptions{})
	got, err := ours.Get(t.Context(), "a", metav1.GetOptions{})
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-client-go +ours):\n%s", err, diff)
	}
	if _, err := client.NewDynamic(&rest.Config{Host: "http://example.com/%"}, http.DefaultClient, nil); err == nil {
		t.Error("there is a client for an address that is none")
	}
}
