package operator

import (
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/dyncontroller/dyncontroller/internal/setstatus"
	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/engine/guard"
	"github.com/dyncontroller/dyncontroller/pkg/engine/limit"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
)

// observer tells the tally of a tenant what its engine does, and all others but for what they have no use for. It is safe for concurrent use.
type observer struct {
	*setstatus.Tally
	tenant   *tenant
	notifier *notifier // nil in a dry run: no rule pauses
	others   []engine.Observer
}

// Looked implements [engine.Observer].
func (o observer) Looked(snapshot rules.Snapshot, decisions []plan.Decision) {
	o.Tally.Looked(snapshot, decisions)
	for _, one := range o.others {
		one.Looked(snapshot, decisions)
	}
}

// Evaluated implements [engine.Observer].
func (o observer) Evaluated(key engine.Key, decision plan.Decision) {
	for _, one := range o.others {
		one.Evaluated(key, decision)
	}
}

// Wrote implements [engine.Observer].
func (o observer) Wrote(key engine.Key, operation plan.Operation, class write.Class) {
	o.Tally.Wrote(key, operation, class)
	for _, one := range o.others {
		one.Wrote(key, operation, class)
	}
}

// Recorded implements [engine.Observer].
func (o observer) Recorded(event plan.Event, err error) {
	for _, one := range o.others {
		one.Recorded(event, err)
	}
}

// Audited implements [engine.Observer].
func (o observer) Audited(key engine.Key, event plan.Event) {
	for _, one := range o.others {
		one.Audited(key, event)
	}
}

// Settled implements [engine.Observer].
func (o observer) Settled(key engine.Key, took time.Duration) {
	for _, one := range o.others {
		one.Settled(key, took)
	}
}

// Spared implements [engine.Observer].
func (o observer) Spared(key engine.Key, changes int) {
	for _, one := range o.others {
		one.Spared(key, changes)
	}
}

// Concluded implements [engine.Observer]. Who is refused a request may have lost the right to make it.
func (o observer) Concluded(key engine.Key, failures []guard.Failure) {
	o.Tally.Concluded(key, failures)
	if slices.ContainsFunc(failures, func(f guard.Failure) bool { return apierrors.IsForbidden(f.Err) }) {
		o.tenant.access.Look()
	}
}

// Paused implements [engine.Observer].
func (o observer) Paused(pause limit.Pause) {
	if o.notifier != nil {
		o.notifier.paused(pause)
	}
}
