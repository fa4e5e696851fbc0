package differential

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/dyncontroller/dyncontroller/pkg/rules/schema/crd"
	"github.com/dyncontroller/dyncontroller/pkg/simulate"
	"github.com/dyncontroller/dyncontroller/pkg/simulate/apiserver"
	"github.com/dyncontroller/dyncontroller/test/controlplane"
	"github.com/dyncontroller/dyncontroller/test/steps"
)

// stage is a real cluster and the simulated API server that has the same definitions.
type stage struct {
	real   *controlplane.ControlPlane
	client dynamic.Interface
	server *apiserver.Server
}

func newStage(truth *controlplane.ControlPlane, definitions []*crd.Definition) (*stage, error) {
	var native []*apiextensionsv1.CustomResourceDefinition
	for _, d := range definitions {
		definition, err := apiserver.Definition(d.Document)
		if err != nil {
			return nil, err
		}
		native = append(native, definition)
	}
	server, err := apiserver.New(native)
	if err != nil {
		return nil, err
	}
	config := truth.RESTConfig()
	config.WarningHandler = nil
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}
	return &stage{truth, client, server}, nil
}

// users are those of the real cluster.
func (s *stage) users() steps.Users {
	return steps.Users{Client: s.client, Server: s.server}
}

// thing is a stored object and its resource.
type thing struct {
	gvr    apischema.GroupVersionResource
	object *unstructured.Unstructured
}

func (t thing) name() string {
	return t.gvr.GroupResource().String() + " " + t.object.GetNamespace() + "/" + t.object.GetName()
}

var eventsGVR = apischema.GroupVersionResource{Group: "events.k8s.io", Version: "v1", Resource: "events"}

// play plays a case on both clusters.
func (s *stage) play(t *testing.T, test *simulate.Test, c *simulate.Case, sum *tally) {
	fixtures, errs := c.Objects(steps.Disk{})
	if err := errs.Err(); err != nil {
		t.Fatal(err)
	}
	tracked := s.tracked(test, fixtures, c)
	before := s.list(t, tracked)
	t.Cleanup(func() { s.clear(t, tracked, before) })
	if err := s.fill(t.Context(), fixtures); err != nil {
		sum.Refused++
		t.Skipf("no real cluster takes the objects: %v", err)
	}
	sum.Cases++
	now := test.Now()
	for i := 0; ; i++ {
		sum.Phases++
		state := s.list(t, tracked)
		round := s.settle(t, test.Set(), tracked, state, now, fmt.Sprintf("%d", i))
		sum.Writes += len(round.writes)
		sum.Objects += len(round.objects)
		sum.Events += round.events
		if i == len(c.Steps) || t.Failed() {
			return
		}
		now = now.Add(c.Steps[i].Advance)
		if err := s.users().Do(t.Context(), c.Steps[i], fixtures); err != nil {
			sum.Left++
			t.Logf("left at step %d: %v", i+1, err)
			return
		}
	}
}

// tracked are the resources of which objects can be concerned.
func (s *stage) tracked(test *simulate.Test, fixtures []map[string]any, c *simulate.Case) []apischema.GroupVersionResource {
	found := map[apischema.GroupVersionResource]bool{eventsGVR: true}
	for _, selection := range slices.Concat(test.Set().Selections(), test.Set().Related()) {
		found[selection.GVR] = true
	}
	for _, step := range c.Steps {
		if step.Apply != nil {
			more, _ := step.Apply.Objects(steps.Disk{})
			fixtures = slices.Concat(fixtures, more)
		}
	}
	for _, o := range fixtures {
		if resource, known := s.server.OfKind((&unstructured.Unstructured{Object: o}).GroupVersionKind()); known {
			found[resource.GVR] = true
		}
	}
	return slices.SortedFunc(maps.Keys(found), func(a, b apischema.GroupVersionResource) int { return strings.Compare(a.String(), b.String()) })
}

