package worlds

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/simulate"
	"github.com/dyncontroller/dyncontroller/pkg/simulate/apiserver"
	"github.com/dyncontroller/dyncontroller/test/steps"
)

// What users of the examples do.
const (
	unfold   deed = "unfold"   // what happens next in a case of a RuleTest: the objects are made at first, and then each step is done
	withdraw deed = "withdraw" // an object of a case is deleted
	touch    deed = "touch"    // an object is annotated, so all that its rules write is decided anew
)

// together is how many cases of one test are played in one world.
const together = 3

// byTheWay are the tests, and of some only these cases, after which a world looks as it has come there: rules leave what they have patched, an
// object that had its finalizer in time is held, and what is there by a name is not made. It is not compared with a calm one.
var byTheWay = map[string][]string{
	"connection-config": {
		"a ConfigMap that somebody else made is refused", "a ConfigMap that the rules cannot see is refused as well",
		"a cluster that nobody uses goes at once", "a cluster waits for the last Pod that uses it",
	},
	"namespace-defaults": {"what a team has made is refused and the rest is there"},
	"namespace-labels":   nil,
	"new-only":           nil,
	"node-label":         nil,
	"protect":            nil,
	"pull-secret":        {"a Secret of that name that somebody else made is refused"},
	"restarts":           nil,
	"retain":             nil,
	"tidb-guardrails":    nil,
}

// isByTheWay reports whether a case is among them.
func isByTheWay(test *simulate.Test, c *simulate.Case) bool {
	cases, is := byTheWay[test.Name]
	return is && (len(cases) == 0 || slices.Contains(cases, c.Name))
}

// examples are workloads of the rules of a RuleTest. Users do what happens in its cases, in bits and pieces and in any order. Tests of what takes
// time are left out: a world that was disturbed is older in the end.
func examples(test *simulate.Test) (out []*workload, err error) {
	if takesTime(test) {
		return nil, nil
	}
	for _, name := range byTheWay[test.Name] {
		if !slices.ContainsFunc(test.Cases, func(c *simulate.Case) bool { return c.Name == name }) {
			return nil, fmt.Errorf("%s has no case %q", test.Name, name)
		}
	}
	definitions := []*apiextensionsv1.CustomResourceDefinition{}
	for _, d := range test.Definitions() {
		definition, err := apiserver.Definition(d.Document)
		if err != nil {
			return nil, fmt.Errorf("reading the definitions of %s: %w", test.Name, err)
		}
		definitions = append(definitions, definition)
	}
	alike := slices.DeleteFunc(slices.Clone(test.Cases), func(c *simulate.Case) bool { return isByTheWay(test, c) })
	others := slices.DeleteFunc(slices.Clone(test.Cases), func(c *simulate.Case) bool { return !isByTheWay(test, c) })
	for _, all := range [][]*simulate.Case{alike, others} {
		for cases := range slices.Chunk(all, together) {
			one := story(cases)
			out = append(out, &workload{
				name: test.Name + "/" + cases[0].Name, sets: []*rules.Set{test.Set()}, definitions: definitions, resources: resourcesOf(test.Set()),
				deeds: []deed{unfold, unfold, unfold, unfold, withdraw, touch}, do: one.do, look: lookAtAll, judge: func(*oracle) {},
				byTheWay: isByTheWay(test, cases[0]),
			})
		}
	}
	return out, nil
}

// takesTime reports whether time goes by in a case of a test.
func takesTime(test *simulate.Test) bool {
	return slices.ContainsFunc(test.Cases, func(c *simulate.Case) bool {
		return slices.ContainsFunc(c.Steps, func(s simulate.Step) bool { return s.Advance > 0 })
	})
}

// resourcesOf are those that rules watch and read, in order, without Events: which are told depends on what happens.
func resourcesOf(set *rules.Set) []schema.GroupVersionResource {
	found := map[schema.GroupVersionResource]bool{}
	for _, selection := range slices.Concat(set.Selections(), set.Related()) {
		found[selection.GVR] = selection.GVR.Resource != "events"
	}
	maps.DeleteFunc(found, func(_ schema.GroupVersionResource, is bool) bool { return !is })
	return slices.SortedFunc(maps.Keys(found), func(a, b schema.GroupVersionResource) int { return strings.Compare(a.String(), b.String()) })
}

// story is what happens in some cases of a test. The name of a step says in which one.
type story []*simulate.Case

