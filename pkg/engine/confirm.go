package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// errContradicted is why an operation is not sent that a cache was wrong about.
var errContradicted = errors.New("a live read does not confirm what the cache showed, so it is decided anew")

// confirm reads live what an operation was decided by, where it cannot be taken back.
// It returns the answer instead of sending the operation, or nil.
func (a *attempt) confirm(ctx context.Context, operation plan.Operation) *write.Result {
	for _, q := range operation.Confirm {
		live, err := a.engine.options.Live.Read(ctx, q)
		if err != nil {
			err = fmt.Errorf("confirming what %s of %s was decided by: %w", operation.Type, operation.Target, err)
			return unconfirmed(err)
		}
		others := slices.DeleteFunc(slices.Clone(live), func(object map[string]any) bool { return a.made[uidOf(object)] })
		if !slices.Equal(uids(others), a.asked.found(q)) {
			return a.contradicted(ctx, q, live)
		}
	}
	return nil
}

// contradicted has the caches show what they have missed, if there is something still.
func (a *attempt) contradicted(ctx context.Context, q plan.Read, live []map[string]any) *write.Result {
	result := &write.Result{Class: write.Stale, Err: errContradicted}
	cached, err := a.engine.caches.Read(q)
	if err != nil {
		return result
	}
	if missed := lacking(live, cached); missed != nil {
		result.Echo, result.Object = &write.Echo{Object: objectOf(q, missed)}, missed
		return result
	}
	extra := lacking(cached, live)
	if extra == nil {
		return result
	}
	// It may be gone, or not be what was asked for any more.
	object := objectOf(q, extra)
	switch there, err := a.engine.options.Live.Get(ctx, object.GVR, object.Namespace, object.Name); {
	case err != nil:
	case uidOf(there) == object.UID:
		object.ResourceVersion = versionOf(there)
		result.Echo, result.Object = &write.Echo{Object: object}, there
	default:
		object.ResourceVersion = ""
		result.Echo = &write.Echo{Object: object, Gone: true}
	}
	return result
}

func uids(objects []map[string]any) []types.UID {
	out := make([]types.UID, len(objects))
	for i, object := range objects {
		out[i] = uidOf(object)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// lacking is the first object that others do not have, nil where there is none.
func lacking(objects, others []map[string]any) map[string]any {
	known := uids(others)
	for _, object := range objects {
		if !slices.Contains(known, uidOf(object)) {
			return object
		}
	}
	return nil
}

func objectOf(q plan.Read, object map[string]any) plan.Object {
	return plan.Object{
		GVR: q.From[0].GVR, Namespace: plan.Text(object, "metadata", "namespace"), Name: plan.Text(object, "metadata", "name"),
		UID: uidOf(object), ResourceVersion: versionOf(object),
	}
}
