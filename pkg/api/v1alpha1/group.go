package v1alpha1

import (
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// +groupName=dyncontroller.dev
// The line above is for controller-gen, which does not read constants.

// What names the API.
const (
	// Group is the API group of rule sets.
	Group = "dyncontroller.dev"
	// Version is the version of the language.
	Version = "v1alpha1"
	// Finalizer keeps a set that has left something until that is cleaned up.
	Finalizer = "dyncontroller.dev/cleanup"
)

// RuleSets returns the resource of sets that act in their own namespace.
func RuleSets() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: Group, Version: Version, Resource: "rulesets"}
}

// ClusterRuleSets returns the resource of sets that act cluster-wide.
func ClusterRuleSets() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: Group, Version: Version, Resource: "clusterrulesets"}
}

// ResourceOf returns the resource of a kind of sets, RuleSet or ClusterRuleSet.
func ResourceOf(kind string) schema.GroupVersionResource {
	if kind == "ClusterRuleSet" {
		return ClusterRuleSets()
	}
	return RuleSets()
}
