// Package v1alpha1 is what the API server stores of rule sets: the kinds RuleSet and
// ClusterRuleSet, with their status. The CustomResourceDefinitions in deploy/crds are
// generated from its types, their comments and the markers in these, and from the fields of
// the language, by make generate.
//
//	object in the cluster -> unstructured -> pkg/rules/spec
//	Status                -> unstructured -> the status subresource
//
// The definitions describe sets for people and the API server. Every object of a set keeps
// unknown fields. Without that, the API server would
// drop a `whenn` without a word to most clients, and the rule would match everything.
// As it is, the field reaches the controller, which refuses the set in its status and
// says where. For the same reason every field that may be absent may be null: an API
// server drops a null that its schema does not allow, and a `when:` without a value would
// be no condition. Only against kubectl's client-side apply that does not help: it drops
// nulls before it sends them.
//
// There are no defaults either: what a set says is what comes back. The schema takes
// every set that the language takes. What it refuses, the language refuses too; the
// controller has the last word and the better messages.
package v1alpha1
