package e2e

import (
	"context"
	"fmt"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"

	"github.com/dyncontroller/dyncontroller/pkg/engine/live"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/test/controlplane"
)

// TestListOutlivesItsToken holds that a list goes on to its end, and visits each object once, where its continue token expires between
// two pages. The API server compacts every second, and does not answer from its watch cache, which keeps older versions for longer.
func TestListOutlivesItsToken(t *testing.T) {
	t.Parallel()
	on, err := controlplane.Start(t.Context(), controlplane.Options{
		APIServerArgs: []string{"--etcd-compaction-interval=1s", "--watch-cache=false"},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := on.Stop(); err != nil {
			t.Error(err)
		}
	})
	all, err := dynamic.NewForConfig(on.RESTConfig())
	if err != nil {
		t.Fatal(err)
	}
	reader, err := live.NewReader(on.RESTConfig())
	if err != nil {
		t.Fatal(err)
	}
	const objects = 501 // More than a page.
	client := all.Resource(configmaps).Namespace("default")
	create := func(name string) error {
		object := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": name},
		}}
		_, err := client.Create(t.Context(), object, metav1.CreateOptions{})
		return err
	}
	var creating errgroup.Group
	creating.SetLimit(16)
	for i := range objects {
		creating.Go(func() error { return create(fmt.Sprintf("cm-%03d", i)) })
	}
	if err := creating.Wait(); err != nil {
		t.Fatal(err)
	}
	visits := map[string]int{}
	expire := func() error { // Until a token that is as old as that of the list has expired.
		page, err := client.List(t.Context(), metav1.ListOptions{Limit: 1})
		if err != nil {
			return err
		}
		n := 0
		return wait.PollUntilContextTimeout(t.Context(), time.Second, time.Minute, true, func(ctx context.Context) (bool, error) {
			n++
			if err := create(fmt.Sprintf("zz-%d", n)); err != nil {
				return false, err
			}
			_, err := client.List(ctx, metav1.ListOptions{Limit: 1, Continue: page.GetContinue()})
			return apierrors.IsResourceExpired(err), nil
		})
	}
	err = reader.List(t.Context(), plan.Selection{GVR: configmaps, Namespace: "default"}, func(object map[string]any) error {
		visits[plan.Text(object, "metadata", "name")]++
		if len(visits) == 1 {
			return expire()
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for i := range objects {
		if name := fmt.Sprintf("cm-%03d", i); visits[name] != 1 {
			t.Errorf("%s was visited %d times, want once", name, visits[name])
		}
	}
}
