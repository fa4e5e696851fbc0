package e2e

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	dynclient "github.com/dyncontroller/dyncontroller/pkg/client"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// TestAnswersOfPods holds what becomes of a request that the API server passes on to a Pod which answers as it likes, whoever had it
// sent: the writer sends none, and the clients of the process neither follow a redirect nor read an answer without an end.
func TestAnswersOfPods(t *testing.T) {
	alongside(t)
	e := newEstate(t)
	e.account(t, "controller")
	e.grant(t, "controller", rbacv1.PolicyRule{Verbs: []string{"*"}, APIGroups: []string{""}, Resources: []string{"pods", "pods/proxy"}})
	config := e.credentials(t, "controller")

	var seen sync.Map // The tokens that the two servers of the tenant were sent, by whom.
	note := func(who string, r *http.Request) {
		for _, values := range r.Header {
			if strings.Contains(strings.Join(values, " "), config.BearerToken) {
				seen.Store(who, true)
			}
		}
	}
	var followed atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		followed.Add(1)
		note("the other host", r)
	}))
	t.Cleanup(other.Close)
	var requests atomic.Int32
	var sent atomic.Int64 // bytes of the answer without an end
	pod := podServer(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		note("the Pod", r)
		if strings.HasSuffix(r.URL.Path, "/endless") {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"`)
			text := []byte(strings.Repeat("x", 1<<20))
			for r.Context().Err() == nil && sent.Load() < 1<<30 {
				n, err := w.Write(text)
				if sent.Add(int64(n)); err != nil {
					return
				}
			}
			return
		}
		http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
	}))
	host, port, err := net.SplitHostPort(pod)
	if err != nil {
		t.Fatal(err)
	}
	create(t, pods, e.namespace, fmt.Sprintf(
		"{apiVersion: v1, kind: Pod, metadata: {name: evil}, spec: {automountServiceAccountToken: false, containers: [{name: a, image: a, ports: [{containerPort: %s}]}]}}", port))
	status := fmt.Sprintf(`{"status":{"phase":"Running","podIP":%q,"podIPs":[{"ip":%q}]}}`, host, host)
	if _, err := client(t).Resource(pods).Namespace(e.namespace).Patch(t.Context(), "evil", types.MergePatchType, []byte(status), metav1.PatchOptions{}, "status"); err != nil {
		t.Fatal(err)
	}

	writer, err := write.NewClient(config)
	if err != nil {
		t.Fatal(err)
	}
	operation := plan.Operation{
		Type: plan.Merge, Target: plan.Object{GVR: pods, Namespace: e.namespace, Name: "evil"}, Subresource: "proxy",
		Manager: plan.FieldManager, Body: map[string]any{},
	}
	if result := writer.Write(t.Context(), operation); result.Class != write.Terminal || requests.Load() > 0 {
		t.Errorf("the writer got %s (%v), and sent %d requests", result.Class, result.Err, requests.Load())
	}

	made, err := dynclient.Dynamic(config)
	if err != nil {
		t.Fatal(err)
	}
	object := made.Resource(pods).Namespace(e.namespace)
	ways := map[string]func(o dynamic.ResourceInterface, path string) error{
		"PATCH": func(o dynamic.ResourceInterface, path string) error {
			_, err := o.Patch(t.Context(), "evil", types.MergePatchType, []byte("{}"), metav1.PatchOptions{}, "proxy", path)
			return err //nolint:wrapcheck // It is compared.
		},
		"GET": func(o dynamic.ResourceInterface, path string) error {
			_, err := o.Get(t.Context(), "evil", metav1.GetOptions{}, "proxy", path)
			return err //nolint:wrapcheck // It is compared.
		},
		"POST": func(o dynamic.ResourceInterface, path string) error {
			of := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": "evil"}}}
			_, err := o.Create(t.Context(), of, metav1.CreateOptions{}, "proxy", path)
			return err //nolint:wrapcheck // It is compared.
		},
		"DELETE": func(o dynamic.ResourceInterface, path string) error {
			return o.Delete(t.Context(), "evil", metav1.DeleteOptions{}, "proxy", path) //nolint:wrapcheck // It is compared.
		},
	}
	for verb, request := range ways {
		before := requests.Load()
		if redirected, is := errors.AsType[*dynclient.RedirectError](request(object, "redirect")); !is || redirected.Host != "127.0.0.1" {
			t.Errorf("%s got %v, want that the redirect is not followed", verb, redirected)
		}
		sent.Store(0)
		if tooLarge, is := errors.AsType[*dynclient.SizeError](request(object, "endless")); !is {
			t.Errorf("%s got %v, want that the answer is too large", verb, tooLarge)
		}
		// What the process reads, and what is on its way to it.
		if got := sent.Load(); got > 100<<20 {
			t.Errorf("%s: the Pod could send %d MiB", verb, got>>20)
		}
		if got := requests.Load() - before; got != 2 {
			t.Errorf("%s: the Pod got %d requests, want 2: it is not the API server that refuses", verb, got)
		}
	}
	if n := followed.Load(); n > 0 {
		t.Errorf("the other host got %d requests", n)
	}
	seen.Range(func(who, _ any) bool {
		t.Errorf("%s has seen the token", who)
		return true
	})
}

// podServer serves at an address that a Pod may have: the API server passes nothing on to loopback.
func podServer(t *testing.T, handler http.Handler) string {
	t.Helper()
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, address := range addresses {
		network, is := address.(*net.IPNet)
		if !is || !network.IP.IsGlobalUnicast() {
			continue
		}
		listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", net.JoinHostPort(network.IP.String(), "0"))
		if err != nil {
			continue // The address is not ready, or only for others.
		}
		server := &httptest.Server{Listener: listener, Config: &http.Server{Handler: handler}} //nolint:gosec // It is closed when the test ends.
		server.Start()
		t.Cleanup(server.Close)
		return listener.Addr().String()
	}
	t.Skip("this machine has no address but loopback, to which the API server passes nothing on")
	return ""
}
