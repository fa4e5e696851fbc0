package simulate

import (
	"fmt"

	"github.com/dyncontroller/dyncontroller/pkg/engine/live"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/simulate/cluster"
)

// Reader reads from the cluster of the evaluation, where nothing has been decided yet. It
// says what the object is there, whether a rule watches it or not.
func (e Evaluation) Reader() (*live.Reader, plan.Object, error) {
	server, all, err := e.cluster()
	if err != nil {
		return nil, plan.Object{}, err
	}
	c, err := cluster.New(server, e.Now)
	if err != nil {
		return nil, plan.Object{}, fmt.Errorf("making a cluster: %w", err)
	}
	for _, object := range all {
		if err := c.Put(object); err != nil {
			return nil, plan.Object{}, err
		}
	}
	metadata := metadataOf(all[0])
	out := plan.Object{Namespace: stringAt(metadata, "namespace"), Name: stringAt(metadata, "name")}
	if resource, known := server.OfKind(kindOf(all[0])); known {
		out.GVR = resource.GVR
		return c.Live(), out, nil
	}
	out.GVR, err = resourceOf(kindOf(all[0]), e.Rules.Selections())
	return c.Live(), out, err
}
