package e2e

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"sigs.k8s.io/yaml"

	"github.com/dyncontroller/dyncontroller/pkg/simulate/apiserver"
	"github.com/dyncontroller/dyncontroller/pkg/simulate/storage"
	"github.com/dyncontroller/dyncontroller/test/controlplane"
	"github.com/dyncontroller/dyncontroller/test/proxy"
)

// onReal is for make test-long: what holds in virtual time has to hold in real time.
var onReal = flag.Bool("real", false, "run the tests of virtual time on a real control plane instead")

// virtualStart is when tests of virtual time begin: after all moments that they write out.
var virtualStart = time.Date(2027, time.January, 1, 0, 0, 0, 0, time.UTC)

// virtually runs a test in virtual time on a simulated API server, which test/differential holds against a real one. It is for tests of what
// the program does; what only a real API server shows is tried alongside. A bubble has no subtests.
func virtually(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	if *onReal {
		alongside(t)
		test(t)
		return
	}
	t.Parallel()
	definitions, err := readCommonCRDs()
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		<-time.After(time.Until(virtualStart))
		c := &simulated{world: storage.NewWorld(clock.RealClock{}), hosts: map[string]http.RoundTripper{}, requests: controlplane.Requests{}}
		c.world.Remember()
		if err := c.install(definitions); err != nil {
			t.Fatal(err)
		}
		c.kubeconfig = filepath.Join(t.TempDir(), "kubeconfig")
		writeFile(t, c.kubeconfig, simulatedKubeconfig)
		simulations.Store(t.Name(), c)
		t.Cleanup(func() { simulations.Delete(t.Name()) })
		test(t)
	})
}

// virtuallyAlone is virtually for tests of moments: on a real control plane, nothing runs beside them.
func virtuallyAlone(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	if !*onReal {
		virtually(t, test)
		return
	}
	planes.Lend(t)
	test(t)
}

// testCluster is the cluster of a test: a control plane, or a simulated one.
type testCluster interface {
	RESTConfig() *rest.Config
	Kubeconfig() string
	// Namespace makes a namespace of the test's own.
	Namespace(t controlplane.T) string
	// InstallCRDs reads files and has the cluster serve the CRDs in them.
	InstallCRDs(ctx context.Context, files ...string) error
}

// simulations are the simulated clusters, by the names of their tests.
var simulations sync.Map

// simulated is a cluster in memory.
type simulated struct {
	world      *storage.World
	kubeconfig string
	installed  []*apiextensionsv1.CustomResourceDefinition

	mu         sync.Mutex
	hosts      map[string]http.RoundTripper // the API server, and proxies to it; guarded by mu
	requests   controlplane.Requests        // guarded by mu
	namespaces int
}

// RESTConfig implements [testCluster].
func (s *simulated) RESTConfig() *rest.Config {
	return &rest.Config{Host: "http://simulated", Transport: s, QPS: -1}
}

// RoundTrip implements [http.RoundTripper].
func (s *simulated) RoundTrip(r *http.Request) (*http.Response, error) {
	s.mu.Lock()
	to := s.hosts[r.URL.Host]
	s.mu.Unlock()
	if to == nil {
		return nil, fmt.Errorf("there is no host %s", r.URL.Host)
	}
	return to.RoundTrip(r)
}

// add has a host answer requests.
func (s *simulated) add(host string, to http.RoundTripper) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hosts[host] = to
}

// serve has an API server answer requests, and counts them.
func (s *simulated) serve(server *apiserver.Server) {
	to := server.Transport(s.world)
	s.add("simulated", roundTripper(func(r *http.Request) (*http.Response, error) {
		asked := proxy.Classify(r)
		one := controlplane.Request{
			Verb: r.Method, Group: asked.Group, Version: asked.Version, Resource: asked.Resource, Subresource: asked.Subresource,
		}
		if applies := r.Header.Get("Content-Type") == string(types.ApplyYAMLPatchType); applies {
			one.Verb = "APPLY"
		} else if r.Method == http.MethodGet || asked.Verb == "deletecollection" {
			one.Verb = strings.ToUpper(asked.Verb)
		}
		if asked.DryRun {
			one.DryRun = "All"
		}
		answer, err := to.RoundTrip(r)
		if err == nil {
			one.Code = strconv.Itoa(answer.StatusCode)
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.requests[one]++
		return answer, err
	}))
}

// Requests are those that the API server has answered, as of a control plane.
func (s *simulated) Requests(context.Context) (controlplane.Requests, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.requests), nil
}

// InstallCRDs implements [testCluster].
func (s *simulated) InstallCRDs(_ context.Context, files ...string) error {
	definitions, err := readCRDs(files)
	if err != nil {
		return err
	}
	return s.install(definitions)
}

// install has another server serve what is stored from then on: a server belongs to one bubble, and its CRDs do not change.
func (s *simulated) install(definitions []*apiextensionsv1.CustomResourceDefinition) error {
	s.installed = slices.Concat(s.installed, definitions)
	server, err := apiserver.New(s.installed)
	if err == nil {
		s.serve(server)
	}
	return err
}

// readCommonCRDs reads the CRDs that all tests have, once.
var readCommonCRDs = sync.OnceValues(func() ([]*apiextensionsv1.CustomResourceDefinition, error) {
	files, err := customResources(context.Background())
	if err != nil {
		return nil, err
	}
	return readCRDs(files)
})

func readCRDs(files []string) (out []*apiextensionsv1.CustomResourceDefinition, err error) {
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

// Kubeconfig implements [testCluster]. It is for who is given the transport, too.
func (s *simulated) Kubeconfig() string { return s.kubeconfig }

// Namespace implements [testCluster].
func (s *simulated) Namespace(t controlplane.T) string {
	s.namespaces++
	name := fmt.Sprintf("test-%d", s.namespaces)
	c, err := dynamic.NewForConfig(s.RESTConfig())
	if err == nil {
		_, err = c.Resource(namespacesGVR).Create(t.Context(), &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": name},
		}}, metav1.CreateOptions{})
	}
	if err != nil {
		t.Fatalf("making a namespace: %v", err)
	}
	return name
}

// transport is that of a simulated cluster, nil of a real one.
func transport(t *testing.T) http.RoundTripper {
	t.Helper()
	if s, is := cluster(t).(*simulated); is {
		return s
	}
	return nil
}

const simulatedKubeconfig = `
apiVersion: v1
kind: Config
current-context: simulated
contexts: [{name: simulated, context: {cluster: simulated, namespace: default}}]
clusters: [{name: simulated, cluster: {server: "http://simulated"}}]
`

// runVirtually is a subtest that runs virtually.
func runVirtually(t *testing.T, name string, test func(t *testing.T)) {
	t.Helper()
	t.Run(name, func(t *testing.T) { virtually(t, test) })
}
