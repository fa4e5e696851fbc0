package spec

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

// Parse reads the rule sets in files. It finds all errors of all files; of a
// file that is not YAML, the first. Documents of kind RuleTest are passed over,
// so that a folder may hold both. What it returns besides errors is as complete
// as it could be made, so that compiling it can find more of them.
//
// A RuleSet that names no namespace gets the default one.
func Parse(files []document.File, defaultNamespace string) ([]*Set, document.Errors) {
	var sets []*Set
	var errs document.Errors
	for _, file := range files {
		documents, fileErrs := document.Parse(file)
		errs = append(errs, fileErrs...)
		for _, n := range documents {
			if errs.Enough() {
				return sets, errs
			}
			switch kind := n.Get("kind"); {
			case n.Kind() != document.KindMap:
				errs = append(errs, n.Errorf("start with apiVersion, kind, metadata and spec",
					"a document must be a map, have %s", n.Kind()))
			case kind.Text() == KindRuleSet || kind.Text() == KindClusterRuleSet:
				set, setErrs := parseSet(n, defaultNamespace)
				set.File, set.faulty = file.Name, len(fileErrs)+len(setErrs) > 0
				sets = append(sets, set)
				errs = append(errs, setErrs...)
			case kind.Text() != KindRuleTest:
				errs = append(errs, unknownKind(n, kind))
			}
		}
	}
	return sets, append(errs, repeatedSets(sets)...)
}

func unknownKind(n, kind *document.Node) *document.Error {
	if kind == nil {
		return n.Errorf("write kind: "+KindRuleSet+" or kind: "+KindClusterRuleSet, "the document has no kind")
	}
	hint := "rules are of kind " + KindRuleSet + " or " + KindClusterRuleSet
	if near := document.Suggest(kind.Text(), []string{KindRuleSet, KindClusterRuleSet, KindRuleTest}); near != "" {
		hint = `did you mean "` + near + `"?`
	}
	return kind.Errorf(hint, "unknown kind %q", kind.Text())
}

// repeatedSets refuses a second set of the same name, since it would be
// unclear which one holds.
func repeatedSets(sets []*Set) document.Errors {
	type identity struct{ kind, namespace, name string }
	first := map[identity]*Set{}
	var errs document.Errors
	for _, set := range sets {
		id := identity{set.Kind, set.Namespace, set.Name}
		before := first[id]
		if before == nil {
			first[id] = set
			continue
		}
		if set.Name == "" {
			continue // Reported where the name is missing.
		}
		errs = append(errs, set.node.Get("metadata").Errorf("rename one of them", "%s %q is in %s, line %d, already",
			set.Kind, set.Name, before.File, before.node.Position().Line))
	}
	return errs
}

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

// refusal is what is wrong with a text, and what to write instead.
type refusal struct{ message, hint string }

// checked takes a string that passes a check.
func checked(into *string, check func(string) *refusal) document.Decoder {
	return func(n *document.Node) document.Errors {
		if errs := document.String(into)(n); len(errs) > 0 || n.Kind() != document.KindString {
			return errs
		}
		if wrong := check(*into); wrong != nil {
			return document.Errors{n.Errorf(wrong.hint, "%s", wrong.message)}
		}
		return nil
	}
}

// label is what names a rule, a namespace or a version.
func label(text string) *refusal {
	return notAName(text, validation.IsDNS1123Label(text), "lower-case letters, digits and -")
}

// subdomain is what names an object.
func subdomain(text string) *refusal {
	return notAName(text, validation.IsDNS1123Subdomain(text), "lower-case letters, digits, - and .")
}

func notAName(text string, reasons []string, allowed string) *refusal {
	switch {
	case len(reasons) == 0:
		return nil
	case text == "":
		return &refusal{"the name is empty", "give it one"}
	case strings.HasPrefix(reasons[0], "must be no more"):
		return &refusal{fmt.Sprintf("%q is too long", text), "it " + reasons[0]}
	default:
		return &refusal{
			fmt.Sprintf("%q is not a name that Kubernetes takes", text),
			"use " + allowed + ", with a letter or a digit at both ends",
		}
	}
}

// serviceAccount catches the form in which RBAC names one.
func serviceAccount(text string) *refusal {
	if namespace, name, both := strings.Cut(strings.TrimPrefix(text, "system:serviceaccount:"), ":"); both {
		return &refusal{
			fmt.Sprintf("%q has a namespace in it", text),
			fmt.Sprintf("write serviceAccountName: %s, and in a ClusterRuleSet serviceAccountNamespace: %s", name, namespace),
		}
	}
	return subdomain(text)
}

// groupName allows the core group, which is empty.
func groupName(text string) *refusal {
	if text == "" {
		return nil
	}
	if group, version, both := strings.Cut(text, "/"); both {
		return &refusal{fmt.Sprintf("%q is a group and a version", text), fmt.Sprintf("write group: %s and version: %s", group, version)}
	}
	return subdomain(text)
}

// versionName catches the form in which manifests write group and version.
func versionName(text string) *refusal {
	if group, version, both := strings.Cut(text, "/"); both {
		return &refusal{fmt.Sprintf("%q is a group and a version", text), fmt.Sprintf("write group: %s and version: %s", group, version)}
	}
	return label(text)
}

// resourceName catches the kind in place of the resource, subresources, and the
// form in which kubectl writes resource and group.
func resourceName(text string) *refusal {
	resource, group, inFull := strings.Cut(text, ".")
	parent, _, below := strings.Cut(text, "/")
	switch {
	case strings.ToLower(text) != text:
		return &refusal{fmt.Sprintf("%q looks like a kind", text), "write the plural resource, such as " + strings.TrimSuffix(strings.ToLower(text), "s") + "s"}
	case below:
		return &refusal{fmt.Sprintf("%q is a subresource, which cannot be watched", text), "write " + parent}
	case inFull && resource != "" && group != "":
		return &refusal{fmt.Sprintf("%q is a resource and a group", text), fmt.Sprintf("write resource: %s and group: %s", resource, group)}
	default:
		return label(text)
	}
}

// keyPattern is what can stand between the commas of watch.
var keyPattern = regexp.MustCompile(`^[^\s,]+$`)

func labelSelector(text string) *refusal {
	if _, err := labels.Parse(text); err != nil {
		return &refusal{fmt.Sprintf("not a label selector: %v", err), "write it as kubectl does, such as app=tidb,tier!=test"}
	}
	return nil
}

func fieldSelector(text string) *refusal {
	if _, err := fields.ParseSelector(text); err != nil {
		return &refusal{fmt.Sprintf("not a field selector: %v", err), "write it as kubectl does, such as metadata.name=basic"}
	}
	return nil
}

// selectorText says how to write a selector that is written as in other places.
func selectorText(decode document.Decoder) document.Decoder {
	return func(n *document.Node) document.Errors {
		errs := decode(n)
		entries := n.Entries()
		if len(entries) == 0 || len(errs) != 1 {
			return errs
		}
		if nested := n.Get("matchLabels").Entries(); len(nested) > 0 {
			entries = nested
		}
		var all []string
		for _, entry := range entries {
			all = append(all, entry.Key.Text()+"="+entry.Value.Text())
		}
		errs[0].Hint = "write it as text: " + value.Excerpt(strings.Join(all, ","))
		return errs
	}
}

// hint replaces that of the error at a node, if there is one.
func hint(errs document.Errors, at *document.Node, hint string) {
	for _, err := range errs {
		if p := at.Position(); err.Line == p.Line && err.Column == p.Column {
			err.Hint = hint
		}
	}
}
