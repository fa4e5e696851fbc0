package engine

import (
	"k8s.io/utils/clock"

	"github.com/dyncontroller/dyncontroller/pkg/engine/conflict"
	"github.com/dyncontroller/dyncontroller/pkg/engine/limit"
	"github.com/dyncontroller/dyncontroller/pkg/engine/naming"
)

// Shared is what the engines of a process know of rules and not only of their own: the rules of one engine may answer those of another, and a
// set goes from one to another while what was sent for it may still arrive. It is safe for concurrent use.
type Shared struct {
	made   *conflict.Made
	limits *limit.Limits // nil for an engine that is alone
	names  *naming.Sent
}

// NewShared returns what engines share that have run no rules.
func NewShared(passive clock.PassiveClock) *Shared {
	return &Shared{conflict.NewMade(), limit.NewLimits(), naming.NewSent(passive)}
}
