package v1alpha1

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
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

// Spec is what a set says.
//
// +kubebuilder:pruning:PreserveUnknownFields
type Spec struct {
	// Description says what the set is for; for readers.
	// +nullable
	Description string `json:"description,omitempty"`
	// ServiceAccountName is the identity as which the set reads and writes. That of a RuleSet
	// is in its own namespace.
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	// +nullable
	ServiceAccountName string `json:"serviceAccountName,omitempty"`
	// ServiceAccountNamespace is the namespace of the ServiceAccount of a ClusterRuleSet.
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	// +nullable
	ServiceAccountNamespace string `json:"serviceAccountNamespace,omitempty"`
	// Mode is Enforce (default): the rules act; or Audit: they are evaluated and reported, but
	// write nothing and record no events.
	// +nullable
	Mode Mode `json:"mode,omitempty"`
	// Params are constants of any shape, which rules read as params.NAME.
	// +nullable
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	Params map[string]apiextensionsv1.JSON `json:"params,omitempty"`
	// Let gives names to expressions, for all rules of the set.
	// +nullable
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	Let map[string]apiextensionsv1.JSON `json:"let,omitempty"`
	// Resources are everything that the rules of the set watch, read or make, each under a
	// name.
	// +kubebuilder:validation:MinProperties=1
	Resources map[string]Resource `json:"resources"`
	// Rules are the rules, the first of which has its way where they disagree.
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	Rules []Rule `json:"rules"`
}

// Mode says whether rules write.
//
// +kubebuilder:validation:Enum=Enforce;Audit
type Mode string

// Resource is a kind of objects that rules watch, read or make.
//
// +kubebuilder:pruning:PreserveUnknownFields
type Resource struct {
	// Group is the API group; leave it out for core resources such as pods.
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*)?$`
	// +nullable
	Group string `json:"group,omitempty"`
	// Version is the version of the API, such as v1.
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	Version string `json:"version"`
	// Resource is the plural, lower-case name, as in kubectl api-resources.
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	Resource string `json:"resource"`
	// Namespaces are the only ones that the rules see. A RuleSet cannot have it: it acts in
	// its own.
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:items:MaxLength=63
	// +kubebuilder:validation:items:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	// +nullable
	Namespaces []string `json:"namespaces,omitempty"`
	// LabelSelector is written as in kubectl get -l. What it leaves out does not exist for the
	// rules.
	// +nullable
	LabelSelector string `json:"labelSelector,omitempty"`
	// FieldSelector is written as in kubectl get --field-selector. What it leaves out does not
	// exist for the rules.
	// +nullable
	FieldSelector string `json:"fieldSelector,omitempty"`
}
