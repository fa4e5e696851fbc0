package editor

import (
	"regexp"

	resources "github.com/dyncontroller/dyncontroller/pkg/rules/schema"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema/builtin"
)

// common are the groups and versions of Kubernetes that rules are mostly about.
var common = regexp.MustCompile(
	`^((|apps|batch|policy|(coordination|discovery|networking|rbac\.authorization|scheduling|storage)\.k8s\.io)/v1|autoscaling/v2)$`)

// Common are all resources that are given, and those of Kubernetes that rules are mostly about.
func Common(given resources.Source) (out []*resources.Resource) {
	for _, name := range given.Resources() {
		out = append(out, given.Resource(name.GroupVersionResource))
	}
	for _, name := range builtin.Source().Resources() {
		if common.MatchString(name.Group+"/"+name.Version) && given.Resource(name.GroupVersionResource) == nil {
			out = append(out, builtin.Source().Resource(name.GroupVersionResource))
		}
	}
	return out
}
