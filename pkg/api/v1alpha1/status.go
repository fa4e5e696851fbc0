package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation"
)

// Status is what the controller tells of a set.
type Status struct {
	// ObservedGeneration is the generation of the set that the status is about.
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// Conditions are Ready, and, only while they are true, Reconciling and Stalled.
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// Summary counts the rules in effect, the objects that they match, and those on which they fail.
	Summary Summary `json:"summary,omitzero"`
	// Rules tells of each rule that is in effect.
	// +listType=map
	// +listMapKey=name
	Rules []RuleStatus `json:"rules,omitempty"`
	// Inventory is what rules of the set may have left in the cluster, and what is cleaned
	// up after they are gone.
	// +listType=atomic
	Inventory []Leftover `json:"inventory,omitempty"`
	// Paused are the rules that have passed their limits, or whose rollout has stopped. They write nothing until they
	// change, or the set is annotated dyncontroller.dev/resume with their names.
	// +listType=map
	// +listMapKey=rule
	Paused []Pause `json:"paused,omitempty"`
	// Counted is for which objects rules with limits have written lately, so that the process
	// that leads next counts them too.
	// +listType=atomic
	Counted []Count `json:"counted,omitempty"`
	// Rollouts tell how far rules with a rollout have come.
	// +listType=map
	// +listMapKey=rule
	Rollouts []Rollout `json:"rollouts,omitempty"`
}

// StatusOf returns the status of a set object, an empty one where it has none or one that
// cannot be read.
func StatusOf(object *unstructured.Unstructured) Status {
	fields, _ := object.Object["status"].(map[string]any)
	var out Status
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(fields, &out); err != nil {
		return Status{}
	}
	return out
}

// Summary is the sum of the rules of a set.
type Summary struct {
	// Rules is how many there are.
	Rules int64 `json:"rules"`
	// Matched is for how many objects their conditions hold now, counted for each rule.
	Matched int64 `json:"matched"`
	// Errors is on how many objects they fail now, counted for each rule.
	Errors int64 `json:"errors"`
}

// RuleStatus is what the controller tells of a rule.
type RuleStatus struct {
	// Name is that of the rule.
	Name string `json:"name"`
	// Standing is Suspended or Audit, empty for a rule that acts.
	Standing string `json:"standing,omitempty"`
	// Matched is the number of objects for which the rule's condition holds now.
	Matched int64 `json:"matched"`
	// Writes is the number of requests that changed something, since the process that
	// reports leads.
	Writes int64 `json:"writes"`
	// LastWrite is when it last changed something.
	LastWrite *metav1.Time `json:"lastWrite,omitempty"`
	// Errors is the number of objects on which the rule fails now.
	Errors int64 `json:"errors"`
	// LastError is what one of them failed with.
	LastError string `json:"lastError,omitempty"`
	// Quarantined is the number of objects that the rule only tries now and then, as it
	// keeps failing on them.
	Quarantined int64 `json:"quarantined,omitempty"`
	// Contested is the number of objects on which somebody undoes what the rule does, where
	// it is slowed down. LastError names who.
	Contested int64 `json:"contested,omitempty"`
	// Missing are the permissions that the rule needs and its ServiceAccount lacks.
	// +listType=atomic
	Missing []Permission `json:"missing,omitempty"`
}

// Pause is of a rule that has passed its limits, or whose rollout has stopped.
type Pause struct {
	// Rule is the name of the rule.
	Rule string `json:"rule"`
	// Since is when it paused.
	Since metav1.Time `json:"since"`
	// Objects is for how many objects it had written within the window.
	Objects int64 `json:"objects"`
	// Of is how many it watched.
	Of int64 `json:"of"`
	// Limit is maxObjects of its limits, or how large the wave of its rollout is.
	Limit string `json:"limit"`
	// Per is the window of its limits, or the timeout of its rollout.
	Per string `json:"per"`
	// Digest tells the rule that paused from what it is once it has changed.
	Digest string `json:"digest"`
	// Unhealthy names objects of a rollout that are not healthy, and says why. It is empty where the rule has come to its limits.
	Unhealthy string `json:"unhealthy,omitempty"`
	// Asked says that the annotation was there already, which does not count.
	Asked bool `json:"asked,omitempty"`
}

