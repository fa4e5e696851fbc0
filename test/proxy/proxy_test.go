package proxy_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/dyncontroller/dyncontroller/test/proxy"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	pods       = "/api/v1/namespaces/tidb/pods"
	configMaps = "/api/v1/namespaces/tidb/configmaps"
)

// backend is an API server that tells its watches what the test sends to events, and counts what it was asked to store.
type backend struct {
	*httptest.Server
	events  chan string
	created atomic.Int32
	header  chan http.Header
}

func newBackend(t *testing.T) *backend {
	t.Helper()
	b := &backend{events: make(chan string), header: make(chan http.Header, 100)}
	b.Server = httptest.NewServer(http.HandlerFunc(b.serve))
	t.Cleanup(b.Close)
	return b
}

func (b *backend) serve(w http.ResponseWriter, request *http.Request) {
	b.header <- request.Header
	switch {
	case request.URL.Query().Get("watch") == "true":
		b.watch(w, request)
	case request.Method == http.MethodPost:
		body, _ := io.ReadAll(request.Body)
		b.created.Add(1)
		w.WriteHeader(http.StatusCreated)
		_, _ = w.Write(body)
	default:
		_, _ = io.WriteString(w, strings.Repeat("x", 1<<16)) // In chunks, without a length.
	}
}

func (b *backend) watch(w http.ResponseWriter, request *http.Request) {
	flush := http.NewResponseController(w).Flush
	_ = flush()
	for {
		select {
		case event := <-b.events:
			_, _ = fmt.Fprintln(w, event)
			_ = flush()
		case <-request.Context().Done():
			return
		}
	}
}

// begin starts a proxy to the backend and returns a client of it.
func begin(t *testing.T, b *backend, o proxy.Options) (*proxy.Proxy, *client) {
	t.Helper()
	p, err := proxy.Start(t.Context(), &rest.Config{Host: b.URL, BearerToken: "admin"}, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Stop)
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := p.WriteKubeconfig(path); err != nil {
		t.Fatal(err)
	}
	config, err := clientcmd.BuildConfigFromFlags("", path)
	if err != nil {
		t.Fatal(err)
	}
	if config.Host != p.RESTConfig().Host || !slices.Equal(config.CAData, p.RESTConfig().CAData) {
		t.Errorf("the kubeconfig says %v, the config %v", config, p.RESTConfig())
	}
	// A transport of its own, which is closed with the test.
	tls, err := rest.TLSConfigFor(config)
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{TLSClientConfig: tls, ForceAttemptHTTP2: o.TLS}
	t.Cleanup(transport.CloseIdleConnections)
	return p, &client{t, config.Host, &http.Client{Transport: transport}}
}

type client struct {
	t    *testing.T
	host string
	http *http.Client
}

