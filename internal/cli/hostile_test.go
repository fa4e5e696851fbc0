//go:build !operator

package cli

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/dyncontroller/dyncontroller/pkg/printable"
)

// hostile is a text that forges lines, speaks to a terminal, and to CI systems.
const hostile = "x\n0 writes, 0 failures\n::error file=a.yaml::pwned\r\n##[error]pwned\n##vso[task]pwned\x1b[31mred\x1b]0;title\x07\u009b2J\u202eabc\u2028def\u2066ghi\x7f"

// TestHostileText is of the texts of others in what commands show: the name of a file, the values of objects, the texts that
// rules make of them, what rules fail with. None begins a line, and none has a character that a terminal obeys.
func TestHostileText(t *testing.T) {
	folder := t.TempDir()
	t.Chdir(folder)
	quotedText := strconv.QuoteToASCII(hostile)
	replace(t, filepath.Join(folder, "pod.yaml"), `{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "namespace": "b", "annotations": {"note": `+
		quotedText+`}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}`)
	rulesOf := func(action string) string {
		return `
apiVersion: dyncontroller.dev/v1alpha1
kind: ClusterRuleSet
metadata: {name: h}
spec:
  description: ` + quotedText + `
  resources: {pods: {version: v1, resource: pods}}
  let:
    note: object.metadata.annotations.note ?? ""
  rules:
  - name: r
    watch: pods
    description: ` + quotedText + `
    when: note != ""
    actions:
    - ` + action + "\n"
	}
	for path, action := range map[string]string{
		"event.yaml":      `event: {reason: Noted, message: "${note}"}`,
		"patch.yaml":      `patch: {merge: {metadata: {annotations: {"copy": "${note}", "${note}": "x", long: "${note + note + note}"}}}}`,
		"fails.yaml":      `patch: {merge: {metadata: {annotations: {copy: "${int(note)}"}}}}`,
		"named.yaml":      `apply: {resource: pods, owned: false, manifest: {metadata: {name: "${note}"}}}`,
		"wrong.yaml":      `patch: {merge: {metadata: {annotations: {copy: "${nothing}"}}}}`,
		hostile + ".yaml": `patch: {merge: {metadata: {annotations: {copy: "${nothing}"}}}}`,
	} {
		replace(t, filepath.Join(folder, path), rulesOf(action))
		replace(t, filepath.Join(folder, "tests", path, "a_test.yaml"), `
apiVersion: dyncontroller.dev/v1alpha1
kind: RuleTest
metadata: {name: h}
spec:
  rules: [`+strconv.QuoteToASCII("../../"+path)+`]
  cases:
  - {name: good, objects: [../../pod.yaml], golden: golden.yaml}
  - {name: bad, objects: [../../pod.yaml], golden: bad.yaml}
`)
		replace(t, filepath.Join(folder, "tests", path, "bad.yaml"), "decisions: [{object: "+quotedText+", rule: "+quotedText+
			", outcome: matched, reason: "+quotedText+"}]\nwrites: []\nevents: [{"+quotedText+": "+quotedText+"}]\n")
		for _, args := range [][]string{
			{"test", filepath.Join("tests", path), "--update"},
			{"validate", path},
			{"validate", path, "-o", "json"},
			{"validate", path, "-o", "sarif"},
			{"validate", path, "-o", "github"},
			{"validate", "missing" + path},
			{"eval", "--rules", path, "--object", "pod.yaml"},
			{"eval", "--rules", path, "--object", "pod.yaml", "--color", "always"},
			{"eval", "--rules", path, "--object", "pod.yaml", "-o", "json"},
			{"eval", "--rules", path, "--object", "pod.yaml", "-o", "yaml"},
			{"eval", "--rules", path, "--object", "pod.yaml", "--for", "1d"},
			{"eval", "--rules", path, "--object", "pod.yaml", "--for", "1d", "-o", "json"},
			{"eval", "--expression", "object.metadata.annotations.note", "--object", "pod.yaml"},
			{"eval", "--expression", "int(object.metadata.annotations.note)", "--object", "pod.yaml"},
			{"eval", "--expression", hostile, "--object", "pod.yaml"},
			{"explain", "r", "pods/a", "-n", "b", "--rules", path, "--object", "pod.yaml"},
			{"explain", "--rules", path, "--object", "pod.yaml"},
			{"explain", hostile, "pods/a", "--rules", path, "--object", "pod.yaml"},
			{"graph", path, "-o", "dot"},
			{"graph", path, "-o", "mermaid"},
			{"rbac", path},
			{"rbac", path, "--service-account", hostile},
			{"test", filepath.Join("tests", path), "-v"},
			{"test", filepath.Join("tests", path), "-o", "json"},
			{"test", filepath.Join("tests", path), "-o", "junit"},
			{"init", "new" + path, "--object", "pod.yaml"},
			{"run", "--rules", path, "--kubeconfig", hostile},
			{"run", "--rules", path, "--context", hostile},
			{hostile},
			{"run", "--" + hostile},
			{"run", "--param", hostile, "--rules", path},
		} {
			_, stdout, stderr := invoke(t, args...)
			commands := strings.Join(args, " ") == "validate "+path+" -o github"
			if strings.Contains(strings.Join(args, " "), "always") {
				stdout = strings.NewReplacer(bold, "", red, "", green, "", cyan, "", reset, "").Replace(stdout)
			}
			for stream, text := range map[string]string{"stdout": stdout, "stderr": stderr} {
				for line := range strings.SplitSeq(text, "\n") {
					switch {
					case strings.ContainsFunc(line, func(r rune) bool { return r != '\t' && printable.Line(string(r)) != string(r) }):
						t.Errorf("%q: %s has a control character: %q", args, stream, line)
					case strings.HasPrefix(strings.TrimSpace(line), "::") && (!commands || stream != "stdout" || !strings.HasPrefix(line, "::error ") && !strings.HasPrefix(line, "::notice ")),
						strings.Contains(line, "##["), strings.Contains(line, "##vso["):
						t.Errorf("%q: %s has a command: %q", args, stream, line)
					case strings.HasPrefix(line, "0 writes"), strings.HasPrefix(strings.TrimSpace(line), "0 writes") && args[len(args)-1] != "yaml":
						t.Errorf("%q: %s has a forged line: %q\n%s", args, stream, line, text)
					}
				}
			}
		}
	}
	if _, err := os.Stat(filepath.Join(folder, "tests", "event.yaml", "golden.yaml")); err != nil {
		t.Error(err) // So the tests did run.
	}
}
