package client

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	clocktesting "k8s.io/utils/clock/testing"
)

// TestWithoutEarlyRefusals holds when a 401 or 403 is taken for a verdict: not while the API server may just have started.
func TestWithoutEarlyRefusals(t *testing.T) {
	t.Parallel()
	var code atomic.Int64 // 0 closes the connection, -1 does not answer
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // Otherwise the server does not notice that the client has gone.
		w.Header().Set("Content-Type", "application/json")
		switch code := int(code.Load()); code {
		case 0:
			panic(http.ErrAbortHandler)
		case -1:
			<-r.Context().Done()
		case http.StatusForbidden:
			w.WriteHeader(code)
			_, _ = w.Write([]byte(`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403,"message":"RBAC: not found"}`))
		case http.StatusUnauthorized:
			w.WriteHeader(code)
			_, _ = w.Write([]byte("Unauthorized"))
		default:
			_, _ = w.Write([]byte(`{"kind":"Thing","apiVersion":"example.com/v1","metadata":{"name":"a"}}`))
		}
	}))
	t.Cleanup(server.Close)
	now := clocktesting.NewFakePassiveClock(time.Now())
	config := WithoutEarlyRefusals(&rest.Config{Host: server.URL}, now)
	one, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	other, err := dynamic.NewForConfig(WithoutRetries(config))
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		reason  string
		after   time.Duration
		client  dynamic.Interface
		code    int
		is      func(error) bool
		message string
	}{
		{"The API server has always answered.", 0, one, 403, apierrors.IsForbidden, "RBAC: not found"},
		{"The caller did not wait for the answer.", 0, one, -1, func(err error) bool { return err != nil }, ""},
		{"So this is still a verdict.", 0, one, 403, apierrors.IsForbidden, ""},
		{"The API server goes away.", 0, one, 0, func(err error) bool { return err != nil }, ""},
		{"It is back, and does not know its rules yet.", 2 * time.Second, one, 403, apierrors.IsServiceUnavailable, "RBAC: not found"},
		{"Another client of the same process has not noticed anything.", 0, other, 403, apierrors.IsServiceUnavailable, "may not know yet"},
		{"It does not know its users.", 0, other, 401, apierrors.IsServiceUnavailable, "401 Unauthorized"},
		{"What it allows is right.", 0, one, 200, func(err error) bool { return err == nil }, ""},
		{"It may not know all rules yet.", 27 * time.Second, one, 403, apierrors.IsServiceUnavailable, ""},
		{"It knows them now.", 2 * time.Second, one, 403, apierrors.IsForbidden, ""},
		{"It knows them now.", 0, other, 401, apierrors.IsUnauthorized, ""},
	} {
		now.SetTime(now.Now().Add(step.after))
		code.Store(int64(step.code))
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		if step.code < 0 {
			ctx, cancel = context.WithTimeout(t.Context(), 50*time.Millisecond)
		}
		_, err := step.client.Resource(schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "things"}).Update(ctx, &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": "a"}}}, metav1.UpdateOptions{}) // A GET is sent again, ten times.
		cancel()
		if !step.is(err) || err != nil && !strings.Contains(err.Error(), step.message) {
			t.Errorf("%s %d gives %v", step.reason, step.code, err)
		}
	}
}
