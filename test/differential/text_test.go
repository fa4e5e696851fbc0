package differential

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/simulate/storage"
)

// TestTexts holds that every text that an object can have comes back as it was sent, whatever the action is.
func TestTexts(t *testing.T) {
	world := storage.NewWorld(clocktesting.NewFakeClock(start))
	for name, config := range map[string]*rest.Config{
		"real":      rest.CopyConfig(control.RESTConfig()),
		"simulated": {Host: "http://simulated", Transport: shared.server.Transport(world)},
	} {
		t.Run(name, func(t *testing.T) {
			config.QPS = -1
			s := newTextSide(t, config)
			for i, text := range texts() {
				for _, way := range textWays {
					if err := s.write(t.Context(), way, fmt.Sprintf("text-%d-%s", i, way.name), text); err != nil {
						t.Errorf("text %d, %.30q, by %s: %v", i, text, way.name, err)
					}
				}
			}
			if err := s.record(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

// texts are all characters of the basic plane, some of each other one, and what a reader of YAML may take for something else.
func texts() (out []string) {
	const block = 0x4000
	for first := rune(0); first <= 0x10ffff; first += block {
		step := rune(1)
		if first > 0xffff {
			step = 251
		}
		var text strings.Builder
		for r := first; r < first+block; r += step {
			if r < 0xd800 || r > 0xdfff { // Halves of characters in UTF-16 are none.
				text.WriteString(" " + string(r) + "x")
			}
		}
		out = append(out, text.String())
	}
	return append(out, " ", "\n", "a\r\n \n b ", "<<", "null", "1e3", "--- # :", `\u0085`, `\`, `"`, strings.Repeat("k", 1024), strings.Repeat("é\u0085", 600))
}

// textWay is how a text gets into an object that is there, or that the way makes.
type textWay struct {
	name        string
	makes       bool
	of          plan.Type
	subresource string
}

var textWays = []textWay{
	{"create", true, plan.Create, ""},
	{"apply-new", true, plan.Apply, ""},
	{"apply", false, plan.Apply, ""},
	{"merge", false, plan.Merge, ""},
	{"json", false, plan.JSON, ""},
	{"apply-status", false, plan.Apply, "status"},
	{"merge-status", false, plan.Merge, "status"},
	{"json-status", false, plan.JSON, "status"},
}

// textSide is an API server.
type textSide struct {
	client dynamic.Interface
	writer *write.Client
	events *write.Recorder
	of     *kind
}

func newTextSide(t *testing.T, config *rest.Config) *textSide {
	t.Helper()
	i := slices.IndexFunc(shared.kinds, func(k *kind) bool { return k.Kind == "Gadget" && k.Version == "v1" })
	client, err := dynamic.NewForConfig(config)
	writer, err2 := write.NewClient(config)
	events, err3 := write.NewRecorder(config, "texts", clocktesting.NewFakeClock(start))
	if err := errors.Join(err, err2, err3); err != nil {
		t.Fatal(err)
	}
	return &textSide{client, writer, events, shared.kinds[i]}
}

// write has a text written, as a value, in an annotation and as a key, and reads the object.
func (s *textSide) write(ctx context.Context, way textWay, name, text string) error {
	api := s.client.Resource(s.of.GroupVersionResource).Namespace("default")
	target := plan.Object{GVR: s.of.GroupVersionResource, Kind: s.of.Kind, Namespace: "default", Name: name}
	if !way.makes {
		object := &unstructured.Unstructured{Object: map[string]any{"apiVersion": s.of.apiVersion(), "kind": s.of.Kind, "spec": map[string]any{}}}
		object.SetName(name)
		made, err := api.Create(ctx, object, metav1.CreateOptions{})
		if err != nil {
			return fmt.Errorf("making the object: %w", err)
		}
		target = plan.ObjectOf(target.GVR, made.Object)
	}
	defer func() { _ = api.Delete(context.WithoutCancel(ctx), name, metav1.DeleteOptions{}) }() // Another text has another name.
	want := map[string]any{
		"metadata": map[string]any{"annotations": map[string]any{"example.com/text": text}},
		"spec":     map[string]any{"loose": map[string]any{"text": text, text: "v"}},
	}
	if way.subresource != "" {
		want = map[string]any{"status": map[string]any{"selector": text}}
	}
	operation := plan.Operation{Target: target, Subresource: way.subresource, Type: way.of, Body: want, Manager: plan.FieldManager}
	switch way.of {
	case plan.Create:
		object := (&unstructured.Unstructured{Object: want}).DeepCopy()
		object.SetAPIVersion(s.of.apiVersion())
		object.SetKind(s.of.Kind)
		object.SetName(name)
		object.SetNamespace("default")
		operation.Body = object.Object
	case plan.JSON:
		var steps []any
		for top, value := range want {
			steps = append(steps, map[string]any{"op": "add", "path": "/" + top, "value": value})
			if top == "metadata" {
				annotations, _ := plan.Lookup(value, plan.Path{"annotations"})
				steps[len(steps)-1] = map[string]any{"op": "add", "path": "/metadata/annotations", "value": annotations}
			}
		}
		operation.Body = steps
	default:
	}
	if result := s.writer.Write(ctx, operation); result.Class != write.Written {
		return fmt.Errorf("it is %s: %w", result.Class, result.Err)
	}
	found, err := api.Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("reading: %w", err)
	}
	for _, path := range []plan.Path{{"metadata", "annotations"}, {"spec", "loose"}, {"status"}} {
		is, _ := plan.Lookup(found.Object, path)
		was, written := plan.Lookup(want, path)
		if written && !cmp.Equal(was, is) {
			return fmt.Errorf("%s has become %.200q", path, fmt.Sprint(is))
		}
	}
	return nil
}

// record has texts recorded in Events.
func (s *textSide) record(ctx context.Context) error {
	regarding := plan.Object{GVR: schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}, Kind: "ConfigMap", Namespace: "default", Name: "x", UID: "u"}
	want := map[string]bool{}
	for first := rune(0); first <= 0xffff; first += 0x100 {
		note := "x"
		for r := first; r < first+0x100; r++ {
			if r < 0xd800 || r > 0xdfff {
				note += string(r)
			}
		}
		want[note] = true
		if err := s.events.Record(ctx, plan.Event{Rule: ruleOf, Regarding: regarding, Type: "Normal", Reason: "Text", Action: "Write", Message: note}, false); err != nil {
			return fmt.Errorf("recording from U+%04X: %w", first, err)
		}
	}
	list, err := s.client.Resource(schema.GroupVersionResource{Group: "events.k8s.io", Version: "v1", Resource: "events"}).Namespace("default").List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("listing Events: %w", err)
	}
	for _, event := range list.Items {
		delete(want, plan.Text(event.Object, "note"))
	}
	if len(want) > 0 {
		return fmt.Errorf("%d texts of Events have not come back", len(want))
	}
	return nil
}
