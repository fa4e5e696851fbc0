package operator

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/spec"
)

// answered takes the name of a rule out of the annotation of its set: it has resumed, and
// is to be asked for again the next time.
func (o *Operator) answered(ctx context.Context, rule plan.Rule) error {
	set := o.running(keyOf(rule))
	if set == nil {
		return nil
	}
	client := o.setClient(set.Key)
	live, err := client.Get(ctx, set.Name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return fmt.Errorf("reading the annotations of %s: %w", set.Key, err)
	}
	body, err := without(live, rule.Name)
	if err == nil && body != nil {
		live, err = client.Patch(ctx, set.Name, types.MergePatchType, body, metav1.PatchOptions{FieldManager: plan.FieldManager})
	}
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return fmt.Errorf("changing the annotations of %s: %w", set.Key, err)
	}
	o.takeBack(rule, consumed{live.GetUID(), live.GetResourceVersion()})
	return nil
}

// without is the patch that takes a name out of the annotation of a set, nil for none.
func without(set *unstructured.Unstructured, name string) ([]byte, error) {
	asked := spec.Resumed(set.GetAnnotations()[spec.ResumeAnnotation])
	rest := slices.DeleteFunc(slices.Clone(asked), func(other string) bool { return other == name })
	if len(rest) == len(asked) {
		return nil, nil
	}
	var value any // None are no annotation.
	if len(rest) > 0 {
		value = strings.Join(rest, ",")
	}
	return json.Marshal(map[string]any{"metadata": map[string]any{
		"uid": string(set.GetUID()), "resourceVersion": set.GetResourceVersion(),
		"annotations": map[string]any{spec.ResumeAnnotation: value},
	}})
}

// consumed is the version of a set in which its annotation does not ask for a rule any more.
type consumed struct {
	uid     types.UID
	version string
}

// over reports whether what a set says of a rule is from after that, as far as can be told: a
// rule that resumed for an annotation from before would do so each time that it pauses.
func (c consumed) over(set *object, rule plan.Rule) bool {
	if set == nil || set.UID != c.uid || !slices.Contains(spec.Resumed(set.Annotations[spec.ResumeAnnotation]), rule.Name) {
		return true
	}
	order, err := resourceversion.CompareResourceVersion(set.ResourceVersion, c.version)
	return err == nil && order >= 0
}

// takeBack has the engines know that a rule is not asked to resume any more. Somebody may
// ask again before the operator sees the set without it: a version from after that counts.
func (o *Operator) takeBack(rule plan.Rule, at consumed) {
	o.mu.Lock()
	defer o.mu.Unlock()
	others := slices.DeleteFunc(o.asked(), func(asked plan.Rule) bool { return asked == rule })
	for _, t := range o.tenants {
		t.ask(others)
	}
	o.consumed[rule] = at
	o.ask()
}

// asked lists the rules that the annotations of set objects ask to resume, in order, but for
// what was taken back since. The lock is held.
func (o *Operator) asked() []plan.Rule {
	maps.DeleteFunc(o.consumed, func(rule plan.Rule, at consumed) bool {
		return at.over(o.objects[keyOf(rule)], rule)
	})
	var out []plan.Rule
	for _, set := range o.inOrder() {
		if set.effective() == nil {
			continue
		}
		names := spec.Resumed(set.Annotations[spec.ResumeAnnotation])
		slices.Sort(names)
		for _, name := range slices.Compact(names) {
			rule := ruleOf(set.Key)
			rule.Name = name
			if _, before := o.consumed[rule]; !before {
				out = append(out, rule)
			}
		}
	}
	return out
}

// askedNow is the same for who does not hold the lock.
func (o *Operator) askedNow() []plan.Rule {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.asked()
}

// ask tells the tenants which rules are asked to resume. The lock is held.
func (o *Operator) ask() {
	asked := o.asked()
	for _, t := range o.tenants {
		t.ask(asked)
	}
}

// ask tells the tenant which rules are asked to resume, before it gets new ones. It is
// called with the lock of the operator.
func (t *tenant) ask(asked []plan.Rule) {
	if t.asked == nil || !slices.Equal(t.asked, asked) {
		t.asked = append([]plan.Rule{}, asked...)
		t.engine.Resume(asked)
	}
}
