package cli

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/internal/config"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
)

var shops = apischema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "shops"}

// following is what is known of the shops of a server.
func following(t *testing.T, kubeconfig string) *clusterSchemas {
	t.Helper()
	target, err := Process{Version: "v1"}.connect(config.Cluster{Kubeconfig: kubeconfig, QPS: config.NoLimit})
	if err != nil {
		t.Fatal(err)
	}
	return newClusterSchemas(target, nil, nil)
}

// TestClusterSchemas goes through what can become of a server, and holds what is known
// then and what is logged: a trouble once, when it begins and when it ends.
func TestClusterSchemas(t *testing.T) {
	t.Parallel()
	var log output
	server := &shopServer{}
	s := following(t, server.kubeconfig(t))
	s.log = slog.New(slog.NewTextHandler(&log, nil))
	refuse := func(paths ...string) {
		server.mu.Lock()
		defer server.mu.Unlock()
		server.refused = map[string]int{}
		for _, path := range paths {
			server.refused[path] = http.StatusServiceUnavailable
		}
	}
	const description = "/openapi/v3/apis/example.com/v1"
	for _, step := range []struct {
		reason  string
		refuses []string
		served  bool
		known   bool
		news    bool
		logged  string // a part of the one new line, empty for none
	}{
		{"A server that does not answer says nothing.", []string{"/openapi/v3"}, false, false, false, "the schemas of the cluster are not known, rules are checked against those of Kubernetes alone"},
		{"Again.", []string{"/openapi/v3"}, false, false, false, ""},
		{"It says what it serves, and not yet how that looks.", []string{description}, true, false, true, "some schemas of the cluster are not known, rules are not checked against these"},
		{"Again.", []string{description}, true, false, false, ""},
		{"Now it does.", nil, true, true, true, "the schemas of the cluster are known"},
		{"Nothing is new.", nil, true, true, false, ""},
		{"It is away, and what was known counts.", []string{"/openapi/v3"}, true, true, false, "the cluster does not return its schemas, rules are checked against the last ones that it returned"},
		{"It is back.", nil, true, true, false, "the schemas of the cluster are known"},
	} {
		refuse(step.refuses...)
		before := len(log.String())
		known, news := s.Ask(t.Context(), []apischema.GroupVersionResource{shops})
		found := known.Resource(shops)
		if (found != nil) != step.served || found != nil && found.Type.Known() != step.known || news != step.news {
			t.Errorf("%s\ngot %+v, news %t", step.reason, found, news)
		}
		line := log.String()[before:]
		if (line == "") != (step.logged == "") || !strings.Contains(line, step.logged) || strings.Count(line, "\n") > 1 {
			t.Errorf("%s\nlogged %q", step.reason, line)
		}
		if pods := known.Resource(apischema.GroupVersionResource{Version: "v1", Resource: "pods"}); pods == nil || !pods.Type.Known() {
			t.Errorf("%s\nbuilt-in types are always known", step.reason)
		}
		if known.Missing(shops) || known.Missing(apischema.GroupVersionResource{Group: "apps", Version: "v9", Resource: "pods"}) {
			t.Errorf("%s\nwhat is not there may come", step.reason)
		}
	}
}

