package rules

import (
	"cmp"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/action"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
)

// Set is all rules of a process, compiled. It is immutable and safe for
// concurrent use. The zero value has no rules.
type Set struct {
	rules      []*Rule
	byGVR      map[schema.GroupVersionResource][]*Rule
	selections []plan.Selection
}

// Rule is one compiled rule.
type Rule struct {
	ID          plan.Rule
	Description string
	selections  []plan.Selection
	scope       *expression.Scope
	names       []*let // by slot, nil for what is not a let
	when        *condition
	actions     []action.Action
}

// condition is a compiled `when`.
type condition struct {
	node    *document.Node
	program *expression.Program
}

// newSet puts the rules in their order of precedence.
func newSet(all []*Rule) *Set {
	out := &Set{rules: all, byGVR: map[schema.GroupVersionResource][]*Rule{}}
	slices.SortStableFunc(out.rules, func(a, b *Rule) int {
		return cmp.Or(
			cmp.Compare(a.ID.Set, b.ID.Set),
			cmp.Compare(a.ID.Kind, b.ID.Kind),
			cmp.Compare(a.ID.Namespace, b.ID.Namespace),
		)
	})
	for _, rule := range out.rules {
		for _, selection := range rule.selections {
			if !slices.Contains(out.selections, selection) {
				out.selections = append(out.selections, selection)
			}
			if of := out.byGVR[selection.GVR]; !slices.Contains(of, rule) {
				out.byGVR[selection.GVR] = append(of, rule)
			}
		}
	}
	return out
}

// Rules lists the rules in their order of precedence: by set name, kind and
// namespace, and within a set as written.
func (s *Set) Rules() []*Rule { return slices.Clone(s.rules) }

// Selections lists what the rules watch, each once. The slice is shared: read
// only.
func (s *Set) Selections() []plan.Selection { return s.selections }

// Snapshot is all that an evaluation may know.
type Snapshot struct {
	GVR    schema.GroupVersionResource
	Object map[string]any // as stored; read only
	// SelectedBy are the selections that hold the object. Rules of other
	// selections are not evaluated.
	SelectedBy []plan.Selection
	Now        time.Time
	// Separate asks for requests that are not joined from several rules.
	Separate bool
	// Ineffective is what is known to have no effect. It is not asked for.
	Ineffective plan.Marks
	// Explain asks for a reason in the decision of a rule that did not match.
	Explain bool
}

// Identity says which object the snapshot is of, and of which version.
func (s Snapshot) Identity() plan.Object {
	metadata, _ := s.Object["metadata"].(map[string]any)
	text := func(from map[string]any, key string) string {
		value, _ := from[key].(string)
		return value
	}
	return plan.Object{
		GVR:             s.GVR,
		Kind:            text(s.Object, "kind"),
		Namespace:       text(metadata, "namespace"),
		Name:            text(metadata, "name"),
		UID:             types.UID(text(metadata, "uid")),
		ResourceVersion: text(metadata, "resourceVersion"),
	}
}
