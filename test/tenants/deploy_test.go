package tenants

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/dyncontroller/dyncontroller/test/corpus"
	"github.com/dyncontroller/dyncontroller/test/virtual"
)

const (
	system = "dyncontroller-system"
	itself = "system:serviceaccount:dyncontroller-system:dyncontroller"
)

var deployments = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}

// TestDeploy holds that deploy/ is all that it takes: with the rights there, and no others,
// two replicas do everything there is to do for sets; none of the rights is one too many.
func TestDeploy(t *testing.T) {
	t.Parallel()
	on := deployed(t)
	first := replica(t, on)
	says := func(p *process, message string) {
		t.Helper()
		eventually(t, message, func() bool { return strings.Contains(p.output.String(), `"msg":"`+message+`"`) })
	}
	says(first, "leading")
	scraped(t, on, first)
	second := replica(t, on)
	says(second, "waiting for the lease")

	namespace := on.Namespace(t)
	tenant(t, on, namespace)
	misspelt(t, on, namespace)
	served(t, on, namespace)
	first.stop(t)
	says(second, "leading")
	deleted(t, on, namespace)
	kubectl(t, on, "delete", "clusterruleset", "painter", "--timeout=2m")
	for _, r := range requests(t, time.Time{}) {
		if r.as() == itself && r.ResponseStatus.Code == http.StatusForbidden {
			t.Errorf("the controller may not %s %s", r.Verb, r.RequestURI)
		}
	}

	pausedTwice(t, on)
	unimpersonated(t, on)
	undefined(t, on)
	abandoned(t, on, namespace)
	unused(t, granted(t, on))
	uninstalled(t, on)
}

// bare is a control plane of its own, with an audit log and nothing of ours.
func bare(t *testing.T) *plane {
	t.Helper()
	on, err := audited(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := on.Stop(); err != nil {
			t.Error(err)
		}
	})
	planes.Use(t, on)
	return on
}

// deployed is one with all of deploy/base.
func deployed(t *testing.T) *plane {
	t.Helper()
	on := bare(t)
	kubectl(t, on, "apply", "-k", "../../deploy/base")
	kubectl(t, on, "wait", "--for=condition=Established", "--timeout=1m", "crd/rulesets.dyncontroller.dev", "crd/clusterrulesets.dyncontroller.dev")
	kubectl(t, on, "apply", "--dry-run=server", "-k", "../../deploy/base")
	// What the chart can install besides, with the CRDs of the Prometheus operator.
	kubectl(t, on, "apply", "--server-side", "-f", monitors(t))
	kubectl(t, on, "wait", "--for=condition=Established", "--timeout=1m", "crd", "--all")
	kubectl(t, on, "apply", "--server-side", "--force-conflicts", "--dry-run=server", "-f", "../chart/testdata/everything.yaml")
	// The namespace admits restricted Pods alone, and there is nothing to run them.
	eventually(t, "the Pods of the Deployment", func() bool { return len(items(t, on, pods, system)) == 2 })
	return on
}

