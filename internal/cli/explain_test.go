package cli

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/trace"
)

const lastingRules = `
apiVersion: dyncontroller.dev/v1alpha1
kind: ClusterRuleSet
metadata: {name: guard}
spec:
  resources: {pods: {version: v1, resource: pods}, widgets: {group: example.com, version: v1, resource: widgets}}
  rules:
  - {name: lasting, watch: pods, with: {w: {resource: widgets, all: true}}, for: 1h, actions: [{event: {reason: A, message: a}}]}
`

// TestExplainAsksController holds that what a controller remembers decides, and is told.
func TestExplainAsksController(t *testing.T) {
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	rule := plan.Rule{Kind: "ClusterRuleSet", Set: "guard", Name: "lasting"}
	tests := map[string]struct {
		reason string
		answer func(w http.ResponseWriter)
		code   int
		want   []string
	}{
		"Remembers": {
			"It has held for long enough, and there is a quarantine.",
			func(w http.ResponseWriter) {
				_ = json.NewEncoder(w).Encode(trace.Memory{Records: []trace.Record{{
					Rule: rule, Outcome: plan.Matched, At: now, HeldSince: now.Add(-2 * time.Hour),
					Trouble: trace.Trouble{Failure: "it is refused", Attempts: 7, Next: now.Add(time.Hour), Quarantined: true},
				}}})
			},
			exitClean,
			[]string{
				"result  matched\n", "when holds since 2026-01-01T10:00:00Z, and must for 1h0m0s: it has\n", "the controller\n",
				"quarantined: it is tried only now and then\n", "failed 7 times: it is refused\n", "tried again at 2026-01-01T13:00:00Z\n",
			},
		},
		"Forgets": {
			"It knows nothing of the object.", func(w http.ResponseWriter) { _, _ = w.Write([]byte(`{"object": {}, "records": null}`)) }, exitClean,
			[]string{"result  waiting", "it remembers nothing of the rule and the object\n"},
		},
		"Named":   {"It is asked by a name that may be anybody's.", func(w http.ResponseWriter) { w.WriteHeader(http.StatusForbidden) }, exitInternal, []string{"it is to be named localhost"}},
		"Other":   {"It is another server.", func(w http.ResponseWriter) { w.WriteHeader(http.StatusNotFound) }, exitInternal, []string{"it does not answer /explain: is this the address of its metrics?"}},
		"Broken":  {"It fails.", func(w http.ResponseWriter) { w.WriteHeader(http.StatusInternalServerError) }, exitInternal, []string{"it answers 500 Internal Server Error"}},
		"Garbled": {"It answers something else.", func(w http.ResponseWriter) { _, _ = w.Write([]byte("# HELP")) }, exitInternal, []string{"reading its answer: invalid character"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			for file, text := range map[string]string{
				"rules.yaml": lastingRules, "pod.yaml": "{apiVersion: v1, kind: Pod, metadata: {name: web, namespace: shop}, spec: {containers: [{name: c, image: i}]}}",
			} {
				if err := os.WriteFile(filepath.Join(folder, file), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			asked := ""
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked = r.Method + " " + r.URL.Path + "?" + r.URL.RawQuery
				tc.answer(w)
			}))
			defer server.Close()
			for _, address := range []string{server.URL, strings.TrimPrefix(server.URL, "http://")} {
				code, stdout, stderr := invoke(t, "explain", "lasting", "--rules", filepath.Join(folder, "rules.yaml"),
					"--object", filepath.Join(folder, "pod.yaml"), "--now", now.Format(time.RFC3339), "--controller", address)
				if code != tc.code {
					t.Errorf("%s it ends with %d, want %d:\n%s%s", tc.reason, code, tc.code, stdout, stderr)
				}
				for _, part := range tc.want {
					if !strings.Contains(stdout+stderr, part) {
						t.Errorf("%s nothing is said of %q:\n%s%s", tc.reason, part, stdout, stderr)
					}
				}
				if want := "GET /explain?group=&name=web&namespace=shop&resource=pods&version=v1"; asked != want {
					t.Errorf("it was asked %s, want %s", asked, want)
				}
			}
		})
	}
}

