package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/engine/informer"
	"github.com/dyncontroller/dyncontroller/pkg/engine/live"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/simulate/apiserver"
	"github.com/dyncontroller/dyncontroller/pkg/simulate/storage"
)

// instance is the name under which Events are reported.
const instance = "test"

// Cluster is a simulated cluster. It is for one goroutine.
type Cluster struct {
	server *apiserver.Server
	world  *storage.World
	clock  *clocktesting.FakeClock

	writer   *write.Client
	live     *live.Reader
	recorder *write.Recorder
	caches   *caches
	wire     *wire
	user     dynamic.Interface // of everybody else in the cluster
	view     view
	// found are the uids of all objects that were put there.
	found map[types.UID]bool
	// strangers are the owners that objects from outside name: a test need not have them.
	strangers map[types.UID]bool
}

var (
	_ engine.Writer   = (*Cluster)(nil)
	_ engine.Recorder = (*Cluster)(nil)
)

// New returns an empty cluster in which it is now.
func New(server *apiserver.Server, now time.Time) (*Cluster, error) {
	clock := clocktesting.NewFakeClock(now)
	world := storage.NewWorld(clock)
	c := &Cluster{server: server, world: world, clock: clock, found: map[types.UID]bool{}, strangers: map[types.UID]bool{}, view: newView()}
	c.wire = &wire{next: server.Transport(world)}
	config := &rest.Config{Host: "http://simulated", Transport: c.wire, QPS: -1}
	var err error
	if c.writer, err = write.NewClient(config); err != nil {
		return nil, err
	}
	if c.live, err = live.NewReader(config); err != nil {
		return nil, err
	}
	if c.recorder, err = write.NewRecorder(config, instance, clock); err != nil {
		return nil, err
	}
	if c.user, err = dynamic.NewForConfig(config); err != nil {
		return nil, fmt.Errorf("making a client for the steps of a test: %w", err)
	}
	c.caches = newCaches(c)
	return c, nil
}

// Clock is that of the cluster.
func (c *Cluster) Clock() *clocktesting.FakeClock { return c.clock }

// Live reads past the caches.
func (c *Cluster) Live() *live.Reader { return c.live }

// Caches are those of the one engine that works on the cluster.
func (c *Cluster) Caches(handler informer.Handler) engine.Caches {
	c.caches.handler = handler
	return c.caches
}

// Write implements [engine.Writer]. When it returns, the caches have seen what came of it.
func (c *Cluster) Write(ctx context.Context, operation plan.Operation) write.Result {
	defer c.tell()
	return c.writer.Write(ctx, operation)
}

// Record implements [engine.Recorder].
func (c *Cluster) Record(ctx context.Context, event plan.Event, again bool) error {
	defer c.tell()
	return c.recorder.Record(ctx, event, again)
}

// tell has the caches see what has changed.
func (c *Cluster) tell() { c.caches.see(c.world.Take()) }

// Requests takes what has been sent since it was called last, in order; reads are not
// among it.
func (c *Cluster) Requests() []Request { return c.wire.take() }

// Put stores an object as it was found, of a kind that the server has. Nobody is told:
// it is for a cluster that is being set up. What every stored object has is added.
func (c *Cluster) Put(object map[string]any) error {
	resource, err := c.resourceOf(object)
	if err != nil {
		return err
	}
	at, err := placeOf(object, resource)
	if err != nil {
		return err
	}
	complete := stored(object, c.clock.Now(), string(c.world.UID(at)))
	data, err := json.Marshal(complete)
	if err != nil {
		return fmt.Errorf("encoding an object: %w", err)
	}
	c.world.Put(at, data)
	c.found[types.UID(textOf(complete, "uid"))] = true
	c.trust(object)
	return nil
}

// trust takes it that the owners are somewhere that an object from outside names.
func (c *Cluster) trust(object map[string]any) {
	for _, r := range (&unstructured.Unstructured{Object: object}).GetOwnerReferences() {
		c.strangers[r.UID] = true
	}
}
