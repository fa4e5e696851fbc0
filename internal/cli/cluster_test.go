package cli

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	typedauthorizationv1 "k8s.io/client-go/kubernetes/typed/authorization/v1"
	"k8s.io/client-go/util/flowcontrol"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/dyncontroller/dyncontroller/internal/access"
	"github.com/dyncontroller/dyncontroller/internal/config"
	"github.com/dyncontroller/dyncontroller/internal/election"
)

func TestConnect(t *testing.T) {
	t.Parallel()
	path := kubeconfig(t, "http://127.0.0.1:1")
	cases := map[string]struct {
		reason    string
		config    config.Cluster
		namespace string
		origin    string
	}{
		"the current context": {reason: "As kubectl does.", namespace: "default", origin: "context main"},
		"another context":     {reason: "It brings its namespace.", config: config.Cluster{Context: "shop"}, namespace: "shop", origin: "context shop"},
		"another namespace":   {reason: "The flag wins over the context.", config: config.Cluster{Context: "shop", Namespace: "other"}, namespace: "other", origin: "context shop"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tc.config.Kubeconfig = path
			tc.config.QPS, tc.config.Burst = 5, 7
			got, err := Process{Version: "v1.2.3"}.connect(tc.config)
			if err != nil {
				t.Fatal(err)
			}
			if got.namespace != tc.namespace || !strings.Contains(got.String(), tc.origin) || !strings.Contains(got.String(), path) {
				t.Errorf("%s\nwant namespace %q and %q, got %q and %q", tc.reason, tc.namespace, tc.origin, got.namespace, got)
			}
			if got.config.UserAgent != "dyncontroller/v1.2.3" || got.config.QPS != 5 || got.config.Burst != 7 {
				t.Errorf("the client has our name and our limits, got %q %v %d", got.config.UserAgent, got.config.QPS, got.config.Burst)
			}
		})
	}
}

// TestSourcesShareTheLimit holds that --kube-api-qps bounds the process, however many
// clients it has and whoever they act as, and that there is no bound without it.
func TestSourcesShareTheLimit(t *testing.T) {
	t.Parallel()
	path := kubeconfig(t, "http://127.0.0.1:1")
	target, err := Process{Version: "v1"}.connect(config.Cluster{Kubeconfig: path, QPS: 5, Burst: 7})
	if err != nil {
		t.Fatal(err)
	}
	shared := target.config.RateLimiter
	if shared == nil || shared.QPS() != 5 {
		t.Fatalf("the process has no limit of its own: %v", shared)
	}
	taken := 0
	for taken < 100 && shared.TryAccept() {
		taken++
	}
	if taken < 7 || taken == 100 {
		t.Errorf("want a burst of 7, got %d", taken)
	}
	if target.discovery.RESTClient().GetRateLimiter() != shared {
		t.Error("discovery has a limit of its own")
	}
	for _, name := range []string{"", "a", "b"} {
		as := access.Impersonate(target.config, types.NamespacedName{Namespace: "shop", Name: name})
		typed, err := typedauthorizationv1.NewForConfig(as)
		if err != nil {
			t.Fatal(err)
		}
		if typed.RESTClient().GetRateLimiter() != shared {
			t.Errorf("%q has a limit of its own", name)
		}
		as.RateLimiter = flowcontrol.NewFakeNeverRateLimiter()
		client, err := dynamic.NewForConfig((*election.Fence)(nil).Guard(as))
		if err != nil {
			t.Fatal(err)
		}
		_, err = client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "pods"}).Get(t.Context(), "a", metav1.GetOptions{})
		if err == nil || !strings.Contains(err.Error(), "can not be accept") {
			t.Errorf("the dynamic client of %q does not ask the limiter of its configuration: %v", name, err)
		}
	}
}

// TestSourcesWithoutLimit holds that there is none where none is set.
func TestSourcesWithoutLimit(t *testing.T) {
	t.Parallel()
	free, err := Process{Version: "v1"}.connect(config.Cluster{Kubeconfig: kubeconfig(t, "http://127.0.0.1:1"), QPS: config.NoLimit, Burst: config.NoLimit})
	if err != nil {
		t.Fatal(err)
	}
	if free.config.RateLimiter != nil || free.discovery.RESTClient().GetRateLimiter() != nil {
		t.Error("there is a limit where none is set")
	}
}

// TestWait sees every failure passed on, the same one logged once, and the wait
// grow up to its limit.
func TestWait(t *testing.T) {
	t.Parallel()
	server := newAPIServer(t)
	server.set(func(a *apiServer) { a.status = http.StatusServiceUnavailable })
	target, err := Process{Version: "v1"}.connect(config.Cluster{Kubeconfig: server.kubeconfig(), QPS: config.NoLimit})
	if err != nil {
		t.Fatal(err)
	}
	var log output
	clock := clocktesting.NewFakeClock(time.Now())
	failures := make(chan error)
	done := make(chan error)
	go func() {
		done <- target.wait(t.Context(), clock, slog.New(slog.NewTextHandler(&log, nil)), func(err error) { failures <- err })
	}()
	for _, seconds := range []int{1, 2, 4, 8, 15} {
		if err := <-failures; !strings.Contains(err.Error(), server.server.URL) {
			t.Errorf("the failure says which server, got %v", err)
		}
		await(t, clock.HasWaiters)
		delay := time.Duration(seconds) * time.Second
		clock.Step(delay - 1)
		select {
		case err := <-failures:
			t.Fatalf("asked again before %s: %v", delay, err)
		default:
		}
		clock.Step(1)
	}
	if err := <-failures; err == nil {
		t.Error("it still fails")
	}
	await(t, clock.HasWaiters)
	server.set(func(a *apiServer) { a.status = http.StatusOK })
	clock.Step(lastAttempt)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(log.String(), "waiting for the API server"); got != 1 {
		t.Errorf("the same failure is logged once, got %d:\n%s", got, log.String())
	}
	if !strings.Contains(log.String(), "the API server answers") {
		t.Errorf("that the wait is over is logged, got:\n%s", log.String())
	}
}

func TestWaitIsCutShort(t *testing.T) {
	t.Parallel()
	target, err := Process{Version: "v1"}.connect(config.Cluster{Kubeconfig: kubeconfig(t, "http://127.0.0.1:1")})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	err = target.wait(ctx, clocktesting.NewFakeClock(time.Now()), slog.New(slog.DiscardHandler), func(error) { cancel() })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("want the error of the context, got %v", err)
	}
}

// await waits for a condition that nothing announces.
func await(t *testing.T, condition func() bool) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	timeout := time.After(patience)
	for !condition() {
		select {
		case <-tick.C:
		case <-timeout:
			t.Fatalf("not within %s", patience)
		}
	}
}
