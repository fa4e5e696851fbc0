package cluster

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/simulate/storage"
)

// Object is an object and the resource that it is of. It is shared: read only.
type Object struct {
	*unstructured.Unstructured
	GVR schema.GroupVersionResource
}

// view has all objects as the API server gives them. What has not been written since is
// not read again: that would be most of what a cluster is asked for.
type view struct {
	of map[storage.Change]read
	// at is the version of the world of which all is. Nothing is stored at version zero.
	at  uint64
	all []Object
}

type read struct {
	Object
	version uint64
}

func newView() view { return view{of: map[storage.Change]read{}} }

// everything lists what is in the cluster, in the order of resources, namespaces and
// names.
func (c *Cluster) everything(ctx context.Context) ([]Object, error) {
	if c.view.at != 0 && c.view.at == c.world.Version() {
		return c.view.all, nil
	}
	stored := c.world.Stored()
	if err := c.readNew(ctx, stored); err != nil {
		return nil, err
	}
	all, still := make([]Object, 0, len(stored)), map[storage.Change]read{}
	for _, at := range stored {
		o, err := c.current(ctx, at)
		if err != nil {
			return nil, err
		}
		all, still[at.Change] = append(all, o), c.view.of[at.Change]
	}
	c.view = view{of: still, at: c.world.Version(), all: all}
	return all, nil
}

// readNew lists the resources of which nothing has been read yet.
func (c *Cluster) readNew(ctx context.Context, stored []storage.Stored) error {
	known := map[schema.GroupResource]bool{}
	for at := range c.view.of {
		known[at.Resource] = true
	}
	versions := make(map[storage.Change]uint64, len(stored))
	for _, at := range stored {
		versions[at.Change] = at.Version
	}
	for _, at := range stored {
		if known[at.Resource] {
			continue
		}
		known[at.Resource] = true
		gvr := c.server.Preferred(at.Resource)
		err := c.live.List(ctx, plan.Selection{GVR: gvr}, func(fields map[string]any) error {
			o := Object{&unstructured.Unstructured{Object: fields}, gvr}
			of := storage.Change{Resource: at.Resource, Namespace: o.GetNamespace(), Name: o.GetName()}
			c.view.of[of] = read{o, versions[of]}
			return nil
		})
		if err != nil {
			return err // It says what could not be listed.
		}
	}
	return nil
}

// current is an object as it is now, which is there.
func (c *Cluster) current(ctx context.Context, at storage.Stored) (Object, error) {
	if known, is := c.view.of[at.Change]; is && known.version == at.Version {
		return known.Object, nil
	}
	gvr := c.server.Preferred(at.Resource)
	fields, err := c.live.Get(ctx, gvr, at.Namespace, at.Name)
	if err != nil {
		return Object{}, fmt.Errorf("reading what is stored: %w", err)
	}
	if fields == nil {
		return Object{}, fmt.Errorf("%s %q cannot be read by its name", at.Resource, at.Name)
	}
	o := Object{&unstructured.Unstructured{Object: fields}, gvr}
	c.view.of[at.Change] = read{o, at.Version}
	return o, nil
}

// selected lists the objects of a selection that has no selectors and is of the version
// in which everything is read. Others are for the API server to select.
func (c *Cluster) selected(ctx context.Context, from plan.Selection) (objects []Object, is bool, err error) {
	if from.LabelSelector != "" || from.FieldSelector != "" || c.server.Preferred(from.GVR.GroupResource()) != from.GVR {
		return nil, false, nil
	}
	all, err := c.everything(ctx)
	if err != nil {
		return nil, true, err
	}
	for _, o := range all {
		if o.GVR == from.GVR && (from.Namespace == "" || from.Namespace == o.GetNamespace()) {
			objects = append(objects, o)
		}
	}
	return objects, true, nil
}
