package e2e

import (
	"fmt"
	"strings"
	"testing"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/internal/cli"
	"github.com/dyncontroller/dyncontroller/internal/discovery"
)

// command runs a command that ends by itself.
func command(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, errOut buffer
	code = cli.Run(t.Context(), cli.Process{Args: args, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errOut, Version: "test", Transport: transport(t)})
	return out.String(), errOut.String(), code
}

// described waits until the API server describes a resource, which it does a moment
// after it serves it.
func described(t *testing.T, gvr apischema.GroupVersionResource) {
	t.Helper()
	asked, err := discovery.NewClient(cluster(t).RESTConfig())
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, gvr.String()+" is described", func() bool {
		said, err := discovery.Ask(t.Context(), asked, []apischema.GroupVersionResource{gvr})
		return err == nil && said.Resource(gvr) != nil && said.Resource(gvr).Type.Known()
	})
}

// about is a rule set with one rule.
func about(kind, resource, rule string) string {
	return fmt.Sprintf(`apiVersion: dyncontroller.dev/v1alpha1
kind: %s
metadata: {name: typed}
spec:
  resources: {them: %s}
  rules:
  - name: one
    watch: them
    %s
`, kind, resource, strings.ReplaceAll(rule, "\n", "\n    "))
}

const seen = "actions: [{event: {reason: Seen, message: hello}}]"

// TestValidateAsksCluster holds that what a cluster serves is what rules are checked
// against: the real TidbCluster CRD, and what can be done with its resources.
func TestValidateAsksCluster(t *testing.T) {
	alongside(t)
	described(t, tidbclusters)
	const tidb = "{group: pingcap.com, version: v1alpha1, resource: tidbclusters}"
	for name, tc := range map[string]struct {
		reason string
		kind   string // default: RuleSet
		in     string // default: tidb
		rule   string
		want   []string // none: right, and nothing to be said
	}{
		"right": {
			reason: "A rule that an expert would write.",
			rule:   "when: (object.spec.pd?.replicas ?? 0) > 1 || (object.spec.tikv?.replicas ?? 0) in 1..2\nactions: [{patch: {merge: {spec: {pd: {replicas: 3}, version: v8.5.5}}}}]",
		},
		"misspelt in an expression": {
			reason: "The field is looked up in the CRD.",
			rule:   "when: (object.spec.pd?.replcas ?? 0) > 1\n" + seen,
			want:   []string{`rules.yaml:9:28: `, `no field "replcas"`, `did you mean object.spec.pd.replicas?`},
		},
		"misspelt in a patch": {
			reason: "So is what is written.",
			rule:   "actions: [{patch: {merge: {spec: {tikv: {replcas: 3}}}}}]",
			want:   []string{`unknown field "replcas"`, `did you mean "replicas"?`},
		},
		"wrong type": {
			reason: "And its type.",
			rule:   `actions: [{patch: {merge: {spec: {pd: {replicas: "3"}}}}}]`,
			want:   []string{"want an integer, have a string"},
		},
		"wrong type far below": {
			reason: "Wherever it is.",
			rule:   `actions: [{patch: {merge: {spec: {tlsCluster: {enabled: "yes"}}}}}]`,
			want:   []string{"want a boolean, have a string"},
		},
		"may be absent": {
			reason: "The CRD does not require it.",
			rule:   "when: object.spec.pd.replicas > 1\n" + seen,
			want:   []string{"object.spec.pd may be absent"},
		},
		"no such resource": {
			reason: "The cluster knows all that it serves.",
			in:     "{group: pingcap.com, version: v1alpha1, resource: tidbcluster}", rule: seen,
			want: []string{"there is no resource tidbcluster.v1alpha1.pingcap.com", "write resource: tidbclusters"},
		},
		"no such version": {
			reason: "In which versions, too.",
			in:     "{group: pingcap.com, version: v1, resource: tidbclusters}", rule: seen,
			want: []string{"write version: v1alpha1"},
		},
		"no status subresource": {
			reason: "The CRD has none.",
			rule:   "actions: [{patch: {subresource: scale, merge: {spec: {replicas: 3}}}}]",
			want:   []string{"scale"},
		},
		"status without its subresource": {
			reason: "The API server would drop it.",
			in:     "{group: pingcap.com, version: v1alpha1, resource: tidbdashboards}",
			rule:   "actions: [{patch: {merge: {status: {phase: Normal}}}}]",
			want:   []string{"subresource: status"},
		},
		"status with it": {
			reason: "As it is meant.",
			in:     "{group: pingcap.com, version: v1alpha1, resource: tidbdashboards}",
			rule:   "actions: [{patch: {subresource: status, merge: {status: {phase: Normal}}}}]",
		},
		"cluster-scoped": {
			reason: "A RuleSet cannot see it.",
			in:     "{version: v1, resource: nodes}", rule: seen,
			want: []string{"nodes are cluster-scoped"},
		},
		"cluster-scoped in a ClusterRuleSet": {
			reason: "A ClusterRuleSet can.", kind: "ClusterRuleSet",
			in: "{version: v1, resource: nodes}", rule: seen,
		},
		"cannot be watched": {
			reason: "It can only be created.",
			in:     "{version: v1, resource: bindings}", rule: seen,
			want: []string{"bindings cannot be listed or watched"},
		},
		"aggregated": {
			reason: "A built-in resource that is an object of its own, with a schema.", kind: "ClusterRuleSet",
			in:   "{group: apiregistration.k8s.io, version: v1, resource: apiservices}",
			rule: "when: object.spec.grup == nil\n" + seen,
			want: []string{`did you mean object.spec.group?`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if tc.kind == "" {
				tc.kind = "RuleSet"
			}
			if tc.in == "" {
				tc.in = tidb
			}
			path := rulesFile(t, "", about(tc.kind, tc.in, tc.rule))
			stdout, stderr, code := command(t, "validate", path, "--kubeconfig", cluster(t).Kubeconfig())
			if len(tc.want) == 0 && (code != 0 || stdout != "valid: 1 rule\n") || len(tc.want) > 0 && code != 1 || stderr != "" {
				t.Errorf("%s ended with %d:\n%s%s", tc.reason, code, stdout, stderr)
			}
			for _, want := range tc.want {
				if !strings.Contains(stdout, want) {
					t.Errorf("%s want %q, got:\n%s", tc.reason, want, stdout)
				}
			}
		})
	}
}

