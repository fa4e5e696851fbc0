package cluster

import (
	"errors"
	"fmt"
	"maps"
	"time"

	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/simulate/apiserver"
	"github.com/dyncontroller/dyncontroller/pkg/simulate/storage"
)

// ErrUnknownKind is why an object cannot be in the cluster: nothing defines its kind.
var ErrUnknownKind = errors.New("the simulated cluster does not know the kind")

// ErrNoPlace is why an object cannot be in the cluster: no request would find it.
var ErrNoPlace = errors.New("an object needs a name, and a namespace if its kind has them")

// placeOf is where an object is stored.
func placeOf(object map[string]any, resource apiserver.Resource) (storage.Change, error) {
	at := storage.Change{Resource: resource.GVR.GroupResource(), Namespace: textOf(object, "namespace"), Name: textOf(object, "name")}
	switch {
	case at.Name == "", (at.Namespace != "") != resource.Namespaced:
		return at, fmt.Errorf("%s: %w", at, ErrNoPlace)
	case len(content.IsPathSegmentName(at.Name)) > 0, at.Namespace != "" && len(content.IsPathSegmentName(at.Namespace)) > 0:
		return at, fmt.Errorf("%s: %w: these have no slash", at, ErrNoPlace)
	default:
		return at, nil
	}
}

func (c *Cluster) resourceOf(object map[string]any) (apiserver.Resource, error) {
	version, _ := object["apiVersion"].(string)
	kind, _ := object["kind"].(string)
	found, known := c.server.OfKind(schema.FromAPIVersionAndKind(version, kind))
	if !known {
		return apiserver.Resource{}, fmt.Errorf("%w: %s %s", ErrUnknownKind, version, kind)
	}
	return found, nil
}

// stored is an object with what every stored one has. The object itself is not changed.
func stored(object map[string]any, now time.Time, uid string) map[string]any {
	out, metadata := maps.Clone(object), maps.Clone(metadataOf(object))
	if metadata == nil {
		metadata = map[string]any{}
	}
	delete(metadata, "resourceVersion") // It is that of the world.
	for key, value := range map[string]string{
		"uid":               uid,
		"creationTimestamp": now.UTC().Format(time.RFC3339),
	} {
		if have, _ := metadata[key].(string); have == "" {
			metadata[key] = value
		}
	}
	out["metadata"] = metadata
	return out
}

func metadataOf(object map[string]any) map[string]any {
	metadata, _ := object["metadata"].(map[string]any)
	return metadata
}

func textOf(object map[string]any, key string) string {
	text, _ := metadataOf(object)[key].(string)
	return text
}
