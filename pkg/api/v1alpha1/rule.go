package v1alpha1

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// Rule says what is done about which objects.
//
// +kubebuilder:pruning:PreserveUnknownFields
// +kubebuilder:validation:XValidation:rule="size(self.watch) > 0",fieldPath=".watch",reason=FieldValueRequired,message="name what the rule watches: a key of resources, or several with commas"
// +kubebuilder:validation:XValidation:rule="has(self.actions) || has(self.onDelete)",fieldPath=".actions",reason=FieldValueRequired,message="a rule has actions, or onDelete with some"
type Rule struct {
	// Name is unique in the set, a DNS label.
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	Name string `json:"name"`
	// Description says what the rule is for; for readers.
	// +nullable
	Description string `json:"description,omitempty"`
	// Watch is a name under resources, or several with commas; the rule is evaluated for each
	// object, one at a time.
	Watch string `json:"watch"`
	// With names other objects that the rule reads. Where they change, the rule is evaluated
	// again.
	// +kubebuilder:validation:MinProperties=1
	// +nullable
	With map[string]Related `json:"with,omitempty"`
	// Let gives names to expressions.
	// +nullable
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	Let map[string]apiextensionsv1.JSON `json:"let,omitempty"`
	// When is a condition; without it the rule always matches.
	// +nullable
	When *apiextensionsv1.JSON `json:"when,omitempty"`
	// For is a duration such as 5m, or an expression: the rule acts once when has held for
	// that long without a break.
	// +nullable
	For *apiextensionsv1.JSON `json:"for,omitempty"`
	// Actions are what to do, in the order written.
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +nullable
	Actions []Action `json:"actions,omitempty"`
	// OnDelete is what to do while the object is being deleted. Actions do not run then.
	// +nullable
	OnDelete *OnDelete `json:"onDelete,omitempty"`
	// Suspend keeps the rule listed, and deciding nothing.
	// +nullable
	Suspend bool `json:"suspend,omitempty"`
	// Mode goes before the mode of the set.
	// +nullable
	Mode Mode `json:"mode,omitempty"`
	// Limits are a blast radius: for how many of the watched objects the rule may write within
	// a sliding window. Past it, the rule pauses.
	// +nullable
	Limits *Limits `json:"limits,omitempty"`
}

// OnDelete is what a rule does while the object is being deleted.
//
// +kubebuilder:pruning:PreserveUnknownFields
type OnDelete struct {
	// Actions are as those of the rule; apply without prune. Required, unless there is done.
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +nullable
	Actions []Action `json:"actions,omitempty"`
	// Done is a condition: the object may go. Without it, once the actions have succeeded.
	// +nullable
	Done *apiextensionsv1.JSON `json:"done,omitempty"`
	// Hold keeps the object until done, by a finalizer (default). false: only react, where
	// something else delays the deletion.
	// +nullable
	Hold *bool `json:"hold,omitempty"`
}

// Limits are the blast radius of a rule.
//
// +kubebuilder:pruning:PreserveUnknownFields
type Limits struct {
	// MaxObjects is a number from 1, or a percentage of the objects that the rule watches, of
	// which at least one. 100% is no limit, but says that somebody thought of it.
	MaxObjects apiextensionsv1.JSON `json:"maxObjects"`
	// Per is the window; default 10m.
	// +nullable
	Per *apiextensionsv1.JSON `json:"per,omitempty"`
}

// Related is other objects that a rule reads: a resource, and one way to say which of its
// objects are meant.
//
// +kubebuilder:pruning:PreserveUnknownFields
type Related struct {
	// Resource is a name under resources.
	Resource string `json:"resource"`
	// Namespace is by default that of the watched object. "*" means every one that the
	// declaration under resources selects.
	// +nullable
	Namespace string `json:"namespace,omitempty"`
	// Name gives the object of this name, or nil if there is none. Nothing is read where the
	// name is nil or empty.
	// +nullable
	Name string `json:"name,omitempty"`
	// Names gives a list, by names; those that are nil or empty are skipped.
	// +nullable
	Names *apiextensionsv1.JSON `json:"names,omitempty"`
	// MatchLabels gives a list, by labels that are equal.
	// +nullable
	MatchLabels *apiextensionsv1.JSON `json:"matchLabels,omitempty"`
	// Selector gives a list, by a whole LabelSelector. An empty one is an error.
	// +nullable
	Selector *apiextensionsv1.JSON `json:"selector,omitempty"`
	// MatchFields gives a list, by fields that equal a string, a number or a boolean, such as
	// spec.nodeName.
	// +nullable
	MatchFields *apiextensionsv1.JSON `json:"matchFields,omitempty"`
	// OwnedBy gives a list, by the controller reference: the bare name of an object or a list
	// of them.
	// +nullable
	OwnedBy string `json:"ownedBy,omitempty"`
	// All gives a list of all that the declaration under resources selects.
	// +nullable
	All bool `json:"all,omitempty"`
}
