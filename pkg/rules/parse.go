package rules

import (
	"cmp"
	"strings"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
)

// parseSet reads a document of kind RuleSet or ClusterRuleSet.
func parseSet(n *document.Node, defaultNamespace string) (*RuleSet, document.Errors) {
	s := &RuleSet{Kind: n.Get("kind").Text(), node: n}
	version := APIVersion
	errs := n.Decode(
		document.Required("apiVersion", document.OneOf(&version, APIVersion)),
		document.Required("kind", document.String(&s.Kind)),
		document.Required("metadata", s.parseMetadata),
		document.Required("spec", s.parseSpec),
	)
	return s, append(errs, s.checkScope(defaultNamespace)...)
}

// parseMetadata allows what any Kubernetes object may carry: the API server's
// own fields come along when a set is fetched from a cluster.
func (s *RuleSet) parseMetadata(n *document.Node) document.Errors {
	written := []document.Field{
		document.Required("name", checked(&s.Name, subdomain)),
		document.Optional("namespace", checked(&s.Namespace, label)),
	}
	var ignored *document.Node
	for _, name := range []string{
		"labels", "annotations", "uid", "resourceVersion", "generation",
		"creationTimestamp", "managedFields", "finalizers", "ownerReferences",
	} {
		written = append(written, document.Optional(name, document.Raw(&ignored)))
	}
	return n.Decode(written...)
}

// checkScope fills in the namespace that kubectl would use.
func (s *RuleSet) checkScope(defaultNamespace string) document.Errors {
	switch {
	case s.Kind == KindRuleSet:
		s.Namespace = cmp.Or(s.Namespace, defaultNamespace)
	case s.Namespace != "":
		return document.Errors{s.node.Get("metadata").Get("namespace").Errorf(
			"leave it out, or make it a RuleSet", "a ClusterRuleSet acts cluster-wide and has no namespace")}
	}
	return nil
}

func (s *RuleSet) parseSpec(n *document.Node) document.Errors {
	return n.Decode(
		document.Optional("description", document.String(&s.Description)),
		document.Optional("let", parseLets(&s.Let)),
		document.Required("resources", filled(document.Each(s.parseResource))),
		document.Required("rules", filled(s.parseRules)),
		document.Unsupported("serviceAccountName"),
		document.Unsupported("serviceAccountNamespace"),
		document.Unsupported("mode"),
		document.Unsupported("params"),
	)
}

func (s *RuleSet) parseResource(entry document.Entry) document.Errors {
	r := Resource{Name: entry.Key.Text()}
	errs := entry.Value.Decode(
		document.Optional("group", checked(&r.GVR.Group, groupName)),
		document.Required("version", checked(&r.GVR.Version, label)),
		document.Required("resource", checked(&r.GVR.Resource, resourceName)),
		document.Optional("namespaces", filled(document.List(&r.Namespaces, s.namespace))),
		document.Optional("labelSelector", checked(&r.LabelSelector, labelSelector)),
		document.Optional("fieldSelector", checked(&r.FieldSelector, fieldSelector)),
	)
	if strings.Contains(r.Name, ",") {
		errs = append(errs, entry.Key.Errorf("give each resource a name of its own", "the name of a resource has no comma"))
	}
	s.Resources = append(s.Resources, r)
	return errs
}

func (s *RuleSet) namespace(into *string) document.Decoder {
	return func(n *document.Node) document.Errors {
		if s.Kind == KindRuleSet {
			return document.Errors{n.Errorf("leave namespaces out, or make it a ClusterRuleSet",
				"a RuleSet acts in its own namespace only")}
		}
		return checked(into, label)(n)
	}
}

func (s *RuleSet) parseRules(n *document.Node) document.Errors {
	if wrong := n.Expect(document.KindList); wrong != nil {
		return document.Errors{wrong}
	}
	var errs document.Errors
	first := map[string]*document.Node{}
	for _, element := range n.Elements() {
		rule, ruleErrs := parseRule(element)
		errs = append(errs, ruleErrs...)
		s.Rules = append(s.Rules, rule)
		if before := first[rule.Name]; before != nil {
			errs = append(errs, element.Get("name").Errorf("rename one of them",
				"rule %q is on line %d already", rule.Name, before.Position().Line))
		}
		if rule.Name != "" {
			first[rule.Name] = element
		}
	}
	return errs
}

func parseRule(n *document.Node) (RuleSource, document.Errors) {
	var r RuleSource
	errs := n.Decode(
		document.Required("name", checked(&r.Name, label)),
		document.Optional("description", document.String(&r.Description)),
		document.Required("watch", document.Raw(&r.Watch)),
		document.Optional("let", parseLets(&r.Let)),
		document.Optional("when", document.Raw(&r.When)),
		document.Required("actions", filled(func(n *document.Node) document.Errors {
			r.Actions = n.Elements()
			return asErrors(n.Expect(document.KindList))
		})),
		document.Unsupported("with"),
		document.Unsupported("for"),
		document.Unsupported("onDelete"),
		document.Unsupported("suspend"),
		document.Unsupported("mode"),
		document.Unsupported("limits"),
	)
	return r, errs
}

func parseLets(out *[]Let) document.Decoder {
	return document.Each(func(entry document.Entry) document.Errors {
		*out = append(*out, Let{Name: entry.Key.Text(), Key: entry.Key, Value: entry.Value})
		return nil
	})
}

func asErrors(wrong *document.Error) document.Errors {
	if wrong == nil {
		return nil
	}
	return document.Errors{wrong}
}

// filled refuses an empty list or map, which would quietly do nothing.
func filled(decode document.Decoder) document.Decoder {
	return func(n *document.Node) document.Errors {
		collection := n.Kind() == document.KindList || n.Kind() == document.KindMap
		if collection && len(n.Entries())+len(n.Elements()) == 0 {
			return document.Errors{n.Errorf("add one, or remove what needs none", "%s without elements does nothing", n.Kind())}
		}
		return decode(n)
	}
}
