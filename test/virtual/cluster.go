// Package virtual has tests of the whole program run in virtual time, on a cluster in memory: a simulated API server with the rights and the
// audit log of a real one. test/differential holds the API server against a real one; with -real, the tests run on a real control plane instead.
package virtual

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"sigs.k8s.io/yaml"

	"github.com/dyncontroller/dyncontroller/internal/telemetry"
	"github.com/dyncontroller/dyncontroller/pkg/simulate/apiserver"
	"github.com/dyncontroller/dyncontroller/pkg/simulate/storage"
	"github.com/dyncontroller/dyncontroller/test/controlplane"
	"github.com/dyncontroller/dyncontroller/test/proxy"
)

// Real is for make test-long: what holds in virtual time has to hold in real time.
var Real = flag.Bool("real", false, "run the tests of virtual time on a real control plane instead")

// begin is when virtual time begins: after all moments that tests write out.
var begin = time.Date(2027, time.January, 1, 0, 0, 0, 0, time.UTC)

// Test runs a test in virtual time with a cluster in memory that serves these CRDs; with -real, after onReal has lent it a control plane. It
// is for tests of what the program does. A bubble of virtual time has no subtests: each is a bubble.
func Test(t *testing.T, onReal func(*testing.T), definitions []*apiextensionsv1.CustomResourceDefinition, test func(t *testing.T)) {
	t.Helper()
	if *Real {
		onReal(t)
		test(t)
		return
	}
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		<-time.After(time.Until(begin))
		c := &Simulated{
			world: storage.NewWorld(clock.RealClock{}), kubeconfig: filepath.Join(t.TempDir(), "kubeconfig"),
			hosts: map[string]http.RoundTripper{}, requests: controlplane.Requests{},
		}
		c.world.Remember()
		if err := c.install(definitions); err != nil {
			t.Fatal(err)
		}
		if err := c.WriteKubeconfig(c.kubeconfig, KubeconfigOptions{}); err != nil {
			t.Fatal(err)
		}
		clusters.Store(t.Name(), c)
		t.Cleanup(func() {
			clusters.Delete(t.Name())
			c.forget()
		})
		test(t)
	})
}

// clusters are those in memory, by the names of their tests.
var clusters sync.Map

// Of is the cluster in memory of a test, nil where it has none.
func Of(t *testing.T) *Simulated {
	t.Helper()
	c, _ := clusters.Load(t.Name())
	out, _ := c.(*Simulated)
	return out
}

// Cluster is the cluster of a test: a control plane, or one in memory.
type Cluster interface {
	RESTConfig() *rest.Config
	Kubeconfig() string
	// Namespace makes a namespace of the test's own.
	Namespace(t controlplane.T) string
	// InstallCRDs reads files and has the cluster serve the CRDs in them.
	InstallCRDs(ctx context.Context, files ...string) error
}

// Transport is that of a cluster in memory, nil of a real one: the network.
func Transport(of Cluster) http.RoundTripper {
	if s, is := of.(*Simulated); is {
		return s
	}
	return nil
}

// Client is for what programs serve beside a cluster.
func Client(of Cluster) *http.Client {
	if s, is := of.(*Simulated); is {
		return &http.Client{Transport: s}
	}
	return http.DefaultClient
}

// Listen is where programs serve beside a cluster in memory, nil for the network.
func Listen(of Cluster) telemetry.Listen {
	if s, is := of.(*Simulated); is {
		return s.listen
	}
	return nil
}

// Simulated is a cluster in memory. It is safe for concurrent use, but for Namespace and InstallCRDs.
type Simulated struct {
	world      *storage.World
	kubeconfig string
	installed  []*apiextensionsv1.CustomResourceDefinition
	namespaces int

	mu       sync.Mutex
	hosts    map[string]http.RoundTripper // the API server, and proxies to it; guarded by mu
	requests controlplane.Requests        // guarded by mu
	audit    []auditv1.Event              // guarded by mu
}

// forget drops what takes memory: the testing package keeps what cleanups refer to, such as a proxy to the cluster, until all tests have ended.
func (s *Simulated) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.world, s.installed, s.hosts, s.requests, s.audit = nil, nil, nil, nil, nil
}

// host is that of the API server.
const host = "simulated"

// RESTConfig implements [Cluster]: of a user who may do everything.
func (s *Simulated) RESTConfig() *rest.Config {
	return &rest.Config{Host: "http://" + host, Transport: s, QPS: -1}
}

// Kubeconfig implements [Cluster]. Its users need the transport, too.
func (s *Simulated) Kubeconfig() string { return s.kubeconfig }

// KubeconfigOptions are what a kubeconfig says.
type KubeconfigOptions struct {
	Host      string // "" for the API server
	Namespace string // "" for default
	User      string // "" for the one who may do everything
}

