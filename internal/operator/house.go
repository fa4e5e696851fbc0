package operator

import (
	"context"
	"errors"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	clientdiscovery "k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/dyncontroller/dyncontroller/internal/discovery"
	"github.com/dyncontroller/dyncontroller/pkg/engine/cleanup"
	"github.com/dyncontroller/dyncontroller/pkg/engine/inventory"
	"github.com/dyncontroller/dyncontroller/pkg/engine/live"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// NewInventory returns where an instance keeps what the rules of its files have left: a
// ConfigMap in the namespace of the process.
func NewInventory(client dynamic.Interface, namespace, instance string) (*inventory.ConfigMap, error) {
	return inventory.NewConfigMap(client.Resource(inventory.GVR()).Namespace(namespace), namespace, instance)
}

// Afterlife reads for a cleanup: the objects live, and how they are served now, which
// may not be how the rules knew them. It implements [cleanup.Reader].
type Afterlife struct {
	*live.Reader
	server discovery.Server
	client rest.Interface
}

// errUnserved is why nothing can be cleaned up where objects may be stored still.
var errUnserved = errors.New("there is a CRD, and no version of it is served")

// NewAfterlife returns one that reads with the rights of the reader, and asks what is
// served by a client of its own: that is the same for everybody.
func NewAfterlife(reader *live.Reader, client clientdiscovery.DiscoveryInterface) Afterlife {
	return Afterlife{reader, clientdiscovery.ToDiscoveryInterfaceWithContext(client), client.RESTClient()}
}

// Get implements [cleanup.Reader].
func (a Afterlife) Get(ctx context.Context, object plan.Object) (map[string]any, error) {
	return a.Reader.Get(ctx, object.GVR, object.Namespace, object.Name)
}

// Served implements [cleanup.Reader].
func (a Afterlife) Served(ctx context.Context, of apischema.GroupResource) (cleanup.Resource, bool, error) {
	found, err := discovery.Served(ctx, a.server, of)
	if err != nil {
		return cleanup.Resource{}, false, err
	}
	if found == nil {
		defined, err := discovery.Defined(ctx, a.client, of)
		if err == nil && defined {
			err = errUnserved
		}
		return cleanup.Resource{}, false, err
	}
	return cleanup.Resource{GVR: of.WithVersion(found.Version), Namespaced: found.Namespaced}, true, nil
}
