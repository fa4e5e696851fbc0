package editor

import (
	"strings"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	resources "github.com/dyncontroller/dyncontroller/pkg/rules/schema"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema/builtin"
)

// Common are all resources that are given, and those of Kubernetes that rules are
// mostly about.
func Common(given resources.Source) []*resources.Resource {
	var out []*resources.Resource
	for _, name := range given.Resources() {
		out = append(out, given.Resource(name.GroupVersionResource))
	}
	for _, gvr := range commonResources() {
		if found := builtin.Source().Resource(gvr); found != nil && given.Resource(gvr) == nil {
			out = append(out, found)
		}
	}
	return out
}

func commonResources() []apischema.GroupVersionResource {
	var out []apischema.GroupVersionResource
	for _, of := range [][2]string{
		{"v1", "configmaps limitranges namespaces nodes persistentvolumeclaims persistentvolumes pods resourcequotas secrets serviceaccounts services"},
		{"apps/v1", "daemonsets deployments replicasets statefulsets"},
		{"autoscaling/v2", "horizontalpodautoscalers"},
		{"batch/v1", "cronjobs jobs"},
		{"coordination.k8s.io/v1", "leases"},
		{"discovery.k8s.io/v1", "endpointslices"},
		{"networking.k8s.io/v1", "ingresses networkpolicies"},
		{"policy/v1", "poddisruptionbudgets"},
		{"rbac.authorization.k8s.io/v1", "clusterrolebindings clusterroles rolebindings roles"},
		{"scheduling.k8s.io/v1", "priorityclasses"},
		{"storage.k8s.io/v1", "storageclasses"},
	} {
		gv := apischema.FromAPIVersionAndKind(of[0], "").GroupVersion()
		for resource := range strings.FieldsSeq(of[1]) {
			out = append(out, gv.WithResource(resource))
		}
	}
	return out
}
