package operator

import (
	"context"
	"errors"
	"fmt"
	"slices"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/dynamic"

	"github.com/dyncontroller/dyncontroller/internal/discovery"
	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/engine/cleanup"
	"github.com/dyncontroller/dyncontroller/pkg/engine/inventory"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
)

// NewInventory returns where an instance keeps what the rules of its files have left: a
// ConfigMap in the namespace of the process.
func NewInventory(client dynamic.Interface, namespace, instance string) (*inventory.ConfigMap, error) {
	return inventory.NewConfigMap(client.Resource(inventory.GVR()).Namespace(namespace), namespace, instance)
}

// CleanupReader reads for a cleanup: the objects live, and how they are served now, which
// may not be how the rules knew them. It implements [cleanup.Reader].
type CleanupReader struct {
	engine.Live
	client *discovery.Client
}

// errUnserved is why nothing can be cleaned up where objects may be stored still.
var errUnserved = errors.New("there is a CRD, and no version of it is served")

// NewCleanupReader returns one that reads with the rights of the reader, and asks what is
// served by a client of its own: that is the same for everybody.
func NewCleanupReader(reader engine.Live, client *discovery.Client) CleanupReader {
	return CleanupReader{reader, client}
}

// Served implements [cleanup.Reader].
func (a CleanupReader) Served(ctx context.Context, of apischema.GroupResource) (cleanup.Resource, bool, error) {
	found, err := discovery.Served(ctx, a.client, of)
	if err != nil {
		return cleanup.Resource{}, false, err
	}
	if found == nil {
		defined, err := discovery.Defined(ctx, a.client.RESTClient(), of)
		if err == nil && defined {
			err = errUnserved
		}
		return cleanup.Resource{}, false, err
	}
	return cleanup.Resource{GVR: of.WithVersion(found.Version), Namespaced: found.Namespaced}, true, nil
}

// errSensitive is why something is not cleaned up that only an administrator may allow.
var errSensitive = errors.New("must be allowed where the rules run")

// permitted shows a cleanup only objects that rules may write. What rules have left is
// read from where others may write as well, so it is not believed that it was allowed.
type permitted struct {
	cleanup.Reader
	sensitive []string // the kinds that are allowed
}

// List implements [cleanup.Reader]. A cleanup writes nothing that it was not shown.
func (p permitted) List(ctx context.Context, from plan.Selection, visit func(map[string]any) error) error {
	if !wellFormed(from) {
		return fmt.Errorf("there can be no resource %q of the group %q and version %q in the namespace %q",
			from.GVR.Resource, from.GVR.Group, from.GVR.Version, from.Namespace)
	}
	kind := rules.SensitiveKind(from.GVR.GroupResource())
	if kind != "" && !slices.Contains(p.sensitive, kind) {
		return fmt.Errorf("%s %w: run with --allow-sensitive=%s", plan.ResourceName(from.GVR), errSensitive, kind)
	}
	return p.Reader.List(ctx, from, visit) //nolint:wrapcheck // It says what was read.
}

// wellFormed reports whether a selection consists of names. With a path in their place it
// would be of another resource than it says.
func wellFormed(from plan.Selection) bool {
	label := func(text string) bool { return len(validation.IsDNS1123Label(text)) == 0 }
	group := from.GVR.Group == "" || len(validation.IsDNS1123Subdomain(from.GVR.Group)) == 0
	return group && label(from.GVR.Version) && label(from.GVR.Resource) && (from.Namespace == "" || label(from.Namespace))
}
