package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dyncontroller/dyncontroller/internal/cli"
)

// reported runs report on the test's cluster.
func reported(t *testing.T, path string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, errOut buffer
	code = cli.Run(t.Context(), cli.Process{
		Args:  append([]string{"report", "--kubeconfig", cluster(t).Kubeconfig(), "--rules", path}, args...),
		Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errOut, Version: "test", Transport: transport(t),
	})
	return out.String(), errOut.String(), code
}

// TestReport holds that the API server takes the Reports, that no format tells a value of a Secret, and that nothing is written.
func TestReport(t *testing.T) {
	alongside(t)
	namespace := cluster(t).Namespace(t)
	create(t, secrets, namespace, canarySecret)
	told := create(t, configmaps, namespace, "{apiVersion: v1, kind: ConfigMap, metadata: {name: told, labels: {told: 'yes'}}, data: {copy: it is canary-in-a-mine}}")
	path := rulesFile(t, namespace, tellsSecrets)
	reports := ""
	for _, format := range []string{"table", "json", "openreports"} {
		stdout, stderr, code := reported(t, path, "-o", format, "--all")
		tellsNone(t, "report as "+format, stdout+stderr)
		masks := format == "table" || strings.Contains(stdout, "(masked)") // The table may cut it.
		if code != 1 || !masks {
			t.Errorf("as %s it ends with %d, want 1 and something that is masked:\n%s%s", format, code, stdout, stderr)
		}
		reports = stdout
	}
	if now := get(t, configmaps, namespace, "told"); now.GetResourceVersion() != told.GetResourceVersion() {
		t.Errorf("something was written: %v", now.Object)
	}
	crds, err := filepath.Abs("../../internal/cli/testdata/openreports.yaml")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "reports.yaml")
	if err := os.WriteFile(file, []byte(reports), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := controlPlane(t).Kubectl(t.Context(), "apply", "-f", crds); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if out, err := controlPlane(t).Kubectl(t.Context(), "wait", "--for=condition=Established", "--timeout=60s", "crd/reports.openreports.io"); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	eventually(t, "the API server takes the reports", func() bool {
		_, err := controlPlane(t).Kubectl(t.Context(), "apply", "--server-side", "-f", file)
		return err == nil
	})
	out, err := controlPlane(t).Kubectl(t.Context(), "get", "report/dyncontroller", "--namespace", namespace, "-o", "jsonpath={.source} {.summary}")
	if err != nil || !strings.HasPrefix(out, "dyncontroller {") || strings.Contains(out, `"fail":0`) {
		t.Errorf("the report is %s: %v", out, err)
	}
}
