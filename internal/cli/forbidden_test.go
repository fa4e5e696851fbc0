package cli

import (
	"strings"
	"testing"
)

// TestForbidden holds that what may not be looked at is told as that, and never as if there were nothing.
func TestForbidden(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		args   []string
		code   int
		says   string
	}{
		"Diff":     {"A difference may be there.", []string{"diff", "--cache-sync-timeout=1s"}, exitUsage, "configmaps is forbidden: you cannot list them"},
		"DiffJSON": {"In no format.", []string{"diff", "--cache-sync-timeout=1s", "-o", "json"}, exitUsage, "configmaps is forbidden: you cannot list them"},
		"Explain":  {"The rule may match.", []string{"explain", "color", "configmaps/a", "--namespace", "default"}, exitInternal, "you may not get it"},
		"All":      {"Any of the rules may.", []string{"explain", "configmaps/a", "--namespace", "default"}, exitInternal, "you may not get it"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			api := newAPIServer(t)
			api.configMap("a", map[string]any{"color": "red"})
			api.set(func(a *apiServer) {
				a.unlisted, a.unreadable = true, map[string]string{"default/a": "configmaps is forbidden: you may not get it"}
			})
			code, stdout, stderr := invoke(t, append(tc.args, "--kubeconfig", api.kubeconfig(), "--rules", ruleFile(t, colors("blue")))...)
			if code != tc.code || !strings.Contains(stdout+stderr, tc.says) {
				t.Errorf("%s\nwant exit code %d and %q, have %d:\n%s%s", tc.reason, tc.code, tc.says, code, stdout, stderr)
			}
		})
	}
}
