package setstatus

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/dyncontroller/dyncontroller/pkg/api/v1alpha1"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// TestWriterSends holds what goes over the wire.
func TestWriterSends(t *testing.T) {
	type request struct{ Method, Path, Query, Type, Body string }
	for name, tc := range map[string]struct {
		set  plan.Rule
		path string
	}{
		"in a namespace": {ofShop, "/apis/dyncontroller.dev/v1alpha1/namespaces/shop/rulesets/guard/status"},
		"cluster-wide":   {overall, "/apis/dyncontroller.dev/v1alpha1/clusterrulesets/overall/status"},
	} {
		t.Run(name, func(t *testing.T) {
			got := make(chan request, 1)
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				got <- request{r.Method, r.URL.Path, r.URL.RawQuery, r.Header.Get("Content-Type"), string(body)}
				w.Header().Set("Content-Type", "application/json")
				_ = json.NewEncoder(w).Encode(map[string]any{
					"apiVersion": "dyncontroller.dev/v1alpha1", "kind": tc.set.Kind, "metadata": map[string]any{"name": tc.set.Set, "resourceVersion": "8"},
				})
			}))
			defer server.Close()
			client, err := dynamic.NewForConfig(&rest.Config{Host: server.URL})
			if err != nil {
				t.Fatal(err)
			}
			in := Input{Generation: 1, Now: noon}
			have := Compose(in)
			have.Rules = []v1alpha1.RuleStatus{{Name: "gone"}}
			have.ObservedGeneration = 0
			snapshot := func() []Update {
				return []Update{{
					Set: tc.set, UID: "u", ResourceVersion: "7", Status: have,
					Compose: func(previous v1alpha1.Status) v1alpha1.Status {
						in.Previous = previous
						return Compose(in)
					},
				}}
			}
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan struct{})
			go func() {
				defer close(done)
				NewWriter(client, snapshot, clocktesting.NewFakeClock(noon), slog.New(slog.DiscardHandler)).Run(ctx)
			}()
			want := request{
				http.MethodPatch, tc.path, "fieldManager=dyncontroller", "application/merge-patch+json",
				`{"metadata":{"resourceVersion":"7","uid":"u"},"status":{"observedGeneration":1,"rules":null,"summary":{"rules":0,"matched":0,"errors":0}}}`,
			}
			if diff := cmp.Diff(want, <-got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			cancel()
			<-done
		})
	}
}
