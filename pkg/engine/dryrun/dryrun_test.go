package dryrun_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/dyncontroller/dyncontroller/pkg/engine/dryrun"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

var now = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// stored is a cluster with one object.
type stored struct {
	dryrun.Live
	object map[string]any
}

func (s stored) Get(context.Context, schema.GroupVersionResource, string, string) (map[string]any, error) {
	return s.object, nil
}

func object(finalizers ...any) map[string]any {
	return map[string]any{"metadata": map[string]any{
		"name": "a", "uid": "u", "resourceVersion": "1", "labels": map[string]any{"rule": "old"}, "finalizers": finalizers,
		"managedFields": []any{
			map[string]any{"manager": "old", "operation": "Apply", "fieldsV1": map[string]any{"f:data": map[string]any{"f:x": map[string]any{}}}},
			map[string]any{"manager": "both", "operation": "Apply", "fieldsV1": map[string]any{"f:data": map[string]any{"f:x": map[string]any{}, "f:y": map[string]any{}}}},
		},
	}}
}

func target(version string) plan.Object {
	return plan.Object{GVR: schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}, Name: "a", UID: "u", ResourceVersion: version}
}

// TestShown holds how an object is shown after simulated writes.
func TestShown(t *testing.T) {
	takes := plan.Operation{
		Type: plan.Apply, Target: target("1"), Manager: "new",
		Predicted: map[string]any{"metadata": map[string]any{"labels": map[string]any{"rule": "new"}}},
		Changes:   []plan.Change{{Path: plan.Path{"data", "x"}, Before: "1", After: "2"}},
	}
	deletes := plan.Operation{Type: plan.Delete, Target: target("1"), Body: plan.Deletion{}}
	elsewhere := deletes
	elsewhere.Target = target("0")
	taken := object()["metadata"].(map[string]any)
	taken["labels"] = map[string]any{"rule": "new"}
	delete(taken, "finalizers")
	taken["managedFields"].([]any)[0] = map[string]any{}
	dying := object("theirs")["metadata"].(map[string]any)
	dying["deletionTimestamp"] = now.Format(time.RFC3339)
	tests := map[string]struct {
		reason string
		wrote  []plan.Operation
		before map[string]any
		want   map[string]any // nil for gone
		again  write.Class    // of the last write
	}{
		"Nothing":    {reason: "It is as it is.", before: object(), want: object()},
		"Taken":      {reason: "Who lost all fields has an empty entry, which keeps its place.", wrote: []plan.Operation{takes}, before: object(), want: map[string]any{"metadata": taken}, again: write.Repeated},
		"Deleted":    {reason: "It is gone.", wrote: []plan.Operation{deletes}, before: object(), again: write.Repeated},
		"Held":       {reason: "It is being deleted.", wrote: []plan.Operation{deletes}, before: object("theirs"), want: map[string]any{"metadata": dying}, again: write.Repeated},
		"OldVersion": {reason: "Somebody has changed it since.", wrote: []plan.Operation{elsewhere}, before: object(), want: object(), again: write.Repeated},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			d := dryrun.New(clocktesting.NewFakePassiveClock(now))
			writer := d.Writer(write.ClientDryRun{})
			for _, operation := range tc.wrote {
				operation.Body = map[string]any{}
				if operation.Type == plan.Delete {
					operation.Body = plan.Deletion{}
				}
				if first := writer.Write(t.Context(), operation); first.Class != write.Simulated {
					t.Fatalf("%+v", first)
				}
				if second := writer.Write(t.Context(), operation); second.Class != tc.again {
					t.Errorf("%s\nthe same once more is %s, want %s", tc.reason, second.Class, tc.again)
				}
			}
			got, err := d.Reader(stored{object: tc.before}).Get(t.Context(), target("1").GVR, "", "a")
			if diff := cmp.Diff(tc.want, got); diff != "" || err != nil {
				t.Errorf("%s\n-want +got:\n%s%v", tc.reason, diff, err)
			}
		})
	}
}
