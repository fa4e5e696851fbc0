package worlds

import (
	"cmp"
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

// What users of a rule with a rollout do besides.
const (
	sicken deed = "sicken" // a Deployment is not healthy any more
	cure   deed = "cure"
)

// soak and waves are those of the rule: for how many objects it writes before the next wave.
const soak = time.Minute

var waves = []int{1, 3}

// rollouts is the workload of a rule that wants a version of all Deployments. It writes for few at first, for more once those are healthy, and
// pauses where they are not in time. The files are of two versions, and then of the same with the annotation that has the rule resume. In the
// end users cure all Deployments, and have the rule resume.
func rollouts(files func(text string) *workload) *workload {
	var out *workload
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
    rollout: {waves: [%d, %d], healthy: object.metadata.labels.sick != "true", soak: %s, timeout: 3m}
`, annotations, version, waves[0], waves[1], soak))
			if out == nil {
				out = one
				continue
			}
			out.sets, out.texts = append(out.sets, one.sets...), append(out.texts, one.texts...)
		}
	}
	out.name = "rollouts"
	out.resources = []schema.GroupVersionResource{deployments}
	out.deeds = []deed{create, create, create, remove, sicken, cure, spoil}
	out.do, out.tend, out.look, out.judge = changeRolled, cureAll, lookAtRolled, judgeRollouts
	return out
}

// version is which one the rules of a number want, and asks whether they are to resume.
func version(number int) string { return fmt.Sprintf("v%d", number%2+1) }
func asks(number int) bool      { return number/2 == 1 }

func changeRolled(ctx context.Context, w *World, s step) error {
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

func lookAtRolled(seen map[string]any, resource string, object *unstructured.Unstructured, _ map[types.UID]string) {
	seen[resource+"/"+object.GetName()] = object.GetLabels()
}

// rolled is what has become of a Deployment under the last rules.
type rolled struct {
	lacking time.Time // since when it has not had the version, zero while it has
	sick    time.Time // since when it has not been healthy, zero while it is
	gone    int       // the number of the request that deleted it, 0 while it is there
	written time.Time // when the write was sent that gave it the version, zero before
	wave    int       // in which that was
	unsure  bool      // the process may not know of that write
	excused bool      // users may have asked to go on without it
}

// rolling is how far a rollout has come at some moment of a history.
type rolling struct {
	version string
	left    map[string]time.Time // when the rules for a version were replaced
	unclear bool                 // they have come back so soon that nobody can tell by which of them something was written
	all     map[types.UID]*rolled
	named   map[string]*rolled
	led     map[string]*request // with which a process has changed something first
	wave    int                 // from 0; the one after the last is for all
}

// judgeRollouts holds that the rule writes for no more Deployments than its wave is for, that a wave lasts for as long as the rule says, and that
// none begins while a Deployment is unhealthy that was so already when it was written for.
func judgeRollouts(o *oracle) {
	now := rolling{version: version(0), left: map[string]time.Time{}, all: map[types.UID]*rolled{}, named: map[string]*rolled{}, led: map[string]*request{}}
	for _, r := range o.all {
		if r.method == reload {
			now.replace(r)
		}
		if !r.stored() {
			continue
		}
		now.led[r.as] = cmp.Or(now.led[r.as], r)
		if name, is := r.to(deployments); is {
			if wrong := now.note(r, cmp.Or(name, r.written.Metadata.Name)); wrong != "" {
				o.accuse("%s: %s", wrong, r)
			}
		}
	}
}

// replace goes on to other rules.
func (w *rolling) replace(r *request) {
	number, _ := strconv.Atoi(r.path)
	for _, one := range w.all {
		one.excused = one.excused || asks(number)
	}
	if version(number) == w.version {
		return
	}
	w.left[w.version] = r.at
	before, is := w.left[version(number)]
	w.version, w.wave, w.unclear = version(number), 0, is && r.at.Sub(before) < latestNews+longestAttempt
	for _, one := range w.all {
		*one = rolled{lacking: r.at, sick: one.sick, gone: one.gone}
	}
}

// note goes on to the next write, and says what is wrong with it.
func (w *rolling) note(r *request, name string) (wrong string) {
	metadata := r.written.Metadata
	if r.method == http.MethodDelete {
		w.named[name].gone = r.number
		return ""
	}
	one := w.all[metadata.UID]
	if one == nil {
		one = &rolled{lacking: r.at}
		w.all[metadata.UID], w.named[name] = one, one
	}
	if r.as != user && metadata.Labels["version"] == w.version && one.written.IsZero() && !w.unclear {
		wrong = w.write(r, one)
	}
	one.lacking = since(one.lacking, metadata.Labels["version"] != w.version, r.at)
	one.sick = since(one.sick, metadata.Labels["sick"] == "true", r.at)
	return wrong
}

// since is since when something is so that is so now or not.
func since(before time.Time, is bool, now time.Time) time.Time {
	switch {
	case !is:
		return time.Time{}
	case before.IsZero():
		return now
	default:
		return before
	}
}

// write notes that the rule writes for a Deployment for the first time.
func (w *rolling) write(r *request, one *rolled) (wrong string) {
	n, known, last := w.count(r)
	if lasted := r.at.Sub(last); n > 0 && lasted >= soak-time.Second { // Whole seconds are stored.
		for w.wave < len(waves) && (waves[w.wave] <= n || !w.waited(r, last)) {
			w.wave++
		}
	}
	one.written, one.wave, one.unsure = r.sent, w.wave, r.fault != ""
	if w.wave < len(waves) && known >= waves[w.wave] {
		return fmt.Sprintf("it has written for %d Deployments, wave %d is for %d, and the last write was %s before", known, w.wave+1, waves[w.wave], r.at.Sub(last))
	}
	for _, other := range w.all {
		late := !other.written.IsZero() && other.wave < w.wave && other.gone == 0 && !other.excused
		if late && !other.sick.IsZero() && other.sick.Before(other.written) {
			return fmt.Sprintf("wave %d has begun, and a Deployment of wave %d has not been healthy since %s", w.wave+1, other.wave+1, other.sick.Format(time.TimeOnly))
		}
	}
	return ""
}

// count is for how many Deployments the rule has written, of how many of them the process has to know that sends a request, and when the last
// of the writes was sent.
func (w *rolling) count(r *request) (n, known int, last time.Time) {
	for _, one := range w.all {
		if one.written.IsZero() {
			continue
		}
		if n++; one.gone == 0 || !one.unsure && one.gone > w.led[r.as].number {
			known++
		}
		if one.written.After(last) {
			last = one.written
		}
	}
	return n, known, last
}

// mayBeUnknown is for how long a process may not know of an object that users have made while it ran.
const mayBeUnknown = 5 * time.Minute

// waited reports whether a Deployment has waited since a moment. If none did, the rollout may have ended.
func (w *rolling) waited(r *request, since time.Time) bool {
	for _, one := range w.all {
		known := one.lacking.Before(w.led[r.as].at) || r.at.Sub(one.lacking) > mayBeUnknown
		if one.gone == 0 && known && !one.lacking.IsZero() && one.lacking.Before(since) {
			return true
		}
	}
	return false
}
