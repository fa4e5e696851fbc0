package main

import (
	"embed"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

//go:embed rules/*.yaml
var ruleFiles embed.FS

// job is a thing to do, for which there is the rule file rules/NAME.yaml and controllers of the same name.
type job struct {
	name string
	// done says for which TidbCluster an object shows that the job is done, where want is the value to be written.
	done func(of schema.GroupVersionResource, object *metav1.PartialObjectMetadata, want string) (cluster string, is bool)
	// all says that there is something to do for each TidbCluster, and not just for every second one.
	all bool
	// pods has every TidbCluster for which there is something to do have two Pods, which get the updates that do not matter.
	pods bool
	// children are ConfigMaps, which are deleted after each run.
	children bool
}

func allJobs() []string { return []string{"label", "rules", "related", "child"} }

func jobOf(name string) job {
	j := job{name: name}
	switch name {
	case "rules": // Several rules are one request, or none.
		j.done = labelled("phase", func(value, want string) bool { return value == want })
	case "related":
		j.done, j.pods = labelled("pods", func(value, want string) bool { return strings.HasSuffix(value, "-"+want) }), true
	case "child":
		j.all, j.children = true, true
		j.done = func(of schema.GroupVersionResource, o *metav1.PartialObjectMetadata, want string) (string, bool) {
			return strings.TrimSuffix(o.Name, "-settings"), of == configMaps() && o.Labels["tier"] == want
		}
	default:
		j.done = labelled("tier", func(value, want string) bool { return value == want })
	}
	return j
}

// labelled has a TidbCluster be done when a label of it is right.
func labelled(label string, right func(value, want string) bool) func(schema.GroupVersionResource, *metav1.PartialObjectMetadata, string) (string, bool) {
	return func(of schema.GroupVersionResource, o *metav1.PartialObjectMetadata, want string) (string, bool) {
		return o.Name, of == tidbClusters() && right(o.Labels[label], want)
	}
}

// watched are the resources that show that the job is done.
func (j job) watched() []schema.GroupVersionResource {
	if j.children {
		return []schema.GroupVersionResource{tidbClusters(), configMaps()}
	}
	return []schema.GroupVersionResource{tidbClusters()}
}