// WriteKubeconfig writes a kubeconfig. By the address that it has, client-go sends the token.
func (s *Simulated) WriteKubeconfig(path string, of KubeconfigOptions) error {
	text := fmt.Sprintf(`
apiVersion: v1
kind: Config
current-context: simulated
contexts: [{name: simulated, context: {cluster: simulated, namespace: %s, user: simulated}}]
clusters: [{name: simulated, cluster: {server: "https://%s"}}]
users: [{name: simulated, user: {token: %q}}]
`, cmp.Or(of.Namespace, "default"), cmp.Or(of.Host, host), of.User)
	return os.WriteFile(path, []byte(text), 0o600)
}

// RoundTrip implements [http.RoundTripper].
func (s *Simulated) RoundTrip(r *http.Request) (*http.Response, error) {
	s.mu.Lock()
	to := s.hosts[r.URL.Host]
	s.mu.Unlock()
	if to == nil {
		return nil, fmt.Errorf("there is no host %s", r.URL.Host)
	}
	return to.RoundTrip(r)
}

// Add has a host answer requests, such as a proxy.
func (s *Simulated) Add(host string, to http.RoundTripper) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hosts[host] = to
}

// listen has another host answer requests, by connections in memory.
func (s *Simulated) listen(context.Context, string) (net.Listener, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := proxy.NewListener(fmt.Sprintf("127.0.0.1:%d", 1+len(s.hosts)))
	s.hosts[l.String()] = &http.Transport{DisableKeepAlives: true, DialContext: l.Dial}
	return l, nil
}

// Forward answers requests to any host as the API server does.
func (s *Simulated) Forward() http.RoundTripper { return forward{s} }

type forward struct{ to *Simulated }

// RoundTrip implements [http.RoundTripper].
func (f forward) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.URL.Host = host
	return f.to.RoundTrip(r)
}

// Requests are those that the API server has answered, as of a control plane.
func (s *Simulated) Requests(context.Context) (controlplane.Requests, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.requests), nil
}

// InstallCRDs implements [Cluster].
func (s *Simulated) InstallCRDs(_ context.Context, files ...string) error {
	definitions, err := readCRDs(files...)
	if err != nil {
		return err
	}
	return s.install(definitions)
}

// install has another server serve what is stored from then on: a server belongs to one bubble, and its CRDs do not change.
func (s *Simulated) install(definitions []*apiextensionsv1.CustomResourceDefinition) error {
	s.installed = slices.Concat(s.installed, definitions)
	server, err := apiserver.New(s.installed)
	if err != nil {
		return err
	}
	r, err := newRBAC(server.Transport(s.world))
	if err != nil {
		return err
	}
	r.log = s.record
	s.Add(host, r)
	return nil
}

// CRDs returns what reads those in files, once for all tests of a package.
func CRDs(files func(context.Context) ([]string, error)) func(*testing.T) []*apiextensionsv1.CustomResourceDefinition {
	read := sync.OnceValues(func() ([]*apiextensionsv1.CustomResourceDefinition, error) {
		all, err := files(context.Background())
		if err != nil {
			return nil, err
		}
		return readCRDs(all...)
	})
	return func(t *testing.T) []*apiextensionsv1.CustomResourceDefinition {
		t.Helper()
		out, err := read()
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
}

func readCRDs(files ...string) (out []*apiextensionsv1.CustomResourceDefinition, err error) {
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("reading CRDs: %w", err)
		}
		for part := range strings.SplitSeq(string(text), "\n---\n") {
			var definition apiextensionsv1.CustomResourceDefinition
			if err := yaml.Unmarshal([]byte(part), &definition); err != nil {
				return nil, fmt.Errorf("reading the CRDs in %s: %w", file, err)
			}
			out = append(out, &definition)
		}
	}
	return out, nil
}

// Namespace implements [Cluster].
func (s *Simulated) Namespace(t controlplane.T) string {
	s.namespaces++
	name := fmt.Sprintf("test-%d", s.namespaces)
	c, err := kubernetes.NewForConfig(s.RESTConfig())
	if err == nil {
		_, err = c.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
	}
	if err != nil {
		t.Fatalf("making a namespace: %v", err)
	}
	return name
}

// Proxy starts a proxy to the cluster of a test, and returns it with the path of a kubeconfig that leads through it. To a cluster in memory it
// is in memory, and has no TLS.
func Proxy(t *testing.T, to Cluster, options proxy.Options) (p *proxy.Proxy, kubeconfig string) {
	t.Helper()
	s, inMemory := to.(*Simulated)
	if inMemory {
		s.mu.Lock()
		options.Host, options.TLS = fmt.Sprintf("proxy-%d", len(s.hosts)), false
		s.mu.Unlock()
	}
	p, err := proxy.Start(context.WithoutCancel(t.Context()), to.RESTConfig(), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Stop)
	if inMemory {
		s.Add(options.Host, p.RESTConfig().Transport)
	}
	kubeconfig = filepath.Join(t.TempDir(), "kubeconfig")
	if err := p.WriteKubeconfig(kubeconfig); err != nil {
		t.Fatal(err)
	}
	return p, kubeconfig
}
