package tenants

import (
	"bytes"
	"encoding/json"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/dyncontroller/dyncontroller/test/virtual"
)

// tape records what is sent to an API server as a ServiceAccount, with its body.
type tape struct {
	namespace  string
	kubeconfig string // of who is recorded

	mu   sync.Mutex
	sent []message // guarded by mu
}

// message is a request that changed something, and as whom.
type message struct {
	method, uri, kind, as string
	body                  []byte
}

// record starts a tape for a namespace, on which requests go on to the API server.
func record(t *testing.T, on virtual.Cluster, namespace string) *tape {
	t.Helper()
	r := &tape{namespace: namespace, kubeconfig: filepath.Join(t.TempDir(), "kubeconfig")}
	if c := virtual.Of(t); c != nil {
		c.Add("tape", listening{r, c.Forward()})
		if err := c.WriteKubeconfig(r.kubeconfig, virtual.KubeconfigOptions{Host: "tape", Namespace: namespace}); err != nil {
			t.Fatal(err)
		}
		return r
	}
	config := on.RESTConfig()
	to, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		t.Fatal(err)
	}
	transport, err := rest.TransportFor(config)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(&httputil.ReverseProxy{
		Rewrite: func(request *httputil.ProxyRequest) { request.SetURL(to) }, Transport: listening{r, transport}, FlushInterval: -1,
		ErrorLog: log.New(io.Discard, "", 0),
	})
	t.Cleanup(server.Close)
	t.Cleanup(server.CloseClientConnections)
	written := clientcmdapi.NewConfig()
	written.Clusters["tape"] = &clientcmdapi.Cluster{Server: server.URL}
	written.AuthInfos["tape"] = &clientcmdapi.AuthInfo{}
	written.Contexts["tape"] = &clientcmdapi.Context{Cluster: "tape", AuthInfo: "tape", Namespace: namespace}
	written.CurrentContext = "tape"
	if err := clientcmd.WriteToFile(*written, r.kubeconfig); err != nil {
		t.Fatal(err)
	}
	return r
}

// listening keeps what changed something.
type listening struct {
	tape *tape
	next http.RoundTripper
}

func (l listening) RoundTrip(request *http.Request) (*http.Response, error) {
	var body []byte
	if request.Body != nil {
		var err error
		if body, err = io.ReadAll(request.Body); err != nil {
			return nil, err
		}
		request.Body = io.NopCloser(bytes.NewReader(body))
	}
	response, err := l.next.RoundTrip(request)
	if err == nil && response.StatusCode < 300 && request.Method != http.MethodGet {
		l.tape.mu.Lock()
		defer l.tape.mu.Unlock()
		l.tape.sent = append(l.tape.sent, message{
			request.Method, request.URL.RequestURI(), request.Header.Get("Content-Type"), request.Header.Get("Impersonate-User"), body,
		})
	}
	return response, err
}

// unlike are uids of objects, and the hash of one with others in the name of an Event.
var unlike = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|\.[0-9a-f]{16}"`)

// writes are the writes so far in an order that does not depend on when they were made,
// without what is another in each run. It fails the test for writes elsewhere,
// and for those that were not made as the ServiceAccount of a set.
func (r *tape) writes(t *testing.T) []string {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []string
	for _, m := range r.sent {
		if strings.Contains(m.uri, "/apis/authorization.k8s.io/") {
			continue // A question.
		}
		line := strings.Join([]string{m.method, m.uri, m.kind, "as " + m.as, masked(t, m.body)}, "\n  ")
		switch {
		case m.as == "" && (strings.Contains(m.uri, "/apis/dyncontroller.dev/") || strings.Contains(m.uri, "/configmaps") || strings.Contains(m.uri, "/leases")):
			// The books are kept, and the instance is claimed, as the process itself.
		case m.as == "" || !strings.Contains(m.uri, "/namespaces/"+r.namespace+"/"):
			t.Errorf("nothing should write this: %s", line)
		default:
			out = append(out, unlike.ReplaceAllString(line, "UNLIKE"))
		}
	}
	slices.Sort(out)
	return out
}

// masked is a body with its fields in order and without what differs each time.
func masked(t *testing.T, body []byte) string {
	t.Helper()
	if len(body) == 0 {
		return ""
	}
	if bytes.HasPrefix(body, []byte("k8s\x00")) { // Of typed clients.
		object, _, err := scheme.Codecs.UniversalDeserializer().Decode(body, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if body, err = json.Marshal(object); err != nil {
			t.Fatal(err)
		}
	}
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber() // Large ones too are to be equal.
	var content any
	if err := decoder.Decode(&content); err != nil {
		t.Fatalf("a body is not JSON: %v\n%s", err, body)
	}
	mask(content)
	out, err := json.MarshalIndent(content, "  ", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func mask(content any) {
	switch v := content.(type) {
	case map[string]any:
		if path, _ := v["path"].(string); path == "/metadata/resourceVersion" || path == "/metadata/uid" {
			v["value"] = "MASKED"
		}
		for key, value := range v {
			switch key {
			case "resourceVersion", "eventTime", "lastObservedTime", "reportingInstance":
				v[key] = "MASKED"
			default:
				mask(value)
			}
		}
	case []any:
		for _, value := range v {
			mask(value)
		}
	}
}
