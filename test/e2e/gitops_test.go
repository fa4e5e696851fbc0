package e2e

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/pkg/api/v1alpha1"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/test/controlplane"
)

// What these tests hold is what docs/guide/gitops.md says.

// sleeping is a rule that takes the replicas of Deployments for as long as they have a label.
const sleeping = `
apiVersion: dyncontroller.dev/v1alpha1
kind: RuleSet
metadata: {name: night, namespace: NAMESPACE}
spec:
  resources:
    deployments: {group: apps, version: v1, resource: deployments}
  rules:
  - name: asleep
    watch: deployments
    when: object.metadata.labels.night == "yes"
    actions: [{patch: {merge: {spec: {replicas: REPLICAS}}, restore: true}}]
`

// webInGit is a Deployment as it is in git, of which the replicas may be left out.
func webInGit(replicas, image, annotation string) string {
	return fmt.Sprintf(`{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, annotations: {%s}}, spec: {%s selector: {matchLabels: {app: web}},
		template: {metadata: {labels: {app: web}}, spec: {containers: [{name: web, image: "example.com/web:%s"}]}}}}`, annotation, replicas, image)
}

func replicasOf(object *unstructured.Unstructured) int64 {
	replicas, _ := field(object, "spec", "replicas").(int64)
	return replicas
}

// nothing says that a tool writes nothing.
const nothing = -1

// TestGitOps holds what becomes of a change for a while in a Deployment that a tool keeps as it is in git.
func TestGitOps(t *testing.T) {
	alongside(t)
	for name, tc := range map[string]struct {
		reason     string
		tool       gitTool
		annotation string // of the Deployment in git
		leftOut    bool   // replicas are not in git
		night      int64  // replicas that the tool writes when nothing but the rule has changed the Deployment
		commit     int64  // replicas that it writes at night, with another image
		day        int64  // replicas that it writes by day, when git has 5
	}{
		"FluxLeftOut": {
			reason: "Flux leaves a field alone that is not in git.", tool: flux{}, leftOut: true, night: nothing, commit: 0,
		},
		"Flux": {
			reason: "Flux takes back a field that is in git, whatever its annotation Merge.",
			tool:   flux{}, annotation: "kustomize.toolkit.fluxcd.io/ssa: Merge", night: 3, commit: 3, day: 5,
		},
		"FluxIgnores": {
			reason: "With spec.ignore, Flux leaves the field as it is, and git no longer changes it by day either.",
			tool:   flux{ignore: []string{"/spec/replicas"}}, night: nothing, commit: 0, day: nothing,
		},
		"FluxIfNotPresent": {
			reason: "With IfNotPresent, Flux writes nothing any more, no other field either.",
			tool:   flux{}, annotation: "kustomize.toolkit.fluxcd.io/ssa: IfNotPresent", night: nothing, commit: nothing, day: nothing,
		},
		"ArgoLeftOut": {
			reason: "Argo CD leaves a field alone that is not in git.", tool: argo{}, leftOut: true, night: nothing, commit: 0,
		},
		"Argo": {
			reason: "Argo CD takes back a field that is in git.", tool: argo{}, night: 3, commit: 3, day: 5,
		},
		"ArgoIgnoresManager": {
			reason: "Argo CD leaves to dyncontroller what is dyncontroller's, also after the night.",
			tool:   argo{serverSide: true, ignoreManagers: []string{plan.FieldManager}, respect: true}, night: nothing, commit: 0, day: nothing,
		},
		"ArgoIgnoresUntilASync": {
			reason: "Without RespectIgnoreDifferences, a sync for another reason takes the field back.",
			tool:   argo{ignorePointers: []string{"/spec/replicas"}}, night: nothing, commit: 3, day: nothing,
		},
	} {
		t.Run(name, func(t *testing.T) {
			namespace := cluster(t).Namespace(t)
			live := func() int64 { return replicasOf(get(t, deployments, namespace, "web")) }
			inGit := "replicas: 3,"
			sync := func(image string, want int64) {
				t.Helper()
				after := tc.tool.sync(t, deployments, namespace, webInGit(inGit, image, tc.annotation))
				if want == nothing && after != nil || want != nothing && (after == nil || replicasOf(after) != want) {
					t.Fatalf("%s Want it to write %d replicas, has written %v", tc.reason, want, after)
				}
			}
			sync("1", 3)
			if tc.leftOut { // Then the API server has the default.
				inGit = ""
				sync("1", 1)
				edit(t, deployments, namespace, "web", `{"spec": {"replicas": 3}}`)
			}
			p := start(t, "--namespace", namespace, "--instance", namespace, "--rules", rulesFile(t, namespace, strings.ReplaceAll(sleeping, "REPLICAS", "0")))
			edit(t, deployments, namespace, "web", `{"metadata": {"labels": {"night": "yes"}}}`)
			eventually(t, "it sleeps", func() bool { return live() == 0 })
			sync("1", tc.night)
			if tc.night != nothing {
				undoneUntilNamed(t, namespace, tc.tool.manager(), live, func() { sync("1", tc.night) })
			}
			sync("2", tc.commit)
			if tc.night == nothing {
				eventually(t, "it sleeps after a commit", func() bool { return live() == 0 })
			}
			edit(t, deployments, namespace, "web", `{"metadata": {"labels": {"night": "no"}}}`)
			eventually(t, "it is restored", func() bool {
				return get(t, deployments, namespace, "web").GetAnnotations()[plan.RestoreAnnotation] == ""
			})
			if n := live(); n != 3 {
				t.Errorf("%s %d replicas in the morning.", tc.reason, n)
			}
			if !tc.leftOut {
				inGit = "replicas: 5,"
				sync("2", tc.day)
			}
			p.wait(t)
		})
	}
}

