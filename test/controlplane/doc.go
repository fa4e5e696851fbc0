// Package controlplane runs a real Kubernetes control plane (etcd, kube-apiserver and, if asked for,
// kube-controller-manager) for tests and for the demo. It starts bin/cluster, which "make cluster" builds, as a child
// process that ends with its parent, whatever happens to that.
//
// The tests of a package run beside each other, each on a control plane of a [Pool] and in a namespace of its own:
//
//	var planes = controlplane.NewPool(func(ctx context.Context) (*controlplane.ControlPlane, error) {
//		return controlplane.Start(ctx, controlplane.Options{})
//	})
//
//	func TestMain(m *testing.M) { os.Exit(planes.Main(m.Run)) }
//
//	func TestSomething(t *testing.T) {
//		t.Parallel()
//		cluster := planes.Lend(t)
//		namespace := cluster.Namespace(t)
//		before, err := cluster.Requests(t.Context())
//		...
//	}
//
// A package whose tests share one control plane starts it with [Main].
//
// No nodes run: Pods stay pending for ever. Without the controller manager there is no garbage collection either, and
// a deleted namespace stays, terminating.
package controlplane
