package cli

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// shopServer serves shops.example.com, and says what they look like. It notes what
// it was asked.
type shopServer struct {
	mu      sync.Mutex
	asked   []string
	refused map[string]int    // status by path
	answers map[string]string // in place of its own
}

// The answers of a server with one resource of its own.
func shopAnswers() map[string]string {
	return map[string]string{
		"/version": `{"gitVersion": "v1.37.1"}`,
		"/api":     `{"kind": "APIVersions", "versions": []}`,
		"/apis": `{"kind": "APIGroupList", "groups": [{"name": "example.com", "versions": [{"groupVersion": "example.com/v1", "version": "v1"}],
			"preferredVersion": {"groupVersion": "example.com/v1", "version": "v1"}}]}`,
		"/apis/example.com/v1": `{"kind": "APIResourceList", "groupVersion": "example.com/v1", "resources": [
			{"name": "shops", "singularName": "shop", "kind": "Shop", "namespaced": true, "verbs": ["get", "list", "watch", "patch"]}]}`,
		"/openapi/v3": `{"paths": {"apis/example.com/v1": {"serverRelativeURL": "/openapi/v3/apis/example.com/v1?hash=1"}}}`,
		"/openapi/v3/apis/example.com/v1": `{"openapi": "3.0.0", "paths": {"/apis/example.com/v1/namespaces/{namespace}/shops": {"post": {
			"requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Shop"}}}},
			"x-kubernetes-action": "post", "x-kubernetes-group-version-kind": {"group": "example.com", "version": "v1", "kind": "Shop"}}}},
			"components": {"schemas": {"Shop": {"type": "object", "x-kubernetes-group-version-kind": [{"group": "example.com", "version": "v1", "kind": "Shop"}],
			"properties": {"spec": {"type": "object", "required": ["replicas"], "properties": {"replicas": {"type": "integer"}}}}}}}}`,
	}
}

func (s *shopServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, r.URL.Path)
	answer, found := s.answers[r.URL.Path]
	if !found {
		answer, found = shopAnswers()[r.URL.Path]
	}
	status := s.refused[r.URL.Path]
	if status == 0 && !found {
		status = http.StatusNotFound
	}
	w.Header().Set("Content-Type", "application/json")
	if status != 0 {
		w.WriteHeader(status)
		return
	}
	_, _ = w.Write([]byte(answer))
}

func (s *shopServer) kubeconfig(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(s)
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return kubeconfig(t, server.URL)
}

// shopRules are rules about a resource and a field of shops.
func shopRules(t *testing.T, resource, field string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "rules.yaml")
	text := `apiVersion: dyncontroller.dev/v1alpha1
kind: RuleSet
metadata: {name: shops}
spec:
  resources: {shops: {group: example.com, version: v1, resource: ` + resource + `}}
  rules:
  - name: one
    watch: shops
    when: object.spec.` + field + ` > 1
    actions: [{event: {reason: Seen, message: hello}}]
`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestValidateAsksCluster(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason          string
		resource, field string
		code            int
		want            string
	}{
		"right":       {"The cluster says that the field is there.", "shops", "replicas", exitClean, "valid: 1 rule\n"},
		"wrong field": {"It says that this one is not.", "shops", "replicsa", exitFinding, `did you mean`},
		"wrong name":  {"It says which resources there are.", "shosp", "replicas", exitFinding, "shops"},
		"singular":    {"And what they are called.", "shop", "replicas", exitFinding, "shops"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := &shopServer{}
			code, stdout, stderr := invoke(t, "validate", shopRules(t, tc.resource, tc.field), "--kubeconfig", server.kubeconfig(t))
			if code != tc.code || !strings.Contains(stdout, tc.want) || stderr != "" {
				t.Errorf("%s\nwant %d and %q, got %d:\n%s%s", tc.reason, tc.code, tc.want, code, stdout, stderr)
			}
		})
	}
}

// TestValidateUndescribed holds that a resource of which the cluster says no more than
// that it is there is not called right without a word.
func TestValidateUndescribed(t *testing.T) {
	t.Parallel()
	server := &shopServer{answers: map[string]string{"/openapi/v3": `{"paths": {}}`}}
	code, stdout, _ := invoke(t, "validate", shopRules(t, "shops", "replicsa"), "--kubeconfig", server.kubeconfig(t))
	if code != exitClean || !strings.Contains(stdout, "no schema is known of shops.v1.example.com") {
		t.Errorf("got %d:\n%s", code, stdout)
	}
}

// TestValidateNamespaceOfContext holds that a cluster that is asked also gives the
// namespace, as it does to run.
func TestValidateNamespaceOfContext(t *testing.T) {
	t.Parallel()
	server := &shopServer{}
	_, stdout, _ := invoke(t, "validate", shopRules(t, "shops", "replicas"), "--kubeconfig", server.kubeconfig(t), "--context", "shop", "-o", "json")
	if !strings.Contains(stdout, `"shops/one"`) || !strings.Contains(stdout, `"valid": true`) {
		t.Errorf("got %s", stdout)
	}
}

// TestValidateOffline holds that no cluster is asked unless it is named.
func TestValidateOffline(t *testing.T) {
	server := &shopServer{}
	t.Setenv("KUBECONFIG", server.kubeconfig(t))
	code, stdout, stderr := invoke(t, "validate", shopRules(t, "shops", "replicas"))
	if code != exitClean || len(server.asked) != 0 {
		t.Errorf("asked %q, ended with %d:\n%s%s", server.asked, code, stdout, stderr)
	}
}

func TestValidateClusterFails(t *testing.T) {
	t.Parallel()
	away := kubeconfig(t, "http://127.0.0.1:1")
	refusing := func(path string) string {
		return (&shopServer{refused: map[string]int{path: http.StatusForbidden}}).kubeconfig(t)
	}
	cases := map[string]struct {
		reason string
		args   []string
		code   int
		want   string
	}{
		"away":             {"Rules are not called right by who was not asked.", []string{"--kubeconfig", away}, exitInternal, "cannot reach the API server at"},
		"no such file":     {"Nothing to go by.", []string{"--kubeconfig", "nowhere"}, exitUsage, "reading the kubeconfig"},
		"no such context":  {"It names what is there.", []string{"--kubeconfig", away, "--context", "mian"}, exitUsage, `did you mean "main"?`},
		"no discovery":     {"Without it nothing is known.", []string{"--kubeconfig", refusing("/apis")}, exitInternal, "asking for the resources of the API server"},
		"no schemas":       {"Without them nothing is checked.", []string{"--kubeconfig", refusing("/openapi/v3")}, exitInternal, "asking for the schemas of the API server"},
		"no schema of one": {"Nor without this one.", []string{"--kubeconfig", refusing("/openapi/v3/apis/example.com/v1")}, exitInternal, "asking for the schema of example.com/v1"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, stdout, stderr := invoke(t, append([]string{"validate", shopRules(t, "shops", "replicas")}, tc.args...)...)
			if code != tc.code || !strings.Contains(stderr, tc.want) || stdout != "" {
				t.Errorf("%s\nwant %d and %q, got %d:\n%s%s", tc.reason, tc.code, tc.want, code, stdout, stderr)
			}
		})
	}
}