func (c *client) send(ctx context.Context, method, path, body string) (*http.Response, error) {
	c.t.Helper()
	request, err := http.NewRequestWithContext(ctx, method, c.host+path, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	return c.http.Do(request)
}

// do returns the status and the body; err is what broke.
func (c *client) do(method, path, body string) (code int, text string, err error) {
	c.t.Helper()
	response, err := c.send(c.t.Context(), method, path, body)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	return response.StatusCode, string(data), err
}

// both runs a test over plain HTTP and over TLS.
func both(t *testing.T, test func(t *testing.T, o proxy.Options)) {
	t.Helper()
	for name, o := range map[string]proxy.Options{"HTTP": {}, "TLS": {TLS: true}} {
		t.Run(name, func(t *testing.T) { test(t, o) })
	}
}

func TestPasses(t *testing.T) {
	both(t, func(t *testing.T, o proxy.Options) {
		b := newBackend(t)
		p, c := begin(t, b, o)
		code, text, err := c.do(http.MethodPost, configMaps+"?fieldManager=m", "{}")
		if code != http.StatusCreated || text != "{}" || err != nil {
			t.Errorf("create: %d %q %v", code, text, err)
		}
		if got := (<-b.header).Get("Authorization"); got != "Bearer admin" {
			t.Errorf("the API server was shown %q, want the proxy's own credentials", got)
		}
		if code, text, err := c.do(http.MethodGet, pods, ""); code != http.StatusOK || len(text) != 1<<16 || err != nil {
			t.Errorf("list: %d, %d bytes, %v", code, len(text), err)
		}
		want := []proxy.Request{
			{
				Number: 1, Verb: "create", Path: configMaps, Version: "v1", Resource: "configmaps", Namespace: "tidb",
				Manager: "m", Code: http.StatusCreated,
			},
			{Number: 2, Verb: "list", Path: pods, Version: "v1", Resource: "pods", Namespace: "tidb", Code: http.StatusOK},
		}
		if diff := cmp.Diff(want, p.Requests()); diff != "" {
			t.Errorf("log (-want +got):\n%s", diff)
		}
		if writes := p.Count(proxy.Request.Writes); writes != 1 || p.Last() != 2 {
			t.Errorf("%d writes in %d requests, want 1 in 2", writes, p.Last())
		}
		if since := p.Since(1, proxy.Request.Writes); len(since) > 0 {
			t.Errorf("writes since the first: %v", since)
		}
	})
}

// TestWatchStreams holds that each event arrives before the next one happens.
func TestWatchStreams(t *testing.T) {
	both(t, func(t *testing.T, o proxy.Options) {
		b := newBackend(t)
		p, c := begin(t, b, o)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		response, err := c.send(ctx, http.MethodGet, pods+"?watch=true", "")
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		lines := bufio.NewScanner(response.Body)
		for _, event := range []string{"a", "b", "c"} {
			b.events <- event
			if !lines.Scan() || lines.Text() != event {
				t.Fatalf("got %q (%v), want %q", lines.Text(), lines.Err(), event)
			}
		}
		if watches := p.Count(proxy.Request.Watches); watches != 1 {
			t.Errorf("%d watches, want 1", watches)
		}
		p.Stop()
		if lines.Scan() || lines.Err() == nil {
			t.Errorf("after the proxy has stopped: %q, %v", lines.Text(), lines.Err())
		}
		p.Stop()
	})
}

// TestDelayedWatch holds that events are late, in order, and not later because of those before them.
func TestDelayedWatch(t *testing.T) {
	const late, events = 300 * time.Millisecond, 20
	b := newBackend(t)
	_, c := begin(t, b, proxy.Options{Fault: proxy.On(proxy.Request.Watches, proxy.Action{Delay: late})})
	response, err := c.send(t.Context(), http.MethodGet, pods+"?watch=true", "")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	start := time.Now()
	for i := range events {
		b.events <- fmt.Sprint(i)
	}
	sent := time.Since(start)
	lines := bufio.NewScanner(response.Body)
	for i := range events {
		if !lines.Scan() || lines.Text() != fmt.Sprint(i) {
			t.Fatalf("got %q (%v), want %d", lines.Text(), lines.Err(), i)
		}
	}
	if took := time.Since(start); took < late || took > sent+events*late/2 {
		t.Errorf("%d events arrived after %s, want each late by %s", events, took, late)
	}
}

func TestSetFault(t *testing.T) {
	p, c := begin(t, newBackend(t), proxy.Options{Fault: proxy.On(proxy.Request.Writes, proxy.Action{Before: proxy.Answer(500)})})
	for _, step := range []struct {
		fault proxy.Fault
		want  int
	}{
		{proxy.On(proxy.Request.Writes, proxy.Action{Before: proxy.Answer(503)}), 503},
		{nil, http.StatusCreated},
	} {
		p.SetFault(step.fault)
		if code, _, err := c.do(http.MethodPost, configMaps, "{}"); code != step.want {
			t.Errorf("got %d %v, want %d", code, err, step.want)
		}
	}
}

// TestNobodyThere holds that an API server that is down looks as it does without a proxy.
func TestNobodyThere(t *testing.T) {
	both(t, func(t *testing.T, o proxy.Options) {
		b := newBackend(t)
		p, c := begin(t, b, o)
		b.Close()
		if code, _, err := c.do(http.MethodPost, configMaps, "{}"); err == nil {
			t.Errorf("got %d, want a connection that breaks", code)
		}
		if got := p.Requests(); len(got) != 1 || got[0].Code != 0 {
			t.Errorf("the log is %v", got)
		}
	})
}

// TestManyAtOnce holds that each request has a number of its own.
func TestManyAtOnce(t *testing.T) {
	const clients, each = 8, 25
	b := newBackend(t)
	p, c := begin(t, b, proxy.Options{Fault: proxy.Every(5, proxy.Request.Writes, proxy.Action{Committed: proxy.Break})})
	var broken atomic.Int32
	var all sync.WaitGroup
	for range clients {
		all.Go(func() {
			for range each {
				if _, _, err := c.do(http.MethodPost, configMaps, "{}"); err != nil {
					broken.Add(1)
				}
				<-b.header
			}
		})
	}
	all.Wait()
	if b.created.Load() != clients*each || broken.Load() != clients*each/5 {
		t.Errorf("%d stored, %d broken; want %d and a fifth of them", b.created.Load(), broken.Load(), clients*each)
	}
	for i, r := range p.Requests() {
		if r.Number != i+1 || r.Code != http.StatusCreated || r.Faulted != (r.Number%5 == 0) {
			t.Errorf("at %d: %s", i, r)
		}
	}
}

func TestStartFails(t *testing.T) {
	for name, upstream := range map[string]*rest.Config{
		"no such host": {Host: "http://[::1"},
		"no such file": {Host: "https://127.0.0.1", TLSClientConfig: rest.TLSClientConfig{CAFile: "/nonexistent"}},
	} {
		if p, err := proxy.Start(t.Context(), upstream, proxy.Options{}); err == nil || !strings.Contains(err.Error(), "starting a proxy for") {
			t.Errorf("%s: %v, %v", name, p, err)
		}
	}
}

// TestInMemory holds that a proxy with a host needs no network, so that a bubble can tell when all of it waits.
func TestInMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		upstream := &rest.Config{Host: "http://upstream", Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(r.URL.Path)), Request: r}, nil
		})}
		released := make(chan struct{})
		p, err := proxy.Start(t.Context(), upstream, proxy.Options{
			Host: "memory", Fault: proxy.On(func(proxy.Request) bool { return true }, proxy.Action{Before: proxy.Hold(released)}),
		})
		if err != nil {
			t.Fatal(err)
		}
		defer p.Stop()
		time.AfterFunc(time.Hour, func() { close(released) })
		client, began := &http.Client{Transport: p.RESTConfig().Transport}, time.Now()
		response, err := client.Get(p.RESTConfig().Host + pods)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close() //nolint:errcheck // It is only read.
		body, err := io.ReadAll(response.Body)
		if err != nil || string(body) != pods || time.Since(began) != time.Hour || p.Last() != 1 {
			t.Errorf("err %v, %q after %s, %d requests", err, body, time.Since(began), p.Last())
		}
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

// RoundTrip implements [http.RoundTripper].
func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