// Rollout is how far a rule that is new or has changed has come.
type Rollout struct {
	// Rule is the name of the rule.
	Rule string `json:"rule"`
	// Wave is how many of its waves are over.
	Wave int64 `json:"wave"`
	// Waves is how many there are. After the last, the rule writes for all objects.
	Waves int64 `json:"waves"`
	// Objects is for how many objects it has written, or is about to.
	Objects int64 `json:"objects"`
	// Of is how many it watches.
	Of int64 `json:"of"`
	// Since is when the last of them were chosen.
	Since *metav1.Time `json:"since,omitempty"`
	// HealthySince is since when all of them are healthy.
	HealthySince *metav1.Time `json:"healthySince,omitempty"`
	// Marks are marks of the objects that it has written for, of four letters each.
	Marks string `json:"marks,omitempty"`
	// Unsure are those of objects that it has chosen, and may have written for.
	Unsure string `json:"unsure,omitempty"`
	// Digest tells the rule from what it is once it has changed.
	Digest string `json:"digest"`
}

// Count has objects that a rule with limits has written for.
type Count struct {
	// Rule is the name of the rule.
	Rule string `json:"rule"`
	// At is when it last wrote for any of them.
	At metav1.Time `json:"at"`
	// Objects are marks of the objects, of four letters each.
	Objects string `json:"objects"`
	// Digest tells the rule from what it is once it has changed.
	Digest string `json:"digest"`
}

// Permission is a right, as RBAC names it.
type Permission struct {
	// Verb is get, list, watch, create, update, patch or delete.
	Verb string `json:"verb"`
	// Group is the API group, empty for the core group.
	Group string `json:"group,omitempty"`
	// Resource is the plural resource.
	Resource string `json:"resource"`
	// Subresource is empty for the resource itself.
	Subresource string `json:"subresource,omitempty"`
	// Namespace is empty for all of them, and for cluster-scoped resources.
	Namespace string `json:"namespace,omitempty"`
	// Name is empty for every object.
	Name string `json:"name,omitempty"`
}

// Leftover is what a rule may have left on objects of a resource.
type Leftover struct {
	// Rule is the name of the rule.
	Rule string `json:"rule"`
	// Kind is what was left: finalizer, fields, children or created.
	Kind string `json:"kind"`
	// Group is the API group of the objects, empty for the core group.
	Group string `json:"group,omitempty"`
	// Version is the API version of the objects.
	Version string `json:"version"`
	// Resource is the plural resource of the objects.
	Resource string `json:"resource"`
	// Namespace is where they are, empty for every namespace and for cluster-scoped
	// resources.
	Namespace string `json:"namespace,omitempty"`
	// Release says what becomes of fields: Orphan or Remove.
	Release string `json:"release,omitempty"`
	// Prune says that children are deleted.
	Prune bool `json:"prune,omitempty"`
	// Owned says that the watched object owns all children. One without its owner was let go
	// by garbage collection, and is not deleted.
	Owned bool `json:"owned,omitempty"`
	// ServiceAccount is the identity that left it, and cleans it up.
	ServiceAccount string `json:"serviceAccount,omitempty"`
	// ServiceAccountNamespace is the namespace of the ServiceAccount.
	ServiceAccountNamespace string `json:"serviceAccountNamespace,omitempty"`
}

// Within reports whether a set of a namespace can have left it, which is empty for a
// ClusterRuleSet. A set in the cluster acts as a ServiceAccount, and a RuleSet leaves its
// namespace neither to write nor as whom, so what says otherwise is a forgery: whoever
// may write the status of a set would gain the rights of somebody else.
func (l Leftover) Within(namespace string) bool {
	if !isName(l.ServiceAccount) || !isName(l.ServiceAccountNamespace) {
		return false
	}
	return namespace == "" || l.Namespace == namespace && l.ServiceAccountNamespace == namespace
}

// isName reports whether an object can have the name.
func isName(text string) bool { return len(validation.IsDNS1123Subdomain(text)) == 0 }
