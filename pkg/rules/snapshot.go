package rules

import (
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/relation"
)

// Snapshot is all that an evaluation may know.
type Snapshot struct {
	GVR    schema.GroupVersionResource
	Object map[string]any // as stored; read only. Nil for one that is gone.
	// Gone is the object that is gone, where Object is nil.
	Gone plan.Object
	// SelectedBy are the selections that hold the object, and LeftBy those that
	// surely do not: rules of them let go of what they held. Of any others, such as
	// those of a cache that lags behind, nothing is known.
	SelectedBy, LeftBy []plan.Selection

	Now time.Time
	// Related answers what rules ask about other objects, the same way throughout
	// the evaluation. It may be nil where no rule asks.
	Related relation.Source
	// Kinds is what is known of the resources that rules name.
	Kinds map[schema.GroupVersionResource]plan.Kind
	State State
	// Explain asks for a reason in the decision of a rule that did not match.
	Explain bool
}

// State is what earlier evaluations of the object left behind. Losing it costs
// time, never a wrong decision.
type State struct {
	// HeldSince is since when the `when` of a rule holds, as its last decision
	// said.
	HeldSince map[plan.Rule]time.Time
	// Separate asks for requests that are not joined from several rules.
	Separate bool
	// Ineffective is what is known to have no effect. It is not asked for.
	Ineffective plan.Marks
}

// Identity says which object the snapshot is of, and of which version.
func (s *Snapshot) Identity() plan.Object {
	if s.Object == nil {
		return s.Gone
	}
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
