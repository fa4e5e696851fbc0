package e2e

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/dyncontroller/dyncontroller/internal/cli"
	"github.com/dyncontroller/dyncontroller/pkg/api/v1alpha1"
	"github.com/dyncontroller/dyncontroller/pkg/rules/trace"
)

// explain runs explain on the test's cluster, with the rules there if no path is given.
func explain(t *testing.T, namespace, path string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	out, errOut := &buffer{}, &buffer{}
	command := append([]string{"explain", "--kubeconfig", cluster(t).Kubeconfig(), "--namespace", namespace}, args...)
	if path == "" {
		command = append(command, "--rules-from-cluster")
	} else {
		command = append(command, "--rules", path)
	}
	code = cli.Run(t.Context(), cli.Process{Args: command, Stdin: strings.NewReader(""), Stdout: out, Stderr: errOut, Version: "test", Transport: transport(t)})
	return out.String(), errOut.String(), code
}

// asTrace runs explain and reads what it says as programs do.
func asTrace(t *testing.T, namespace, path string, args ...string) trace.Trace {
	t.Helper()
	stdout, stderr, code := explain(t, namespace, path, append(args, "-o", "json")...)
	if code != 0 || stderr != "" {
		t.Fatalf("explain %v ended with %d:\n%s%s", args, code, stdout, stderr)
	}
	var told trace.Trace
	if err := json.Unmarshal([]byte(stdout), &told); err != nil {
		t.Fatal(err)
	}
	return told
}

const explainedLive = `
apiVersion: dyncontroller.dev/v1alpha1
kind: RuleSet
metadata: {name: live, namespace: NAMESPACE}
spec:
  resources:
    configmaps: {version: v1, resource: configmaps}
    labelled: {version: v1, resource: configmaps, labelSelector: "team in (a, b),!skip"}
    named: {version: v1, resource: configmaps, fieldSelector: metadata.name=other}
    gadgets: {group: example.com, version: v1, resource: gadgets}
    pods: {version: v1, resource: pods}
  rules:
  - {name: labelled, watch: labelled, actions: [{event: {reason: A, message: a}}]}
  - {name: named, watch: named, actions: [{event: {reason: A, message: a}}]}
  - {name: absent, watch: gadgets, actions: [{event: {reason: A, message: a}}]}
  - name: reads-absent
    watch: configmaps
    with: {all_gadgets: {resource: gadgets, all: true}, all_pods: {resource: pods, all: true}}
    when: len(all_pods) == 0 && len(all_gadgets) == 0
    actions: [{event: {reason: A, message: a}}]
  - name: writes
    watch: configmaps
    when: object.data?.mode == "on"
    actions: [{patch: {merge: {data: {mode: "off", more: x, same: "1"}}}}]
`

