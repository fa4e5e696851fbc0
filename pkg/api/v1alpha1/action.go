package v1alpha1

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// Action is exactly one of patch, apply, create, delete and event, when it is done, and
// for each of what.
//
// +kubebuilder:pruning:PreserveUnknownFields
type Action struct {
	// When is a condition of this action alone. With forEach, it is judged for each element.
	// +nullable
	When *apiextensionsv1.JSON `json:"when,omitempty"`
	// ForEach is {name: list}: the action is done for each element, called by that name; index
	// counts from 0.
	// +kubebuilder:validation:MinProperties=1
	// +kubebuilder:validation:MaxProperties=1
	// +nullable
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	ForEach map[string]apiextensionsv1.JSON `json:"forEach,omitempty"`
	// Patch changes an object that exists.
	// +nullable
	Patch *Patch `json:"patch,omitempty"`
	// Apply makes an object of a certain name be so, by server-side apply.
	// +nullable
	Apply *Apply `json:"apply,omitempty"`
	// Create makes a new object, which is never updated.
	// +nullable
	Create *Create `json:"create,omitempty"`
	// Delete deletes an object.
	// +nullable
	Delete *Delete `json:"delete,omitempty"`
	// Event records a Kubernetes Event about an object, once the writes of the rule have
	// succeeded.
	// +nullable
	Event *Event `json:"event,omitempty"`
}

// Patch changes an object that exists, by one of three bodies.
//
// +kubebuilder:pruning:PreserveUnknownFields
type Patch struct {
	// Merge is a JSON merge patch (RFC 7386): maps are merged, everything else is replaced,
	// null removes. Write null as "${nil}": clients lose a literal one on its way.
	// +nullable
	Merge *apiextensionsv1.JSON `json:"merge,omitempty"`
	// JSON is a JSON patch (RFC 6902): a list of {op, path, value}.
	// +nullable
	JSON *apiextensionsv1.JSON `json:"json,omitempty"`
	// Apply is server-side apply of just these fields; keys with null are left out.
	// +nullable
	Apply *apiextensionsv1.JSON `json:"apply,omitempty"`
	// Subresource is what of the object is written, such as status.
	// +nullable
	Subresource string `json:"subresource,omitempty"`
	// Target is what the patch is about: object (default), or a bare name of with, forEach or
	// let whose value was read from the cluster. A list means each of its elements, nil none.
	// +nullable
	Target string `json:"target,omitempty"`
	// Force is of apply only: it takes fields over from other managers. Without it, a field
	// that another manager owns is an error.
	// +nullable
	Force bool `json:"force,omitempty"`
	// Release is of apply only: what becomes of fields that the rule gives up. Orphan
	// (default): the values stay; Remove: they go, unless another manager owns them too.
	// +kubebuilder:validation:Enum=Orphan;Remove
	// +nullable
	Release string `json:"release,omitempty"`
}

// Apply makes an object of a certain name be so.
//
// +kubebuilder:pruning:PreserveUnknownFields
type Apply struct {
	// Resource is a name under resources. It gives apiVersion and kind.
	Resource string `json:"resource"`
	// Manifest is the object, or one template that gives it. What is nil in it counts as
	// absent.
	Manifest apiextensionsv1.JSON `json:"manifest"`
	// Owned makes the watched object the owner (default). Where Kubernetes forbids such an
	// owner, write false.
	// +nullable
	Owned *bool `json:"owned,omitempty"`
	// Prune deletes what the rule applied before and no longer wants.
	// +nullable
	Prune bool `json:"prune,omitempty"`
	// Existing is Update (default), or Keep: create it if it is absent, and leave whatever is
	// there alone.
	// +kubebuilder:validation:Enum=Update;Keep
	// +nullable
	Existing string `json:"existing,omitempty"`
	// Adopt takes over an object that the set did not make. It is released later, and never
	// deleted.
	// +nullable
	Adopt bool `json:"adopt,omitempty"`
}

// Create makes a new object.
//
// +kubebuilder:pruning:PreserveUnknownFields
type Create struct {
	// In is the list of with in which the object will appear.
	In string `json:"in"`
	// Manifest is the object, with name or generateName, or one template that gives it. What
	// is nil in it counts as absent.
	Manifest apiextensionsv1.JSON `json:"manifest"`
	// Owned makes the watched object the owner (default). Where Kubernetes forbids such an
	// owner, write false.
	// +nullable
	Owned *bool `json:"owned,omitempty"`
}

// Delete deletes an object.
//
// +kubebuilder:pruning:PreserveUnknownFields
type Delete struct {
	// Target is what is deleted: object (default), or a bare name of with, forEach or let
	// whose value was read from the cluster. A list means each of its elements, nil none.
	// +nullable
	Target string `json:"target,omitempty"`
	// GracePeriodSeconds is by default, or where it is nil, the object's own.
	// +nullable
	GracePeriodSeconds *apiextensionsv1.JSON `json:"gracePeriodSeconds,omitempty"`
	// PropagationPolicy says what becomes of objects that it owns. Background (default): they
	// go after it; Foreground: before it; Orphan: they stay.
	// +kubebuilder:validation:Enum=Background;Foreground;Orphan
	// +nullable
	PropagationPolicy string `json:"propagationPolicy,omitempty"`
}

// Event records a Kubernetes Event.
//
// +kubebuilder:pruning:PreserveUnknownFields
type Event struct {
	// Reason is one CamelCase word, at most 128 letters and digits, or a template.
	Reason string `json:"reason"`
	// Message is what happened. Leave out what changes all the time: an event is recorded
	// once for each episode.
	Message string `json:"message"`
	// Type is Normal (default) or Warning, or a template.
	// +nullable
	Type string `json:"type,omitempty"`
	// Action is what was done, one CamelCase word, or a template.
	// +nullable
	Action string `json:"action,omitempty"`
	// Target is what the event is about: object (default), or a bare name of with, forEach or
	// let whose value was read from the cluster. A list means each of its elements, nil none.
	// +nullable
	Target string `json:"target,omitempty"`
}
