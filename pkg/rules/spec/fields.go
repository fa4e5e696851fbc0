package spec

import (
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/field"
)

// metadataFields are those that any Kubernetes object may carry: the API server's own come along when a set is fetched from a cluster.
var metadataFields = func() *field.Type {
	out := field.Object("metadata",
		field.Required("name", field.Subdomain, "Sets of the same kind and namespace have different names."),
		field.Optional("namespace", field.Label, "Of a RuleSet: where it acts. Without it, run takes that of --namespace or of the kubeconfig's context; "+
			"validate, test and eval take default."),
		field.Optional("labels", field.Any, "Labels of the document itself."),
		field.Optional("annotations", field.Any, "Annotations of the document itself."),
	)
	for _, name := range []string{"uid", "resourceVersion", "generation", "creationTimestamp", "managedFields", "finalizers", "ownerReferences"} {
		out.Fields = append(out.Fields, field.Optional(name, field.Ignored, ignored))
	}
	return out
}()

const ignored = "Comes along from a cluster, and is ignored."

// documentFields are those of a RuleSet or ClusterRuleSet.
var documentFields = field.Object("",
	field.Required("apiVersion", field.Words(APIVersion), "The version of the language."),
	field.Required("kind", field.Words(KindClusterRuleSet, KindRuleSet, KindRuleTest),
		"ClusterRuleSet acts in the whole cluster; RuleSet acts in one namespace, its own; RuleTest tests rules."),
	field.Required("metadata", field.Ref("metadata"), "The name of the document, and what Kubernetes keeps of any object."),
	field.Required("spec", field.Free(field.Schema{"type": "object"}), "What the document says."),
	field.Optional("status", field.Ignored, ignored),
).Otherwise(func(key, _ string) string {
	switch key {
	case "rules", "resources", "let", "params":
		return "put it under spec"
	default:
		return ""
	}
})

var setFields = field.Object("set",
	field.Optional("description", field.Text, "What the set is for; for readers."),
	field.Optional("serviceAccountName", otherwise(field.Subdomain, `^(?:system:serviceaccount:)?([^:]*):(.*)$`,
		"write serviceAccountName: $2, and in a ClusterRuleSet serviceAccountNamespace: $1"),
		"The set reads and writes as this ServiceAccount, which for a RuleSet is in its own namespace."),
	field.Optional("serviceAccountNamespace", field.Label, "The namespace of the ServiceAccount of a ClusterRuleSet."),
	field.Optional("mode", field.Words(Enforce, Audit),
		"Enforce (default): the rules act. Audit: they are evaluated and reported, but write nothing and record no events."),
	field.Optional("suspend", field.Bool, "true: as if each rule of the set had it."),
	field.Optional("params", field.Map(paramName, field.Any), "Constants of any shape, which rules read as params.NAME. --param SET.NAME=VALUE replaces one."),
	field.Optional("let", lets,
		"Expressions with names, for all rules of the set; each is evaluated at most once for an object, and only if something uses it."),
	field.Required("resources", filled(field.Map(resourceKey, resourceFields)), "Everything that the rules of the set watch, read or make, each under a name."),
	field.Required("rules", &field.Type{
		Kinds: document.KindList, Items: ruleFields, ByName: true, Filled: true,
	}, "The rules, the first of which has its way where they disagree."),
).Placed("a set", "write it under spec")

var lets = &field.Type{Name: "let", Kinds: document.KindMap, Keys: field.Identifier, Values: field.Expression}

func filled(t *field.Type) *field.Type {
	t.Filled = true
	return t
}

// paramName is one that --param SET.NAME can tell from those of sets.
var paramName = field.Matching(`^[^.]*$`, "the name of a parameter, without a dot")

// resourceKey is what can stand between the commas of watch.
var resourceKey = field.Matching(`^[^\s,]+$`, "a name without commas and spaces")

