package write_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// TestRecord holds what is sent for an Event, and that nothing of it is sent twice, whatever the answer says.
func TestRecord(t *testing.T) {
	const (
		name   = "a.eaa6b165edda013a"
		all    = "/apis/events.k8s.io/v1/namespaces/default/events"
		there  = all + "/" + name
		how    = "?fieldManager=dyncontroller"
		object = `{"kind":"Event","apiVersion":"events.k8s.io/v1","metadata":{"name":"` + name + `","namespace":"default"},` +
			`"eventTime":"2026-01-01T00:00:00.000000Z"`
		fields = `"reportingController":"dyncontroller.dev/dyncontroller","reportingInstance":"host","action":"Write","reason":"R",` +
			`"regarding":{"kind":"Widget","name":"a","uid":"u","apiVersion":"example.com/v1","resourceVersion":"7"},"note":"m","type":"Normal",` +
			`"deprecatedSource":{},"deprecatedFirstTimestamp":null,"deprecatedLastTimestamp":null}`
		counted = `,"series":{"count":4,"lastObservedTime":"2026-01-01T00:00:00.000000Z"},`
	)
	regarding := target
	regarding.Namespace = ""
	event := plan.Event{Regarding: regarding, Type: "Normal", Reason: "R", Action: "Write", Message: "m"}
	none := exchange{request: "GET " + there, code: 404, answer: refusal("NotFound", `"name":"a"`)}
	is := exchange{request: "GET " + there, answer: object + `,` + fields}
	for name, tc := range map[string]struct {
		reason string
		again  bool
		script []exchange
		fails  bool
	}{
		"New":    {"It is made.", false, []exchange{none, {request: "POST " + all + how, body: object + `,` + fields + "\n", code: 201, answer: object + `,` + fields}}, false},
		"Raced":  {"Another attempt made it.", false, []exchange{none, {request: "POST " + all + how, code: 409, answer: refusal("AlreadyExists", notFound)}}, false},
		"Known":  {"It is left alone.", false, []exchange{is}, false},
		"Second": {"The first repetition is the second.", true, []exchange{is, {request: "PUT " + there + how, body: object + `,"series":{"count":2,"lastObservedTime":"2026-01-01T00:00:00.000000Z"},` + fields + "\n", answer: object + `,` + fields}}, false},
		"Fourth": {"A later one is counted.", true, []exchange{
			{request: "GET " + there, answer: object + `,"series":{"count":3,"lastObservedTime":null},` + fields},
			{request: "PUT " + there + how, body: object + counted + fields + "\n", answer: object + counted + fields},
		}, false},
		"Refused":    {"It may not be read.", false, []exchange{{request: "GET " + there, code: 403, answer: refusal("Forbidden", notFound)}}, true},
		"NotCounted": {"It was written in between.", true, []exchange{is, {request: "PUT " + there + how, code: 409, answer: refusal("Conflict", notFound)}}, true},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(&scripted{t: t, left: tc.script})
			defer server.Close()
			recorder, err := write.NewRecorder(&rest.Config{Host: server.URL, ContentConfig: rest.ContentConfig{ContentType: "application/json"}}, "host", clocktesting.NewFakePassiveClock(time.Date(2026, 1, 1, 0, 0, 0, 7, time.UTC)))
			if err != nil {
				t.Fatal(err)
			}
			if err := recorder.Record(t.Context(), event, tc.again); (err != nil) != tc.fails {
				t.Errorf("%s got %v", tc.reason, err)
			}
		})
	}
}

// TestRecordIsSentOnce holds that client-go's own retries are off.
func TestRecordIsSentOnce(t *testing.T) {
	requests := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		requests++
		w.Header().Set("Retry-After", "1")
		w.WriteHeader(http.StatusTooManyRequests)
	}))
	defer server.Close()
	recorder, err := write.NewRecorder(&rest.Config{Host: server.URL}, "host", clocktesting.NewFakePassiveClock(time.Time{}))
	if err != nil {
		t.Fatal(err)
	}
	if err := recorder.Record(t.Context(), plan.Event{Regarding: target}, false); err == nil || requests != 1 {
		t.Errorf("%d requests: %v", requests, err)
	}
}
