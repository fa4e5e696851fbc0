package worlds

import (
	"context"
	"fmt"
	"strings"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// state is what users see of a world: the objects by their kinds and names, without what the API server numbers.
func (w *World) state(ctx context.Context) (map[string]any, error) {
	out := map[string]any{}
	for _, gvr := range []string{deployments.Resource, configmaps.Resource} {
		of := deployments
		if gvr == configmaps.Resource {
			of = configmaps
		}
		list, err := w.user.Resource(of).Namespace("shop").List(ctx, metav1.ListOptions{})
		if err != nil {
			return nil, fmt.Errorf("looking at the world: %w", err)
		}
		for _, object := range list.Items {
			out[gvr+"/"+object.GetName()] = map[string]any{
				"labels": object.GetLabels(), "annotations": object.GetAnnotations(), "finalizers": object.GetFinalizers(),
				"spec": object.Object["spec"], "data": object.Object["data"], "going": object.GetDeletionTimestamp() != nil,
			}
		}
	}
	return out, nil
}

// restless are the requests after a number by which the program would have changed something. It may ask what it is allowed.
func (w *World) restless(after int) (out []request) {
	for _, r := range w.history.since(after) {
		if r.as != "user" && r.changes() && !strings.HasPrefix(r.path, "/apis/authorization.k8s.io/") {
			out = append(out, r)
		}
	}
	return out
}

// judge says what is wrong with a world in the end: it must be as one in which only the users did what they did, and a new program put all
// right afterwards.
func judge(lived, calm map[string]any, restless []request) string {
	var out strings.Builder
	if diff := cmp.Diff(calm, lived); diff != "" {
		fmt.Fprintf(&out, "as if nothing had been disturbed, and as it is (-want +got):\n%s", diff)
	}
	for _, r := range restless {
		fmt.Fprintf(&out, "in a quiet hour: %s\n", r)
	}
	return out.String()
}
