package action

import (
	"strings"

	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

// manifest is an object as a rule writes it, or as much of it as is known before
// it is evaluated. What is nil counts as absent and is not there.
type manifest struct {
	node   *document.Node
	fields map[string]any
}

// unknown stands for what a template decides.
type unknown struct{}

// templatedKey is an entry of a map that a template gives more entries.
const templatedKey = "${"

// draft returns what is known of a node before it is evaluated.
func draft(n *document.Node) any {
	switch n.Kind() {
	case document.KindMap:
		out := make(map[string]any)
		for _, entry := range n.Entries() {
			if strings.Contains(entry.Key.Text(), "${") {
				out[templatedKey] = unknown{}
			} else if value := draft(entry.Value); value != nil {
				out[entry.Key.Text()] = value
			}
		}
		return out
	case document.KindInvalid:
		return unknown{}
	case document.KindString:
		if strings.Contains(n.Text(), "${") {
			return unknown{}
		}
		return n.Text()
	default:
		return n.Any()
	}
}

// lookup follows a path. It returns nil for what is absent; there says that the
// field is written, even if its value is unknown.
func (m manifest) lookup(path ...string) (value any, there bool) {
	value = m.fields
	for _, key := range path {
		fields, isMap := value.(map[string]any)
		if !isMap {
			return either(value), false
		}
		if value, there = fields[key]; !there {
			return either(fields[templatedKey]), false
		}
	}
	return value, true
}

// either keeps only that something may be there.
func either(value any) any {
	if _, is := value.(unknown); is {
		return value
	}
	return nil
}

// at returns the node of a field, or of what is written around it.
func (m manifest) at(path ...string) *document.Node {
	n := m.node
	for _, key := range path {
		next := n.Get(key)
		if next == nil {
			break
		}
		n = next
	}
	return n
}

// text returns a field that is a string that is not empty, if it is there. Where
// it is not known it is "", which it is where it is absent, too.
func (m manifest) text(path ...string) (text string, known bool, wrong *document.Error) {
	value, _ := m.lookup(path...)
	switch value := value.(type) {
	case nil:
		return "", true, nil
	case unknown:
		return "", false, nil
	case string:
		if value == "" {
			return "", true, m.at(path...).Errorf("give it a value, or omit() it", "%s is empty", strings.Join(path, "."))
		}
		return value, true, nil
	default:
		return "", true, m.at(path...).Errorf("put it in quotes, or write string(...)",
			"%s must be a string, have %s", strings.Join(path, "."), expression.TypeName(value))
	}
}

// checkMaps makes sure of what the other checks look into.
func (m manifest) checkMaps() *document.Error {
	for _, path := range [][]string{{"metadata"}, {"metadata", "labels"}, {"metadata", "annotations"}} {
		value, _ := m.lookup(path...)
		switch value.(type) {
		case nil, unknown, map[string]any:
		default:
			return m.at(path...).Errorf("write lines of key: value, or {key: value}", "%s must be a map, have %s", strings.Join(path, "."), expression.TypeName(value))
		}
	}
	return nil
}

// checkType takes an apiVersion and a kind that repeat what `resource` says. The
// kind is not known before evaluation.
func (m manifest) checkType(apiVersion, kind string) *document.Error {
	for _, field := range [][2]string{{"apiVersion", apiVersion}, {"kind", kind}} {
		name, want := field[0], field[1]
		text, _, wrong := m.text(name)
		if wrong != nil {
			return wrong
		}
		if text != "" && want != "" && text != want {
			return m.at(name).Errorf("leave it out, it comes from resource", "the %s of the resource is %q, not %q", name, want, text)
		}
	}
	return nil
}

// checkServer refuses the fields that belong to the API server.
func (m manifest) checkServer() *document.Error {
	if metadata, _ := m.lookup("metadata"); metadata == (unknown{}) {
		return nil
	}
	field := plan.ForbiddenField(plan.Create, m.fields)
	if field == nil {
		return nil
	}
	return m.at(field...).Errorf("leave it out, the API server gives it", "a rule may not write %s", field)
}

// checkName wants a name, or where the API server may choose one, a beginning of
// it.
func (m manifest) checkName(generated bool) *document.Error {
	name, nameKnown, wrong := m.text("metadata", "name")
	if wrong != nil {
		return wrong
	}
	prefix, prefixKnown, wrong := m.text("metadata", "generateName")
	if wrong != nil {
		return wrong
	}
	_, named := m.lookup("metadata", "name")
	_, prefixed := m.lookup("metadata", "generateName")
	switch at := m.at("metadata", "generateName"); {
	case prefixed && !generated:
		return at.Errorf("write name, or use create", "apply makes an object of a certain name")
	case prefixed && named:
		return at.Errorf("write one of them", "an object has a name, or one that is generated")
	case nameKnown && prefixKnown && !named && !prefixed:
		return m.at("metadata", "name").Errorf(nameHint(generated), "the object has no name")
	case prefixed:
		return m.checkSegment("generateName", prefix)
	default:
		return m.checkSegment("name", name)
	}
}

func nameHint(generated bool) string {
	if generated {
		return `write metadata: {generateName: "${object.metadata.name}-"}, or {name: ...}`
	}
	return "write metadata: {name: ...}"
}

// checkSegment refuses a name that would not stay in its place of a path.
func (m manifest) checkSegment(field, text string) *document.Error {
	reasons := content.IsPathSegmentName(text)
	if len(reasons) == 0 {
		return nil
	}
	return m.at("metadata", field).Errorf("", "%q cannot be the %s of an object: it %s", value.Excerpt(text), field, reasons[0])
}

// checkNamespace keeps a RuleSet, whose namespace is home, where it is.
func (m manifest) checkNamespace(home string) *document.Error {
	namespace, _, wrong := m.text("metadata", "namespace")
	if wrong != nil || namespace == "" {
		return wrong
	}
	at := m.at("metadata", "namespace")
	if reasons := validation.IsDNS1123Label(namespace); len(reasons) > 0 {
		reason, _, _ := strings.Cut(reasons[0], " (e.g.") // The pattern helps nobody.
		return at.Errorf("", "%q cannot be a namespace: %s", value.Excerpt(namespace), reason)
	}
	if home != "" && namespace != home {
		return at.Errorf("leave it out, or make it a ClusterRuleSet",
			"a RuleSet acts in its own namespace only, which is %q, not %q", home, namespace)
	}
	return nil
}

// checkMarks leaves to the engine by what it knows its children.
func (m manifest) checkMarks() *document.Error {
	for _, path := range [][]string{
		{"metadata", "labels", plan.LabelSet},
		{"metadata", "labels", plan.LabelRule},
		{"metadata", "labels", plan.LabelOwnerUID},
		{"metadata", "annotations", plan.AdoptedAnnotation},
	} {
		if _, there := m.lookup(path...); there {
			return m.at(path...).Errorf("leave it out", "%s is for dyncontroller to write", path[2])
		}
	}
	return nil
}

// checkOwners keeps apart the two ways to write owners.
func (m manifest) checkOwners(owned bool) *document.Error {
	if _, there := m.lookup("metadata", "ownerReferences"); !there || !owned {
		return nil
	}
	return m.at("metadata", "ownerReferences").Errorf("leave them out, or write owned: false and all of them, with controllerRef(object)",
		"the owner is the watched object already")
}
