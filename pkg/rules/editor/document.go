package editor

import (
	"github.com/dyncontroller/dyncontroller/pkg/rules/spec"
)

// draft is the version of JSON schema that editors understand.
const draft = "http://json-schema.org/draft-07/schema#"

// Schema returns the JSON schema of RuleSet, ClusterRuleSet and RuleTest
// documents. The bodies that are written to the resources of bindings are
// described in it; of others they can be anything. What it returns is indented JSON,
// the same for the same bindings in the same order.
func Schema(bindings []Binding) ([]byte, error) {
	root, definitions := document(), language()
	kinds, _ := root["allOf"].([]any)
	root["allOf"] = append(kinds, connect(definitions, bindings)...)
	root["definitions"] = definitions
	return marshal(root)
}

// language is everything below the root, by name.
func language() node {
	return node{
		"metadata":        metadata(),
		"set":             set(),
		"resource":        resource(),
		"rule":            rule(),
		"actions":         listOf(reference("action")),
		"onDelete":        onDelete(),
		"limits":          limits(),
		"related":         related(),
		"selector":        selector(),
		"action":          action(),
		"patch":           patch(),
		"operation":       operation(),
		"apply":           apply(),
		"create":          create(),
		"delete":          deletion(),
		"event":           event(),
		"body":            body(),
		"applied":         manifest("appliedMetadata"),
		"created":         manifest("createdMetadata"),
		"patchedMetadata": metadataOf(),
		"appliedMetadata": metadataOf("name", "namespace"),
		"createdMetadata": metadataOf("name", "namespace", "generateName"),
		"let":             mapOf(name(), expression()),
		"test":            test(),
		"case":            testCase(),
		"step":            step(),
		"stepPatch":       stepPatch(),
		"expect":          expect(),
		"stepOperation":   stepOperation(),
	}
}

// document is any of the kinds of documents. What they do not share depends on the
// kind.
func document() node {
	out := object(
		required("apiVersion", "The version of the language.", constant(spec.APIVersion)),
		required("kind", "ClusterRuleSet acts in the whole cluster; RuleSet acts in one namespace, its own; RuleTest tests rules.",
			node{"enum": []string{spec.KindClusterRuleSet, spec.KindRuleSet, spec.KindRuleTest}}),
		required("metadata", "The name of the document, and what Kubernetes keeps of any object.", reference("metadata")),
		required("spec", "What the document says.", node{"type": "object"}),
		optional("status", "Comes along from a cluster, and is ignored.", node{"doNotSuggest": true}),
	)
	out["$schema"] = draft
	out["description"] = "Rules of dyncontroller, or a test of rules."
	out["allOf"] = []any{
		conditional(ofKind(spec.KindRuleSet, spec.KindClusterRuleSet), having("spec", reference("set"))),
		conditional(ofKind(spec.KindRuleSet), having("spec", all(
			absent("serviceAccountNamespace"),
			having("resources", node{"additionalProperties": absent("namespaces")}),
		))),
		conditional(ofKind(spec.KindClusterRuleSet), node{"properties": node{
			"metadata": absent("namespace"),
			"spec": node{"dependencies": node{
				"serviceAccountName":      []string{"serviceAccountNamespace"},
				"serviceAccountNamespace": []string{"serviceAccountName"},
			}},
		}}),
		conditional(ofKind(spec.KindRuleTest), node{"properties": node{
			"metadata": node{"propertyNames": node{"enum": []string{"name", "labels", "annotations"}}},
			"spec":     reference("test"),
			"status":   false,
		}}),
	}
	return out
}

func ofKind(kinds ...string) node { return present("kind", node{"enum": kinds}) }

// ignoredMetadata comes along when a set is fetched from a cluster.
var ignoredMetadata = []string{
	"uid", "resourceVersion", "generation", "creationTimestamp", "managedFields", "finalizers", "ownerReferences",
}

func metadata() node {
	fields := []property{
		required("name", "Sets of the same kind and namespace have different names.", subdomain()),
		optional("namespace", "Of a RuleSet: where it acts. Without it, run takes that of --namespace or of the kubeconfig's context; validate, test and eval take default.", label()),
		optional("labels", "Labels of the document itself.", node{}),
		optional("annotations", "Annotations of the document itself.", node{}),
	}
	for _, ignored := range ignoredMetadata {
		fields = append(fields, optional(ignored, "Comes along from a cluster, and is ignored.", node{"doNotSuggest": true}))
	}
	return object(fields...)
}