func (s story) do(ctx context.Context, w *World, now step) error {
	of := s[int(now.name[0]-'a')%len(s)]
	fixtures, errs := of.Objects(steps.Disk{})
	if err := errs.Err(); err != nil {
		return fmt.Errorf("reading the objects of %s: %w", of.Name, err)
	}
	users := steps.Users{Client: w.user, Server: w.server}
	if now.deed == unfold {
		return s.unfold(ctx, w, users, of, fixtures)
	}
	if len(fixtures) == 0 {
		return nil
	}
	one := &unstructured.Unstructured{Object: fixtures[now.value%len(fixtures)]}
	resource, _ := w.server.OfKind(one.GroupVersionKind())
	objects := w.user.Resource(resource.GVR).Namespace(one.GetNamespace())
	if now.deed == withdraw && resource.GVR.Resource != "namespaces" { // Nobody empties it.
		return objects.Delete(ctx, one.GetName(), metav1.DeleteOptions{}) //nolint:wrapcheck // See merge.
	}
	_, err := objects.Patch(ctx, one.GetName(), types.MergePatchType, fmt.Appendf(nil, `{"metadata":{"annotations":{"touched":"%d"}}}`, now.value), metav1.PatchOptions{})
	return err //nolint:wrapcheck // See merge.
}

// unfold does what happens next in a case, and begins again after the end.
func (s story) unfold(ctx context.Context, w *World, users steps.Users, of *simulate.Case, fixtures []map[string]any) error {
	next := w.unfolded[of.Name] % (len(of.Steps) + 1)
	w.unfolded[of.Name]++
	if next > 0 {
		return s.step(ctx, w, users, of, of.Steps[next-1], fixtures)
	}
	return s.applyAll(ctx, w, users, fixtures)
}

// apply waits until an object of before is gone. One that is being deleted in the case is deleted.
func (s story) apply(ctx context.Context, w *World, users steps.Users, object map[string]any) error {
	one := (&unstructured.Unstructured{Object: object}).DeepCopy()
	resource, _ := w.server.OfKind(one.GroupVersionKind())
	own := w.user.Resource(resource.GVR).Namespace(one.GetNamespace())
	for range 60 {
		before, err := own.Get(ctx, one.GetName(), metav1.GetOptions{})
		if err != nil || before.GetDeletionTimestamp() == nil {
			break
		}
		w.pass(time.Minute)
	}
	going := one.GetDeletionTimestamp() != nil
	one.SetDeletionTimestamp(nil)
	if err := users.Apply(ctx, one.Object); err != nil || !going {
		return refusable(err)
	}
	return own.Delete(ctx, one.GetName(), metav1.DeleteOptions{}) //nolint:wrapcheck // See merge.
}

// step does a step, unless it changes what rules make, which is there sooner or later.
func (s story) step(ctx context.Context, w *World, users steps.Users, of *simulate.Case, now simulate.Step, fixtures []map[string]any) error {
	own := slices.Clone(fixtures) // What users make in the case.
	for _, step := range of.Steps {
		if step.Apply == nil {
			continue
		}
		objects, errs := step.Apply.Objects(steps.Disk{})
		if err := errs.Err(); err != nil {
			return fmt.Errorf("reading what to apply: %w", err)
		}
		if own = append(own, objects...); step.Node == now.Node {
			return s.applyAll(ctx, w, users, objects)
		}
	}
	if now.Patch == nil {
		return refusable(users.Do(ctx, now, own))
	}
	gvr, namespace, err := users.Locate(now.Patch.Object, own)
	if err != nil {
		return fmt.Errorf("looking for what to patch: %w", err)
	}
	for _, object := range own {
		one := &unstructured.Unstructured{Object: object}
		if resource, _ := users.Server.OfKind(one.GroupVersionKind()); resource.GVR == gvr && one.GetNamespace() == namespace && one.GetName() == now.Patch.Name {
			return refusable(users.Do(ctx, now, own))
		}
	}
	return nil
}

func (s story) applyAll(ctx context.Context, w *World, users steps.Users, objects []map[string]any) error {
	for _, object := range objects {
		if err := s.apply(ctx, w, users, object); err != nil {
			return err
		}
	}
	return nil
}

// refusable takes an answer for none that says that users may not do that.
func refusable(err error) error {
	if apierrors.IsInvalid(err) || apierrors.IsConflict(err) {
		return nil
	}
	return err
}

var moment = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`)

// lookAtAll leaves out what the API server numbers, and moments. What is owned by an object that is gone would be collected as garbage.
func lookAtAll(seen map[string]any, resource string, object *unstructured.Unstructured, names map[types.UID]string) {
	for _, owner := range object.GetOwnerReferences() {
		if names[owner.UID] == "" {
			return
		}
	}
	if object.GetDeletionTimestamp() != nil {
		return
	}
	own := object.DeepCopy()
	for _, field := range []string{"uid", "resourceVersion", "generation", "creationTimestamp", "managedFields"} {
		unstructured.RemoveNestedField(own.Object, "metadata", field)
	}
	seen[resource+"/"+object.GetNamespace()+"/"+object.GetName()] = without(own.Object, names)
}

// without replaces uids by names in all texts, and moments.
func without(value any, names map[types.UID]string) any {
	switch value := value.(type) {
	case map[string]any:
		for key, one := range value {
			value[key] = without(one, names)
		}
	case []any:
		for i, one := range value {
			value[i] = without(one, names)
		}
	case string:
		if name := names[types.UID(value)]; name != "" {
			return "uid of " + name
		}
		return moment.ReplaceAllString(value, "<moment>")
	}
	return value
}
