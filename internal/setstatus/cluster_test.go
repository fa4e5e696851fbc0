package setstatus

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/dyncontroller/dyncontroller/pkg/api/v1alpha1"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// cluster takes merge patches of statuses as an API server does, with the uid and the
// resourceVersion as preconditions. The snapshot of a writer may lag behind it.
type cluster struct {
	dynamic.Interface
	t *testing.T

	mu      sync.Mutex
	version int
	changes int // of what is wanted or seen
	objects map[plan.Rule]*unstructured.Unstructured
	lag     map[plan.Rule]*unstructured.Unstructured // what is seen instead
	wanted  map[plan.Rule]Input
	fails   map[plan.Rule]error
	prunes  string   // a field of a status that is not stored
	patches []string // what was sent that changed something, or failed
}

func newCluster(t *testing.T, sets ...plan.Rule) *cluster {
	c := &cluster{
		t: t, version: 1, objects: map[plan.Rule]*unstructured.Unstructured{}, lag: map[plan.Rule]*unstructured.Unstructured{},
		wanted: map[plan.Rule]Input{}, fails: map[plan.Rule]error{},
	}
	for _, set := range sets {
		c.create(set, "u")
		c.wanted[set] = Input{Generation: 1, Rules: []Rule{{ID: ruleA}}}
	}
	return c
}

func (c *cluster) create(set plan.Rule, uid types.UID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.version++
	u := &unstructured.Unstructured{Object: map[string]any{}}
	u.SetUID(uid)
	u.SetResourceVersion(strconv.Itoa(c.version))
	c.objects[set] = u
}

// do changes the cluster and what is wanted.
func (c *cluster) do(change func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.changes++
	change()
}

// want changes what is known of a set.
func (c *cluster) want(set plan.Rule, change func(*Input)) {
	c.do(func() {
		in := c.wanted[set]
		in.Rules = slices.Clone(in.Rules)
		change(&in)
		c.wanted[set] = in
	})
}

func (c *cluster) snapshot() []Update {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []Update
	for set, in := range c.wanted {
		seen := c.lag[set]
		if seen == nil {
			seen = c.objects[set]
		}
		if seen == nil {
			continue
		}
		out = append(out, Update{
			Set: set, UID: seen.GetUID(), ResourceVersion: seen.GetResourceVersion(), Revision: uint64(c.changes), Status: v1alpha1.StatusOf(seen),
			Compose: func(previous v1alpha1.Status) v1alpha1.Status {
				in.Previous, in.Now = previous, time.Now()
				return Compose(in)
			},
		})
	}
	slices.SortFunc(out, func(a, b Update) int { return strings.Compare(a.Set.Set, b.Set.Set) })
	return out
}

func (c *cluster) Resource(gvr schema.GroupVersionResource) dynamic.NamespaceableResourceInterface {
	set := plan.Rule{Kind: "RuleSet"}
	if gvr == v1alpha1.ClusterRuleSets() {
		set.Kind = "ClusterRuleSet"
	}
	return resource{cluster: c, set: set}
}

type resource struct {
	dynamic.NamespaceableResourceInterface
	cluster *cluster
	set     plan.Rule
}

func (r resource) Namespace(namespace string) dynamic.ResourceInterface {
	r.set.Namespace = namespace
	return r
}

func (r resource) Patch(_ context.Context, name string, kind types.PatchType, data []byte, options metav1.PatchOptions, subresources ...string) (*unstructured.Unstructured, error) {
	c, set := r.cluster, r.set
	set.Set = name
	c.mu.Lock()
	defer c.mu.Unlock()
	if kind != types.MergePatchType || !slices.Equal(subresources, []string{"status"}) || options.FieldManager != "dyncontroller" {
		c.t.Errorf("sent %s %s %v %+v", kind, data, subresources, options)
	}
	var body struct {
		Metadata struct{ UID, ResourceVersion string }
		Status   map[string]any
	}
	if err := json.Unmarshal(data, &body); err != nil {
		c.t.Error(err)
	}
	now := c.objects[set]
	err := c.fails[set]
	switch {
	case err != nil:
	case now == nil:
		err = apierrors.NewNotFound(schema.GroupResource{}, name)
	case string(now.GetUID()) != body.Metadata.UID || now.GetResourceVersion() != body.Metadata.ResourceVersion:
		err = apierrors.NewConflict(schema.GroupResource{}, name, errors.New("changed"))
	}
	if err != nil {
		c.patches = append(c.patches, name+" fails")
		return nil, err
	}
	return c.patched(set, body.Status).DeepCopy(), nil
}

func (r resource) Get(_ context.Context, name string, _ metav1.GetOptions, _ ...string) (*unstructured.Unstructured, error) {
	set := r.set
	set.Set = name
	r.cluster.mu.Lock()
	defer r.cluster.mu.Unlock()
	if now := r.cluster.objects[set]; now != nil {
		return now.DeepCopy(), nil
	}
	return nil, apierrors.NewNotFound(schema.GroupResource{}, name)
}

// patched stores a status, and nothing where it says so already.
func (c *cluster) patched(set plan.Rule, patch map[string]any) *unstructured.Unstructured {
	after := c.objects[set].DeepCopy()
	status, _ := after.Object["status"].(map[string]any)
	if status == nil {
		status = map[string]any{}
	}
	for key, value := range patch {
		if status[key] = value; value == nil || key == c.prunes {
			delete(status, key)
		}
	}
	after.Object["status"] = status
	c.patches = append(c.patches, set.Set+" "+strings.Join(slices.Sorted(maps.Keys(patch)), ","))
	if cmp.Equal(c.objects[set].Object, after.Object) {
		c.patches[len(c.patches)-1] += " for nothing"
		return after
	}
	c.version++
	after.SetResourceVersion(strconv.Itoa(c.version))
	c.objects[set] = after
	return after
}
