package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dyncontroller/dyncontroller/internal/cli"
)

const recordedRules = `
apiVersion: dyncontroller.dev/v1alpha1
kind: RuleSet
metadata: {name: recorded, namespace: NAMESPACE}
spec:
  resources:
    configmaps: {version: v1, resource: configmaps, labelSelector: watched}
    others: {version: v1, resource: configmaps}
    secrets: {version: v1, resource: secrets}
  rules:
  - name: copy
    watch: configmaps
    with:
      login: {resource: secrets, name: login}
      copied: {resource: others, name: copied}
    when: fromBase64(login?.data?.password ?? '') == copied?.data?.password
    actions: [{patch: {merge: {data: {state: equal}}}}]
`

// TestRecord holds that what rules decide in a cluster is what they decide in the test that is made of it, and that no
// value of a Secret is in the test.
func TestRecord(t *testing.T) {
	virtually(t, func(t *testing.T) {
		namespace := cluster(t).Namespace(t)
		path := rulesFile(t, namespace, recordedRules)
		create(t, configmaps, namespace, "{apiVersion: v1, kind: ConfigMap, metadata: {name: web, labels: {watched: x}}}")
		create(t, configmaps, namespace, "{apiVersion: v1, kind: ConfigMap, metadata: {name: copied}, data: {password: hunter2-hunter2}}")
		create(t, secrets, namespace, "{apiVersion: v1, kind: Secret, metadata: {name: login}, data: {password: aHVudGVyMi1odW50ZXIy}}")
		directory := t.TempDir()
		stdout, stderr, code := onCluster(t, namespace, "record", "configmaps/web", "--rules", path, "--directory", directory)
		if code != 0 || !strings.Contains(stdout, "1 passed, 0 failed, 0 in error") {
			t.Fatalf("it ended with %d:\n%s%s", code, stdout, stderr)
		}
		written := map[string]string{}
		err := filepath.WalkDir(directory, func(path string, entry os.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			data, err := os.ReadFile(path)
			written[strings.TrimPrefix(path, directory+"/")] = string(data)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if related := written["fixtures/configmaps-web-related.yaml"]; !strings.Contains(related, "name: copied") || !strings.Contains(related, "name: login") {
			t.Errorf("what the rules have read is not there: %v", written)
		}
		if golden := written["golden/as-recorded-of-configmaps-web.yaml"]; !strings.Contains(golden, "outcome: matched") || !strings.Contains(golden, "state: equal") {
			t.Errorf("the decision is another one:\n%s", golden)
		}
		for name, text := range written {
			if strings.Contains(text, "hunter2") || strings.Contains(text, "aHVudGVy") {
				t.Errorf("%s tells a value of a Secret:\n%s", name, text)
			}
		}
		for object, says := range map[string]string{"configmaps/nobody": "there is no configmaps", "pods/web": "there is no pods", "ns/" + namespace: "no rule watches namespaces"} {
			if _, stderr, code := onCluster(t, namespace, "record", object, "--rules", path, "--directory", t.TempDir()); code != 2 || !strings.Contains(stderr, says) {
				t.Errorf("of %s it ended with %d: %s", object, code, stderr)
			}
		}
	})
}

// TestRecordUnanswered holds that what the API server does not answer is not recorded as absent.
func TestRecordUnanswered(t *testing.T) {
	virtually(t, func(t *testing.T) {
		namespace := cluster(t).Namespace(t)
		path := rulesFile(t, namespace, strings.NewReplacer(
			"secrets: {version: v1, resource: secrets}", "secrets: {group: nobody.example.com, version: v1, resource: logins}", "fromBase64", "string",
		).Replace(recordedRules))
		create(t, configmaps, namespace, "{apiVersion: v1, kind: ConfigMap, metadata: {name: web, labels: {watched: x}}}")
		directory := t.TempDir()
		_, stderr, code := onCluster(t, namespace, "record", "configmaps/web", "--rules", path, "--directory", directory)
		if code != 3 || !strings.Contains(stderr, "what rules read of the cluster cannot be recorded: ") {
			t.Errorf("it ended with %d: %s", code, stderr)
		}
		if written, err := os.ReadDir(directory); err != nil || len(written) > 0 {
			t.Errorf("it wrote %v, %v", written, err)
		}
	})
}

// TestInitLive holds that rules can begin with an object of a cluster, and the CRD that it has.
func TestInitLive(t *testing.T) {
	alongside(t)
	namespace := cluster(t).Namespace(t)
	create(t, tidbclusters, namespace, "{apiVersion: pingcap.com/v1alpha1, kind: TidbCluster, metadata: {name: basic}, spec: {pd: {replicas: 3, baseImage: pd}}}")
	other := cluster(t).Namespace(t)
	create(t, tidbclusters, other, "{apiVersion: pingcap.com/v1alpha1, kind: TidbCluster, metadata: {name: elsewhere}, spec: {}}")
	directory := t.TempDir()
	stdout, stderr, code := onCluster(t, namespace, "init", directory, "tc/basic")
	if code != 0 || !strings.Contains(stdout, "1 passed, 0 failed, 0 in error") {
		t.Fatalf("it ended with %d:\n%s%s", code, stdout, stderr)
	}
	for path, says := range map[string]string{"crds/tidbclusters.yaml": "kind: CustomResourceDefinition", "fixtures/basic.yaml": "replicas: 3", "tidbclusters.yaml": "object.spec has "} {
		if data, err := os.ReadFile(filepath.Join(directory, path)); err != nil || !strings.Contains(string(data), says) {
			t.Errorf("%s does not have %q: %v\n%s", path, says, err, data)
		}
	}
	if stdout, stderr, code := onCluster(t, namespace, "init", t.TempDir(), "tc"); code != 0 || !strings.Contains(stdout, "fixtures/basic.yaml") {
		t.Errorf("of the first object it ended with %d: %s%s", code, stdout, stderr)
	}
	for object, says := range map[string]string{
		"tc/nobody":    "there is no tidbclusters " + namespace + "/nobody in the cluster\n",
		"tc/elsewhere": "/elsewhere in the cluster; there is one in " + other + ": add -n " + other + "\n",
		"deployments":  "there are no deployments.v1.apps in the namespace " + namespace + "; say with -n in which one there are\n",
	} {
		if _, stderr, code := onCluster(t, namespace, "init", t.TempDir(), object); code != 2 || !strings.Contains(stderr, says) {
			t.Errorf("of %s it ended with %d: %s", object, code, stderr)
		}
	}
}

// onCluster runs a command on the test's cluster.
func onCluster(t *testing.T, namespace string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	out, errOut := &buffer{}, &buffer{}
	args = append(args, "--kubeconfig", cluster(t).Kubeconfig(), "--namespace", namespace)
	code = cli.Run(t.Context(), cli.Process{Args: args, Stdin: strings.NewReader(""), Stdout: out, Stderr: errOut, Version: "test", Transport: transport(t)})
	return out.String(), errOut.String(), code
}
