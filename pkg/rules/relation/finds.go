package relation

import (
	"slices"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
)

// Finds reports whether the relation is likely to find an object that a manifest
// makes, as far as both are written out. Of what only an evaluation knows it assumes
// that it does not.
func (r *Relation) Finds(manifest *document.Node, owned bool) bool {
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

func finds(wanted, labels *document.Node) bool {
	for _, entry := range wanted.Entries() {
		if have := labels.Get(entry.Key.Text()); have == nil || have.Text() != entry.Value.Text() {
			return false
		}
	}
	return len(wanted.Entries()) > 0
}
