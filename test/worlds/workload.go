package worlds

import (
	"context"
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/pkg/rules"
)

// workload is what users have the program do: their rules, what the users do themselves, and what is promised of these rules in particular.
type workload struct {
	name      string
	sets      []*rules.Set                  // the rules at first, and those that may replace them
	texts     []string                      // the same, as they are written
	resources []schema.GroupVersionResource // that the rules are about
	// definitions are those of the custom resources that the API server has besides.
	definitions []*apiextensionsv1.CustomResourceDefinition
	// setOf names the set object that made a write, and returns "" if the oracle cannot tell. It is nil if there is only one.
	setOf func(r *request) string
	// tenants says that the rules are in set objects in all drawn plans.
	tenants bool
	// pauses says that rules may have paused in the end, or not.
	pauses bool
	// deeds are those of its users, the likelier the more often, and do does one. What is not there cannot be changed, and what is there
	// not made: that is no error.
	deeds []deed
	do    func(ctx context.Context, w *World, s step) error
	// tend does what has to be done each minute from then on, nil for nothing.
	tend func(ctx context.Context, w *World) error
	// look adds an object to what users see of the world. Names has the names of all objects, by their uids.
	look func(seen map[string]any, resource string, object *unstructured.Unstructured, names map[types.UID]string)
	// judge looks for what is promised of these rules.
	judge func(o *oracle)
	// byTheWay says that the world looks in the end as it has come there, and not as a calm one.
	byTheWay bool
}

// user is how the history calls users.
const user = "user"

// do has a user do what a step says.
func (w *World) do(ctx context.Context, s step) error {
	err := w.workload.do(ctx, w, s)
	if apierrors.IsNotFound(err) || apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

// merge has a user patch an object.
func (w *World) merge(ctx context.Context, of schema.GroupVersionResource, name, patch string, args ...any) error {
	_, err := w.user.Resource(of).Namespace("shop").
		Patch(ctx, name, types.MergePatchType, fmt.Appendf(nil, patch, args...), metav1.PatchOptions{FieldManager: "user"})
	return err //nolint:wrapcheck // It is that of the API server, which has no faults for users.
}