// TestExplainLive holds what is told of an object of the cluster.
func TestExplainLive(t *testing.T) {
	alongside(t)
	namespace := cluster(t).Namespace(t)
	path := rulesFile(t, namespace, explainedLive)
	create(t, configmaps, namespace, "{apiVersion: v1, kind: ConfigMap, metadata: {name: web, labels: {team: c}}, data: {mode: 'off', same: '1'}}")
	edit(t, configmaps, namespace, "web", `{"data": {"mode": "on"}}`)
	tests := map[string]struct {
		reason, rule, object string
		code                 int
		want                 []string
	}{
		"Labels":   {"It has other labels.", "labelled", "cm/web", 0, []string{"not asked: labelSelector wants team in (a,b), and the label team is \"c\"", "(not-selected)"}},
		"Fields":   {"Another one is selected.", "named", "configmaps/web", 0, []string{"fieldSelector wants metadata.name=other, and the field metadata.name is \"web\" (not-selected)"}},
		"NoCRD":    {"What it watches is not installed.", "absent", "gadgets/g", 0, []string{"the API server does not serve gadgets.v1.example.com, which the rule watches: its CRD is not installed", "(no-resource)"}},
		"Reads":    {"What it reads is not installed.", "reads-absent", "configmap/web", 0, []string{"which the rule reads: its CRD is not installed", "skipped: a cache that it reads is not complete", "all_pods: pods.v1 by all in " + namespace + ": none"}},
		"Owners":   {"Who has set what is written.", "live/writes", "configmaps/web", 0, []string{"result  matched", `data.mode: "on" -> "off", set by somebody`, `data.more: absent -> "x"`, "merge configmaps " + namespace + "/web, as dyncontroller"}},
		"NoObject": {"There is no such object.", "writes", "configmaps/nobody", 2, []string{"there is no configmaps " + namespace + "/nobody (no-object)"}},
		"NoRule":   {"No rule watches its resource.", "", "services/kubernetes", 2, []string{"there is no services " + namespace + "/kubernetes in the cluster"}},
		"Other":    {"It is of another resource.", "writes", "ns/" + namespace, 0, []string{"the rule watches configmaps.v1, not namespaces.v1 (other-resource)"}},
		"Unknown":  {"There is no such resource.", "writes", "configmps/web", 2, []string{`the API server has no resource "configmps"; did you mean configmaps?`}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			stdout, stderr, code := explain(t, namespace, path, strings.Fields(tc.rule+" "+tc.object)...)
			if code != tc.code {
				t.Errorf("%s it ended with %d, want %d:\n%s%s", tc.reason, code, tc.code, stdout, stderr)
			}
			for _, part := range tc.want {
				if !strings.Contains(stdout+stderr, part) {
					t.Errorf("%s nothing is said of %q:\n%s%s", tc.reason, part, stdout, stderr)
				}
			}
		})
	}
	if told := asTrace(t, namespace, path, "writes", "configmaps/web"); told.Object.ResourceVersion != get(t, configmaps, namespace, "web").GetResourceVersion() {
		t.Errorf("explain changed the object, or saw another one: %+v", told.Object)
	}
}

// TestExplainRulesFromCluster holds that rules may be those of set objects, and that one
// that is refused does not hide the others.
func TestExplainRulesFromCluster(t *testing.T) {
	virtually(t, func(t *testing.T) {
		installOwnCRDs(t)
		namespace := cluster(t).Namespace(t)
		create(t, configmaps, namespace, "{apiVersion: v1, kind: ConfigMap, metadata: {name: web}}")
		const set = `{apiVersion: dyncontroller.dev/v1alpha1, kind: RuleSet, metadata: {name: NAME}, spec: {serviceAccountName: default,
		resources: {configmaps: {version: v1, resource: configmaps}},
		rules: [{name: RULE, watch: WATCH, when: "object.data?.a == '1'", actions: [{event: {reason: A, message: a}}]}]}}`
		for _, named := range []*strings.Replacer{
			strings.NewReplacer("NAME", "good", "RULE", "works", "WATCH", "configmaps"), strings.NewReplacer("NAME", "bad", "RULE", "wrong", "WATCH", "configmps"),
		} {
			keep(t, v1alpha1.RuleSets(), namespace, decode(t, named.Replace(set)))
		}
		stdout, stderr, code := explain(t, namespace, "", namespace+"/good/works", "configmaps/web")
		if code != 0 || !strings.Contains(stdout, "result  not matched: object.data?.a == '1' is false") {
			t.Errorf("it ended with %d:\n%s%s", code, stdout, stderr)
		}
		stdout, stderr, code = explain(t, namespace, "", namespace+"/bad/wrong", "configmaps/web")
		if code != 1 || !strings.Contains(stderr, "there is no rule") || !strings.Contains(stderr, `no resource "configmps" is declared`) {
			t.Errorf("it ended with %d:\n%s%s", code, stdout, stderr)
		}
	})
}

