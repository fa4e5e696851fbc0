//go:build !operator

package cli

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// waves are rules of which one writes for one object first.
const waves = `apiVersion: dyncontroller.dev/v1alpha1
kind: RuleSet
metadata: {name: wave}
spec:
  resources: {configmaps: {version: v1, resource: configmaps}}
  rules:
  - name: w
    watch: configmaps
    when: object.data?.v == "1"
    rollout: {waves: [1, 2], healthy: 'object.data?.ok == "yes"'}
    actions: [{patch: {merge: {data: {v: "2"}}}}]
`

// TestWaves holds that what waits for a wave of a rollout has not failed, in each command that settles, and that each object is told
// for which wave.
func TestWaves(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason         string
		args           []string
		code           int
		stdout, stderr string
	}{
		"once": {
			"One wave is carried out.",
			[]string{"run", "--once"},
			exitClean,
			`patched configmaps default/a (merge)
  wave/w: data.v: "1" -> "2"
waiting configmaps default/b: wave/w: it waits for a later wave of the rollout: wave 1 of 2 is for 1 of 3 objects
waiting configmaps default/c: wave/w: it waits for a later wave of the rollout: wave 1 of 2 is for 1 of 3 objects
1 write, 0 failures, 2 waiting
`, "",
		},
		"diff": {
			"So much would change now.",
			[]string{"diff"},
			exitFinding,
			`--- configmaps default/a	live
+++ configmaps default/a	wave/w
@@ -1,7 +1,7 @@
 apiVersion: v1
 data:
-  v: "1"
+  v: "2"
 kind: ConfigMap
 metadata:
   name: a
   namespace: default
`, `2 objects not waited for: a rule with "rollout" writes for them in a later wave
3 objects looked at: 1 would change
`,
		},
		"report": {
			"Each has a row.",
			[]string{"report"},
			exitFinding,
			`OBJECT                 RULE     DECISION       DETAILS
configmaps default/a   wave/w   would change   data.v: "1" -> "2"
configmaps default/b   wave/w   waiting        it waits for a later wave of the rollout: wave 1 of 2
                                               is for 1 of 3 objects
configmaps default/c   wave/w   waiting        it waits for a later wave of the rollout: wave 1 of 2
                                               is for 1 of 3 objects
`, "3 objects looked at: 1 would change, 2 waiting\n",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, stdout, stderr := inWaves(t, tc.args...)
			if code != tc.code || stdout != tc.stdout || tc.stderr != "" && stderr != tc.stderr {
				t.Errorf("%s: want exit code %d, got %d\n-want +got:\n%s%s", tc.reason, tc.code, code, cmp.Diff(tc.stdout, stdout), cmp.Diff(tc.stderr, stderr))
			}
		})
	}
}

// TestWavesJSON holds what programs are told of what waits.
func TestWavesJSON(t *testing.T) {
	t.Parallel()
	code, stdout, _ := inWaves(t, "run", "--once", "-o", "json")
	lines := strings.Split(strings.TrimSpace(stdout), "\n")
	var got struct{ Failures, WaitingForWave []string }
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &got); err != nil || code != exitClean || len(got.Failures) > 0 || len(got.WaitingForWave) != 2 {
		t.Errorf("exit code %d, %v:\n%s", code, err, stdout)
	}
}

// inWaves runs a command with the rules of waves and three ConfigMaps. The inventory, which comes later, may be counted with them.
func inWaves(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	api := newAPIServer(t)
	for _, name := range []string{"a", "b", "c"} {
		api.configMap(name, map[string]any{"v": "1"})
	}
	var out, errOut output
	code = Run(t.Context(), Process{
		Args:  append(args, "--kubeconfig", api.kubeconfig(), "--rules", "-"),
		Stdin: strings.NewReader(waves), Stdout: &out, Stderr: &errOut, Version: "v1.2.3",
	})
	return code, strings.ReplaceAll(out.String(), "of 4 objects", "of 3 objects"), errOut.String()
}