// undoneUntilNamed has a tool undo what a rule does until an Event says that it does. The rule is slowed down then.
func undoneUntilNamed(t *testing.T, namespace, manager string, replicas func() int64, undo func()) {
	t.Helper()
	note := ""
	named := func() bool {
		for _, event := range listEvents(t, namespace) {
			if event.Reason == "Contested" {
				note = event.Note
			}
		}
		return note != ""
	}
	for i := 0; !named(); i++ {
		if i > roundsUntilNamed {
			t.Fatalf("undone %d times, and nobody is named", i)
		}
		eventually(t, "it sleeps again, or who wakes it is named", func() bool { return replicas() == 0 || named() })
		if replicas() == 0 {
			undo()
		}
	}
	for _, word := range []string{"night/asleep", "spec.replicas", manager} {
		if !strings.Contains(note, word) {
			t.Errorf("want %q in: %s", word, note)
		}
	}
}

// TestGitOpsRollout holds that a rollout whose field a tool takes back stops at its first wave, where healthy asks for the field.
func TestGitOpsRollout(t *testing.T) {
	virtually(t, func(t *testing.T) {
		namespace := cluster(t).Namespace(t)
		git := func(name string) string {
			return fmt.Sprintf(`{apiVersion: v1, kind: ConfigMap, metadata: {name: %s, labels: {rolled: out}}, data: {level: "1"}}`, name)
		}
		maps := []string{"a", "b", "c"}
		sync := func() {
			for _, name := range maps {
				flux{}.sync(t, configmaps, namespace, git(name))
			}
		}
		sync()
		p := start(t, "--namespace", namespace, "--instance", namespace, "--rules", rulesFile(t, namespace, `
apiVersion: dyncontroller.dev/v1alpha1
kind: RuleSet
metadata: {name: levels, namespace: NAMESPACE}
spec:
  resources:
    maps: {version: v1, resource: configmaps, labelSelector: rolled=out}
  rules:
  - name: two
    watch: maps
    when: object.data?.level != "2"
    rollout: {waves: [1], healthy: 'object.data?.level == "2"', soak: 1m, timeout: 10s}
    actions: [{patch: {merge: {data: {level: "2"}}}}]
`))
		level := func(name string) any { return field(get(t, configmaps, namespace, name), "data", "level") }
		eventually(t, "it writes for the first", func() bool { return level("a") == "2" })
		eventually(t, "it is paused", func() bool {
			sync()
			return p.lines(0, "rule is paused", namespace+"/a") == 1
		})
		sync()
		for _, name := range maps {
			if level(name) != "1" {
				t.Errorf("%s has level %v, want that of git", name, level(name))
			}
		}
	})
}

