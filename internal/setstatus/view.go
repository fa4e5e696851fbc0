package setstatus

import (
	"cmp"

	"github.com/dyncontroller/dyncontroller/pkg/api/v1alpha1"
	"github.com/dyncontroller/dyncontroller/pkg/rules/trace"
)

// View is a set with its status. A list of them is the answer to GET /explain?sets at the metrics address of a controller. The answer to
// GET /explain?kind=&namespace=&set=&status has one set, with its Objects, or none.
type View struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	// File says that the set is in a file of the controller, not in the cluster.
	File bool `json:"file,omitempty"`
	// Generation is that of the object, zero in a file.
	Generation int64           `json:"generation,omitempty"`
	Status     v1alpha1.Status `json:"status"`
	// Objects are the first ones of Troubled with which its rules have trouble. Only a controller knows them.
	Objects  []trace.Memory `json:"objects,omitempty"`
	Troubled int            `json:"troubled,omitempty"`
}

// Compare orders views by namespace, name and kind.
func (v View) Compare(other View) int {
	return cmp.Or(cmp.Compare(v.Namespace, other.Namespace), cmp.Compare(v.Name, other.Name), cmp.Compare(v.Kind, other.Kind))
}
