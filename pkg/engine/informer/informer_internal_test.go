package informer

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"

	"github.com/dyncontroller/dyncontroller/pkg/engine/compact"
	"github.com/dyncontroller/dyncontroller/pkg/rules/projection"
)

// heard is a handler that notes what it is told.
type heard []string

func (h *heard) Changed(event Event) {
	text := event.Namespace + "/" + event.Name
	for _, at := range []struct {
		word   string
		object *compact.Object
	}{{"before", event.Before}, {"after", event.After}} {
		if at.object != nil {
			text += " " + at.word + " " + at.object.ResourceVersion()
		}
	}
	*h = append(*h, text)
}
func (h *heard) Synced(Key)          {}
func (h *heard) Widened(Key)         {}
func (h *heard) Troubled(Key, error) {}

func object(version string) *compact.Object {
	return compact.New(map[string]any{"metadata": map[string]any{"namespace": "ns", "name": "a", "resourceVersion": version}})
}

// filled is an informer that has told a handler of its first list.
func filled(handler Handler, c clock.PassiveClock) *running {
	synced := make(chan struct{})
	close(synced)
	return &running{
		set: &Set{handler: handler, clock: c, options: Options{Shared: NewShared()}}, ctx: context.Background(),
		health: health{listErrors: listErrors{logged: sets.Set[metav1.StatusReason]{}}},
		store:  store{synced: synced, indexer: cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})},
	}
}

func TestEvents(t *testing.T) {
	tests := map[string]struct {
		reason string
		event  func(reflected) error
		want   heard
	}{
		"Add": {"A new object is there only after.", func(r reflected) error { return r.Add(object("1")) }, heard{"ns/a after 1"}},
		"Update": {"So is one that changed.", func(r reflected) error {
			return errors.Join(r.Add(object("1")), r.Update(object("2")))
		}, heard{"ns/a after 1", "ns/a before 1 after 2"}},
		"Again": {"The same version again is no news.", func(r reflected) error {
			return errors.Join(r.Add(object("1")), r.Update(object("1")), r.Replace([]any{object("1")}, "1"))
		}, heard{"ns/a after 1"}},
		"Delete": {"And one that is gone, as it was last.", func(r reflected) error {
			return errors.Join(r.Add(object("1")), r.Delete(object("2")), r.Delete(object("2")))
		}, heard{"ns/a after 1", "ns/a before 2"}},
		"Relist": {"A new list tells what was missed.", func(r reflected) error {
			return errors.Join(r.Replace([]any{object("1")}, "1"), r.Replace([]any{object("2")}, "2"), r.Replace(nil, "3"))
		}, heard{"ns/a after 1", "ns/a before 1 after 2", "ns/a before 2"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var got heard
			if err := tc.event(reflected{filled(&got, clock.RealClock{})}); err != nil {
				t.Error(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestKeepOwnManagedFields(t *testing.T) {
	r := filled(deaf{}, clock.RealClock{})
	entry := func(manager string, operation metav1.ManagedFieldsOperationType) metav1.ManagedFieldsEntry {
		return metav1.ManagedFieldsEntry{Manager: manager, Operation: operation}
	}
	ours := entry("dyncontroller/0123456789abcdef", metav1.ManagedFieldsOperationApply)
	others := []metav1.ManagedFieldsEntry{
		entry("kubectl", metav1.ManagedFieldsOperationApply),
		entry("dyncontroller", metav1.ManagedFieldsOperationUpdate),
		entry("dyncontroller/0123456789abcdef", metav1.ManagedFieldsOperationUpdate),
		entry("dyncontrollers/01234567", metav1.ManagedFieldsOperationApply),
	}
	tests := map[string]struct {
		reason  string
		entries []metav1.ManagedFieldsEntry
		want    []metav1.ManagedFieldsEntry
	}{
		"None":   {"Nothing to drop.", nil, nil},
		"Others": {"What others manage is not needed.", others, nil},
		"Ours":   {"What we applied is, in its place.", append(others, ours), []metav1.ManagedFieldsEntry{{}, {}, {}, {}, ours}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			r.keeps = projection.New()
			u := &unstructured.Unstructured{Object: widget("a", "x")}
			u.SetManagedFields(tc.entries)
			u.Object = r.keep(u).Fields()
			if diff := cmp.Diff(tc.want, u.GetManagedFields()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
