package cli

import (
	"cmp"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/internal/config"
	"github.com/dyncontroller/dyncontroller/internal/operator"
	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/trace"
)

func TestMetricsHandler(t *testing.T) {
	t.Parallel()
	metrics := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })
	web := engine.Key{GVR: schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}, Namespace: "shop", Name: "web"}
	const ask = "/explain?group=apps&version=v1&resource=deployments&namespace=shop&name=web"
	cases := map[string]struct {
		reason, listens, host, path string
		method                      string
		profiling                   bool
		code                        int
		asked                       []engine.Key
	}{
		"metrics":        {reason: "They are served anywhere.", listens: ":8080", host: "10.0.0.7:8080", path: "/metrics", code: http.StatusTeapot},
		"explained":      {reason: "A program on the host asks.", listens: "127.0.0.1:8080", host: "127.0.0.1:8080", path: ask, code: http.StatusOK, asked: []engine.Key{web}},
		"forwarded":      {reason: "By the name that a forwarded port has.", listens: "127.0.0.1:8080", host: "localhost:9090", path: ask, code: http.StatusOK, asked: []engine.Key{web}},
		"core, no space": {reason: "Nodes have neither.", listens: "127.0.0.1:0", host: "localhost:1", path: "/explain?version=v1&resource=nodes&name=n", code: http.StatusOK, asked: []engine.Key{{GVR: schema.GroupVersionResource{Version: "v1", Resource: "nodes"}, Name: "n"}}},
		"open":           {reason: "Others could reach it.", listens: ":8080", host: "localhost:8080", path: ask, code: http.StatusNotFound},
		"another name":   {reason: "A page of a browser may have made a name lead here.", listens: "127.0.0.1:8080", host: "evil.example:8080", path: ask, code: http.StatusForbidden},
		"no name":        {reason: "Nothing is asked for.", listens: "127.0.0.1:8080", host: "localhost:8080", path: "/explain?version=v1&resource=nodes", code: http.StatusBadRequest},
		"no version":     {reason: "It is not guessed.", listens: "127.0.0.1:8080", host: "localhost:8080", path: "/explain?resource=nodes&name=n", code: http.StatusBadRequest},
		"nothing at all": {reason: "Nothing is asked for.", listens: "127.0.0.1:8080", host: "localhost:8080", path: "/explain", code: http.StatusBadRequest},
		"not profiled":   {reason: "Nobody has asked for it.", listens: "127.0.0.1:8080", host: "127.0.0.1:8080", path: "/debug/pprof/", code: http.StatusNotFound},
		"profiled, open": {reason: "Others could reach it.", listens: ":8080", host: "localhost:8080", path: "/debug/pprof/", profiling: true, code: http.StatusNotFound},
		"profiled, rebound": {
			reason: "A page of a browser may have made a name lead here.", listens: "127.0.0.1:8080", host: "evil.example:8080",
			path: "/debug/pprof/heap", profiling: true, code: http.StatusForbidden,
		},
		"not for changing": {reason: "There is nothing to change.", listens: "127.0.0.1:8080", host: "localhost:8080", path: ask, method: http.MethodPost, code: http.StatusMethodNotAllowed},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var asked []engine.Key
			handler := metricsHandler(byAddress(tc.listens), metrics, explainHandler(&remembering{asked: &asked}), tc.profiling)
			request := httptest.NewRequestWithContext(t.Context(), cmp.Or(tc.method, http.MethodGet), tc.path, nil)
			request.Host = tc.host
			recorder := httptest.NewRecorder()
			handler.ServeHTTP(recorder, request)
			if recorder.Code != tc.code {
				t.Errorf("%s\nwant %d, got %d: %s", tc.reason, tc.code, recorder.Code, recorder.Body)
			}
			if diff := gocmp.Diff(tc.asked, asked); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if tc.code != http.StatusOK {
				return
			}
			var memory trace.Memory
			if err := json.Unmarshal(recorder.Body.Bytes(), &memory); err != nil || len(memory.Records) != 1 || memory.Records[0].Outcome != plan.Matched {
				t.Errorf("%s\nhave %s, %v", tc.reason, recorder.Body, err)
			}
		})
	}
}

// remembering answers for an operator, and notes what it is asked for.
type remembering struct {
	*operator.Operator
	asked *[]engine.Key
}

func (r *remembering) Recorded(key engine.Key) trace.Memory {
	*r.asked = append(*r.asked, key)
	return trace.Memory{Records: []trace.Record{{Rule: plan.Rule{Set: "s", Name: "r"}, Outcome: plan.Matched}}}
}

// TestProfiles holds what is served of a process that is asked to be profiled.
func TestProfiles(t *testing.T) {
	t.Parallel()
	handler := metricsHandler(byAddress("127.0.0.1:8080"), http.NotFoundHandler(), http.NotFoundHandler(), true)
	for path, want := range map[string]string{"/debug/pprof/": "goroutine", "/debug/pprof/heap?debug=1": "heap profile", "/debug/pprof/cmdline": "cli"} {
		request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
		request.Host = "localhost:8080"
		recorder := httptest.NewRecorder()
		handler.ServeHTTP(recorder, request)
		if recorder.Code != http.StatusOK || !strings.Contains(recorder.Body.String(), want) {
			t.Errorf("%s: %d, %.200s", path, recorder.Code, recorder.Body)
		}
	}
}

// TestCountsForWhoAsks holds that nothing is counted where nobody can ask: it would grow with
// every rule that ever was.
func TestCountsForWhoAsks(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"", "127.0.0.1:8080"} {
		target, err := Process{Version: "v1"}.connect(config.Cluster{Kubeconfig: newAPIServer(t).kubeconfig(), QPS: config.NoLimit})
		if err != nil {
			t.Fatal(err)
		}
		settings := config.Config{FromCluster: true, Instance: "default", Workers: 1, Listen: config.Listen{Metrics: address}}
		s, err := newService(target, settings, Process{Stdout: &output{}}, slog.New(slog.DiscardHandler), nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := slices.Contains(s.options.Observers, engine.Observer(s.metrics)), address != ""; got != want {
			t.Errorf("metrics at %q: counted is %t, want %t", address, got, want)
		}
	}
}

// TestServesWhatItRemembers holds that a process tells what it has decided.
func TestServesWhatItRemembers(t *testing.T) {
	api := newAPIServer(t)
	api.configMap("a", map[string]any{"color": "red"})
	r := start(t, "-f", ruleFile(t, colors("blue")), "--kubeconfig", api.kubeconfig())
	r.ready()
	ask := func() string {
		_, body := r.get("metrics", "/explain?version=v1&resource=configmaps&namespace=default&name=a")
		return body
	}
	r.eventually("it has looked", func() bool { return strings.Contains(ask(), `"writtenAt"`) })
	var memory trace.Memory
	if err := json.Unmarshal([]byte(ask()), &memory); err != nil {
		t.Fatal(err)
	}
	if memory.Object.Name != "a" || len(memory.Records) != 1 || memory.Records[0].At.IsZero() {
		t.Errorf("have %+v", memory)
	}
	r.finish()
}
