package informer_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/dyncontroller/dyncontroller/pkg/engine/informer"
)

// troubles passes on what is told of failures.
type troubles chan error

func (t troubles) Changed(informer.Event) {}
func (t troubles) Synced(informer.Key)    {}
func (troubles) Widened(informer.Key)     {}

func (t troubles) Troubled(_ informer.Key, err error) {
	select {
	case t <- err:
	default: // One is enough.
	}
}

// TestFailuresThatTheReflectorKeepsToItself holds that they are told, and that
// stopping does not wait for its back-off.
func TestFailuresThatTheReflectorKeepsToItself(t *testing.T) {
	overloaded := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusTooManyRequests)
	}))
	defer overloaded.Close()
	refusing := httptest.NewServer(http.NotFoundHandler())
	refusing.Close()
	for name, host := range map[string]string{"Refused": refusing.URL, "Overloaded": overloaded.URL} {
		t.Run(name, func(t *testing.T) {
			client, err := dynamic.NewForConfig(&rest.Config{Host: host, QPS: -1})
			if err != nil {
				t.Fatal(err)
			}
			told := make(troubles, 1)
			set := informer.NewSet(client, told, slog.New(slog.DiscardHandler), informer.Options{})
			key := informer.Key{GVR: schema.GroupVersionResource{Version: "v1", Resource: "pods"}}
			set.Want([]informer.Key{key}, nil, false)
			if err := <-told; err == nil {
				t.Error("told of a failure that is none")
			}
			if status := set.Status(); status[0].Synced || status[0].Err == nil {
				t.Errorf("the status is %+v", status[0])
			}
			set.Stop()
			if len(set.Status()) != 0 {
				t.Error("an informer is left")
			}
		})
	}
}
