package e2e

import (
	"io"
	"net"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// wire leads to the API server, and can be cut: whoever was connected has to begin anew.
type wire struct {
	listener net.Listener
	mu       sync.Mutex
	ends     []net.Conn // guarded by mu
}

func newWire(t *testing.T) *wire {
	t.Helper()
	var config net.ListenConfig
	listener, err := config.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server, err := url.Parse(cluster(t).RESTConfig().Host)
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{listener: listener}
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			near, err := listener.Accept()
			if err != nil {
				return
			}
			far, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", server.Host)
			if err != nil {
				_ = near.Close()
				continue
			}
			w.join(near, far)
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		w.cut()
		serving.Wait()
	})
	return w
}

// join has both ends hear each other until one of them closes.
func (w *wire) join(near, far net.Conn) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ends = append(w.ends, near, far)
	for from, to := range map[net.Conn]net.Conn{near: far, far: near} {
		go func() {
			_, _ = io.Copy(to, from)
			_ = to.Close()
		}()
	}
}

func (w *wire) cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, end := range w.ends {
		_ = end.Close()
	}
	w.ends = nil
}

// kubeconfig is a file of an account that connects by the wire.
func (w *wire) kubeconfig(t *testing.T, e *estate, name string) string {
	t.Helper()
	credentials := e.credentials(t, name)
	path := filepath.Join(t.TempDir(), "kubeconfig")
	err := clientcmd.WriteToFile(clientcmdapi.Config{
		Clusters: map[string]*clientcmdapi.Cluster{"c": {
			Server: "https://" + w.listener.Addr().String(), CertificateAuthorityData: credentials.CAData,
		}},
		AuthInfos:      map[string]*clientcmdapi.AuthInfo{"u": {Token: credentials.BearerToken}},
		Contexts:       map[string]*clientcmdapi.Context{"x": {Cluster: "c", AuthInfo: "u", Namespace: e.namespace}},
		CurrentContext: "x",
	}, path)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

const lawful = `
apiVersion: dyncontroller.dev/v1alpha1
kind: RuleSet
metadata: {name: law, namespace: NAMESPACE}
spec:
  resources:
    ranges: {version: v1, resource: limitranges}
    maps: {version: v1, resource: configmaps, labelSelector: life=yes}
  rules:
  - name: see
    watch: ranges
    actions: [{patch: {merge: {metadata: {labels: {seen: "yes"}}}}}]
  - name: other
    watch: maps
    when: object.data?.number != nil && object.data?.copy != object.data?.number
    actions: [{patch: {merge: {data: {copy: "${object.data?.number}"}}}}]
`

// TestRightsComeAndGo holds that what the process may not do itself concerns nothing but the
// rules that need it, and that they go on when it may again: at the start, of writes, and of what
// is watched.
func TestRightsComeAndGo(t *testing.T) {
	alongside(t)
	e, w := newEstate(t), newWire(t)
	e.account(t, "bot")
	maps := rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"get", "list", "watch", "patch"}}
	reads := rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"limitranges"}, Verbs: []string{"get", "list", "watch"}}
	writes := rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"limitranges"}, Verbs: []string{"patch"}}
	limitRange := func(name string) {
		create(t, limitRanges, e.namespace, "{apiVersion: v1, kind: LimitRange, metadata: {name: "+name+"}, spec: {limits: []}}")
	}
	seen := func(name string) bool {
		return field(get(t, limitRanges, e.namespace, name), "metadata", "labels", "seen") == "yes"
	}
	limitRange("first")

	e.grant(t, "bot", maps)
	p := serve(t, "--kubeconfig", w.kubeconfig(t, e, "bot"), "--rules", rulesFile(t, e.namespace, lawful))
	informer := "informer limitranges.v1 -n " + e.namespace
	others(t, e.namespace, "1")
	p.waits(t, informer, "[!]", "may not list limitranges", "; rules wait for it: law/see")
	// It may neither watch nor list them.
	if n := p.lines(0, "cannot list or watch", "limitranges"); n > 2 {
		t.Errorf("the log says %d times that they cannot be listed", n)
	}

	e.grant(t, "bot", maps, reads)
	p.waits(t, informer, "[+]", "synced")
	eventually(t, "it is refused", func() bool { return p.lines(0, "write failed", "first") > 0 })
	others(t, e.namespace, "2")

	e.grant(t, "bot", maps, reads, writes)
	eventually(t, "the rule acts", func() bool { return seen("first") })
	if n := p.lines(0, "write failed", "first"); n != 1 {
		t.Errorf("the log says %d times that it is refused", n)
	}

	e.grant(t, "bot", maps)
	since := p.now()
	w.cut()
	p.waits(t, informer, "[!]", "may not list limitranges", "; rules wait for it: law/see")
	limitRange("second")
	others(t, e.namespace, "3")
	if n := p.lines(since, "cannot list or watch", "limitranges", "forbidden"); n > 2 {
		t.Errorf("the log says %d times that they cannot be watched any more", n)
	}

	e.grant(t, "bot", maps, reads, writes)
	eventually(t, "the rule acts again", func() bool { return seen("second") })
	p.waits(t, informer, "[+]", "synced")
	if strings.Contains(p.output.String(), "panic") {
		t.Error("it panicked")
	}
}
