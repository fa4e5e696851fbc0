package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// RuleSet is a set of rules that act in one namespace, the set's own.
//
// +kubebuilder:resource:shortName=rset,categories=dyncontroller
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Rules",type=integer,JSONPath=`.status.summary.rules`
// +kubebuilder:printcolumn:name="Matched",type=integer,JSONPath=`.status.summary.matched`
// +kubebuilder:printcolumn:name="Errors",type=integer,JSONPath=`.status.summary.errors`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Account",type=string,priority=1,JSONPath=`.spec.serviceAccountName`
// +kubebuilder:printcolumn:name="Message",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].message`
// +kubebuilder:pruning:PreserveUnknownFields
type RuleSet struct {
	metav1.TypeMeta   `json:""`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is what the rules are.
	// +kubebuilder:validation:XValidation:rule="has(self.serviceAccountName)",fieldPath=".serviceAccountName",reason=FieldValueRequired,message="a set in the cluster names the ServiceAccount, of its own namespace, as which it reads and writes"
	// +kubebuilder:validation:XValidation:rule="!has(self.serviceAccountNamespace)",fieldPath=".serviceAccountNamespace",reason=FieldValueForbidden,message="leave it out: the ServiceAccount of a RuleSet is in its own namespace"
	// +kubebuilder:validation:XValidation:rule="self.resources.all(name, !has(self.resources[name].namespaces))",fieldPath=".resources",reason=FieldValueForbidden,message="leave namespaces out, or make it a ClusterRuleSet: a RuleSet acts in its own namespace only"
	Spec Spec `json:"spec"`
	// Status is what the controller tells of the set.
	Status Status `json:"status,omitempty"`
}

// ClusterRuleSet is a set of rules that act cluster-wide.
//
// +kubebuilder:resource:scope=Cluster,shortName=crset,categories=dyncontroller
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Rules",type=integer,JSONPath=`.status.summary.rules`
// +kubebuilder:printcolumn:name="Matched",type=integer,JSONPath=`.status.summary.matched`
// +kubebuilder:printcolumn:name="Errors",type=integer,JSONPath=`.status.summary.errors`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Account",type=string,priority=1,JSONPath=`.spec.serviceAccountName`
// +kubebuilder:printcolumn:name="Account Namespace",type=string,priority=1,JSONPath=`.spec.serviceAccountNamespace`
// +kubebuilder:printcolumn:name="Message",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].message`
// +kubebuilder:pruning:PreserveUnknownFields
type ClusterRuleSet struct {
	metav1.TypeMeta   `json:""`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is what the rules are.
	// +kubebuilder:validation:XValidation:rule="has(self.serviceAccountName)",fieldPath=".serviceAccountName",reason=FieldValueRequired,message="a set in the cluster names the ServiceAccount as which it reads and writes"
	// +kubebuilder:validation:XValidation:rule="has(self.serviceAccountNamespace)",fieldPath=".serviceAccountNamespace",reason=FieldValueRequired,message="a ClusterRuleSet has no namespace, so its ServiceAccount needs one"
	Spec Spec `json:"spec"`
	// Status is what the controller tells of the set.
	Status Status `json:"status,omitempty"`
}

// Spec is what a set says. Its fields are those of the language, which make generate adds to the definitions.
//
// +kubebuilder:pruning:PreserveUnknownFields
type Spec struct{}
