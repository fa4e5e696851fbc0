package engine

import (
	"context"
	"errors"
	"testing"

	"k8s.io/utils/clock"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// TestVerifierWaitsWithTheContext holds that an operation is not sent, and waits no longer, if its context ends while another one finds out
// what both were decided by.
func TestVerifierWaitsWithTheContext(t *testing.T) {
	v := &verifier{cluster: &cluster{clock: clock.RealClock{}}, turn: make(chan struct{}, 1)}
	v.turn <- struct{}{} // Of the other one.
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, instead := v.verify(ctx, plan.Operation{}); instead == nil || !errors.Is(instead.Err, context.Canceled) {
		t.Errorf("the answer instead of the operation is %+v", instead)
	}
}