// TestGitOpsSets holds what becomes of what a user changes by hand in a rule set that a tool delivers.
func TestGitOpsSets(t *testing.T) {
	virtually(t, func(t *testing.T) {
		installOwnCRDs(t)
		const (
			resume  = `{"metadata": {"annotations": {"dyncontroller.dev/resume": "first"}}}`
			audit   = `{"spec": {"mode": "Audit"}}`
			suspend = `[{"op": "add", "path": "/spec/rules/0/suspend", "value": true}]`
		)
		for i, tc := range []struct {
			reason     string
			tool       gitTool
			annotation string // of the set in git
			by         string // field manager of the user, empty for the command suspend
			patch      string // or the rule of the command, empty for the set
			stays      bool
		}{
			{reason: "Flux takes back what kubectl annotate has written.", tool: flux{}, by: "kubectl-annotate", patch: resume},
			{reason: "Flux takes back what kubectl patch has written.", tool: flux{}, by: "kubectl-patch", patch: audit},
			{reason: "Flux leaves what another field manager has written.", tool: flux{}, by: "me", patch: audit, stays: true},
			{reason: "Such as the command suspend.", tool: flux{}, stays: true},
			{reason: "So it is with a rule: it is told by its name.", tool: flux{}, patch: "/first", stays: true},
			{
				reason: "With Merge, Flux leaves what kubectl has written.", tool: flux{}, annotation: "kustomize.toolkit.fluxcd.io/ssa: Merge",
				by: "kubectl-annotate", patch: resume, stays: true,
			},
			{reason: "Argo CD leaves an annotation.", tool: argo{}, by: "kubectl-annotate", patch: resume, stays: true},
			{reason: "Argo CD leaves a field.", tool: argo{}, by: "kubectl-patch", patch: audit, stays: true},
			{reason: "So it is with the whole set.", tool: argo{}, stays: true},
			{reason: "To Argo CD, the rules of a set are one list.", tool: argo{}, by: "kubectl-patch", patch: suspend},
			{reason: "With server-side apply, they are told by their names.", tool: argo{serverSide: true}, by: "kubectl-patch", patch: suspend, stays: true},
		} {
			name := fmt.Sprint("delivered", i)
			git := fmt.Sprintf(`{apiVersion: dyncontroller.dev/v1alpha1, kind: RuleSet, metadata: {name: %s, annotations: {%s}}, spec: {
			serviceAccountName: rules, resources: {maps: {version: v1, resource: configmaps, labelSelector: none=none}},
			rules: [{name: first, watch: maps, actions: [{patch: {merge: {data: {a: b}}}}]}]}}`, name, tc.annotation)
			tc.tool.sync(t, v1alpha1.RuleSets(), "default", git)
			forget(t, v1alpha1.RuleSets(), "default", name)
			kind := types.MergePatchType
			if strings.HasPrefix(tc.patch, "[") {
				kind = types.JSONPatchType
			}
			sets := client(t).Resource(v1alpha1.RuleSets()).Namespace("default")
			if tc.by != "" {
				must(sets.Patch(t.Context(), name, kind, []byte(tc.patch), metav1.PatchOptions{FieldManager: tc.by}))(t)
			} else if _, stderr, code := command(t, "suspend", name+tc.patch, "--namespace", "default", "--kubeconfig", cluster(t).Kubeconfig()); code != 0 {
				t.Fatalf("it ends with %d: %s", code, stderr)
			}
			tc.tool.sync(t, v1alpha1.RuleSets(), "default", git)
			stays := false
			text := string(encoded(t, must(sets.Get(t.Context(), name, metav1.GetOptions{}))(t)))
			for _, changed := range []string{`"dyncontroller.dev/resume":"first"`, `"mode":"Audit"`, `"suspend":true`} {
				stays = stays || strings.Contains(text, changed)
			}
			if stays != tc.stays {
				t.Errorf("%s It stays: %t", tc.reason, stays)
			}
			if tc.tool.sync(t, v1alpha1.RuleSets(), "default", git) != nil {
				t.Errorf("%s It is not in sync.", tc.reason)
			}
		}
	})
}

