package e2e

import (
	"slices"
	"strings"
	"testing"

	"github.com/dyncontroller/dyncontroller/pkg/api/v1alpha1"
)

// TestCompletion holds what a shell is offered that only a cluster knows, and that nothing is offered, and nothing said, where it cannot be asked.
func TestCompletion(t *testing.T) {
	alongside(t)
	installOwnCRDs(t)
	namespace := cluster(t).Namespace(t)
	create(t, configmaps, namespace, "{apiVersion: v1, kind: ConfigMap, metadata: {name: web}}")
	keep(t, v1alpha1.RuleSets(), namespace, decode(t, `{apiVersion: dyncontroller.dev/v1alpha1, kind: RuleSet, metadata: {name: quiet}, spec: {
		serviceAccountName: rules, resources: {maps: {version: v1, resource: configmaps}}, rules: [{name: first, watch: maps, actions: [{event: {reason: A, message: a}}]}]}}`))
	for name, tc := range map[string]struct {
		args   []string
		offers string
	}{
		"Context":   {[]string{"diff", "--context", ""}, "cluster"},
		"Namespace": {[]string{"run", "--namespace", ""}, namespace},
		"Resource":  {[]string{"explain", "rule", ""}, "configmaps/"},
		"Object":    {[]string{"explain", "rule", "--namespace", namespace, "cm/"}, "cm/web"},
		"Recorded":  {[]string{"record", "--namespace", namespace, "configmaps/"}, "configmaps/web"},
		"Begun":     {[]string{"init", "rules", "--namespace", namespace, "configmaps/"}, "configmaps/web"},
		"Set":       {[]string{"status", "--namespace", namespace, ""}, "quiet"},
		"Rule":      {[]string{"suspend", "--namespace", namespace, ""}, "quiet/first"},
	} {
		t.Run(name, func(t *testing.T) {
			for kubeconfig, offered := range map[string]bool{cluster(t).Kubeconfig(): true, t.TempDir() + "/none": false} {
				args := append([]string{"__complete", tc.args[0], "--kubeconfig", kubeconfig}, tc.args[1:]...)
				stdout, stderr, code := command(t, args...)
				if got := slices.Contains(strings.Split(stdout, "\n"), tc.offers); got != offered || code != 0 {
					t.Errorf("with %s it ends with %d and offers\n%s%s", kubeconfig, code, stdout, stderr)
				}
			}
		})
	}
}
