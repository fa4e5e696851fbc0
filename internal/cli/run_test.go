package cli

import (
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
)

// colors wants every ConfigMap to be of a color.
func colors(color string) string {
	return `apiVersion: dyncontroller.dev/v1alpha1
kind: RuleSet
metadata: {name: shop}
spec:
  resources:
    configmaps: {version: v1, resource: configmaps}
    widgets: {group: example.com, version: v1, resource: widgets}
  rules:
  - name: color
    watch: configmaps
    when: object.data?.color != "` + color + `"
    actions:
    - patch: {merge: {data: {color: ` + color + `}}}
    - event: {reason: Painted, message: "it was ${object.data?.color ?? 'unknown'}"}
`
}

const missing = `  - name: missing
    watch: widgets
    actions: [{event: {reason: Seen, message: hello}}]
`

const failing = `  - name: failing
    watch: configmaps
    when: fromJSON(object.data?.color ?? "") > 3
    actions: [{event: {reason: Seen, message: hello}}]
`

func ruleFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "rules.yaml")
	rewrite(t, path, text)
	return path
}

func rewrite(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path+"~", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+"~", path); err != nil {
		t.Fatal(err)
	}
}

func TestOnce(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason   string
		rules    string
		args     []string
		refuse   string
		code     int
		stdout   string
		requests []string
		color    string // afterwards
	}{
		"writes": {
			reason: "What is wrong is put right, and the Event follows.",
			rules:  colors("blue"),
			stdout: "patched configmaps default/a (merge)\n  shop/color: data.color: \"red\" -> \"blue\"\n1 write, 0 failures\n",
			requests: []string{
				"PATCH /api/v1/namespaces/default/configmaps/a", "POST /apis/events.k8s.io/v1/namespaces/default/events",
			},
			color: "blue",
		},
		"nothing to do": {
			reason: "What is right is left alone.",
			rules:  colors("red"),
			stdout: "0 writes, 0 failures\n",
			color:  "red",
		},
		"a constant replaced": {
			reason: "--param decides, not the set.",
			rules: strings.NewReplacer("spec:\n", "spec:\n  params: {color: red}\n", `"red"`, "params.color",
				"color: red}", `color: "${params.color}"}`).Replace(colors("red")),
			args:   []string{"--param", "shop.color=blue"},
			stdout: "patched configmaps default/a (merge)\n  shop/color: data.color: \"red\" -> \"blue\"\n1 write, 0 failures\n",
			requests: []string{
				"PATCH /api/v1/namespaces/default/configmaps/a", "POST /apis/events.k8s.io/v1/namespaces/default/events",
			},
			color: "blue",
		},
		"audited": {
			reason: "What the rule would do is shown and not done.",
			rules:  strings.Replace(colors("blue"), "spec:\n", "spec:\n  mode: Audit\n", 1),
			stdout: "would patch configmaps default/a (merge): in mode Audit, so not sent\n  shop/color: data.color: \"red\" -> \"blue\"\n" +
				"0 writes, 1 in mode Audit not made, 0 failures\n",
			color: "red",
		},
		"for": {
			reason: "No timer is waited for, and that is told.",
			rules:  strings.Replace(colors("blue"), "    actions:", "    for: 1s\n    actions:", 1),
			stdout: "0 writes, 0 failures\n1 object not waited for: a rule with \"for\" acts only once its condition has held for so long\n",
			color:  "red",
		},
		"client dry run": {
			reason: "Nothing is sent, and everything is shown.",
			rules:  colors("blue"),
			args:   []string{"--dry-run=client"},
			stdout: "would patch configmaps default/a (merge)\n  shop/color: data.color: \"red\" -> \"blue\"\n" +
				"would record Normal event Painted on configmaps default/a\n  shop/color: it was red\n1 write (dry run, nothing is stored), 0 failures\n",
			color: "red",
		},
		"server dry run": {
			reason: "The API server is asked, the Event is not sent.",
			rules:  colors("blue"),
			args:   []string{"--dry-run", "server"},
			stdout: "would patch configmaps default/a (merge)\n  shop/color: data.color: \"red\" -> \"blue\"\n" +
				"would record Normal event Painted on configmaps default/a\n  shop/color: it was red\n1 write (dry run, nothing is stored), 0 failures\n",
			requests: []string{"PATCH /api/v1/namespaces/default/configmaps/a"},
			color:    "red",
		},
		"as JSON": {
			reason: "An object in each line, and the report in the last.",
			rules:  colors("blue"),
			args:   []string{"-o", "json"},
			stdout: `{"action":"patched","changes":[{"after":"blue","before":"red","path":"data.color","rule":"shop/color"}],` +
				`"name":"a","namespace":"default","resource":"configmaps.v1","rules":["shop/color"],"type":"merge"}` + "\n" +
				`{"audited":0,"cleanedUp":0,"failures":[],"objects":1,"simulated":0,"waiting":0,"waitingForWave":[],"written":1}` + "\n",
			requests: []string{"PATCH /api/v1/namespaces/default/configmaps/a", "POST /apis/events.k8s.io/v1/namespaces/default/events"},
			color:    "blue",
		},
		"a dry run as JSON": {
			reason: "Events are in it too.",
			rules:  colors("blue"),
			args:   []string{"-o", "json", "--dry-run", "client"},
			stdout: `{"action":"would patch","changes":[{"after":"blue","before":"red","path":"data.color","rule":"shop/color"}],` +
				`"name":"a","namespace":"default","resource":"configmaps.v1","rules":["shop/color"],"type":"merge"}` + "\n" +
				`{"action":"would record","event":{"message":"it was red","reason":"Painted","type":"Normal"},` +
				`"name":"a","namespace":"default","resource":"configmaps.v1","rules":["shop/color"]}` + "\n" +
				`{"audited":0,"cleanedUp":0,"failures":[],"objects":1,"simulated":1,"waiting":0,"waitingForWave":[],"written":0}` + "\n",
			color: "red",
		},
		"a refused write": {
			reason:   "It is a failure, and there is no Event of what was not done.",
			rules:    colors("blue"),
			refuse:   "not on a friday",
			code:     exitFinding,
			stdout:   "failed configmaps default/a: shop/color: writing configmaps default/a: not on a friday\n0 writes, 1 failure\n",
			requests: []string{"PATCH /api/v1/namespaces/default/configmaps/a"},
			color:    "red",
		},
		"a missing resource": {
			reason: "It is reported once, and holds nothing else up.",
			rules:  colors("blue") + missing,
			code:   exitFinding,
			stdout: "patched configmaps default/a (merge)\n  shop/color: data.color: \"red\" -> \"blue\"\n" +
				"failed listing widgets.v1.example.com -n default: the API server has no resource widgets.v1.example.com whose objects have namespaces: the server could not find the requested resource\n1 write, 1 failure\n",
			requests: []string{
				"PATCH /api/v1/namespaces/default/configmaps/a", "POST /apis/events.k8s.io/v1/namespaces/default/events",
			},
			color: "blue",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := newAPIServer(t)
			server.configMap("a", map[string]any{"color": "red"})
			server.set(func(a *apiServer) { a.refuse = tc.refuse })
			args := append([]string{"run", "--once", "-f", ruleFile(t, tc.rules), "--kubeconfig", server.kubeconfig()}, tc.args...)
			code, stdout, stderr := invoke(t, args...)
			if code != tc.code {
				t.Errorf("%s\nwant exit code %d, got %d:\n%s", tc.reason, tc.code, code, stderr)
			}
			if diff := cmp.Diff(tc.stdout, stdout); diff != "" {
				t.Errorf("%s\n-want +got:\n%s", tc.reason, diff)
			}
			if strings.Contains(stderr, "wrote") || strings.Contains(stderr, "would write") {
				t.Errorf("the log tells again what is shown:\n%s", stderr)
			}
			if diff := cmp.Diff(tc.requests, slices.Compact(server.changes())); diff != "" {
				t.Errorf("%s\n-want +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(any(map[string]any{"color": tc.color}), server.data("a")); diff != "" {
				t.Errorf("%s\n-want +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestOnceRuleFails(t *testing.T) {
	t.Parallel()
	server := newAPIServer(t)
	server.configMap("a", map[string]any{"color": "red"})
	code, stdout, _ := invoke(t, "run", "--once", "-f", ruleFile(t, colors("red")+failing), "--kubeconfig", server.kubeconfig())
	want := regexp.MustCompile(`^failed configmaps default/a: shop/failing: .*rules.yaml:17:11: .*invalid JSON.*\n0 writes, 1 failure\n$`)
	if code != exitFinding || !want.MatchString(stdout) {
		t.Errorf("a rule that fails is a failure with its place, got %d:\n%s", code, stdout)
	}
}

func TestOnceWithoutAPIServer(t *testing.T) {
	t.Parallel()
	server := newAPIServer(t)
	config, address := server.kubeconfig(), server.server.URL
	server.set(func(a *apiServer) { a.status = http.StatusUnauthorized })
	rules := ruleFile(t, colors("red"))
	code, _, stderr := invoke(t, "run", "--once", "-f", rules, "--kubeconfig", config)
	if code != exitInternal || !strings.Contains(stderr, "refuses the credentials") {
		t.Errorf("credentials that are refused are named, got %d: %s", code, stderr)
	}
	server.set(func(a *apiServer) { a.status = http.StatusForbidden })
	if code, _, stderr := invoke(t, "run", "--once", "-f", rules, "--kubeconfig", config); code != exitClean {
		t.Errorf("who may not see the version may still work, got %d: %s", code, stderr)
	}
	server.server.Close()
	code, stdout, stderr := invoke(t, "run", "--once", "-f", rules, "--kubeconfig", config)
	for _, part := range []string{"cannot reach the API server", address, config, "context main", "connection refused"} {
		if !strings.Contains(stderr, part) {
			t.Errorf("the error has %q, got: %s", part, stderr)
		}
	}
	if code != exitInternal || stdout != "" {
		t.Errorf("nothing was settled, got %d: %s", code, stdout)
	}
}

func TestRunKeepsObjects(t *testing.T) {
	t.Parallel()
	server := newAPIServer(t)
	server.configMap("a", map[string]any{"color": "red"})
	path := ruleFile(t, colors("blue")+missing)
	r := start(t, "-f", path, "--kubeconfig", server.kubeconfig())
	is := func(name, color string) {
		t.Helper()
		r.eventually(name+" is "+color, func() bool { return cmp.Equal(server.data(name), any(map[string]any{"color": color})) })
	}
	is("a", "blue")
	server.configMap("b", map[string]any{"color": "green"})
	is("b", "blue")

	r.ready()
	_, body := r.get("health", "/readyz?verbose")
	want := "[+]rules: 2 rules in effect\n[+]informer configmaps.v1 -n default: synced\n" +
		"[!]informer widgets.v1.example.com -n default: the API server has no resource widgets.v1.example.com whose objects have namespaces: " +
		"the server could not find the requested resource; rules wait for it: shop/missing\nok\n"
	if diff := cmp.Diff(want, body); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}

	rewrite(t, path, strings.Replace(colors("white"), "watch: configmaps", "watch: configmap", 1))
	r.says("those from before stay in effect")
	r.says(`no resource \"configmap\" is declared`)
	_, body = r.get("health", "/readyz?verbose")
	if !strings.Contains(body, "[!]rules: 2 rules in effect, but there are newer ones that are wrong: ") {
		t.Errorf("the probe says that the rules are wrong, got:\n%s", body)
	}
	server.configMap("c", map[string]any{"color": "green"})
	is("c", "blue")

	rewrite(t, path, colors("white"))
	r.says("added=0 removed=1 changed=1 kept=0")
	is("a", "white")
	is("b", "white")
	is("c", "white")
	for _, line := range []string{
		`dyncontroller_rules{state="active"} 1`, `dyncontroller_rules_reload_total{result="failure"} 1`,
		`dyncontroller_rules_reload_total{result="success"} 1`, `dyncontroller_informers{synced="true"} 1`,
		`dyncontroller_writes_total{class="written",group="",resource="configmaps"} 6`, `version="v1.2.3"`,
	} {
		r.eventually(line, func() bool {
			_, metrics := r.get("metrics", "/metrics")
			return strings.Contains(metrics, line)
		})
	}
	r.finish()
	if got := r.stdout.String(); got != "" {
		t.Errorf("a service has no results, got %s", got)
	}
}

func TestRunWaitsForTheAPIServer(t *testing.T) {
	t.Parallel()
	server := newAPIServer(t)
	server.set(func(a *apiServer) { a.status = http.StatusServiceUnavailable })
	server.configMap("a", map[string]any{"color": "red"})
	r := start(t, "-f", ruleFile(t, colors("blue")), "--kubeconfig", server.kubeconfig())
	r.says("waiting for the API server")
	if code, body := r.get("health", "/readyz"); code != http.StatusServiceUnavailable || !strings.Contains(body, "[-]rules: cannot reach the API server") {
		t.Errorf("it is not ready, and says why, got %d %s", code, body)
	}
	if code, _ := r.get("health", "/livez"); code != http.StatusOK {
		t.Errorf("it is alive, got %d", code)
	}
	if got := server.changes(); len(got) > 0 {
		t.Errorf("nothing is written yet, got %q", got)
	}
	server.set(func(a *apiServer) { a.status = http.StatusOK })
	r.says("the API server answers")
	r.ready()
	r.eventually("a is blue", func() bool { return cmp.Equal(server.data("a"), any(map[string]any{"color": "blue"})) })
	r.finish()
}

func TestRunStopsWhileItWaits(t *testing.T) {
	t.Parallel()
	r := start(t, "-f", ruleFile(t, colors("blue")), "--kubeconfig", kubeconfig(t, "http://127.0.0.1:1"))
	r.says("waiting for the API server")
	r.finish()
}

func TestRunDryRunPrintsAsItGoes(t *testing.T) {
	t.Parallel()
	server := newAPIServer(t)
	r := start(t, "-f", ruleFile(t, colors("blue")), "--kubeconfig", server.kubeconfig(), "--dry-run=client")
	r.ready()
	server.configMap("a", map[string]any{"color": "red"})
	r.eventually("the write is shown", func() bool {
		return strings.Contains(r.stdout.String(), "would patch configmaps default/a (merge)\n")
	})
	r.finish()
	if got := server.changes(); len(got) > 0 {
		t.Errorf("nothing is sent, got %q", got)
	}
}

func TestRunTakenPort(t *testing.T) {
	t.Parallel()
	server := newAPIServer(t)
	address := strings.TrimPrefix(server.server.URL, "http://")
	code, _, stderr := invoke(t, "run", "-f", ruleFile(t, colors("blue")), "--kubeconfig", server.kubeconfig(),
		"--metrics-bind-address=0", "--health-probe-bind-address", address)
	if code != exitInternal || !strings.Contains(stderr, "--health-probe-bind-address, or 0 for none") {
		t.Errorf("the flag is named, got %d: %s", code, stderr)
	}
}

// TestRunLeavesNothingBehind is alone, since it counts goroutines.
func TestRunLeavesNothingBehind(t *testing.T) {
	before := goleak.IgnoreCurrent()
	server := newAPIServer(t)
	server.configMap("a", map[string]any{"color": "red"})
	r := start(t, "-f", ruleFile(t, colors("blue")), "--kubeconfig", server.kubeconfig())
	r.ready()
	r.finish()
	server.server.CloseClientConnections()
	server.server.Close()
	if err := goleak.Find(before, goleak.IgnoreTopFunction("net/http.(*persistConn).readLoop")); err != nil {
		t.Error(err)
	}
}
