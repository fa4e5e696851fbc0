package e2e

import (
	"context"
	"strings"
	"testing"
	"time"

	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/clock"

	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/test/controlplane"
)

func listEvents(t *testing.T, namespace string) []eventsv1.Event {
	t.Helper()
	list, err := client(t).Resource(events).Namespace(namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	out := make([]eventsv1.Event, len(list.Items))
	for i, item := range list.Items {
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(item.Object, &out[i]); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

func TestRecorder(t *testing.T) {
	virtually(t, func(t *testing.T) {
		namespace := cluster(t).Namespace(t)
		object := create(t, configmaps, namespace, kinds["ConfigMap"].manifest)
		event := plan.Event{
			Rule:      plan.Rule{Kind: "ClusterRuleSet", Set: "set", Name: "rule"},
			Regarding: operationOn(object, configmaps, plan.Merge).Target,
			Type:      "Warning", Reason: "Wrong", Action: "Reconcile", Message: strings.Repeat("é", 1000),
		}
		recorder, err := write.NewRecorder(cluster(t).RESTConfig(), "host", clock.RealClock{})
		if err != nil {
			t.Fatal(err)
		}
		record := func(again bool) eventsv1.Event {
			t.Helper()
			if err := recorder.Record(t.Context(), event, again); err != nil {
				t.Fatal(err)
			}
			all := listEvents(t, namespace)
			if len(all) != 1 {
				t.Fatalf("have %d events, want one", len(all))
			}
			return all[0]
		}

		first := record(false)
		if first.Regarding.UID != object.GetUID() || first.Reason != "Wrong" || first.Type != "Warning" || first.Series != nil {
			t.Errorf("the event is %+v", first)
		}
		if len(first.Note) != 1024 || first.ReportingController != write.ReportingController || time.Since(first.EventTime.Time) > time.Hour {
			t.Errorf("the event is %+v", first)
		}

		before := requests(t)
		if repeated := record(false); repeated.ResourceVersion != first.ResourceVersion {
			t.Error("a restart wrote the event again")
		}
		if writes := requests(t).Since(before).Writes(); writes.Count(controlplane.Request{Resource: "events"}) > 0 {
			t.Errorf("a restart sent writes:\n%s", writes)
		}
		if second := record(true); second.Series == nil || second.Series.Count != 2 {
			t.Errorf("the series after a second episode is %+v", second.Series)
		}
		if third := record(true); third.Series.Count != 3 {
			t.Errorf("the series after a third episode is %+v", third.Series)
		}
	})
}

func TestRecorderOnClusterScopedObjects(t *testing.T) {
	virtually(t, func(t *testing.T) {
		recorder, err := write.NewRecorder(cluster(t).RESTConfig(), "host", clock.RealClock{})
		if err != nil {
			t.Fatal(err)
		}
		namespace := cluster(t).Namespace(t) // is itself the cluster-scoped object
		regarding := plan.Object{GVR: namespacesGVR, Kind: "Namespace", Name: namespace, UID: "u", ResourceVersion: "1"}
		event := plan.Event{Regarding: regarding, Type: "Normal", Reason: "Seen", Action: "Reconcile", Message: "m"}
		if err := recorder.Record(t.Context(), event, false); err != nil {
			t.Fatal(err)
		}
		for _, found := range listEvents(t, metav1.NamespaceDefault) {
			if found.Regarding.Name == namespace {
				return
			}
		}
		t.Error("the event is not in namespace default")
	})
}

func requests(t *testing.T) controlplane.Requests {
	t.Helper()
	out, err := cluster(t).(interface {
		Requests(ctx context.Context) (controlplane.Requests, error)
	}).Requests(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return out
}