var resourceFields = field.Object("resource",
	field.Optional("group", group, "The API group; leave it out for core resources such as pods."),
	field.Required("version", otherwise(field.Label, both, bothHint), "The version of the API, such as v1."),
	field.Required("resource", resourceName, "The plural, lower-case name, as in kubectl api-resources."),
	field.Optional("namespaces", field.List(otherwise(field.Label, `^\*$`, "leave namespaces out for every one")), "Only these namespaces. A RuleSet cannot have it: it acts in its own."),
	field.Optional("labelSelector", selectorText(func(text string) error { _, err := labels.Parse(text); return err }, "label", "app=tidb,tier!=test"),
		"As in kubectl get -l. What it leaves out does not exist for the rules."),
	field.Optional("fieldSelector", selectorText(func(text string) error { _, err := fields.ParseSelector(text); return err }, "field", "metadata.name=basic"),
		"As in kubectl get --field-selector. What it leaves out does not exist for the rules."),
)

// group allows the core group, which is empty.
var group = func() *field.Type {
	out := otherwise(field.Subdomain, both, bothHint)
	check := out.Check
	out.Pattern = regexp.MustCompile(out.Pattern.String() + "|^$")
	out.Check = func(n *document.Node) *document.Error {
		if n.Text() == "" {
			return nil
		}
		return check(n)
	}
	return out
}()

var ruleFields = func() *field.Type {
	out := field.Object("rule",
		field.Required("name", field.Label, "Unique in the set, a DNS label."),
		field.Optional("description", field.Text, "What the rule is for; for readers."),
		field.Required("watch", watch,
			"A name under resources, or several with commas; the rule is evaluated for each object, one at a time."),
		field.Optional("with", filled(field.Map(field.Identifier, field.Ref("related"))),
			"Other objects that the rule reads. Where they change, the rule is evaluated again."),
		field.Optional("let", lets, "Expressions with names; each is evaluated at most once for an object, and only if something uses it."),
		field.Optional("when", field.Condition, "A condition; without it the rule always matches."),
		field.Optional("for", holdTime, "A duration such as 5m, or an expression: the rule acts once when has held for that long without a break."),
		field.Optional("actions", actions, "What to do, in the order written. Required, unless there is onDelete."),
		field.Optional("onDelete", onDeleteFields, "What to do while the object is being deleted. Ordinary actions do not run then."),
		field.Optional("suspend", field.Bool, "true: the rule stays listed and decides nothing."),
		field.Optional("mode", field.Words(Enforce, Audit),
			"Goes before the mode of the set. Audit: the rule is evaluated and reported, but writes nothing and records no events."),
		field.Optional("limits", limitFields,
			"A blast radius: for how many of the watched objects the rule may write within a sliding window. Past it, the rule pauses."),
		field.Optional("rollout", rolloutFields,
			"When the rule is new or has changed, it writes for some objects first, and for more once those are healthy."),
	)
	out.SomeOf, out.Missing = []string{"actions", "onDelete"}, "a rule has actions, or onDelete with some"
	return out.Placed("a rule", "write it beside actions")
}()

var watch = &field.Type{
	Kinds: document.KindString, Pattern: regexp.MustCompile(`^\s*[^\s,]+\s*(,\s*[^\s,]+\s*)*$`), Message: "a name under resources, or several with commas",
	Hint:    "write the name of a resource, or several as in watch: pods, deployments",
	Missing: "name what the rule watches: a key of resources, or several with commas",
}

var actions = &field.Type{Name: "actions", Kinds: document.KindList, Items: field.Ref("action"), Filled: true}

var onDeleteFields = func() *field.Type {
	out := field.Object("onDelete",
		field.Optional("actions", actions, "As those of a rule; apply without prune. Required, unless there is done."),
		field.Optional("done", field.Condition, "A condition: the object may go. Without it, once the actions have succeeded."),
		field.Optional("hold", field.Bool,
			"true (default): keep the object until done, by a finalizer. false: only react, where something else delays the deletion."),
	)
	out.SomeOf = []string{"actions", "done"}
	return out.Placed("onDelete", "write it in onDelete")
}()

// share is a number of objects, or a percentage.
var share = field.Free(field.Schema{
	"type": []string{"integer", "string"}, "minimum": 1,
	"pattern": percentage.String(), "patternErrorMessage": "a number from 1, or a percentage such as 10%",
})