// monitors is a file with the CRDs of ServiceMonitors and PrometheusRules.
func monitors(t *testing.T) string {
	t.Helper()
	projects := corpus.Projects()
	project := projects[slices.IndexFunc(projects, func(p corpus.Project) bool { return p.Name == "prometheus-operator" })]
	files, err := corpus.Files(t.Context(), project)
	if err != nil {
		t.Fatal(err)
	}
	var out []byte
	for _, file := range files {
		if strings.Contains(file.Name, "_servicemonitors.") || strings.Contains(file.Name, "_prometheusrules.") {
			out = append(append(out, "\n---\n"...), file.Data...)
		}
	}
	name := filepath.Join(t.TempDir(), "monitors.yaml")
	if err := os.WriteFile(name, out, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func items(t *testing.T, on virtual.Cluster, gvr schema.GroupVersionResource, namespace string) []unstructured.Unstructured {
	t.Helper()
	list, err := client(t, on).Resource(gvr).Namespace(namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return list.Items
}

// replica runs what a Pod of the Deployment does, with a token of its ServiceAccount.
func replica(t *testing.T, on *plane) *process {
	t.Helper()
	return replicaOf(t, on, command(t))
}

// replicaOf does the same with a program.
func replicaOf(t *testing.T, on *plane, program *exec.Cmd) *process {
	t.Helper()
	containers, _ := field(get(t, on, deployments, system, "dyncontroller"), "spec", "template", "spec", "containers").([]any)
	container, _ := containers[0].(map[string]any)
	words, _ := container["args"].([]any)
	for _, word := range words {
		program.Args = append(program.Args, word.(string))
	}
	variables, _ := container["env"].([]any)
	for _, variable := range variables {
		of, _ := variable.(map[string]any)
		program.Env = append(program.Env, fmt.Sprintf("%v=%v", of["name"], of["value"]))
	}
	program.Args = append(program.Args, "--kubeconfig", credentials(t, on), "--metrics-bind-address", ":0", "--health-probe-bind-address", "0")
	p := run(t, program)
	t.Cleanup(func() {
		p.stop(t)
		if t.Failed() {
			t.Log(p.output)
		}
	})
	return p
}

// credentials is a kubeconfig with nothing but a token of the controller.
func credentials(t *testing.T, on *plane) string {
	t.Helper()
	config := on.RESTConfig()
	token := strings.TrimSpace(kubectl(t, on, "create", "token", "dyncontroller", "-n", system, "--duration=1h"))
	path := filepath.Join(t.TempDir(), "kubeconfig")
	err := clientcmd.WriteToFile(clientcmdapi.Config{
		Clusters:       map[string]*clientcmdapi.Cluster{"it": {Server: config.Host, CertificateAuthority: config.CAFile, CertificateAuthorityData: config.CAData}},
		AuthInfos:      map[string]*clientcmdapi.AuthInfo{"it": {Token: token}},
		Contexts:       map[string]*clientcmdapi.Context{"it": {Cluster: "it", AuthInfo: "it", Namespace: system}},
		CurrentContext: "it",
	}, path)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// tenant is what an administrator does for a namespace, and what its sets need.
func tenant(t *testing.T, on *plane, namespace string) {
	t.Helper()
	account(t, on, namespace, "rules", janitor...)
	kubectl(t, on, "apply", "-n", namespace, "-f", "../../deploy/tenant")
}

// served puts a RuleSet and a ClusterRuleSet to work that leave all they can leave.
func served(t *testing.T, on *plane, namespace string) {
	t.Helper()
	kubectl(t, on, "create", "clusterrole", "painter", "--verb=get,list,watch,patch", "--resource=configmaps")
	kubectl(t, on, "create", "clusterrolebinding", "painter", "--clusterrole=painter", "--serviceaccount="+namespace+":rules")
	apply(t, on, namespace, strings.Replace(source, "NAME,", "a,", 1))
	apply(t, on, namespace, strings.Replace(keeper, "serviceAccountName: bot", "serviceAccountName: rules", 1))
	apply(t, on, namespace, `apiVersion: dyncontroller.dev/v1alpha1
kind: ClusterRuleSet
metadata: {name: painter}
spec:
  serviceAccountName: rules
  serviceAccountNamespace: NAMESPACE
  resources:
    configmaps: {version: v1, resource: configmaps, labelSelector: role=child}
  rules:
  - name: paint
    watch: configmaps
    actions:
    - patch: {apply: {data: {painted: "yes"}}}
`)
	kubectl(t, on, "wait", "--for=condition=Ready", "--timeout=2m", "-n", namespace, "ruleset/keeper", "clusterruleset/painter")
	eventually(t, "the sets have left all", func() bool {
		return traces(t, on, namespace) == allTraces && field(get(t, on, configmaps, namespace, "a-child"), "data", "painted") == "yes"
	})
}

// misspelt holds that the API server refuses a set with fields that there are not, wherever they are, and names them. A set from before
// the policy can be labelled and deleted, and only its spec is refused.
func misspelt(t *testing.T, on *plane, namespace string) {
	t.Helper()
	const wrong = `apiVersion: dyncontroller.dev/v1alpha1
kind: KIND
metadata: {name: NAME, namespace: NAMESPACE}
spec:
  serviceAccountName: rules
  sspend: true
  params: {any: {thing: 1}}
  let: {any: "1"}
  resources: {configmaps: {version: v1, resource: configmaps, labelSelectr: a=b}, secrets: {group: "", version: v1, resource: secrets}}
  rules:
  - name: first
    watch: configmaps
    whn: "true"
    let: {any: "2"}
    with: {other: {resource: configmaps, nme: b}}
    limits: {maxObjects: 5, pre: 10m}
    rollout: {waves: [1], healthy: "true", sok: 10m}
    onDelete: {actions: [{delete: {target: other, propagation: Orphan}, evnt: {}}], hld: true}
    actions:
    - patch: {merge: {data: {any: thing}}, restor: true}
      For: each
    - event: {reason: A, message: b, typ: Warning}
    - create: {in: configmaps, manifest: {any: thing}, owner: false}
    - apply: {resource: configmaps, manifest: {any: thing}, purne: true}
  - {name: second, watch: configmaps, fro: 5m, when: null, actions: [{event: {reason: A, message: a}}]}
`
	unknown := "unknown fields: " + strings.Join([]string{
		"spec.sspend", "spec.resources.configmaps.labelSelectr", "spec.rules[first].whn", "spec.rules[first].actions[].For",
		"spec.rules[first].actions[].patch.restor", "spec.rules[first].actions[].event.typ", "spec.rules[first].actions[].create.owner",
		"spec.rules[first].actions[].apply.purne", "spec.rules[first].limits.pre", "spec.rules[first].onDelete.hld",
		"spec.rules[first].onDelete.actions[].evnt", "spec.rules[first].onDelete.actions[].delete.propagation", "spec.rules[first].rollout.sok",
		"spec.rules[first].with.other.nme", "spec.rules[second].fro",
	}, ", ") + "; dyncontroller validate tells what may be meant"
	apply := func(kind, name string, flags ...string) (string, error) {
		text := strings.NewReplacer("KIND", kind, "NAMESPACE", namespace, "NAME", name).Replace(wrong)
		if kind == "ClusterRuleSet" {
			text = strings.Replace(text, "sspend:", "serviceAccountNamespace: "+namespace+"\n  sspend:", 1)
		}
		file := filepath.Join(t.TempDir(), name+".yaml")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return on.Kubectl(t.Context(), append([]string{"apply", "--server-side", "-f", file}, flags...)...)
	}
	const policy = "validatingadmissionpolicybinding/dyncontroller-fields"
	kubectl(t, on, "delete", policy)
	eventually(t, "the set is stored", func() bool { _, err := apply("RuleSet", "before"); return err == nil })
	kubectl(t, on, "apply", "-k", "../../deploy/base")
	for _, kind := range []string{"RuleSet", "ClusterRuleSet"} {
		var refused error
		eventually(t, "the set is refused", func() bool {
			_, refused = apply(kind, "after", "--dry-run=server")
			return refused != nil && strings.Contains(refused.Error(), "unknown fields")
		})
		if !strings.Contains(refused.Error(), unknown) {
			t.Errorf("want %q in: %s", unknown, refused)
		}
	}
	kubectl(t, on, "label", "-n", namespace, "ruleset/before", "any=thing")
	_, err := on.Kubectl(t.Context(), "patch", "-n", namespace, "ruleset/before", "--type=merge", "-p", `{"spec":{"mode":"Audit"}}`)
	if err == nil || !strings.Contains(err.Error(), unknown) {
		t.Errorf("a change of the spec ended with: %v", err)
	}
	kubectl(t, on, "delete", "-n", namespace, "ruleset/before", "--timeout=2m")
}

// unimpersonated holds what a set says in a namespace for which nobody has applied
// deploy/tenant, and that applying it is enough.
func unimpersonated(t *testing.T, on *plane) {
	t.Helper()
	namespace := on.Namespace(t)
	account(t, on, namespace, "bot", editor)
	account(t, on, namespace, "rules", editor)
	apply(t, on, namespace, strings.Replace(guard, "serviceAccountName: bot", "serviceAccountName: rules", 1))
	eventually(t, "the set says what is missing", func() bool {
		_, reason, message := condition(t, on, ruleSets, namespace, "guard", "Ready")
		return reason == "NoServiceAccount" &&
			strings.Contains(message, `it lacks the verb impersonate on serviceaccounts "rules" in namespace `+namespace)
	})
	kubectl(t, on, "apply", "-n", namespace, "-f", "../../deploy/tenant")
	kubectl(t, on, "wait", "--for=condition=Ready", "--timeout=2m", "-n", namespace, "ruleset/guard")

	other := strings.NewReplacer("name: guard", "name: other").Replace(guard)
	apply(t, on, namespace, other)
	eventually(t, "another account of the namespace is still out of reach", func() bool {
		_, reason, _ := condition(t, on, ruleSets, namespace, "other", "Ready")
		return reason == "NoServiceAccount"
	})
}

// undefined deletes a set that may have left something on objects of a CRD that serves no
// version: the set waits until that can be cleaned up, or the CRD is gone.
func undefined(t *testing.T, on *plane) {
	t.Helper()
	namespace := on.Namespace(t)
	account(t, on, namespace, "rules", `{apiGroups: [example.com], resources: [sleepers], verbs: [get, list, watch, patch]}`)
	kubectl(t, on, "apply", "-n", namespace, "-f", "../../deploy/tenant")
	apply(t, on, namespace, `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: sleepers.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: sleepers, kind: Sleeper}
  versions: [{name: v1, served: false, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
`)
	apply(t, on, namespace, `apiVersion: dyncontroller.dev/v1alpha1
kind: RuleSet
metadata: {name: sleep, namespace: NAMESPACE}
spec:
  serviceAccountName: rules
  resources:
    sleepers: {group: example.com, version: v1, resource: sleepers}
  rules:
  - name: fields
    watch: sleepers
    actions: [{patch: {apply: {spec: {awake: true}}}}]
`)
	eventually(t, "the inventory says what may be left", func() bool {
		left, _ := field(get(t, on, ruleSets, namespace, "sleep"), "status", "inventory").([]any)
		return len(left) == 1
	})
	kubectl(t, on, "delete", "-n", namespace, "ruleset", "sleep", "--wait=false")
	eventually(t, "the set says why it waits", func() bool {
		_, _, message := condition(t, on, ruleSets, namespace, "sleep", "Ready")
		return strings.Contains(message, "no version of it is served")
	})
	kubectl(t, on, "delete", "crd", "sleepers.example.com")
	within(t, 2*time.Minute, "the set is gone", func() bool { return get(t, on, ruleSets, namespace, "sleep") == nil })
}

// pausedTwice has a rule pass its limits twice, of which an Event of the set tells: the second
// time it is the same one again.
func pausedTwice(t *testing.T, on *plane) {
	t.Helper()
	namespace := on.Namespace(t)
	account(t, on, namespace, "rules", editor)
	kubectl(t, on, "apply", "-n", namespace, "-f", "../../deploy/tenant")
	names := blues(t, on, namespace, "a", "b", "c")
	edit(t, on, configmaps, namespace, "c", `{"data": {"color": "red"}}`)
	apply(t, on, namespace, strings.Replace(careful, "serviceAccountName: bot", "serviceAccountName: rules", 1))
	paused := func() bool { return len(pauses(t, on, namespace)) == 1 }
	eventually(t, "the rule is paused", paused)
	kubectl(t, on, "annotate", "ruleset", "guard", "-n", namespace, "dyncontroller.dev/resume=color")
	eventually(t, "it has resumed, and the annotation is gone", func() bool {
		return labels(t, on, namespace, names) == 2 && !paused() && get(t, on, ruleSets, namespace, "guard").GetAnnotations()["dyncontroller.dev/resume"] == ""
	})
	edit(t, on, configmaps, namespace, "c", `{"data": {"color": "blue"}}`)
	eventually(t, "it is paused again", paused)
	counted(t, on, namespace, "Paused", true)
}

// abandoned deletes a namespace with a set that nobody can clean up after.
func abandoned(t *testing.T, on *plane, namespace string) {
	t.Helper()
	kubectl(t, on, "delete", "configmap", "--all", "-n", namespace)
	apply(t, on, namespace, strings.Replace(source, "NAME,", "a,", 1))
	apply(t, on, namespace, strings.Replace(keeper, "serviceAccountName: bot", "serviceAccountName: rules", 1))
	eventually(t, "the set has left all", func() bool { return traces(t, on, namespace) == allTraces })
	kubectl(t, on, "delete", "rolebinding", "rules", "-n", namespace)
	kubectl(t, on, "delete", "clusterrolebinding", "painter")
	// Else it may take its finalizer off still, and the namespace controller does the rest.
	eventually(t, "the account may patch nothing any more", func() bool {
		said, _ := on.Kubectl(t.Context(), "auth", "can-i", "patch", "configmaps", "-n", namespace, "--as", "system:serviceaccount:"+namespace+":rules")
		return strings.HasPrefix(said, "no")
	})
	kubectl(t, on, "delete", "namespace", namespace, "--wait=false")
	within(t, 2*time.Minute, "the set is let go of", func() bool { return get(t, on, ruleSets, namespace, "keeper") == nil })
	// The controller itself has no right to take a finalizer off what the rules held.
	if get(t, on, configmaps, namespace, "a") != nil {
		edit(t, on, configmaps, namespace, "a", `{"metadata": {"finalizers": null}}`)
	}
	within(t, 2*time.Minute, "the namespace is gone", func() bool { return get(t, on, namespaces, "", namespace) == nil })
}

// uninstalled does what the guide says, and holds that nothing stays of dyncontroller.
func uninstalled(t *testing.T, on *plane) {
	t.Helper()
	kubectl(t, on, "delete", "rulesets,clusterrulesets", "--all", "--all-namespaces", "--timeout=2m")
	kubectl(t, on, "delete", "--ignore-not-found", "-f", "../../deploy/monitoring/scraper.yaml", "--timeout=2m") // Its Secret goes with its account.
	kubectl(t, on, "delete", "-k", "../../deploy/base", "--timeout=2m")
	for resource := range strings.FieldsSeq(kubectl(t, on, "api-resources", "--verbs=list", "-o", "name")) {
		if strings.HasPrefix(resource, "events") {
			continue // They expire.
		}
		for object := range strings.FieldsSeq(kubectl(t, on, "get", resource, "--all-namespaces", "-o", "name")) {
			if strings.Contains(object, "dyncontroller") && !strings.Contains(object, "dyncontroller-impersonate") {
				t.Errorf("%s is left", object)
			}
		}
	}
}

// granted are the rights of the controller itself.
func granted(t *testing.T, on *plane) (out []rbacv1.PolicyRule) {
	t.Helper()
	for _, role := range []*unstructured.Unstructured{
		get(t, on, clusterRoles, "", "dyncontroller"), get(t, on, roles, system, "dyncontroller-lease"),
	} {
		var typed rbacv1.ClusterRole // A Role has the same rules.
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(role.Object, &typed); err != nil {
			t.Fatal(err)
		}
		out = append(out, typed.Rules...)
	}
	return out
}

// unused reports rights that the controller has, and did not need for anything.
func unused(t *testing.T, rules []rbacv1.PolicyRule) {
	t.Helper()
	used := map[string]bool{}
	for _, r := range requests(t, time.Time{}) {
		if r.as() == itself && r.granted() {
			resource := r.ObjectRef.Resource
			if r.ObjectRef.Subresource != "" {
				resource += "/" + r.ObjectRef.Subresource
			}
			used[r.Verb+" "+r.ObjectRef.APIGroup+" "+resource] = true
			if r.Verb == "watch" && r.ObjectRef.Name == "" {
				// A watch begins with what there is, but an API server without that is asked for a list.
				used["list "+r.ObjectRef.APIGroup+" "+resource] = true
			}
		}
	}
	for _, rule := range rules {
		if slices.Contains(slices.Concat(rule.Verbs, rule.Resources, rule.APIGroups), "*") {
			t.Errorf("%v has a wildcard", rule)
		}
		for _, resource := range rule.Resources {
			for _, verb := range rule.Verbs {
				if !used[verb+" "+rule.APIGroups[0]+" "+resource] {
					t.Errorf("nothing needs to %s %s", verb, resource)
				}
			}
		}
	}
}
