package tenants

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/dyncontroller/dyncontroller/test/controlplane"
	"github.com/dyncontroller/dyncontroller/test/proxy"
)

// crew is the namespace of the ServiceAccounts that the processes have, each its own, by
// which the audit log tells them apart.
const crew = "crew"

// captains may do everything.
const captains = `apiVersion: v1
kind: Namespace
metadata: {name: crew}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: crew}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: Group, name: "system:serviceaccounts:crew"}]
`

// steering has what the processes write logged, and nothing else.
const steering = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: Metadata
  userGroups: ["system:serviceaccounts:crew"]
  verbs: [create, update, patch, delete, deletecollection]
`

// loaded writes by each change of an object what changed and by which version of the
// rules, on the object itself and on a copy.
const loaded = `apiVersion: dyncontroller.dev/v1alpha1
kind: RuleSet
metadata: {name: load, namespace: NAMESPACE}
spec:
  serviceAccountName: bot
  resources:
    sources: {version: v1, resource: configmaps, labelSelector: role=source}
    copies: {version: v1, resource: configmaps, labelSelector: role=copy}
  rules:
  - name: mark
    watch: sources
    when: object.data?.n != nil
    actions:
    - patch: {merge: {data: {seen: "${object.data.n}", rules: "VERSION"}}}
  - name: copy
    watch: sources
    when: object.data?.n != nil
    actions:
    - apply:
        resource: copies
        manifest:
          metadata: {name: "${object.metadata.name}-copy", labels: {role: copy}}
          data: {seen: "${object.data.n}", rules: "VERSION"}
`

// fleet is several processes on a control plane of their own.
type fleet struct {
	on        *controlplane.ControlPlane
	trail     *trail
	arguments []string      // of the processes, beside those that all have
	caches    int           // of each process
	pause     time.Duration // for which a leader is stopped
	// fault is on the way of the next process to the API server, nil for none.
	fault     proxy.Fault
	namespace string // of the rules
	live, all []*member
	version   int   // of the rules
	published []int // the resourceVersion that each version of the rules begins with
}

// member is one of the processes, with an identity that no other has, before or after it.
type member struct {
	*process
	name string
}

// newFleet has no processes yet. The rules may do what is in roles.
func newFleet(t *testing.T, policy string, roles ...string) *fleet {
	t.Helper()
	directory := t.TempDir()
	rules := filepath.Join(directory, "policy.yaml")
	if err := os.WriteFile(rules, []byte(policy), 0o600); err != nil {
		t.Fatal(err)
	}
	f := &fleet{trail: &trail{path: filepath.Join(directory, "audit.log"), writes: map[string][]request{}}}
	var err error
	f.on, err = controlplane.Start(t.Context(), controlplane.Options{
		APIServerArgs: []string{"--audit-policy-file=" + rules, "--audit-log-path=" + f.trail.path},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.on.Stop(); err != nil {
			t.Error(err)
		}
	})
	if err := install(t.Context(), f.on); err != nil {
		t.Fatal(err)
	}
	apply(t, f.on, "", captains)
	f.namespace = f.on.Namespace(t)
	account(t, f.on, f.namespace, "bot", roles...)
	return f
}

// publish puts the next version of the rules into the cluster.
func (f *fleet) publish(t *testing.T) {
	t.Helper()
	f.version++
	apply(t, f.on, f.namespace, strings.ReplaceAll(loaded, "VERSION", strconv.Itoa(f.version)))
	f.published = append(f.published, number(get(t, f.on, ruleSets, f.namespace, "load").GetResourceVersion()))
}

// start adds a process, as a kubelet does.
func (f *fleet) start(t *testing.T) {
	t.Helper()
	name := "replica-" + strconv.Itoa(len(f.all)+1)
	apply(t, f.on, crew, "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: "+name+", namespace: NAMESPACE}\n")
	r := &member{name: name}
	r.process = launch(t, f.on, append([]string{
		"run", "--kubeconfig", f.credentials(t, name), "--rules-from-cluster", "--leader-elect",
		"--metrics-bind-address", "0", "--health-probe-bind-address", "127.0.0.1:0",
	}, f.arguments...)...)
	f.all, f.live = append(f.all, r), append(f.live, r)
	t.Cleanup(func() {
		r.stop(t)
		if t.Failed() {
			t.Logf("%s:\n%s", name, tail(r))
		}
	})
}

// credentials is a kubeconfig for one of the processes.
func (f *fleet) credentials(t *testing.T, name string) string {
	t.Helper()
	token := strings.TrimSpace(kubectl(t, f.on, "create", "token", name, "-n", crew, "--duration=4h"))
	path, server := filepath.Join(t.TempDir(), "kubeconfig"), rest.AnonymousClientConfig(f.on.RESTConfig())
	if f.fault != nil {
		server.BearerToken = token
		p, err := proxy.Start(t.Context(), server, proxy.Options{Fault: f.fault, TLS: true})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(p.Stop)
		if err := p.WriteKubeconfig(path); err != nil {
			t.Fatal(err)
		}
		return path
	}
	config := clientcmdapi.NewConfig()
	config.Clusters[name] = &clientcmdapi.Cluster{
		Server: server.Host, CertificateAuthority: server.CAFile, CertificateAuthorityData: server.CAData,
	}
	config.AuthInfos[name] = &clientcmdapi.AuthInfo{Token: token}
	config.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: name}
	config.CurrentContext = name
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		t.Fatal(err)
	}
	return path
}

var healthAddress = regexp.MustCompile(`what=health address=(\S+)`)

// health is what a process says of itself, empty while it is not ready.
func (r *member) health(t *testing.T) string {
	t.Helper()
	found := healthAddress.FindStringSubmatch(r.output.String())
	if found == nil {
		return ""
	}
	answer, err := http.Get("http://" + found[1] + "/readyz?verbose")
	if err != nil {
		return ""
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		return ""
	}
	return string(body)
}