// TestExplainForbidden holds that it is said what the ServiceAccount of a set may not do.
func TestExplainForbidden(t *testing.T) {
	alongside(t)
	namespace := cluster(t).Namespace(t)
	path := rulesFile(t, namespace, `
apiVersion: dyncontroller.dev/v1alpha1
kind: RuleSet
metadata: {name: bound, namespace: NAMESPACE}
spec:
  serviceAccountName: poor
  resources: {configmaps: {version: v1, resource: configmaps}}
  rules:
  - {name: writes, watch: configmaps, actions: [{patch: {merge: {data: {a: b}}}}]}
`)
	create(t, configmaps, namespace, "{apiVersion: v1, kind: ConfigMap, metadata: {name: web}}")
	gone, _, _ := explain(t, namespace, path, "writes", "configmaps/web")
	if !strings.Contains(gone, "poor (forbidden)") {
		t.Errorf("nothing is said of the account that is not there:\n%s", gone)
	}
	create(t, serviceaccounts, namespace, "{apiVersion: v1, kind: ServiceAccount, metadata: {name: poor}}")
	stdout, stderr, code := explain(t, namespace, path, "writes", "configmaps/web")
	if code != 0 {
		t.Errorf("it ended with %d: %s", code, stderr)
	}
	for _, part := range []string{
		"acts as ServiceAccount " + namespace + "/poor\n",
		fmt.Sprintf("ServiceAccount %s/poor may not list configmaps in namespace %s (forbidden)\n", namespace, namespace),
		fmt.Sprintf("ServiceAccount %s/poor may not patch configmaps in namespace %s (forbidden)\n", namespace, namespace),
		"result  matched\n",
	} {
		if !strings.Contains(stdout, part) {
			t.Errorf("nothing is said of %q:\n%s", part, stdout)
		}
	}
}

// TestExplainSecrets holds that the value of a Secret is told nowhere, by none of the rules
// that have it go every way that it can.
func TestExplainSecrets(t *testing.T) {
	virtually(t, func(t *testing.T) {
		namespace := cluster(t).Namespace(t)
		create(t, secrets, namespace, canarySecret)
		create(t, configmaps, namespace, "{apiVersion: v1, kind: ConfigMap, metadata: {name: told, labels: {told: 'yes'}}, data: {copy: it is canary-in-a-mine}}")
		path := rulesFile(t, namespace, tellsSecrets+`
  - name: watches
    watch: secrets
    when: object.data?.password != nil && fromBase64(object.data.password) != "x" && object.metadata.name == "login"
    actions:
    - patch: {merge: {metadata: {annotations: {copy: "${fromBase64(object.data.password)}"}}, stringData: {more: "${object.data.key}"}}}
`)
		told := 0
		for _, rule := range []string{"copies", "fails", "unknown-field", "invalid-label", "audits", "fails-on-the-copy", "watches"} {
			object := "configmaps/told"
			if rule == "watches" {
				object = "secret/login"
			}
			for _, format := range []string{"tree", "json"} {
				stdout, stderr, _ := explain(t, namespace, path, rule, object, "-o", format)
				output := stdout + stderr
				tellsNone(t, fmt.Sprintf("explain %s as %s", rule, format), output)
				if !strings.Contains(output, rule) {
					t.Errorf("nothing is told of %s:\n%s", rule, output)
				}
				if strings.Contains(output, trace.Masked) {
					told++
				}
			}
		}
		for _, format := range []string{"tree", "json"} {
			stdout, stderr, _ := explain(t, namespace, path, "configmaps/told", "-o", format)
			tellsNone(t, "explain of all rules as "+format, stdout+stderr)
			if !strings.Contains(stdout, "copies") || strings.Contains(stdout, "watches (") || !strings.Contains(stdout, trace.Masked) {
				t.Errorf("of all rules it tells %s%s", stdout, stderr)
			}
		}
		if told < 10 {
			t.Errorf("of 14 explanations %d had something to mask", told)
		}
	})
}
