package cleanup_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"github.com/dyncontroller/dyncontroller/pkg/engine/cleanup"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

var (
	widgets = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"}
	rule    = plan.Rule{Kind: "ClusterRuleSet", Set: "s", Name: "a"}
	other   = plan.Rule{Kind: "ClusterRuleSet", Set: "s", Name: "b"}
)

// cluster is the widgets of an API server, in memory. What a real one answers is
// tried on a real one.
type cluster struct {
	served  schema.GroupVersionResource // empty for not at all
	objects map[string]map[string]any   // by namespace/name
	version int

	lists   []string // what was listed
	sent    []string // what was written, and how it went
	reports int

	listErr  func() error                                 // before anything is listed
	answer   func(operation plan.Operation) *write.Result // instead of writing; nil to write
	getErr   error
	discover error
	after    func(pass int) // runs after each list
}

func newCluster(t *testing.T, objects ...string) *cluster {
	t.Helper()
	c := &cluster{served: widgets, objects: map[string]map[string]any{}}
	for _, text := range objects {
		c.put(t, text)
	}
	return c
}

// put stores what the metadata of an object are, with the marks of [marked].
func (c *cluster) put(t *testing.T, metadata string) {
	t.Helper()
	data, err := yaml.YAMLToJSON([]byte(marked("{kind: Widget, metadata: {" + metadata + "}}")))
	if err != nil {
		t.Fatal(err)
	}
	var object map[string]any
	if err := utiljson.Unmarshal(data, &object); err != nil {
		t.Fatal(err)
	}
	u := unstructured.Unstructured{Object: object}
	if u.GetNamespace() == "" {
		u.SetNamespace("ns")
	}
	u.SetUID(types.UID("uid-of-" + u.GetName()))
	c.store(object)
}

// marked puts in what rules leave on objects.
func marked(text string) string {
	const made = `fieldsV1: {"f:metadata": {"f:labels": {"f:dyncontroller.dev/set": {}}}}}`
	return strings.NewReplacer(
		"HOLD-a", rule.Finalizer(), "HOLD-b", other.Finalizer(),
		"APPLIED-a", `{manager: `+rule.FieldManager()+`, operation: Apply, fieldsV1: {"f:spec": {"f:size": {}}}}`,
		"STATUS-a", `{manager: `+rule.FieldManager()+`, operation: Apply, subresource: status, fieldsV1: {"f:status": {"f:phase": {}}}}`,
		"MADE-a", `{manager: `+rule.FieldManager()+`, operation: Apply, `+made,
		"LABELS-a", `dyncontroller.dev/set: `+rule.SetID()+`, dyncontroller.dev/rule: a, dyncontroller.dev/owner-uid: u-owner`,
		"USER", `{manager: kubectl, operation: Update}`,
	).Replace(text)
}

func (c *cluster) store(object map[string]any) {
	c.version++
	u := unstructured.Unstructured{Object: object}
	u.SetResourceVersion(strconv.Itoa(c.version))
	key := u.GetNamespace() + "/" + u.GetName()
	if u.GetDeletionTimestamp() != nil && len(u.GetFinalizers()) == 0 {
		delete(c.objects, key)
		return
	}
	c.objects[key] = object
}

// List implements cleanup.Reader.
func (c *cluster) List(_ context.Context, s plan.Selection, visit func(map[string]any) error) error {
	line := plan.ResourceName(s.GVR)
	if s.Namespace != "" {
		line += " in " + s.Namespace
	}
	if s.LabelSelector != "" {
		line += " with " + s.LabelSelector
	}
	c.lists = append(c.lists, line)
	if c.listErr != nil {
		if err := c.listErr(); err != nil {
			return err
		}
	}
	if s.GVR != c.served {
		return notFound()
	}
	for _, key := range slices.Sorted(maps.Keys(c.objects)) {
		object := c.objects[key]
		if object == nil || !s.Admits(object) {
			continue
		}
		if err := visit((&unstructured.Unstructured{Object: object}).DeepCopy().Object); err != nil {
			return err
		}
	}
	if c.after != nil {
		c.after(len(c.lists))
	}
	return nil
}

func notFound() error { return apierrors.NewNotFound(widgets.GroupResource(), "") }

// Get implements cleanup.Reader. What is not there is nil, as live.Reader answers.
func (c *cluster) Get(_ context.Context, _ schema.GroupVersionResource, namespace, name string) (map[string]any, error) {
	object := c.objects[namespace+"/"+name]
	switch {
	case c.getErr != nil:
		return nil, c.getErr
	case object == nil:
		return nil, nil
	}
	return (&unstructured.Unstructured{Object: object}).DeepCopy().Object, nil
}

// Served implements cleanup.Reader.
func (c *cluster) Served(_ context.Context, of schema.GroupResource) (cleanup.Resource, bool, error) {
	return cleanup.Resource{GVR: c.served, Namespaced: true}, c.served.GroupResource() == of, c.discover
}

// Write implements cleanup.Writer.
func (c *cluster) Write(_ context.Context, o plan.Operation) write.Result {
	var result write.Result
	if c.answer != nil {
		if given := c.answer(o); given != nil {
			result = *given
		}
	}
	if result.Class == "" {
		result = c.write(o)
	}
	what := string(o.Type)
	if o.Subresource != "" {
		what += "/" + o.Subresource
	}
	c.sent = append(c.sent, fmt.Sprintf("%s %s: %s", what, o.Target.Name, result.Class))
	return result
}

func (c *cluster) write(o plan.Operation) write.Result {
	object := c.objects[o.Target.Namespace+"/"+o.Target.Name]
	u := unstructured.Unstructured{Object: object}
	if object == nil || u.GetResourceVersion() != o.Target.ResourceVersion || u.GetUID() != o.Target.UID || o.Target.GVR != c.served {
		return write.Result{Class: write.Stale, Err: errors.New("the object has been modified")}
	}
	switch o.Type {
	case plan.Delete:
		delete(c.objects, o.Target.Namespace+"/"+o.Target.Name)
		if len(u.GetFinalizers()) > 0 {
			object = with(object, "deletionTimestamp", "2026-01-01T00:00:00Z")
			c.store(object)
		}
		return write.Result{Class: write.Written}
	case plan.Apply:
		object = with(object, "managedFields", slices.DeleteFunc(slices.Clone(u.Object["metadata"].(map[string]any)["managedFields"].([]any)), func(entry any) bool {
			fields, _ := entry.(map[string]any)
			subresource, _ := fields["subresource"].(string)
			return fields["manager"] == o.Manager && subresource == o.Subresource
		}))
	default:
		object = with(o.Predicted, "uid", string(u.GetUID()))
	}
	c.store(object)
	return write.Result{Class: write.Written, Object: object}
}

func with(object map[string]any, key string, value any) map[string]any {
	out := (&unstructured.Unstructured{Object: object}).DeepCopy().Object
	metadata, _ := out["metadata"].(map[string]any)
	metadata[key] = value
	return out
}

// modify changes an object as somebody else would.
func (c *cluster) modify(name string) {
	if object := c.objects["ns/"+name]; object != nil {
		c.store(with(object, "annotations", map[string]any{"seen": strconv.Itoa(c.version)}))
	}
}

func (c *cluster) options() cleanup.Options {
	return cleanup.Options{Reader: c, Writer: c, Observe: func(cleanup.Report) { c.reports++ }}
}

func leftover(kind plan.LeftoverKind) plan.Leftover {
	return plan.Leftover{Rule: rule, GVR: widgets, Kind: kind, Prune: kind == plan.LeftChildren}
}