// TestRunChecks holds that a type mistake keeps run from starting, and a reload from
// taking effect, as any other mistake does.
func TestRunChecks(t *testing.T) {
	virtually(t, func(t *testing.T) {
		described(t, tidbclusters)
		namespace := cluster(t).Namespace(t)
		create(t, tidbclusters, namespace, fmt.Sprintf(broken, "basic"))
		wrong := strings.Replace(guardrails, "object.spec.tikv?.replicas", "object.spec.tikv?.replcas", 1)
		before := requests(t)
		output, code := once(t, "--rules", rulesFile(t, namespace, wrong))
		if code != 1 || !strings.Contains(output, "did you mean object.spec.tikv.replicas?") {
			t.Errorf("--once ended with %d:\n%s", code, output)
		}
		p := start(t, "--rules", rulesFile(t, namespace, wrong))
		<-p.done
		if p.code != 1 || !strings.Contains(p.output.String(), "did you mean object.spec.tikv.replicas?") {
			t.Errorf("it started, or ended with %d", p.code)
		}
		if writes := ours(requests(t).Since(before)); len(writes) > 0 {
			t.Errorf("writes were sent:\n%s", writes)
		}

		path := rulesFile(t, namespace, guardrails)
		p = start(t, "--rules", path)
		eventually(t, "it is repaired", func() bool { return repaired(t, namespace, "basic") == "" })
		writeFile(t, path, strings.ReplaceAll(wrong, "NAMESPACE", namespace))
		eventually(t, "the mistake is logged", func() bool {
			return strings.Contains(p.output.String(), "those from before stay in effect") && strings.Contains(p.output.String(), "replcas")
		})
		create(t, tidbclusters, namespace, fmt.Sprintf(broken, "other"))
		eventually(t, "the rules from before act", func() bool { return repaired(t, namespace, "other") == "" })
	})
}
