package up

// Options says what to run.
type Options struct {
	// Dir holds all state. What an earlier control plane left in its etcd is taken up again.
	Dir string
	// ControllerManager adds kube-controller-manager.
	ControllerManager bool
	// FeatureGates, as Name=true, go to kube-apiserver and kube-controller-manager.
	FeatureGates []string
	// APIServerArgs and ControllerManagerArgs come after our own flags.
	APIServerArgs         []string
	ControllerManagerArgs []string
}
