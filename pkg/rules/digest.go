package rules

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/spec"
)

// Digest tells the rule from what it was before a change: of what is written there but
// for the description, of the mode, and of the params, names and resources of its set,
// whether it uses them or not. It is the same after a restart.
func (r *Rule) Digest() string {
	said, _ := r.source.Node().Any().(map[string]any)
	delete(said, "description")
	whole := r.set.Node().Get("spec")
	data, err := json.Marshal(map[string]any{
		"rule": said, "mode": cmp.Or(r.source.Mode, r.set.Mode, spec.Enforce), "params": r.params,
		"let": anyOf(whole.Get("let")), "resources": anyOf(whole.Get("resources")),
	})
	if err != nil { // Such as a number that JSON does not have.
		data = []byte(err.Error())
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:8])
}

// anyOf is nil for what is not written.
func anyOf(n *document.Node) any {
	if n == nil {
		return nil
	}
	return n.Any()
}

// AsksToResume reports whether the document of the rule's set asks that it goes on after a
// pause.
func (r *Rule) AsksToResume() bool { return slices.Contains(r.set.Resume, r.ID.Name) }

// Watches lists what the rule watches, each once. The slice is shared: read only.
func (r *Rule) Watches() []plan.Selection { return r.selections }

// Lingers reports whether the rule has a say about objects that it does not select any more: it may have left
// something of it.
func (r *Rule) Lingers() bool { return r.onDelete != nil || r.prunes != nil }
