package footprint_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/rules/footprint"
)

var (
	podsResource        = schema.GroupVersionResource{Version: "v1", Resource: "pods"}
	deploymentsResource = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
)

// rule returns the footprint of a rule that reads pods and scales deployments.
func rule() *footprint.Footprint {
	f := &footprint.Footprint{}
	pods := f.Of(podsResource, "pods")
	pods.Allow("watch", "")
	pods.Allow("list", "")
	pods.Reads.Add(footprint.Fields("status", "phase"), footprint.Value)
	deployments := f.Of(deploymentsResource, "deployments")
	deployments.Allow("patch", "status")
	deployments.Allow("patch", "")
	deployments.Allow("patch", "")
	deployments.Writes.Add(footprint.Fields("spec", "replicas"), footprint.Value)
	return f
}

// written is a footprint as text: each resource with the verbs, what is read and what is written.
func written(f *footprint.Footprint) string {
	text := ""
	for _, a := range f.All() {
		text += fmt.Sprintln(a.Name, a.Resource.Version, a.Verbs(), a.Reads.Paths(), a.Writes.Paths())
	}
	return text
}

func TestMerge(t *testing.T) {
	other := &footprint.Footprint{}
	pods := other.Of(podsResource, "allpods")
	pods.Allow("get", "")
	pods.Reads.Add(footprint.Fields("spec"), footprint.Exists)
	pods.Writes.Add(footprint.Fields("metadata", "labels", "a"), footprint.Value)
	other.Of(schema.GroupVersionResource{Group: "apps", Version: "v1beta1", Resource: "deployments"}, "old").Allow("list", "")
	const want = `allpods v1 [get list watch] [exists(spec) status.phase] [metadata.labels.a]
deployments v1 [patch patch/status] [] [spec.replicas]
old v1beta1 [list] [] []
`
	before := written(other)
	for name, merged := range map[string]*footprint.Footprint{"rule first": merge(rule(), other), "rule last": merge(other, rule()), "twice": merge(rule(), other, rule(), other)} {
		if diff := cmp.Diff(want, written(merged)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if got := merged.Of(podsResource, "pods").Kept().Paths(); !cmp.Equal(got, []string{"exists(spec)", "metadata.labels.a", "status.phase"}) {
			t.Errorf("%s: a cache keeps %v", name, got)
		}
	}
	if written(other) != before {
		t.Errorf("merging changed what was merged to %s", written(other))
	}
}

func merge(all ...*footprint.Footprint) *footprint.Footprint {
	merged := &footprint.Footprint{}
	for _, f := range all {
		merged.Merge(f)
	}
	return merged
}

func ExampleFootprint() {
	f := &footprint.Footprint{}
	pods := f.Of(podsResource, "pods")
	pods.Allow("list", "")
	pods.Allow("patch", "status")
	pods.Reads.Add(footprint.Fields("spec", "nodeName"), footprint.Exists)
	pods.Writes.Add(footprint.Fields("status", "phase"), footprint.Value)
	fmt.Println(pods.Verbs(), pods.Reads.Paths(), pods.Writes.Paths())
	// Output: [list patch/status] [exists(spec.nodeName)] [status.phase]
}

// What an expression builds of an object reads nothing until it is used.
func ExampleShape() {
	reads := &footprint.Tree{}
	object := footprint.Object(reads)
	built := footprint.Map(map[string]footprint.Shape{
		"name": object.Key("metadata").Key("name"),
		"spec": object.Key("spec"),
	})
	fmt.Println(reads.Paths())
	built.Key("spec").Key("replicas").Read(footprint.Value)
	fmt.Println(reads.Paths())
	// Output:
	// [exists(metadata)]
	// [exists(metadata) spec.replicas]
}

// TestReading finds the resource that a tree of reads belongs to.
func TestReading(t *testing.T) {
	f := rule()
	pods, deployments := f.Lookup(podsResource), f.Lookup(deploymentsResource)
	got := f.Reading([]*footprint.Tree{&deployments.Reads, {}, &pods.Reads, &pods.Writes})
	if len(got) != 2 || got[0] != deployments || got[1] != pods {
		t.Errorf("got %v", got)
	}
	if f.Lookup(schema.GroupVersionResource{Resource: "none"}) != nil || len(f.All()) != 2 {
		t.Error("looking for a resource adds it")
	}
	if none := (&footprint.Footprint{}).Lookup(podsResource); none != nil {
		t.Errorf("an empty footprint has %v", none)
	}
}
