package worlds

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// What users do besides to Deployments of which a rule wants a version.
const (
	sicken deed = "sicken" // a Deployment is not healthy any more
	cure   deed = "cure"
)

// soak is how long each wave of the rule with a rollout lasts at least, and waves are for how many objects it writes in each, with those before.
const soak = time.Minute

var waves = []int{1, 3}

// mostLimited is for how many objects the rule with limits writes in limitedPer.
const (
	mostLimited = 3
	limitedPer  = 5 * time.Minute
)

// rollouts is the workload of a rule that writes for few Deployments at first, for more once those are healthy, and pauses where they are not in
// time.
func rollouts(files func(text string) *workload) *workload {
	out := versions(files, fmt.Sprintf(`rollout: {waves: [%d, %d], healthy: object.metadata.labels.sick != "true", soak: %s, timeout: 3m}`, waves[0], waves[1], soak))
	out.name, out.judge = "rollouts", judgeRollouts
	return out
}

// limits is the workload of a rule that pauses when it has written for too many Deployments.
func limits(files func(text string) *workload) *workload {
	out := versions(files, fmt.Sprintf(`limits: {maxObjects: %d, per: %s}`, mostLimited, limitedPer))
	out.name, out.judge = "limits", judgeLimits
	return out
}

// versions is the workload of a rule that wants a version of all Deployments, and has a field more. The files are of two versions, and then of the
// same with the annotation that has the rule resume. In the end users cure all Deployments, and have the rule resume.
func versions(files func(text string) *workload, field string) *workload {
	out := &workload{pauses: true}
	for _, annotations := range []string{"", "dyncontroller.dev/resume: roll"} {
		for _, version := range []string{"v1", "v2"} {
			one := files(fmt.Sprintf(`
apiVersion: dyncontroller.dev/v1alpha1
kind: RuleSet
metadata: {name: world, namespace: shop, annotations: {%s}}
spec:
  resources:
    deployments: {group: apps, version: v1, resource: deployments}
  rules:
  - name: roll
    watch: deployments
    actions: [{patch: {merge: {metadata: {labels: {version: %s}}}}}]
    %s
`, annotations, version, field))
			out.sets, out.texts = append(out.sets, one.sets...), append(out.texts, one.texts...)
		}
	}
	out.resources = []schema.GroupVersionResource{deployments}
	out.deeds = []deed{create, create, create, remove, sicken, cure, spoil}
	out.do, out.tend, out.look = changeVersioned, cureAll, lookAtVersioned
	return out
}

// version is which one the rules of a number want.
func version(number int) string { return fmt.Sprintf("v%d", number%2+1) }

func changeVersioned(ctx context.Context, w *World, s step) error {
	own, name := w.user.Resource(deployments).Namespace("shop"), fmt.Sprint(s.name, s.value%4)
	switch s.deed {
	case create:
		_, err := own.Create(ctx, &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "apps/v1", "kind": "Deployment", "metadata": map[string]any{"name": name},
		}}, metav1.CreateOptions{FieldManager: "user"})
		return err //nolint:wrapcheck // See merge.
	case sicken:
		return w.merge(ctx, deployments, name, `{"metadata":{"labels":{"sick":"true"}}}`)
	case cure:
		return w.merge(ctx, deployments, name, `{"metadata":{"labels":{"sick":null}}}`)
	case spoil:
		return w.merge(ctx, deployments, name, `{"metadata":{"labels":{"version":"v0"}}}`)
	default: // remove
		return own.Delete(ctx, name, metav1.DeleteOptions{}) //nolint:wrapcheck // See merge.
	}
}

// cureAll cures the Deployments, and has the rule resume while it has not written for all of them.
func cureAll(ctx context.Context, w *World) error {
	list, err := w.user.Resource(deployments).Namespace("shop").List(ctx, metav1.ListOptions{})
	if err != nil {
		return err //nolint:wrapcheck // See merge.
	}
	behind := false
	for i := range list.Items {
		labels := list.Items[i].GetLabels()
		behind = behind || labels["version"] != version(w.published)
		if labels["sick"] != "" {
			if err := w.merge(ctx, deployments, list.Items[i].GetName(), `{"metadata":{"labels":{"sick":null}}}`); err != nil {
				return err
			}
		}
	}
	if !behind {
		return nil
	}
	return w.replace(ctx, w.published^2) // Who has asked before has to take that back first.
}

func lookAtVersioned(seen map[string]any, resource string, object *unstructured.Unstructured, _ map[types.UID]string) {
	seen[resource+"/"+object.GetName()] = object.GetLabels()
}

// wanting is which version the rule wants at some moment of a history.
type wanting struct {
	version   string
	left      map[string]time.Time // when the rules for a version were replaced
	clear     time.Time            // until then nobody can tell by which rules something was written: they have come back soon
	unclear   bool                 // nor for how many objects, as no process may have heard of the rules in between
	asks      bool                 // the rule is to resume
	told      time.Time            // when users last changed or asked something
	inCluster bool                 // what users change, processes may hear of late
	had       map[types.UID]bool   // Deployments that have the version
}

func newWanting() *wanting {
	return &wanting{version: version(0), left: map[string]time.Time{}, had: map[types.UID]bool{}}
}

// note goes on to the next request, and reports whether it has the rule want another version, and whether it asks it to resume.
func (w *wanting) note(r *request) (changed, asked bool) {
	w.inCluster = w.inCluster || r.toSets()
	switch r.method {
	case reload:
	case moved: // The annotation is put on again, too.
		w.told = r.at
		return false, w.asks
	default:
		return false, false
	}
	number, _ := strconv.Atoi(r.path)
	w.asks, w.told = number/2 == 1, r.at
	if version(number) == w.version {
		return false, w.asks
	}
	w.left[w.version] = r.at
	before, is := w.left[version(number)]
	w.version, w.unclear = version(number), is && r.at.Sub(before) < latestNews+longestAttempt
	if is && r.at.Sub(before) < w.hearing() {
		w.clear = r.at.Add(w.hearing())
	}
	clear(w.had)
	return true, w.asks
}

// hearing is for how long a process may still go by what users have changed since.
func (w *wanting) hearing() time.Duration {
	if w.inCluster {
		return latestNews + longestAttempt
	}
	return longestAttempt
}

// gave reports whether the program has given a Deployment the version with a request.
func (w *wanting) gave(r *request) bool {
	if _, is := r.to(deployments); !is || !r.stored() || r.method == http.MethodDelete {
		return false
	}
	uid, has := r.written.Metadata.UID, r.written.Metadata.Labels["version"] == w.version
	given := has && !w.had[uid] && r.as != user && r.at.After(w.clear)
	w.had[uid] = has
	return given
}
