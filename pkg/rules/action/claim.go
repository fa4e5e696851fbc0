package action

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// claim refuses an object that is not this rule set's to write, or marks it as
// adopted.
func (a *apply) claim(e *Evaluation, want *wanted, wish *plan.Wish, question plan.Read) error {
	if err := a.checkController(e, wish); err != nil {
		return err
	}
	current := wish.Current
	made := plan.Label(current, plan.LabelSet) == e.Rule.SetID()
	switch {
	case made && plan.Label(current, plan.LabelOwnerUID) == string(e.Object.UID):
	case made:
		if err := a.checkAbandoned(e, wish); err != nil {
			return err
		}
		wish.Confirm = []plan.Read{question}
	case a.adopt:
		wish.Confirm = []plan.Read{question}
	default:
		return a.refuse(e, "write another name, or adopt: true to take it over",
			"%s is there already, and was not made by the %s", wish.Target, e.Rule.SetName())
	}
	if !made || plan.Annotation(current, plan.AdoptedAnnotation) != "" {
		within(within(want.fields, "metadata"), "annotations")[plan.AdoptedAnnotation] = "true"
	}
	return nil
}

// checkController refuses to be the second controller of an object.
func (a *apply) checkController(e *Evaluation, wish *plan.Wish) error {
	controller := metav1.GetControllerOf(&unstructured.Unstructured{Object: wish.Current})
	if !a.owned || controller == nil || controller.UID == e.Object.UID {
		return nil
	}
	group, _ := apischema.ParseGroupVersion(controller.APIVersion)
	if o := e.Object; controller.Name == o.Name && group.Group == o.GVR.Group && (o.Kind == "" || controller.Kind == o.Kind) {
		return a.refuse(e, "the child is made anew once garbage collection has deleted it",
			"%s belongs to an earlier %s %s, which is gone, and is not deleted yet", wish.Target, controller.Kind, controller.Name)
	}
	hint := "write owned: false, or another name"
	if plan.Label(wish.Current, plan.LabelRule) == e.Rule.Name {
		hint = "give each a name of its own, such as one with ${object.metadata.name}"
	}
	return a.refuse(e, hint, "%s is controlled by the %s %s", wish.Target, controller.Kind, controller.Name)
}

// checkAbandoned refuses what was made for another object that is there still: the
// two would take it from each other in turn. A watched object that was made anew
// finds the child of the old one.
func (a *apply) checkAbandoned(e *Evaluation, wish *plan.Wish) error {
	rule, uid := plan.Label(wish.Current, plan.LabelRule), plan.Label(wish.Current, plan.LabelOwnerUID)
	gone := rule == e.Rule.Name && len(a.watched) > 0 // What another rule watches is not known here.
	for _, watched := range a.watched {
		found, err := e.read(a.node, plan.Read{
			From: []plan.Selection{watched}, By: plan.ByFields, Fields: []plan.FieldValue{{Path: plan.Path{"metadata", "uid"}, Value: uid}},
		})
		if err != nil {
			return err
		}
		gone = gone && len(found) == 0
	}
	if gone {
		return nil
	}
	return a.refuse(e, "give each a name of its own, such as one with ${object.metadata.name}",
		"%s was made by the rule %s for another object, of the uid %q", wish.Target, rule, uid)
}

// refuse tells the users of the watched object why it lacks a child.
func (a *apply) refuse(e *Evaluation, hint, format string, args ...any) error {
	wrong := manifest{node: a.node}.at("metadata", "name").Errorf(hint, format, args...)
	return &Refusal{Err: wrong, Events: []plan.Event{*e.notOurs(hint, wrong.Message)}}
}

// notOurs is what is told where an object is not made or changed because of another one of its name.
func (e *Evaluation) notOurs(hint, message string) *plan.Event {
	return &plan.Event{
		Rule:      e.Rule,
		Regarding: e.Object,
		Type:      "Warning",
		Reason:    "NotOurs",
		Action:    "Apply",
		Message:   message + "; " + hint,
	}
}

// Pruned is where the children of one resource are that a rule prunes.
type Pruned struct {
	From  []plan.Selection
	Owned bool // the watched object owns some of them
	Alone bool // it does not own some of them
}

// lets reports whether garbage collection may have let go of a child that has no owner. Children are not told apart by action: where the
// rule has both kinds, one that the watched object could own counts as one that it owned.
func (p Pruned) lets(of, child plan.Object) bool {
	return p.Owned && (!p.Alone || of.Namespace == "" || of.Namespace == child.Namespace)
}

// Prune adds the deletion of what the rule applied for the object before, of one resource, and no longer wants. What was adopted is
// released instead, and so is what garbage collection has let go of: the object was deleted and its children are to stay, as with
// --cascade=orphan. It is for once all actions of the rule have been evaluated, or wanted nothing: an action that failed would leave its
// children unwanted.
func Prune(e *Evaluation, children Pruned) error {
	found, err := e.read(nil, plan.Read{From: children.From, By: plan.ByLabels, Labels: e.marks().String()})
	if err != nil {
		return err
	}
	for _, current := range found {
		object, _, _ := e.Related.Origin(current)
		value, _ := plan.Lookup(current, plan.Path{"metadata", "managedFields"})
		entries, _ := value.([]any)
		applied := slices.ContainsFunc(entries, func(entry any) bool { // What it created has the same labels.
			fields, _ := entry.(map[string]any)
			return fields["manager"] == e.Rule.FieldManager() && fields["operation"] == "Apply"
		})
		if e.Children[named(object)] || !applied || plan.BeingDeleted(current) {
			continue
		}
		wish := plan.Wish{Rule: e.Rule, Target: object, Current: current}
		orphaned := e.Current == nil && children.lets(e.Object, object) && !slices.ContainsFunc(
			(&unstructured.Unstructured{Object: current}).GetOwnerReferences(), func(owner metav1.OwnerReference) bool { return owner.UID == e.Object.UID })
		if plan.Annotation(current, plan.AdoptedAnnotation) == "" && !orphaned {
			wish.Type, wish.Body = plan.Delete, plan.Deletion{PropagationPolicy: string(metav1.DeletePropagationBackground)}
		} else {
			wish.Type, wish.Body = plan.JSON, plan.Release(e.Rule, e.Object.UID, current)
			wish.Confirm = e.Related.Missed() // Unlike other patches it cannot be taken back.
		}
		e.Wishes = append(e.Wishes, wish)
	}
	return nil
}

// marks are the labels of the objects that the rule makes because of the watched one.
func (e *Evaluation) marks() labels.Set {
	return labels.Set{plan.LabelSet: e.Rule.SetID(), plan.LabelRule: e.Rule.Name, plan.LabelOwnerUID: string(e.Object.UID)}
}
