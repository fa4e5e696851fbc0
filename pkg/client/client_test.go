package client

import (
	"net/http"
	"net/http/httptest"
	"testing"

	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
)

// TestFor holds that the one type that is given, errors and watch events are understood, and no other type is.
func TestFor(t *testing.T) {
	t.Parallel()
	const none = `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404,"message":"there is none"}`
	const event = `{"kind":"Event","apiVersion":"events.k8s.io/v1","metadata":{"name":"a"},"note":"n","eventTime":null}`
	answers := map[string]struct {
		code int
		body string
	}{
		"/apis/events.k8s.io/v1/namespaces/default/events/a":     {http.StatusOK, event},
		"/apis/events.k8s.io/v1/namespaces/default/events/other": {http.StatusOK, `{"kind":"Pod","apiVersion":"v1"}`},
		"/apis/events.k8s.io/v1/namespaces/default/events/none":  {http.StatusNotFound, none},
		"/apis/events.k8s.io/v1/namespaces/default/events":       {http.StatusOK, `{"type":"ADDED","object":` + event + `}`},
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(answers[r.URL.Path].code)
		_, _ = w.Write([]byte(answers[r.URL.Path].body))
	}))
	t.Cleanup(server.Close)
	config := &rest.Config{Host: server.URL}
	client, err := For(config, eventsv1.SchemeGroupVersion, &eventsv1.Event{})
	if err != nil || config.GroupVersion != nil || config.UserAgent != "" {
		t.Fatalf("got %v, and the configuration is now %v", err, config)
	}
	get := func(name string, into *eventsv1.Event) error {
		return client.Get().Namespace(metav1.NamespaceDefault).Resource("events").Name(name).Do(t.Context()).Into(into)
	}
	var found eventsv1.Event
	if err := get("a", &found); err != nil || found.Name != "a" || found.Note != "n" {
		t.Errorf("got %+v, %v", found, err)
	}
	if err := get("other", &eventsv1.Event{}); err == nil {
		t.Error("a Pod is no Event")
	}
	if err := get("none", &eventsv1.Event{}); !apierrors.IsNotFound(err) || err.Error() != "there is none" {
		t.Errorf("the answer is an error with its own words, got %v", err)
	}
	events, err := client.Get().Namespace(metav1.NamespaceDefault).Resource("events").Param("watch", "true").Watch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer events.Stop()
	first := <-events.ResultChan()
	if seen, ok := first.Object.(*eventsv1.Event); first.Type != watch.Added || !ok || seen.Name != "a" {
		t.Errorf("got %+v", first)
	}
	if _, err := For(&rest.Config{Host: "http://["}, schema.GroupVersion{Group: "g", Version: "v1"}); err == nil {
		t.Error("there is no such host")
	}
}
