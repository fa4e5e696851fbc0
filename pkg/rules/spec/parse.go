package spec

import (
	"cmp"
	"strings"
	"unicode"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
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
			switch n.Get("kind").Text() {
			case KindRuleTest:
			case KindRuleSet, KindClusterRuleSet:
				set, setErrs := parseSet(n, defaultNamespace)
				set.File, set.faulty = file.Name, len(fileErrs)+len(setErrs) > 0
				sets = append(sets, set)
				errs = append(errs, setErrs...)
			default:
				errs = append(errs, UnknownKind(n))
			}
		}
	}
	return sets, append(errs, repeatedSets(sets)...)
}

// UnknownKind says what is wrong with a document that is of none of the kinds.
func UnknownKind(n *document.Node) *document.Error {
	kind := n.Get("kind")
	switch {
	case n.Kind() != document.KindMap:
		return n.Errorf("start with apiVersion, kind, metadata and spec", "a document must be a map, have %s", n.Kind())
	case kind == nil:
		return n.Errorf("write kind: "+KindRuleSet+", "+KindClusterRuleSet+" or "+KindRuleTest, "the document has no kind")
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
		errs = append(errs, set.node.Get("metadata").Errorf("rename one of them", "%s %q is %s already",
			set.Kind, set.Name, before.node.Place(set.node)))
	}
	return errs
}

// parseSet reads a document of kind RuleSet or ClusterRuleSet.
func parseSet(n *document.Node, defaultNamespace string) (*Set, document.Errors) {
	metadata := n.Get("metadata")
	s := &Set{
		Kind: n.Get("kind").Text(), node: n, Name: metadata.Get("name").Text(), Namespace: metadata.Get("namespace").Text(),
		Resume: Resumed(metadata.Get("annotations").Get(ResumeAnnotation).Text()),
	}
	v, errs := documentFields.Read(n)
	_, wrong := metadataFields.Read(v["metadata"])
	errs = append(append(errs, wrong...), s.parseSpec(v["spec"])...)
	return s, append(errs, s.checkScope(defaultNamespace)...)
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
	v, errs := setFields.Read(n)
	s.Description, s.Mode = v["description"].Text(), Mode(v["mode"].Text())
	s.Identity = types.NamespacedName{Namespace: v["serviceAccountNamespace"].Text(), Name: v["serviceAccountName"].Text()}
	s.Params, s.Let = definitions(v["params"]), definitions(v["let"])
	for _, entry := range v["resources"].Entries() {
		if entry.Key.Kind() != document.KindInvalid {
			errs = append(errs, s.parseResource(entry)...)
		}
	}
	errs = append(errs, s.parseRules(v["rules"])...)
	if v.Bool("suspend", false) {
		for i := range s.Rules {
			s.Rules[i].Suspend = true
		}
	}
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
	v, errs := resourceFields.Read(entry.Value)
	r := Resource{
		Name: entry.Key.Text(), LabelSelector: v["labelSelector"].Text(), FieldSelector: v["fieldSelector"].Text(),
		GVR: schema.GroupVersionResource{
			Group: entry.Value.Get("group").Text(), Version: entry.Value.Get("version").Text(), Resource: entry.Value.Get("resource").Text(),
		},
	}
	for _, n := range v["namespaces"].Elements() {
		r.Namespaces = append(r.Namespaces, n.Text())
		if s.Kind == KindRuleSet {
			errs = append(errs, n.Errorf("leave namespaces out, or make it a ClusterRuleSet", "a RuleSet acts in its own namespace only"))
		}
	}
	s.Resources = append(s.Resources, r)
	return errs
}

func (s *Set) parseRules(n *document.Node) document.Errors {
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
				"rule %q is %s already", rule.Name, before.Place(element)))
		}
		if rule.Name != "" {
			first[rule.Name] = element
		}
	}
	return errs
}

// definitions reads a map of names.
func definitions(n *document.Node) (out []Definition) {
	for _, entry := range n.Entries() {
		if entry.Key.Kind() != document.KindInvalid {
			out = append(out, Definition{Name: entry.Key.Text(), Key: entry.Key, Value: entry.Value})
		}
	}
	return out
}