// list reads all that the real cluster has of some resources, in order.
func (s *stage) list(t *testing.T, tracked []apischema.GroupVersionResource) []thing {
	t.Helper()
	var out []thing
	for _, gvr := range tracked {
		found, err := s.client.Resource(gvr).List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatalf("listing %s: %v", gvr, err)
		}
		for i := range found.Items {
			out = append(out, thing{gvr, &found.Items[i]})
		}
	}
	return out
}

// fill makes the objects of a case, as somebody would: what an API server alone writes
// comes from it. Uids by which objects refer to each other become those that they get.
func (s *stage) fill(ctx context.Context, fixtures []map[string]any) error {
	uids := []string{}
	for _, fixture := range fixtures {
		object := (&unstructured.Unstructured{Object: fixture}).DeepCopy()
		object.Object = renamed(object.Object, strings.NewReplacer(uids...)).(map[string]any)
		had, dying := string(object.GetUID()), object.GetDeletionTimestamp() != nil
		for _, key := range []string{"uid", "resourceVersion", "generation", "creationTimestamp", "managedFields", "deletionTimestamp", "deletionGracePeriodSeconds"} {
			unstructured.RemoveNestedField(object.Object, "metadata", key)
		}
		resource, known := s.server.OfKind(object.GroupVersionKind())
		if !known {
			return fmt.Errorf("nothing defines %s", object.GroupVersionKind())
		}
		if err := s.users().EnsureNamespace(ctx, object.GetNamespace()); err != nil {
			return err
		}
		client := s.client.Resource(resource.GVR).Namespace(object.GetNamespace())
		made, err := client.Create(ctx, object, metav1.CreateOptions{FieldManager: "fixtures"})
		if apierrors.IsAlreadyExists(err) && resource.GVR.Resource == "namespaces" {
			data, _ := json.Marshal(object.Object) // It was read from YAML.
			made, err = client.Patch(ctx, object.GetName(), "application/merge-patch+json", data, metav1.PatchOptions{FieldManager: "fixtures"})
		}
		if err != nil {
			return err
		}
		if had != "" {
			uids = append(uids, had, string(made.GetUID()))
		}
		if object.Object["status"] != nil && resource.Status {
			made.Object["status"] = object.Object["status"]
			if _, err := client.UpdateStatus(ctx, made, metav1.UpdateOptions{FieldManager: "fixtures"}); err != nil {
				return err
			}
		}
		if dying {
			if err := client.Delete(ctx, object.GetName(), metav1.DeleteOptions{}); err != nil {
				return err
			}
		}
	}
	return nil
}

// renamed replaces in all texts.
func renamed(v any, names *strings.Replacer) any {
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			v[key] = renamed(value, names)
		}
	case []any:
		for i, value := range v {
			v[i] = renamed(value, names)
		}
	case string:
		return names.Replace(v)
	}
	return v
}

// clear removes what a case has brought into the real cluster.
func (s *stage) clear(t *testing.T, tracked []apischema.GroupVersionResource, before []thing) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), time.Minute)
	defer cancel()
	kept := map[string]bool{}
	for _, o := range before {
		kept[string(o.object.GetUID())] = true
	}
	for _, gvr := range tracked {
		found, err := s.client.Resource(gvr).List(ctx, metav1.ListOptions{})
		if err != nil {
			t.Errorf("listing %s: %v", gvr, err)
			continue
		}
		for _, o := range found.Items {
			if kept[string(o.GetUID())] || gvr.Resource == "namespaces" {
				continue
			}
			client := s.client.Resource(gvr).Namespace(o.GetNamespace())
			_, err := client.Patch(ctx, o.GetName(), "application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
			// The default of Jobs is to orphan their Pods, by a finalizer that nobody takes off here.
			gone := client.Delete(ctx, o.GetName(), metav1.DeleteOptions{
				GracePeriodSeconds: new(int64), PropagationPolicy: new(metav1.DeletePropagationBackground),
			})
			for _, err := range []error{err, gone} {
				if err != nil && !apierrors.IsNotFound(err) {
					t.Errorf("clearing up: %v", errors.Join(err))
				}
			}
		}
	}
}
