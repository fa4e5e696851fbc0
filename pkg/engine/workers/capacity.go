package workers

import (
	"context"
	"time"

	"github.com/dyncontroller/dyncontroller/pkg/engine/guard"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// Capacity keeps operations from waiting for answers that do not come, if many do so already for the like. It implements
// [guard.Guard].
type Capacity struct{ Pool *Pool }

// Begin implements [guard.Guard]. Who settles has nothing better to do than to wait.
func (c Capacity) Begin(a *guard.Attempt) (guard.Check, time.Time) {
	if a.Settling {
		return guard.Pass{}, time.Time{}
	}
	return capacity{pool: c.Pool}, time.Time{}
}

type capacity struct {
	guard.Pass
	pool *Pool
}

// Admit implements [guard.Check].
func (c capacity) Admit(_ context.Context, o plan.Operation) *guard.Delay {
	if c.pool.Crowded(PurposeOf(o)) {
		return &guard.Delay{Err: ErrCrowded, Retry: true}
	}
	return nil
}

// PurposeOf is what an operation is sent for.
func PurposeOf(o plan.Operation) Purpose { return Purpose{GVR: o.Target.GVR, Rules: o.Rules} }
