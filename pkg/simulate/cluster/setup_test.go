package cluster_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/dyncontroller/dyncontroller/pkg/engine/informer"
	"github.com/dyncontroller/dyncontroller/pkg/simulate/apiserver"
	"github.com/dyncontroller/dyncontroller/pkg/simulate/cluster"
)

// start is when clusters begin.
var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

var (
	gadgets    = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "gadgets"}
	sites      = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "sites"}
	configMaps = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
	pods       = schema.GroupVersionResource{Version: "v1", Resource: "pods"}
	namespaces = schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}
)

// server has the definitions of the API server's own tests. It is immutable.
var server = sync.OnceValues(func() (*apiserver.Server, error) {
	data, err := os.ReadFile("../apiserver/testdata/gadgets.yaml")
	if err != nil {
		return nil, err
	}
	var all []*apiextensionsv1.CustomResourceDefinition
	for part := range strings.SplitSeq(string(data), "\n---\n") {
		var document map[string]any
		if err := yaml.Unmarshal([]byte(part), &document); err != nil {
			return nil, err
		}
		definition, err := apiserver.Definition(document)
		if err != nil {
			return nil, err
		}
		all = append(all, definition)
	}
	return apiserver.New(all)
})

// newCluster returns a cluster with objects in it.
func newCluster(t testing.TB, objects ...string) *cluster.Cluster {
	t.Helper()
	shared, err := server()
	if err != nil {
		t.Fatal(err)
	}
	c, err := cluster.New(shared, start)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range objects {
		if err := c.Put(object(t, text)); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

func object(t testing.TB, text string) map[string]any {
	t.Helper()
	var out map[string]any
	if err := yaml.Unmarshal([]byte(text), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// gadget is one, in namespace a unless metadata says another.
func gadget(name, metadata string) string {
	if !strings.Contains(metadata, "namespace:") {
		metadata += ", namespace: a"
	}
	return fmt.Sprintf("{apiVersion: example.com/v1, kind: Gadget, metadata: {name: %s, uid: u-%s%s}, spec: {size: 1, replicas: 1}}", name, name, comma(metadata))
}

func configMap(name, metadata string) string {
	return fmt.Sprintf("{apiVersion: v1, kind: ConfigMap, metadata: {namespace: a, name: %s, uid: u-%s%s}}", name, name, comma(metadata))
}

func comma(text string) string {
	text = strings.TrimPrefix(text, ", ")
	if text == "" {
		return ""
	}
	return ", " + text
}

// ownedBy is the metadata of a dependent of Gadgets, those with an exclamation mark wait for it.
func ownedBy(owners ...string) string {
	for i, owner := range owners {
		name, blocks := strings.CutSuffix(owner, "!")
		owners[i] = fmt.Sprintf("{apiVersion: example.com/v1, kind: Gadget, name: %s, uid: u-%s, blockOwnerDeletion: %v}", name, name, blocks)
	}
	return "ownerReferences: [" + strings.Join(owners, ", ") + "]"
}

// names lists what is in a cluster: an object that is going has a minus sign, and its owners
// are in brackets.
func names(t testing.TB, c *cluster.Cluster) []string {
	t.Helper()
	all, err := c.Objects(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	out := []string{}
	for _, o := range all {
		name := o.GetName()
		if o.GetDeletionTimestamp() != nil {
			name = "-" + name
		}
		var owners []string
		for _, r := range o.GetOwnerReferences() {
			owners = append(owners, r.Name)
		}
		if len(owners) > 0 {
			name += "(" + strings.Join(owners, " ") + ")"
		}
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// watcher writes down what it is told, as an engine is.
type watcher struct{ told []string }

func (w *watcher) Changed(e informer.Event) {
	w.told = append(w.told, fmt.Sprintf("%s: %s/%s %s -> %s", e.Key, e.Namespace, e.Name, brief(e.Before.Fields()), brief(e.After.Fields())))
}

func (w *watcher) Synced(key informer.Key) { w.told = append(w.told, key.String()+": synced") }

func (w *watcher) Widened(key informer.Key) { w.told = append(w.told, key.String()+": widened") }

func (w *watcher) Troubled(key informer.Key, err error) {
	w.told = append(w.told, key.String()+": "+err.Error())
}

func (w *watcher) take() []string {
	out := w.told
	w.told = nil
	return out
}

// brief is the size of a Gadget.
func brief(fields map[string]any) string {
	if fields == nil {
		return "nothing"
	}
	spec, _ := fields["spec"].(map[string]any)
	return fmt.Sprint(spec["size"])
}