// TestClusterSchemasEnd holds that nothing is logged of a question that nobody asks any
// more, and that nothing is logged before it is wanted.
func TestClusterSchemasEnd(t *testing.T) {
	t.Parallel()
	var log output
	s := following(t, kubeconfig(t, "http://127.0.0.1:1"))
	s.Ask(t.Context(), []apischema.GroupVersionResource{shops})
	s.log = slog.New(slog.NewTextHandler(&log, nil))
	s.report()
	if text := log.String(); strings.Count(text, "\n") != 1 || !strings.Contains(text, "connection refused") {
		t.Errorf("the trouble from before is logged, got %s", text)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if known, news := s.Ask(ctx, []apischema.GroupVersionResource{shops}); known == nil || news {
		t.Errorf("got %v, %t", known, news)
	}
	if text := log.String(); strings.Count(text, "\n") != 1 {
		t.Errorf("got %s", text)
	}
}

// TestClusterSchemasTeach holds what is told to who learns: all that the cluster says, news or not.
func TestClusterSchemasTeach(t *testing.T) {
	t.Parallel()
	server := &shopServer{}
	s := following(t, server.kubeconfig(t))
	var learned []string
	s.learn = func(said schema.Source, wanted []apischema.GroupVersionResource) {
		for _, gvr := range wanted {
			learned = append(learned, fmt.Sprint(gvr.Resource, " known: ", said.Resource(gvr) != nil && said.Resource(gvr).Type.Known()))
		}
	}
	others := shops.GroupVersion().WithResource("others")
	for _, step := range []struct {
		reason  string
		do      func()
		learned []string
	}{
		{"The cluster says something.", func() { s.Ask(t.Context(), []apischema.GroupVersionResource{shops}) }, []string{"shops known: true"}},
		{"It is asked for more.", func() { s.Ask(t.Context(), []apischema.GroupVersionResource{shops, others}) }, []string{"shops known: true", "others known: false"}},
		{"It says the same.", func() { s.Ask(t.Context(), []apischema.GroupVersionResource{shops, others}) }, []string{"shops known: true", "others known: false"}},
		{"It says nothing.", func() {
			server.mu.Lock()
			server.refused = map[string]int{"/openapi/v3": http.StatusServiceUnavailable}
			server.mu.Unlock()
			s.Ask(t.Context(), []apischema.GroupVersionResource{shops})
		}, nil},
	} {
		learned = nil
		step.do()
		if diff := cmp.Diff(step.learned, learned); diff != "" {
			t.Errorf("%s (-want +got):\n%s", step.reason, diff)
		}
	}
}

// TestServiceLearns holds that the caches follow the schemas by which files were loaded, from
// the first one on.
func TestServiceLearns(t *testing.T) {
	t.Parallel()
	var log output
	server := &shopServer{}
	target, err := Process{Version: "v1"}.connect(config.Cluster{Kubeconfig: server.kubeconfig(t), QPS: config.NoLimit})
	if err != nil {
		t.Fatal(err)
	}
	settings := config.Config{Rules: []string{shopRules(t, "shops", "replicas")}, Instance: "default", Workers: 1, DryRun: config.DryRunClient}
	s, err := newService(target, settings, Process{Stdout: &log}, slog.New(slog.NewTextHandler(&log, nil)), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.load(t.Context()); err != nil {
		t.Fatal(err)
	}
	const index, description = "/openapi/v3", "/openapi/v3/apis/example.com/v1"
	own := shopAnswers()
	server.mu.Lock()
	server.answers = map[string]string{
		index:       strings.Replace(own[index], "hash=1", "hash=2", 1),
		description: strings.Replace(own[description], `"properties": {"replicas"`, `"properties": {"size": {"type": "integer"}, "replicas"`, 1),
	}
	server.mu.Unlock()
	for range 2 {
		if _, err := s.load(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if n := strings.Count(log.String(), `msg="the schema has changed, the caches are filled anew" gvr=shops.v1.example.com`); n != 1 {
		t.Errorf("it is told %d times, want once:\n%s", n, &log)
	}
}

// TestRunAsks holds that run checks rules against its cluster, and starts without it.
func TestRunAsks(t *testing.T) {
	t.Parallel()
	code, stdout, stderr := invoke(t, "run", "--once", "-f", shopRules(t, "shops", "replcas"), "--kubeconfig", (&shopServer{}).kubeconfig(t))
	if code != exitFinding || stdout != "" || !strings.HasSuffix(stderr, "hint: did you mean object.spec.replicas?\n") || strings.Contains(stderr, "level=") {
		t.Errorf("a type mistake is one as any other, got %d:\n%s%s", code, stdout, stderr)
	}
	absent := &shopServer{refused: map[string]int{"/openapi/v3/apis/example.com/v1": http.StatusServiceUnavailable}}
	code, _, stderr = invoke(t, "run", "--once", "-f", shopRules(t, "shops", "replcas"), "--kubeconfig", absent.kubeconfig(t))
	if code != exitFinding || strings.Contains(stderr, "did you mean") || !strings.Contains(stderr, "schemas of the cluster are not known") {
		t.Errorf("it runs, and cannot list, got %d:\n%s", code, stderr)
	}
	r := start(t, "-f", shopRules(t, "shosp", "replcas"), "--kubeconfig", (&shopServer{}).kubeconfig(t))
	r.says(`msg="rules have a warning"`)
	r.says("write resource: shops")
	r.ready()
	r.finish()
}

func TestLogFindings(t *testing.T) {
	t.Parallel()
	set, errs := rules.Load([]document.File{{Name: "r.yaml", Data: []byte(`apiVersion: dyncontroller.dev/v1alpha1
kind: ClusterRuleSet
metadata: {name: r}
spec:
  resources:
    shops: {group: example.com, version: v1, resource: shops}
    pods: {version: v1, resource: pods}
  rules:
  - name: one
    watch: pods
    when: object.metadata.name == "x"
    actions: [{delete: {}}]
`)}}, rules.Options{Schemas: offlineSchemas()})
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	var log output
	logFindings(slog.New(slog.NewTextHandler(&log, nil)), set, &rules.Set{})
	logFindings(slog.New(slog.NewTextHandler(&log, nil)), set, set) // As when the schemas change.
	for _, want := range []string{
		`level=WARN msg="rules have a warning" file=r.yaml line=12 code=unlimited-delete finding=`,
		`level=INFO msg="rules are not checked against a schema" file=r.yaml line=6 code=untyped finding=`,
	} {
		if strings.Count(log.String(), want) != 1 {
			t.Errorf("want %s once, got:\n%s", want, &log)
		}
	}
}
