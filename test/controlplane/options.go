package controlplane

import (
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Component is a process of the control plane.
type Component string

// The components of a control plane; ControllerManager runs only where Options say so.
const (
	Etcd              Component = "etcd"
	APIServer         Component = "kube-apiserver"
	ControllerManager Component = "kube-controller-manager"
)

// Options say what to run; the zero value is etcd and kube-apiserver in a temporary directory.
type Options struct {
	// ControllerManager adds kube-controller-manager: garbage collection, namespace deletion, Deployments and so on.
	ControllerManager bool
	// FeatureGates are set in kube-apiserver and kube-controller-manager.
	FeatureGates map[string]bool
	// APIServerArgs and ControllerManagerArgs are further flags, such as --audit-policy-file=FILE.
	APIServerArgs         []string
	ControllerManagerArgs []string
	// Environment are variables that all components get, such as GOMEMLIMIT=4GiB.
	Environment []string
	// Dir keeps state and logs; if empty, they go to a temporary directory that Stop removes.
	Dir string
	// Output gets what "cluster up" says beside its errors, such as a component being started again; may be nil.
	Output io.Writer
}

// arguments are those of "cluster up".
func (o Options) arguments(dir string) []string {
	arguments := []string{"up", "--dir=" + dir}
	if o.ControllerManager {
		arguments = append(arguments, "--controller-manager")
	}
	if len(o.FeatureGates) > 0 {
		gates := make([]string, 0, len(o.FeatureGates))
		for _, name := range slices.Sorted(maps.Keys(o.FeatureGates)) {
			gates = append(gates, name+"="+strconv.FormatBool(o.FeatureGates[name]))
		}
		arguments = append(arguments, "--feature-gates="+strings.Join(gates, ","))
	}
	for _, arg := range o.APIServerArgs {
		arguments = append(arguments, "--apiserver-arg="+arg)
	}
	for _, arg := range o.ControllerManagerArgs {
		arguments = append(arguments, "--controller-manager-arg="+arg)
	}
	return arguments
}
