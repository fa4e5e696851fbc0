package e2e

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// builtinManifests are manifests of built-in kinds that the API server stores in another way: it adds defaults to what is owned as a
// whole, and nobody owns an empty list that is merged.
const builtinManifests = `
statefulsets apps/v1: {spec: {replicas: 0, serviceName: x, selector: {matchLabels: {app: x}}, template: {metadata: {labels: {app: x}}, spec: {initContainers: [], containers: [{name: a, image: a, env: [], ports: [], volumeMounts: []}]}}, volumeClaimTemplates: [{metadata: {name: www}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1024Mi}}}}]}}
deployments apps/v1: {spec: {replicas: 0, selector: {matchLabels: {app: x}}, template: {metadata: {labels: {app: x}, annotations: {}}, spec: {initContainers: [], volumes: [{name: v, emptyDir: {}}], tolerations: [], imagePullSecrets: [], nodeSelector: {}, securityContext: {}, containers: [{name: a, image: a, args: [], resources: {}, ports: [], env: [{name: A, value: ""}]}]}}}}
services v1: {metadata: {annotations: {}, labels: {}, finalizers: []}, spec: {selector: {app: x}, ports: [{port: 80}], externalIPs: [], sessionAffinity: None}}
configmaps v1: {data: {}, binaryData: {}}
serviceaccounts v1: {secrets: [], imagePullSecrets: []}
roles rbac.authorization.k8s.io/v1: {rules: []}
networkpolicies networking.k8s.io/v1: {spec: {podSelector: {}, ingress: [], egress: [], policyTypes: [Ingress]}}
poddisruptionbudgets policy/v1: {spec: {minAvailable: 1, selector: {matchLabels: {}, matchExpressions: []}}}
cronjobs batch/v1: {spec: {schedule: "* * * * *", suspend: true, jobTemplate: {spec: {template: {spec: {restartPolicy: Never, initContainers: [], containers: [{name: a, image: a}]}}}}}}
persistentvolumeclaims v1: {spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1024Mi}}}}
`

// TestAppliedOnce holds that what was applied once is not applied again by a process that remembers nothing, however the API server
// stores it.
func TestAppliedOnce(t *testing.T) {
	alongside(t)
	namespace := cluster(t).Namespace(t)
	tidbCluster(t, namespace, "db", "")
	for line := range strings.Lines(strings.TrimSpace(builtinManifests)) {
		head, manifest, _ := strings.Cut(strings.TrimSpace(line), ": ")
		resource, version, _ := strings.Cut(head, " ")
		t.Run(resource, func(t *testing.T) {
			group, version := "", version
			if before, after, found := strings.Cut(version, "/"); found {
				group, version = "group: "+before+", ", after
			}
			if !strings.Contains(manifest, "metadata: {annotations: {}, labels") {
				manifest = strings.Replace(manifest, "{", "{metadata: {name: x}, ", 1)
			} else {
				manifest = strings.Replace(manifest, "metadata: {", "metadata: {name: x, ", 1)
			}
			args := []string{"--namespace", namespace, "--instance", namespace + "-" + resource, "--rules", rulesFile(t, namespace, `
apiVersion: dyncontroller.dev/v1alpha1
kind: RuleSet
metadata: {name: `+resource+`, namespace: NAMESPACE}
spec:
  resources:
    tidbclusters: {group: pingcap.com, version: v1alpha1, resource: tidbclusters}
    made: {`+group+`version: `+version+`, resource: `+resource+`}
  rules:
  - {name: a, watch: tidbclusters, actions: [{apply: {resource: made, manifest: `+manifest+`}}]}
`), "--allow-sensitive=rbac"}
			if output, code := once(t, args...); code != 0 || !strings.Contains(output, "1 write,") {
				t.Fatalf("it ended with %d:\n%s", code, output)
			}
			if output, code := once(t, args...); code != 0 || !strings.Contains(output, "0 writes") || strings.Contains(output, "nothing changed") {
				t.Errorf("a second process ended with %d:\n%s", code, output)
			}
		})
	}
}

// TestEmptyListBesideOthers holds that an empty list that is merged is not applied again where another manager has elements in it: they are
// that manager's, and the list is nobody's.
func TestEmptyListBesideOthers(t *testing.T) {
	alongside(t)
	namespace := cluster(t).Namespace(t)
	tidbCluster(t, namespace, "db", "")
	args := []string{"--namespace", namespace, "--instance", namespace, "--rules", rulesFile(t, namespace, `
apiVersion: dyncontroller.dev/v1alpha1
kind: RuleSet
metadata: {name: made, namespace: NAMESPACE}
spec:
  resources:
    tidbclusters: {group: pingcap.com, version: v1alpha1, resource: tidbclusters}
    deployments: {group: apps, version: v1, resource: deployments}
  rules:
  - name: a
    watch: tidbclusters
    actions:
    - apply:
        resource: deployments
        manifest:
          metadata: {name: x, finalizers: []}
          spec:
            replicas: 0
            selector: {matchLabels: {app: x}}
            template: {metadata: {labels: {app: x}}, spec: {initContainers: [], containers: [{name: a, image: a}]}}
`)}
	if output, code := once(t, args...); code != 0 || !strings.Contains(output, "1 write,") {
		t.Fatalf("it ended with %d:\n%s", code, output)
	}
	const injected = `{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "x", "finalizers": ["example.com/mesh"]},
		"spec": {"template": {"spec": {"initContainers": [{"name": "mesh", "image": "mesh"}]}}}}`
	deployments := client(t).Resource(deployments).Namespace(namespace)
	if _, err := deployments.Patch(t.Context(), "x", types.ApplyPatchType, []byte(injected), metav1.PatchOptions{FieldManager: "mesh"}); err != nil {
		t.Fatal(err)
	}
	if output, code := once(t, args...); code != 0 || !strings.Contains(output, "0 writes") || strings.Contains(output, "nothing changed") {
		t.Errorf("a second process ended with %d:\n%s", code, output)
	}
	there, err := deployments.Get(t.Context(), "x", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if list, _, _ := unstructured.NestedSlice(there.Object, "spec", "template", "spec", "initContainers"); len(list) != 1 {
		t.Errorf("it has %v", list)
	}
}
