package engine

import (
	"testing"

	"github.com/dyncontroller/dyncontroller/pkg/engine/guard"
)

// TestKept holds what is reported of the housekeeping: how it ended last.
func TestKept(t *testing.T) {
	o := tracker{more: func() bool { return false }}
	o.begin(nil, true)
	if o.busy() || o.summary().Unkept != nil {
		t.Errorf("busy %v, unkept: %v", o.busy(), o.summary().Unkept)
	}
	o.later(objectNamed("a"), guard.Outcome{})
	o.kept(errLate)
	if !o.busy() || o.summary().Unkept == nil {
		t.Errorf("busy %v, unkept: %v; want an object to look at, and why", o.busy(), o.summary().Unkept)
	}
	o.kept(nil)
	if err := o.summary().Unkept; err != nil {
		t.Errorf("it is kept after all, and yet: %v", err)
	}
	o.done(objectNamed("a"), guard.Outcome{})
	o.check()
	if err := o.wait(t.Context(), true); err != nil {
		t.Error(err)
	}
	if o.busy() {
		t.Error("busy in the end")
	}
}
