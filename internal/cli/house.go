package cli

import (
	"context"
	"fmt"
	"log/slog"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	clientdiscovery "k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"

	"github.com/dyncontroller/dyncontroller/internal/discovery"
	"github.com/dyncontroller/dyncontroller/pkg/engine/cleanup"
	"github.com/dyncontroller/dyncontroller/pkg/engine/inventory"
	"github.com/dyncontroller/dyncontroller/pkg/engine/live"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// newInventory returns where an instance keeps what its rules have left: in the
// namespace of the process.
func newInventory(target *cluster, client dynamic.Interface, instance string) (*inventory.ConfigMap, error) {
	return inventory.NewConfigMap(client.Resource(inventory.GVR()).Namespace(target.namespace), target.namespace, instance)
}

// afterlife reads for a cleanup: the objects live, and how they are served now, which
// may not be how the rules knew them. It implements [cleanup.Reader].
type afterlife struct {
	*live.Reader
	server discovery.Server
}

func newAfterlife(target *cluster, reader *live.Reader) afterlife {
	return afterlife{reader, clientdiscovery.ToDiscoveryInterfaceWithContext(target.discovery)}
}

// Get implements [cleanup.Reader].
func (a afterlife) Get(ctx context.Context, object plan.Object) (map[string]any, error) {
	return a.Reader.Get(ctx, object.GVR, object.Namespace, object.Name)
}

// Served implements [cleanup.Reader].
func (a afterlife) Served(ctx context.Context, of apischema.GroupResource) (cleanup.Resource, bool, error) {
	found, err := discovery.Served(ctx, a.server, of)
	if err != nil || found == nil {
		return cleanup.Resource{}, false, err
	}
	return cleanup.Resource{GVR: of.WithVersion(found.Version), Namespaced: found.Namespaced}, true, nil
}

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
