package relation

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
)

// Finds reports whether the relation finds an object that a manifest makes among the
// objects of a declaration, as far as both are written out. Of what only an evaluation
// knows it assumes that it does not.
func (r *Relation) Finds(manifest *document.Node, into *Declaration, owned bool) bool {
	if r.declaration.GVR != into.GVR || !r.inNamespaceOf(manifest) {
		return false
	}
	if r.declaration != into && !slices.ContainsFunc(r.declaration.Selections, func(s plan.Selection) bool { return surelyAdmits(s, manifest) }) {
		return false
	}
	n := r.chosen.node
	metadata := manifest.Get("metadata")
	switch r.form.name {
	case "all":
		return true
	case "name":
		return n.Text() == metadata.Get("name").Text()
	case "names":
		return slices.ContainsFunc(n.Elements(), func(element *document.Node) bool { return element.Text() == metadata.Get("name").Text() })
	case "matchLabels":
		return finds(n, metadata.Get("labels"))
	case "ownedBy":
		return owned && n.Text() == "object"
	default:
		return false
	}
}

// Selections are those of the declaration, narrowed by what is written out here: all that
// the relation finds is among them.
func (r *Relation) Selections() []plan.Selection {
	out := slices.Clone(r.declaration.Selections)
	n := r.chosen.node
	for i := range out {
		s := &out[i]
		if r.namespace != nil && !templated(r.namespace.node) && r.namespace.node.Text() != "*" && s.Namespace == "" {
			s.Namespace = r.namespace.node.Text()
		}
		if r.form.name == "name" && !templated(n) {
			s.FieldSelector = joined(s.FieldSelector, fields.OneTermEqualSelector("metadata.name", n.Text()).String())
		}
		for _, entry := range n.Entries() {
			if r.form.name == "matchLabels" && !templated(entry.Key) && !templated(entry.Value) {
				s.LabelSelector = joined(s.LabelSelector, entry.Key.Text()+"="+entry.Value.Text())
			}
		}
	}
	return out
}

// joined is a selector of what both select.
func joined(a, b string) string {
	if a == "" {
		return b
	}
	return a + "," + b
}

// inNamespaceOf reports whether the relation looks into the namespace of the manifest. Both
// default to that of the watched object.
func (r *Relation) inNamespaceOf(manifest *document.Node) bool {
	written := func(n *document.Node) string {
		const own = "object.metadata.namespace"
		text := n.Text()
		if inner, template := strings.CutPrefix(text, "${"); template {
			text = "${" + strings.TrimSpace(strings.TrimSuffix(inner, "}"))
		}
		if text == "${"+own {
			return ""
		}
		return text
	}
	var asked *document.Node
	if r.namespace != nil {
		asked = r.namespace.node
	}
	return asked.Text() == "*" || written(asked) == written(manifest.Get("metadata").Get("namespace"))
}

// surelyAdmits reports whether a selection admits the object of a manifest, by what is
// written out there.
func surelyAdmits(s plan.Selection, manifest *document.Node) bool {
	metadata := manifest.Get("metadata")
	wantedLabels, err := labels.ParseToRequirements(s.LabelSelector)
	if err != nil {
		return false
	}
	wantedFields, err := fields.ParseSelector(s.FieldSelector)
	if err != nil {
		return false
	}
	for _, wanted := range wantedLabels {
		value := metadata.Get("labels").Get(wanted.Key())
		unknown := templated(manifest) || templated(metadata) || templated(metadata.Get("labels")) || templated(value)
		switch key := wanted.Key(); {
		case unknown:
			return false
		case key == plan.LabelSet || key == plan.LabelRule || key == plan.LabelOwnerUID: // The engine writes them.
			if wanted.Operator() != selection.Exists {
				return false
			}
		case value == nil && !wanted.Matches(labels.Set{}), value != nil && !wanted.Matches(labels.Set{key: value.Text()}):
			return false
		}
	}
	for _, wanted := range wantedFields.Requirements() {
		value := manifest
		for key := range strings.SplitSeq(wanted.Field, ".") {
			value = value.Get(key)
		}
		if templated(value) || (value.Text() == wanted.Value) != (wanted.Operator != selection.NotEquals) {
			return false
		}
	}
	return s.Namespace == "" || s.Namespace == metadata.Get("namespace").Text()
}

func finds(wanted, labels *document.Node) bool {
	for _, entry := range wanted.Entries() {
		if have := labels.Get(entry.Key.Text()); have == nil || have.Text() != entry.Value.Text() {
			return false
		}
	}
	return len(wanted.Entries()) > 0
}
