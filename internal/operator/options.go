package operator

import (
	"log/slog"

	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"github.com/dyncontroller/dyncontroller/internal/config"
	"github.com/dyncontroller/dyncontroller/internal/election"
	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/engine/cleanup"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
)

// Cluster is the cluster that an operator works in, as the process itself.
type Cluster struct {
	Config    *rest.Config
	Namespace string // of the process
	Discovery discovery.DiscoveryInterface
}

// Options are what an operator works with. Cluster, Log and Clock are required.
type Options struct {
	Cluster  Cluster
	Settings config.Config
	// Fence bounds writes by the lease of the process, nil where it needs none.
	Fence *election.Fence
	// Rules says how set objects are compiled, but for their schemas.
	Rules rules.Options
	// Observers are told what all engines do.
	Observers []engine.Observer
	// Recorder takes the Events of the operator itself in a dry run, in place of the API server.
	// Observers are told of those of rules.
	Recorder engine.Recorder
	// Cleaned is told what is cleaned up after rules that are gone; nil for nobody.
	Cleaned func(cleanup.Report)
	// Changed is told of all rules that are in effect, each time that there may be others;
	// nil for nobody. It must not call the operator.
	Changed func(*rules.Set)
	// Instance names this process in Events.
	Instance string
	Log      *slog.Logger
	Clock    clock.WithTicker
}

// dryRun reports whether nothing is to be stored.
func (o *Options) dryRun() bool { return o.Settings.DryRun != config.DryRunNone }

// holdsFiles reports whether there is an inventory of sets in files.
func (o *Options) holdsFiles() bool { return len(o.Settings.Rules) > 0 }
