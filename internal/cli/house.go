package cli

import (
	"fmt"
	"log/slog"

	"github.com/dyncontroller/dyncontroller/pkg/engine/cleanup"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// logCleanup logs what is cleaned up. Somebody else who was faster is no trouble.
func logCleanup(log *slog.Logger, r cleanup.Report) {
	target := r.Operation.Target
	log = log.With("gvr", plan.ResourceName(target.GVR), "namespace", target.Namespace, "name", target.Name,
		"rule", r.Leftover.Rule.String(), "what", string(r.Leftover.Kind))
	switch {
	case r.Result.Class == write.Stale:
		log.Debug("cleaning up was out of date", "err", r.Result.Err)
	case r.Result.Class.Failed():
		log.Warn("not cleaned up", "class", string(r.Result.Class), "err", r.Result.Err)
	case r.Result.Class == write.Simulated:
		log.Info("would clean up")
	default:
		log.Info("cleaned up")
	}
}

// describeCleanup says what was done to one object, and nothing of what was not:
// that may be repeated, and is an error in the end.
func describeCleanup(r cleanup.Report) string {
	if r.Result.Class.Failed() {
		return ""
	}
	did, would := "released", "would release"
	switch {
	case r.Operation.Type == plan.Delete:
		did, would = "deleted", "would delete"
	case r.Leftover.Kind == plan.LeftFinalizer:
		did, would = "took a finalizer off", "would take a finalizer off"
	case r.Leftover.Kind == plan.LeftFields:
		did, would = "gave up fields of", "would give up fields of"
	}
	if r.Result.Class == write.Simulated {
		did = would
	}
	return fmt.Sprintf("%s %s (%s)\n", did, r.Operation.Target, r.Leftover.Rule)
}
