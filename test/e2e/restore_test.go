package e2e

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/dyncontroller/dyncontroller/test/controlplane"
)

// mirrored keeps a ConfigMap for each that has the label role=parent.
const mirrored = `
apiVersion: dyncontroller.dev/v1alpha1
kind: ClusterRuleSet
metadata: {name: mirrored}
spec:
  resources:
    parents: {version: v1, resource: configmaps, labelSelector: role=parent}
    children: {version: v1, resource: configmaps, labelSelector: role=child}
  rules:
  - name: mirror
    watch: parents
    actions:
    - apply:
        resource: children
        owned: false
        prune: true
        manifest:
          metadata: {name: "${object.metadata.name}-child", labels: {role: child}}
          data: {value: "${object.data?.value ?? ''}"}
`

// TestEtcdRestored holds that everything is right within a minute after etcd was restored from a snapshot under load, with
// the API server started again and dyncontroller not, whether or not new writes have overtaken the versions of the old
// history before it has reconnected.
func TestEtcdRestored(t *testing.T) {
	t.Parallel()
	on, err := controlplane.Start(t.Context(), controlplane.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := on.Stop(); err != nil {
			t.Error(err)
		}
	})
	planes.Use(t, on)
	own, err := dynamic.NewForConfig(on.RESTConfig())
	if err != nil {
		t.Fatal(err)
	}
	parents := own.Resource(configmaps).Namespace("default")
	name := func(i int) string { return fmt.Sprintf("p-%d", i) }
	write := func(ctx context.Context, i, value int) error {
		patch := fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":%q,"labels":{"role":"parent"}},"data":{"value":"%d"}}`, name(i), value)
		_, err := parents.Patch(ctx, name(i), types.ApplyPatchType, []byte(patch), metav1.PatchOptions{FieldManager: "somebody"})
		return err
	}
	const objects = 200
	for i := range objects {
		if err := write(t.Context(), i, 0); err != nil {
			t.Fatal(err)
		}
	}
	rules := filepath.Join(t.TempDir(), "rules.yaml")
	if err := os.WriteFile(rules, []byte(mirrored), 0o600); err != nil {
		t.Fatal(err)
	}
	start(t, "--rules", rules)
	// wrong lists parents without the right child, and children without a parent.
	wrong := func() []string {
		values := map[string]map[string]string{}
		for _, role := range []string{"parent", "child"} {
			list, err := parents.List(t.Context(), metav1.ListOptions{LabelSelector: "role=" + role})
			if err != nil {
				return []string{err.Error()}
			}
			values[role] = map[string]string{}
			for _, item := range list.Items {
				values[role][strings.TrimSuffix(item.GetName(), "-child")], _, _ = unstructured.NestedString(item.Object, "data", "value")
			}
		}
		var out []string
		for parent, value := range values["parent"] {
			if child, there := values["child"][parent]; !there || child != value {
				out = append(out, fmt.Sprintf("%s: %q, the child has %q", parent, value, child))
			}
		}
		for child := range values["child"] {
			if _, there := values["parent"][child]; !there {
				out = append(out, child+": the child has no parent")
			}
		}
		return out
	}
	within(t, time.Minute, "there is a child of each", func() bool { return len(wrong()) == 0 })

	// load changes, deletes and makes parents until it is stopped.
	load := func() (stop func() int) {
		ctx, cancel := context.WithCancel(t.Context())
		var writers sync.WaitGroup
		var done atomic.Int64
		for range 2 {
			writers.Go(func() {
				for ctx.Err() == nil {
					i := rand.IntN(objects + objects/4) //nolint:gosec // It is a load.
					var err error
					if rand.IntN(4) == 0 { //nolint:gosec // Likewise.
						err = parents.Delete(ctx, name(i), metav1.DeleteOptions{})
					} else {
						err = write(ctx, i, rand.IntN(1000)) //nolint:gosec // Likewise.
					}
					if err == nil || apierrors.IsNotFound(err) {
						done.Add(1)
					}
				}
			})
		}
		return func() int { cancel(); writers.Wait(); return int(done.Load()) }
	}
	down := func() {
		if err := on.Kill(t.Context(), controlplane.APIServer, controlplane.Etcd); err != nil {
			t.Fatal(err)
		}
	}
	up := func() {
		if err := on.Restart(t.Context(), controlplane.Etcd, controlplane.APIServer); err != nil {
			t.Fatal(err)
		}
	}
	data, snapshot := filepath.Join(on.Dir(), "etcd", "data"), filepath.Join(t.TempDir(), "snapshot")
	down()
	if err := os.CopyFS(snapshot, os.DirFS(data)); err != nil {
		t.Fatal(err)
	}
	up()
	for round, overtaken := range []bool{false, true} {
		stop := load()
		within(t, time.Minute, "there is a load", func() bool { return len(wrong()) > 0 })
		<-time.After(4 * time.Second)
		down()
		lost := stop()
		if err := os.RemoveAll(data); err != nil {
			t.Fatal(err)
		}
		if err := os.CopyFS(data, os.DirFS(snapshot)); err != nil {
			t.Fatal(err)
		}
		if overtaken {
			stop = load() // From the moment on at which somebody answers, while dyncontroller may still back off.
		}
		up()
		since := objects / 10
		if overtaken {
			<-time.After(10 * time.Second)
			since = stop()
		} else {
			for i := range since {
				if err := write(t.Context(), i, 2000+i); err != nil {
					t.Fatal(err)
				}
			}
		}
		restored := time.Now()
		within(t, time.Minute, "everything is right", func() bool { return len(wrong()) == 0 })
		t.Logf("round %d: %d writes were lost and %d came since; right %s later", round+1, lost, since, time.Since(restored).Round(100*time.Millisecond))
	}
	eventually(t, "it follows what changes", func() bool {
		if err := write(t.Context(), 0, 5000); err != nil {
			t.Fatal(err)
		}
		return len(wrong()) == 0
	})
}
