package spec

import (
	"cmp"
	"strings"
	"unicode"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
)

// parseSet reads a document of kind RuleSet or ClusterRuleSet.
func parseSet(n *document.Node, defaultNamespace string) (*Set, document.Errors) {
	s := &Set{Kind: n.Get("kind").Text(), node: n}
	version := APIVersion
	var ignored *document.Node
	errs := n.Decode(
		document.Required("apiVersion", document.OneOf(&version, APIVersion)),
		document.Required("kind", document.String(&s.Kind)),
		document.Required("metadata", s.parseMetadata),
		document.Required("spec", s.parseSpec),
		document.Optional("status", document.Raw(&ignored)), // Comes along from a cluster.
	)
	for _, name := range []string{"rules", "resources", "let", "params"} {
		if key := n.Key(name); key != nil && n.Kind() == document.KindMap {
			hint(errs, key, "put it under spec")
		}
	}
	return s, append(errs, s.checkScope(defaultNamespace)...)
}

// parseMetadata allows what any Kubernetes object may carry: the API server's
// own fields come along when a set is fetched from a cluster.
func (s *Set) parseMetadata(n *document.Node) document.Errors {
	written := []document.Field{
		document.Required("name", checked(&s.Name, subdomain)),
		document.Optional("namespace", checked(&s.Namespace, label)),
	}
	var ignored, annotations *document.Node
	written = append(written, document.Optional("annotations", document.Raw(&annotations)))
	for _, name := range []string{
		"labels", "uid", "resourceVersion", "generation",
		"creationTimestamp", "managedFields", "finalizers", "ownerReferences",
	} {
		written = append(written, document.Optional(name, document.Raw(&ignored)))
	}
	errs := n.Decode(written...)
	s.Resume = Resumed(annotations.Get(ResumeAnnotation).Text())
	return errs
}

// ResumeAnnotation names rules of a set that are to go on after a pause.
const ResumeAnnotation = "dyncontroller.dev/resume"

// Resumed reads the annotation: names with commas between them.
func Resumed(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == ',' || unicode.IsSpace(r) })
}

// checkScope fills in the namespace that kubectl would use.
func (s *Set) checkScope(defaultNamespace string) document.Errors {
	switch {
	case s.Kind == KindRuleSet:
		s.Namespace = cmp.Or(s.Namespace, defaultNamespace)
		if s.Identity.Name != "" {
			s.Identity.Namespace = s.Namespace
		}
	case s.Namespace != "":
		return document.Errors{s.node.Get("metadata").Get("namespace").Errorf(
			"leave it out, or make it a RuleSet", "a ClusterRuleSet acts cluster-wide and has no namespace")}
	}
	return nil
}

func (s *Set) parseSpec(n *document.Node) document.Errors {
	errs := n.Decode(
		document.Optional("description", document.String(&s.Description)),
		document.Optional("serviceAccountName", checked(&s.Identity.Name, serviceAccount)),
		document.Optional("serviceAccountNamespace", checked(&s.Identity.Namespace, label)),
		document.Optional("mode", document.OneOf(&s.Mode, Enforce, Audit)),
		document.Optional("params", s.parseParams),
		document.Optional("let", definitions(&s.Let)),
		document.Required("resources", filled(document.Each(s.parseResource))),
		document.Required("rules", filled(s.parseRules)),
	)
	return append(errs, s.checkIdentity(n)...)
}

// checkIdentity makes sure that the ServiceAccount has a namespace: that of a
// RuleSet is the set's own.
func (s *Set) checkIdentity(n *document.Node) document.Errors {
	name, namespace := n.Get("serviceAccountName"), n.Get("serviceAccountNamespace")
	switch {
	case namespace != nil && s.Kind == KindRuleSet:
		return document.Errors{namespace.Errorf("leave it out", "the ServiceAccount of a RuleSet is in its own namespace")}
	case namespace != nil && name == nil:
		return document.Errors{namespace.Errorf("add serviceAccountName: ...", "a namespace without a ServiceAccount")}
	case name != nil && namespace == nil && s.Kind == KindClusterRuleSet:
		return document.Errors{name.Errorf("add serviceAccountNamespace: ...",
			"a ClusterRuleSet has no namespace, so its ServiceAccount needs one")}
	default:
		return nil
	}
}

func (s *Set) parseResource(entry document.Entry) document.Errors {
	r := Resource{Name: entry.Key.Text()}
	errs := entry.Value.Decode(
		document.Optional("group", checked(&r.GVR.Group, groupName)),
		document.Required("version", checked(&r.GVR.Version, versionName)),
		document.Required("resource", checked(&r.GVR.Resource, resourceName)),
		document.Optional("namespaces", filled(document.List(&r.Namespaces, s.namespace))),
		document.Optional("labelSelector", selectorText(checked(&r.LabelSelector, labelSelector))),
		document.Optional("fieldSelector", checked(&r.FieldSelector, fieldSelector)),
	)
	if !keyPattern.MatchString(r.Name) {
		errs = append(errs, entry.Key.Errorf("give each resource a name of its own",
			"what a rule watches has a name without commas and spaces"))
	}
	s.Resources = append(s.Resources, r)
	return errs
}

func (s *Set) namespace(into *string) document.Decoder {
	return func(n *document.Node) document.Errors {
		if s.Kind == KindRuleSet {
			return document.Errors{n.Errorf("leave namespaces out, or make it a ClusterRuleSet",
				"a RuleSet acts in its own namespace only")}
		}
		if n.Text() == "*" {
			return document.Errors{n.Errorf("leave namespaces out for every one", `"*" is not a namespace`)}
		}
		return checked(into, label)(n)
	}
}

func (s *Set) parseRules(n *document.Node) document.Errors {
	if wrong := n.Expect(document.KindList); wrong != nil {
		return document.Errors{wrong}
	}
	var errs document.Errors
	first := map[string]*document.Node{}
	for _, element := range n.Elements() {
		rule, ruleErrs := parseRule(element)
		if errs = append(errs, ruleErrs...); errs.Enough() {
			break
		}
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

// parseParams refuses names that --param SET.NAME could not tell from those of sets.
func (s *Set) parseParams(n *document.Node) document.Errors {
	errs := definitions(&s.Params)(n)
	for _, param := range s.Params {
		if strings.Contains(param.Name, ".") {
			errs = append(errs, param.Key.Errorf("choose another name, or nest: a: {b: ...}",
				"the name of a parameter has no dot, have %q", param.Name))
		}
	}
	return errs
}

// definitions reads a map of names.
func definitions(out *[]Definition) document.Decoder {
	return document.Each(func(entry document.Entry) document.Errors {
		*out = append(*out, Definition{Name: entry.Key.Text(), Key: entry.Key, Value: entry.Value})
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
