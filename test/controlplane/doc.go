// Package controlplane runs a real Kubernetes control plane (etcd, kube-apiserver and, if asked for,
// kube-controller-manager) for tests and for the demo. It starts bin/cluster, which "make cluster" builds, as a child
// process that ends with its parent, whatever happens to that.
//
// A test package starts one control plane, and each test takes a namespace of its own:
//
//	var cluster *controlplane.ControlPlane
//
//	func TestMain(m *testing.M) {
//		os.Exit(controlplane.Main(controlplane.Options{}, func(c *controlplane.ControlPlane) int {
//			cluster = c
//			return m.Run()
//		}))
//	}
//
//	func TestSomething(t *testing.T) {
//		namespace := cluster.Namespace(t)
//		before, err := cluster.Requests(t.Context())
//		...
//	}
//
// No nodes run: Pods stay pending for ever. Without the controller manager there is no garbage collection either, and
// a deleted namespace stays, terminating.
package controlplane