// TestGitOpsAutoscaler holds what Kubernetes' own HorizontalPodAutoscaler makes of rules.
func TestGitOpsAutoscaler(t *testing.T) {
	t.Parallel()
	on, err := controlplane.Start(t.Context(), controlplane.Options{
		ControllerManager:     true,
		ControllerManagerArgs: []string{"--controllers=horizontal-pod-autoscaler-controller,serviceaccount-controller", "--horizontal-pod-autoscaler-sync-period=1s"},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := on.Stop(); err != nil {
			t.Error(err)
		}
	})
	planes.Use(t, on)
	begin := func(t *testing.T, rules string) (namespace string) {
		t.Helper()
		namespace = cluster(t).Namespace(t)
		create(t, deployments, namespace, webInGit("replicas: 3,", "1", ""))
		create(t, autoscalers, namespace, `{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: web}, spec: {
			scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}, minReplicas: 2, maxReplicas: 9}}`)
		start(t, "--namespace", namespace, "--instance", namespace, "--rules", rulesFile(t, namespace, rules))
		return namespace
	}
	condition := func(t *testing.T, namespace, kind string) string {
		t.Helper()
		conditions, _ := field(get(t, autoscalers, namespace, "web"), "status", "conditions").([]any)
		for _, condition := range conditions {
			if c, _ := condition.(map[string]any); c["type"] == kind {
				return fmt.Sprint(c["status"], " ", c["reason"])
			}
		}
		return ""
	}
	live := func(t *testing.T, namespace string) func() int64 {
		return func() int64 { return replicasOf(get(t, deployments, namespace, "web")) }
	}
	night := func(t *testing.T, namespace, is string) {
		t.Helper()
		edit(t, deployments, namespace, "web", fmt.Sprintf(`{"metadata": {"labels": {"night": %q}}}`, is))
		edit(t, autoscalers, namespace, "web", fmt.Sprintf(`{"metadata": {"labels": {"night": %q}}}`, is))
	}
	t.Run("Zero", func(t *testing.T) { // An autoscaler does nothing as long as there are 0 replicas, and goes on with the replicas of the evening.
		namespace := begin(t, strings.ReplaceAll(sleeping, "REPLICAS", "0"))
		night(t, namespace, "yes")
		eventually(t, "the autoscaler is inactive", func() bool { return condition(t, namespace, "ScalingActive") == "False ScalingDisabled" })
		if n := live(t, namespace)(); n != 0 {
			t.Errorf("%d replicas at night", n)
		}
		night(t, namespace, "no")
		eventually(t, "it is restored", func() bool { return live(t, namespace)() == 3 })
		edit(t, autoscalers, namespace, "web", `{"spec": {"minReplicas": 4}}`)
		eventually(t, "the autoscaler scales again", func() bool { return live(t, namespace)() == 4 })
	})
	t.Run("BelowMinimum", func(t *testing.T) { // An autoscaler takes replicas below its minimum back, and is named.
		namespace := begin(t, strings.ReplaceAll(sleeping, "REPLICAS", "1"))
		night(t, namespace, "yes")
		note := ""
		eventually(t, "an Event names it", func() bool {
			for _, event := range listEvents(t, namespace) {
				if event.Reason == "Contested" {
					note = event.Note
				}
			}
			return note != ""
		})
		if !strings.Contains(note, "kube-controller-manager") {
			t.Errorf("the autoscaler is not named: %s", note)
		}
	})
	t.Run("Minimum", func(t *testing.T) { // A rule that changes the minimum has the autoscaler change the replicas.
		namespace := begin(t, `
apiVersion: dyncontroller.dev/v1alpha1
kind: RuleSet
metadata: {name: busy, namespace: NAMESPACE}
spec:
  resources:
    autoscalers: {group: autoscaling, version: v2, resource: horizontalpodautoscalers}
  rules:
  - name: minimum
    watch: autoscalers
    when: object.metadata.labels.night == "yes"
    actions: [{patch: {merge: {spec: {minReplicas: 5}}, restore: true}}]
`)
		night(t, namespace, "yes")
		eventually(t, "the autoscaler follows", func() bool { return live(t, namespace)() == 5 })
		night(t, namespace, "no")
		eventually(t, "its minimum is restored", func() bool { return field(get(t, autoscalers, namespace, "web"), "spec", "minReplicas") == int64(2) })
	})
}
