package client

import (
	"net/http"
	"net/http/httptest"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
)

// TestWithoutRetries holds that an answer that asks for another attempt later is returned at once.
func TestWithoutRetries(t *testing.T) {
	t.Parallel()
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked++
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Retry-After", "30")
		w.WriteHeader(http.StatusTooManyRequests)
		_, _ = w.Write([]byte(`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"TooManyRequests","code":429,"message":"storage is (re)initializing"}`))
	}))
	t.Cleanup(server.Close)
	config := &rest.Config{Host: server.URL}
	client, err := dynamic.NewForConfig(WithoutRetries(config))
	if err != nil || config.WrapTransport != nil {
		t.Fatalf("got %v, and the configuration is now %v", err, config)
	}
	things := client.Resource(schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "things"})
	if _, err := things.List(t.Context(), metav1.ListOptions{}); !apierrors.IsTooManyRequests(err) {
		t.Errorf("the list: %v", err)
	}
	if _, err := things.Watch(t.Context(), metav1.ListOptions{}); !apierrors.IsTooManyRequests(err) {
		t.Errorf("the watch: %v", err)
	}
	if asked != 2 {
		t.Errorf("sent %d requests", asked)
	}
}
