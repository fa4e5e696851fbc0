package relation

import (
	"errors"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// ErrNotSynced is what the error of a [Source] wraps where the answer is not
// known for certain: nothing is read from a cache that is not synced, since
// unsynced is not empty.
var ErrNotSynced = errors.New("the cache is not synced")

// Source answers questions about related objects, the same way throughout an
// evaluation.
type Source interface {
	// Read returns every object that the question selects, once, in any order; see
	// [plan.Read.Selects]. The objects are shared: read only.
	Read(q plan.Read) ([]map[string]any, error)
}

// Objects is a [Source] that has all objects in memory, and answers every
// question by going through those of the resource. It is safe for concurrent use
// as long as nobody changes it.
type Objects map[schema.GroupVersionResource][]map[string]any

// Read implements [Source]. Of a resource that is not in the map there is no
// object.
func (o Objects) Read(q plan.Read) ([]map[string]any, error) {
	if len(q.From) == 0 {
		return nil, nil
	}
	var found []map[string]any
	for _, object := range o[q.From[0].GVR] {
		if q.Selects(object) {
			found = append(found, object)
		}
	}
	return found, nil
}
