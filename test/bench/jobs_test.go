package main

import (
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/dyncontroller/dyncontroller/test/bench/controllers"
)

// TestJobs holds that every job has rules, of a set of its name with the parameter that is given, and a controller to be compared with.
func TestJobs(t *testing.T) {
	for _, name := range allJobs() {
		data, err := ruleFiles.ReadFile("rules/" + name + ".yaml")
		if err != nil {
			t.Error(err)
		}
		if text := string(data); !strings.Contains(text, "metadata: {name: "+name+"}\n") || !strings.Contains(text, "params: {tier: large}\n") {
			t.Errorf("the rules of %s are of another set, or have no parameter", name)
		}
		if !slices.Contains(controllers.Names(name), "typed") {
			t.Errorf("nobody does %s with Go types", name)
		}
	}
}

func TestDone(t *testing.T) {
	object := func(name string, labels map[string]string) *metav1.PartialObjectMetadata {
		return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}
	}
	tests := map[string]struct {
		reason  string
		job     string
		child   bool
		object  *metav1.PartialObjectMetadata
		cluster string
		want    bool
	}{
		"label":     {"It has the value.", "label", false, object("a", map[string]string{"tier": "r2"}), "a", true},
		"other run": {"A value of another run is none.", "label", false, object("a", map[string]string{"tier": "r1"}), "a", false},
		"related":   {"The number of Pods is in front.", "related", false, object("a", map[string]string{"pods": "2-r2"}), "a", true},
		"no dash":   {"A run whose number ends alike is another one.", "related", false, object("a", map[string]string{"pods": "2-r12"}), "a", false},
		"child":     {"The child is named after its parent.", "child", true, object("a-settings", map[string]string{"tier": "r2"}), "a", true},
		"parent":    {"The parent shows nothing.", "child", false, object("a", map[string]string{"tier": "r2"}), "a", false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			of := tidbClusters()
			if test.child {
				of = configMaps()
			}
			cluster, got := jobOf(test.job).done(of, test.object, "r2")
			if cluster != test.cluster || got != test.want {
				t.Errorf("%s: got %q, %v", test.reason, cluster, got)
			}
		})
	}
}