var limitFields = field.Object("limits",
	field.Required("maxObjects", share, "A number from 1, or a percentage of the objects that the rule watches, of which at least one. "+
		"100% is no limit, but says that somebody thought of it."),
	field.Optional("per", duration, "The window; default 10m."),
).Placed("limits", "write it in limits")

var rolloutFields = field.Object("rollout",
	field.Required("waves", filled(&field.Type{Kinds: document.KindList, Items: share}),
		"For how many objects the rule writes before the next wave begins: numbers, or percentages of the objects that it watches, each larger than "+
			"the one before. After the last wave, it writes for all."),
	field.Required("healthy", field.Condition,
		"A condition on an object that the rule has written for. It can read what when can read."),
	field.Optional("soak", duration, "How long all objects of a wave have to be healthy before the next wave begins; default 1m."),
	field.Optional("timeout", duration, "How long an object may be unhealthy before the rule pauses; default 10m."),
	field.Optional("by", field.Expression,
		"What the objects are ordered by: a number, a string, a time or a boolean. Objects of the same, and all without it, are ordered by namespace and name."),
).Placed("rollout", "write it in rollout")

const durationPattern = `^([0-9]+w)?([0-9]+d)?(\+?(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+)?$`

// duration takes a text with units, or a number of seconds, and holdTime an expression, too, which a digit does not start.
var (
	duration = durationOr("", 2)
	holdTime = durationOr(`^\s+\S|^[^0-9\s]|`, 1)
)

func durationOr(pattern string, least int) *field.Type {
	return field.Free(field.Schema{
		"type": []string{"string", "integer"}, "minimum": 1, "minLength": least,
		"pattern": pattern + durationPattern, "patternErrorMessage": "write it with units, such as 90s, 1h30m, 2d or 1w",
	})
}

// otherwise refuses first a text of a form that has another place. The hint has what the groups of the form match.
func otherwise(t *field.Type, form, hint string) *field.Type {
	other := regexp.MustCompile(form)
	return t.Unless(func(n *document.Node) *document.Error {
		if !other.MatchString(n.Text()) {
			return nil
		}
		return n.Errorf(other.ReplaceAllString(n.Text(), hint), "%q is not written here", n.Text())
	})
}

// both is how manifests write a group and a version.
const both, bothHint = `^([^/]*)/(.*)$`, "write group: $1 and version: $2"

// resourceName is no kind, no subresource, and not how kubectl writes a resource and its group.
var resourceName = otherwise(otherwise(otherwise(field.Label.Unless(func(n *document.Node) *document.Error {
	lower := strings.ToLower(n.Text())
	if n.Text() == lower {
		return nil
	}
	return n.Errorf("write the plural resource, such as "+strings.TrimSuffix(lower, "s")+"s", "%q looks like a kind", n.Text())
}), `^([^./]+)\.([^/]+)$`, "write resource: $1 and group: $2"), `^([^./]+)\.(v\d+(?:(?:alpha|beta)\d+)?)\.([^/]+)$`, "write resource: $1, version: $2 and group: $3"), `^([^/]*)/.*$`, "write $1: a subresource cannot be watched")

// selectorText takes a selector as kubectl does.
func selectorText(parse func(string) error, kind, example string) *field.Type {
	return &field.Type{
		Kinds: document.KindString, Hint: "write it as text: " + example,
		Check: func(n *document.Node) *document.Error {
			if err := parse(n.Text()); err != nil {
				return n.Errorf("write it as kubectl does, such as "+example, "not a %s selector: %v", kind, err)
			}
			return nil
		},
	}
}

// Document returns the fields of a document, and Types those of its parts by the names of their definitions.
func Document() *field.Type { return documentFields }

// Types are the types of sets, of rules and of tests that have a name, in no order.
func Types() []*field.Type {
	return []*field.Type{
		metadataFields, setFields, resourceFields, ruleFields, actions, onDeleteFields, limitFields, rolloutFields, lets,
		TestFields, CaseFields, StepFields, StepPatchFields, StepOperationFields, ExpectFields, ExpectedFields,
	}
}
