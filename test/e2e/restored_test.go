package e2e

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// TestRestored holds that objects that rules have changed for a while are, once these rules have ended by whatever, as if there had been no rules,
// or as other clients have left them: for generated sequences of rules that match and do not, other clients, rules that change, are suspended
// or removed, and processes that are killed at any moment.
func TestRestored(t *testing.T) {
	virtually(t, func(t *testing.T) {
		namespace := cluster(t).Namespace(t)
		args := []string{"--namespace", namespace, "--instance", namespace, "--rules"}
		const objects = 10
		changed, pokes := 0, 0
		create(t, configmaps, namespace, `{apiVersion: v1, kind: ConfigMap, metadata: {name: poke}}`)
		for round := range times(10, 100) {
			g := rand.New(rand.NewPCG(uint64(round), 35)) //nolint:gosec // It is to be the same each time.
			theirs := map[string]map[string]any{}         // spec as other clients have it
			path := rulesFile(t, namespace, restoringRules(g))
			name := func(i int) string { return fmt.Sprintf("r%d-%d", round, i) }
			for i := range objects {
				tidbCluster(t, namespace, name(i), fmt.Sprintf(`for: "%d"`, g.IntN(3)))
				theirs[name(i)] = get(t, tidbclusters, namespace, name(i)).Object["spec"].(map[string]any)
			}
			var p mortal
			seen := func() { // Most of what came before is done then.
				pokes++
				edit(t, configmaps, namespace, "poke", fmt.Sprintf(`{"data":{"poke":"%d"}}`, pokes))
				eventually(t, "the rules have acted", func() bool {
					return field(get(t, configmaps, namespace, "poke"), "data", "seen") == fmt.Sprint(pokes)
				})
			}
			for range 12 {
				if p != nil && g.IntN(2) == 0 {
					seen()
				}
				switch g.IntN(6) {
				case 0:
					writeFile(t, path, strings.ReplaceAll(restoringRules(g), "NAMESPACE", namespace))
				case 1:
					if p != nil {
						p.kill(t)
					}
					p = startMortal(t, append(args, path)...)
				case 2, 3:
					n := name(g.IntN(objects))
					edit(t, tidbclusters, namespace, n, fmt.Sprintf(`{"metadata":{"labels":{"for":"%d"}}}`, g.IntN(3)))
				default:
					n := name(g.IntN(objects))
					replicas := fmt.Sprint(10 + g.IntN(90))
					patch := []string{
						`{"spec":{"tikv":{"replicas":` + replicas + `}}}`, `{"spec":{"tidb":{"replicas":` + replicas + `}}}`,
						`{"spec":{"nodeSelector":{"theirs":"` + replicas + `"}}}`, `{"spec":{"tolerations":[{"key":"` + replicas + `"}]}}`,
					}[g.IntN(4)]
					theirs[n] = edited(t, theirs[n], patch)
					edit(t, tidbclusters, namespace, n, patch)
				}
			}
			if p == nil {
				p = startMortal(t, append(args, path)...)
			}
			seen()
			for i := range objects {
				if get(t, tidbclusters, namespace, name(i)).GetAnnotations()[plan.RestoreAnnotation] != "" {
					changed++
				}
			}
			if g.IntN(2) == 0 { // The rules end with the objects that they match,
				for i := range objects {
					edit(t, tidbclusters, namespace, name(i), `{"metadata":{"labels":{"for":"0"}}}`)
				}
			} else { // or are removed while no process runs.
				p.kill(t)
				writeFile(t, path, strings.ReplaceAll(restoringRules(nil), "NAMESPACE", namespace))
				p = startMortal(t, append(args, path)...)
			}
			for i := range objects {
				eventually(t, name(i)+" is restored", func() bool {
					return get(t, tidbclusters, namespace, name(i)).GetAnnotations()[plan.RestoreAnnotation] == ""
				})
				restored := get(t, tidbclusters, namespace, name(i)).Object["spec"]
				if diff := cmp.Diff(theirs[name(i)], restored); diff != "" {
					t.Errorf("round %d: without the rules, and with them (-want +got):\n%s", round, diff)
				}
				deleteObject(t, tidbclusters, namespace, name(i))
			}
			p.kill(t)
		}
		if changed < 20 {
			t.Errorf("rules had changed %d objects: too few to hold something", changed)
		}
	})
}

// edited is what a merge patch makes of a spec.
func edited(t *testing.T, spec map[string]any, patch string) map[string]any {
	t.Helper()
	object := (&unstructured.Unstructured{Object: map[string]any{"spec": spec}}).DeepCopy().Object
	merge(object, decode(t, patch))
	return object["spec"].(map[string]any)
}

func merge(into, patch map[string]any) {
	for key, value := range patch {
		below, isMap := into[key].(map[string]any)
		if next, both := value.(map[string]any); both && isMap {
			merge(below, next)
		} else {
			into[key] = value
		}
	}
}

// restoringRules are rules that change some fields for a while, where an object is for them, and others that change nothing.
func restoringRules(g *rand.Rand) string {
	text := `
apiVersion: dyncontroller.dev/v1alpha1
kind: RuleSet
metadata: {name: restoring, namespace: NAMESPACE}
spec:
  resources:
    tidbclusters: {group: pingcap.com, version: v1alpha1, resource: tidbclusters}
    configmaps: {version: v1, resource: configmaps}
  rules:
  - name: other
    watch: configmaps
    when: object.data?.poke != object.data?.seen
    actions: [{patch: {merge: {data: {seen: "${object.data?.poke}"}}}}]
`
	if g == nil {
		return text
	}
	if g.IntN(2) == 0 { // Then it leaves what the rules select.
		text = strings.Replace(text, "tidbclusters}", `tidbclusters, labelSelector: "for!=0"}`, 1)
	}
	for _, rule := range g.Perm(3)[:1+g.IntN(2)] {
		text += fmt.Sprintf(`
  - name: rule-%d
    watch: tidbclusters
    suspend: %t
    when: object.metadata.labels["for"] in ["%d", "%d"]
    actions:
`, rule, g.IntN(6) == 0, 1+rule%2, 2-g.IntN(2))
		for range 1 + g.IntN(2) {
			text += "    - patch: {" + []string{
				"merge: {spec: {tikv: {replicas: 3}}}", "merge: {spec: {tikv: {replicas: 3}, nodeSelector: {ours: a}}}",
				"merge: {spec: {tolerations: [{key: ours}]}}", "merge: {spec: {pd: {annotations: {ours: a}}}}",
				"json: [{op: add, path: /spec/tidb/replicas, value: 3}]",
			}[g.IntN(5)] + ", restore: true}\n"
		}
	}
	return text
}