// TestServed holds which resource a word means, and what is not served.
func TestServed(t *testing.T) {
	gvr := func(group, version, resource string) schema.GroupVersionResource {
		return schema.GroupVersionResource{Group: group, Version: version, Resource: resource}
	}
	resource := func(group, version, name, singular, kind string, namespaced bool, short ...string) metav1.APIResource {
		return metav1.APIResource{Group: group, Version: version, Name: name, SingularName: singular, Kind: kind, Namespaced: namespaced, ShortNames: short}
	}
	served := []metav1.APIResource{ // What is in preferred versions comes first.
		resource("", "v1", "pods", "pod", "Pod", true, "po"),
		resource("", "v1", "nodes", "node", "Node", false, "no"),
		resource("example.com", "v2", "widgets", "widget", "Widget", true),
		resource("other.com", "v2", "widgets", "", "Widget", true),
		resource("example.com", "v1", "widgets", "widget", "Widget", true),
		resource("metrics.k8s.io", "v1", "pods", "pod", "PodMetrics", true),
	}
	failed := map[schema.GroupVersion]error{{Group: "away.com", Version: "v1"}: http.ErrServerClosed}
	declare := func(group, version, resource string) string {
		return `{group: "` + group + `", version: ` + version + `, resource: ` + resource + `}`
	}
	tests := map[string]struct {
		reason, watch, read, word string
		want                      plan.Object
		err                       string
		obstacles                 []string
	}{
		"Plural":   {"A plural.", declare("", "v1", "pods"), "", "pods", plan.Object{GVR: gvr("", "v1", "pods"), Kind: "Pod", Namespace: "shop", Name: "x"}, "", nil},
		"Short":    {"A short name.", declare("", "v1", "pods"), "", "po", plan.Object{GVR: gvr("", "v1", "pods"), Kind: "Pod", Namespace: "shop", Name: "x"}, "", nil},
		"Cluster":  {"What has no namespace.", declare("", "v1", "nodes"), "", "node", plan.Object{GVR: gvr("", "v1", "nodes"), Kind: "Node", Name: "x"}, "", nil},
		"Group":    {"With its group.", declare("", "v1", "pods"), "", "pods.metrics.k8s.io", plan.Object{GVR: gvr("metrics.k8s.io", "v1", "pods"), Kind: "PodMetrics", Namespace: "shop", Name: "x"}, "", nil},
		"Version":  {"The version that is watched.", declare("example.com", "v1", "widgets"), "", "widget", plan.Object{GVR: gvr("example.com", "v1", "widgets"), Kind: "Widget", Namespace: "shop", Name: "x"}, "", nil},
		"Explicit": {"One that is written out.", declare("", "v1", "pods"), "", "widgets.v1.example.com", plan.Object{GVR: gvr("example.com", "v1", "widgets"), Kind: "Widget", Namespace: "shop", Name: "x"}, "", nil},
		"Watched":  {"Of two groups the one that is watched.", declare("other.com", "v2", "widgets"), "", "widgets", plan.Object{GVR: gvr("other.com", "v2", "widgets"), Kind: "Widget", Namespace: "shop", Name: "x"}, "", nil},
		"Gone": {
			"One that is watched and not there.", declare("gone.com", "v1", "gadgets"), "", "gadget",
			plan.Object{GVR: gvr("gone.com", "v1", "gadgets"), Namespace: "shop", Name: "x"},
			"",
			[]string{"no-resource: the API server does not serve gadgets.v1.gone.com, which the rule watches: its CRD is not installed, or does not have this version; the rule waits for it"},
		},
		"OldVersion": {
			"A version that is not there any more.", declare("example.com", "v1beta1", "widgets"), "", "widgets",
			plan.Object{GVR: gvr("example.com", "v2", "widgets"), Kind: "Widget", Namespace: "shop", Name: "x"},
			"",
			[]string{"no-resource: the API server does not serve widgets.v1beta1.example.com, which the rule watches: its CRD is not installed, or does not have this version; the rule waits for it"},
		},
		"Read": {
			"What is read besides.", declare("", "v1", "pods"), declare("away.com", "v1", "things"), "pods",
			plan.Object{GVR: gvr("", "v1", "pods"), Kind: "Pod", Namespace: "shop", Name: "x"},
			"",
			[]string{"no-resource: the API server cannot say whether it serves things.v1.away.com, which the rule reads: http: Server closed"},
		},
		"Misspelt": {"What nobody has.", declare("", "v1", "pods"), "", "podss", plan.Object{Name: "x"}, `the API server has no resource "podss"; did you mean pods?`, nil},
		"Unknown":  {"What is nothing like it.", declare("", "v1", "pods"), "", "elephants", plan.Object{Name: "x"}, `the API server has no resource "elephants"`, nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			with := ""
			if tc.read != "" {
				with = ", with: {o: {resource: other, all: true}}"
			} else {
				tc.read = declare("", "v1", "pods")
			}
			set, errs := rules.Load([]document.File{{Name: "a.yaml", Data: []byte(`
apiVersion: dyncontroller.dev/v1alpha1
kind: RuleSet
metadata: {name: guard, namespace: shop}
spec:
  resources: {one: ` + tc.watch + `, other: ` + tc.read + `}
  rules: [{name: r, watch: one` + with + `, actions: [{event: {reason: A, message: a}}]}]`)}}, rules.Options{})
			if set == nil {
				t.Fatal(errs.Render())
			}
			s := &subject{rule: set.Rules()[0], served: served, failed: failed}
			s.missing()
			err := s.find(s.rule.Watched(), tc.word, "x", "shop")
			if text := errorOf(err); text != tc.err {
				t.Errorf("%s the error is %q, want %q", tc.reason, text, tc.err)
			}
			if diff := cmp.Diff(tc.want, s.object); diff != "" {
				t.Errorf("%s (-want +have):\n%s", tc.reason, diff)
			}
			var obstacles []string
			for _, o := range s.obstacles {
				obstacles = append(obstacles, string(o.Kind)+": "+o.Text)
			}
			if diff := cmp.Diff(tc.obstacles, obstacles); diff != "" {
				t.Errorf("%s (-want +have):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestExplainAll holds what is told of all rules of an object in a cluster, and how that ends.
func TestExplainAll(t *testing.T) {
	api := newAPIServer(t)
	api.configMap("a", map[string]any{"color": "red"})
	rules := ruleFile(t, colors("blue")+missing)
	tests := map[string]struct {
		reason, object string
		code           int
		want           string
	}{
		"Rules": {
			"Each rule that watches it.", "configmaps/a", exitClean,
			"object  configmaps default/a\n\nshop/color (FILE:9:11)\n  matched\n  would merge configmaps default/a: data.color: \"red\" -> \"blue\"\n" +
				"  would record Normal event Painted on configmaps default/a: it was red\n",
		},
		"NoObject": {"It is not there.", "configmaps/b", exitUsage, "object  configmaps default/b\n\nshop/color (FILE:9:11)\n  not asked: there is no configmaps default/b\n"},
		"Unserved": {
			"It is of a resource that a rule waits for.", "widgets/w", exitClean,
			"object  widgets default/w\n\nshop/missing (FILE:15:11)\n" +
				"  not asked: the API server does not serve widgets.v1.example.com, which the rule watches: its CRD is not installed, or does not have this version; the rule waits for it\n" +
				"  in the way: the object was not seen, so the rule cannot be asked (unknown)\n",
		},
		"Rule": {"It is a rule.", "shop/color", exitUsage, "dyncontroller: shop/color is a rule: write the object behind it, as in: dyncontroller explain shop/color pods/web\n"},
		"Typo": {"It is neither.", "configmap/a/b", exitUsage, "dyncontroller: want RESOURCE/NAME, such as pods/web, have \"configmap/a/b\"\nRun 'dyncontroller explain --help' for usage.\n"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			code, stdout, stderr := invoke(t, "explain", tc.object, "--kubeconfig", api.kubeconfig(), "--rules", rules)
			if diff := cmp.Diff(tc.want, strings.ReplaceAll(stdout+stderr, rules, "FILE")); diff != "" || code != tc.code {
				t.Errorf("%s want exit code %d, have %d (-want +have):\n%s", tc.reason, tc.code, code, diff)
			}
		})
	}
}

func errorOf(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

const secretRules = `
apiVersion: dyncontroller.dev/v1alpha1
kind: ClusterRuleSet
metadata: {name: guard}
spec:
  resources:
    pods: {version: v1, resource: pods}
    configmaps: {version: v1, resource: configmaps}
    secrets: {version: v1, resource: secrets}
  rules:
  - name: r
    watch: pods
    with:
      login: {resource: secrets, name: login}
      cm: {resource: configmaps, name: "${token}"}
      cms: {resource: configmaps, matchLabels: {app: "${token[2:9]}"}}
    let: {token: "login?.data?.token == nil ? '' : fromBase64(login.data.token)"}
    when: cm?.metadata?.labels != nil && len(cms) == 1
    actions:
    - apply: {resource: configmaps, manifest: {metadata: {name: "x-${token[2:9]}"}, data: {a: b}}}
    - patch: {target: cm, merge: {data: {a: c}}}
    - forEach: {c: "${[{'kind': 'X', 'metadata': {'name': token[2:9]}}]}"}
      event: {reason: R, message: a}
`

const secretRelated = `
{apiVersion: v1, kind: Secret, metadata: {name: login, namespace: shop}, data: {token: Y2FuYXJ5LWluLWEtbWluZQ==}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: canary-in-a-mine, namespace: shop, labels: {app: nary-in}}, data: {a: b}}
`

// TestExplainSecrets holds that names tell nothing of a Secret, in the tree and as JSON.
func TestExplainSecrets(t *testing.T) {
	folder := t.TempDir()
	for file, text := range map[string]string{
		"rules.yaml": secretRules, "related.yaml": secretRelated,
		"pod.yaml": "{apiVersion: v1, kind: Pod, metadata: {name: web, namespace: shop, uid: u-1}, spec: {containers: [{name: c, image: i}]}}",
	} {
		if err := os.WriteFile(filepath.Join(folder, file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for format, want := range map[string][]string{
		"tree": {
			"result  matched\n", "cm: configmaps.v1 by name (masked): 1 found (", "cms: configmaps.v1 by labels (masked): 1 found (", "cm?.metadata?.labels is (masked)\n",
			"    apply configmaps shop/(masked)\n", "    merge configmaps shop/(masked)\n", "for each c: 1", "would be sent\n  apply configmaps shop/(masked)",
		},
		"json": {`"outcome": "matched"`, `"by": "name (masked)"`, `"object": "configmaps shop/(masked)"`},
	} {
		t.Run(format, func(t *testing.T) {
			code, stdout, stderr := invoke(t, "explain", "r", "--rules", filepath.Join(folder, "rules.yaml"), "--object", filepath.Join(folder, "pod.yaml"),
				"--related", filepath.Join(folder, "related.yaml"), "--now", "2026-01-01T12:00:00Z", "-o", format)
			if code != exitClean {
				t.Errorf("it ends with %d: %s", code, stderr)
			}
			for _, part := range want {
				if !strings.Contains(stdout, part) {
					t.Errorf("nothing is said of %q:\n%s", part, stdout)
				}
			}
			for _, part := range []string{"canary", "nary", "mine", "Y2FuYXJ5"} {
				if strings.Contains(stdout+stderr, part) {
					t.Errorf("%q is told:\n%s%s", part, stdout, stderr)
				}
			}
		})
	}
}
