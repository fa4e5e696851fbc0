package inventory_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"sync"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/dyncontroller/dyncontroller/pkg/api/v1alpha1"
	"github.com/dyncontroller/dyncontroller/pkg/engine/inventory"
	"github.com/dyncontroller/dyncontroller/pkg/rules/spec"
)

type object = *unstructured.Unstructured

// sets are the ClusterRuleSets of an API server, of which there is one, with finalizers,
// a status of its own and optimistic locking.
type sets struct {
	dynamic.ResourceInterface

	mu       sync.Mutex
	stored   object // nil where there is none
	version  int
	writes   []string
	meantime func() // runs once, after the next read
	fail     error  // of each write
	// failAnnotations is of those that change annotations alone.
	failAnnotations error
	unreadable      error
}

func newSets() *sets {
	s := &sets{}
	s.recreate()
	s.edit(func(o object) {
		o.SetFinalizers([]string{theirs})
		o.Object["status"] = map[string]any{"conditions": []any{map[string]any{"type": "Ready"}}}
	})
	s.writes = nil
	return s
}

func (s *sets) store() *inventory.Object { return inventory.NewObject(s, setNamed("s"), "", 0) }

// recreate stores another object of the name.
func (s *sets) recreate() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stored = &unstructured.Unstructured{Object: map[string]any{}}
	s.stored.SetName("s")
	s.version++
	s.stored.SetUID(types.UID("uid-" + strconv.Itoa(s.version)))
	s.stored.SetResourceVersion(strconv.Itoa(s.version))
}

// edit changes the object as somebody else would.
func (s *sets) edit(change func(object)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version++
	change(s.stored)
	s.stored.SetResourceVersion(strconv.Itoa(s.version))
}

func (s *sets) delete() {
	now := metav1.Unix(0, 0)
	s.edit(func(o object) { o.SetDeletionTimestamp(&now) })
}

func (s *sets) drop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stored = nil
}

func (s *sets) there() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stored != nil
}

func (s *sets) finalizers() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stored.GetFinalizers()
}

// annotate has the object ask for rules, or for none.
func (s *sets) annotate(names string) {
	s.edit(func(o object) {
		annotations := map[string]string{"theirs": "kept"}
		if names != "" {
			annotations[spec.ResumeAnnotation] = names
		}
		o.SetAnnotations(annotations)
	})
}

func (s *sets) annotations() map[string]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stored.GetAnnotations()
}

func (s *sets) status(field string) any {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stored == nil {
		return nil
	}
	value, _, _ := unstructured.NestedFieldCopy(s.stored.Object, "status", field)
	return value
}

// state is the finalizers and the leftovers of the object.
func (s *sets) state(t *testing.T) []string {
	t.Helper()
	if !s.there() {
		return nil
	}
	return slices.Concat(s.finalizers(), shown(mustLoad(t, s.store())))
}

func (s *sets) notFound() error {
	return apierrors.NewNotFound(v1alpha1.ClusterRuleSets().GroupResource(), "s")
}

// Get implements dynamic.ResourceInterface.
func (s *sets) Get(context.Context, string, metav1.GetOptions, ...string) (object, error) {
	s.mu.Lock()
	found, meantime := s.stored.DeepCopy(), s.meantime
	s.meantime = nil
	s.mu.Unlock()
	if meantime != nil {
		meantime()
	}
	switch {
	case s.unreadable != nil:
		return nil, s.unreadable
	case found == nil:
		return nil, s.notFound()
	}
	return found, nil
}

// Patch implements dynamic.ResourceInterface.
func (s *sets) Patch(_ context.Context, _ string, _ types.PatchType, data []byte, _ metav1.PatchOptions, subresources ...string) (object, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var patch unstructured.Unstructured
	if err := json.Unmarshal(data, &patch.Object); err != nil {
		return nil, err
	}
	switch {
	case s.fail != nil:
		return nil, s.fail
	case s.stored == nil:
		return nil, s.notFound()
	case patch.GetResourceVersion() != s.stored.GetResourceVersion() || patch.GetUID() != s.stored.GetUID():
		return nil, apierrors.NewConflict(v1alpha1.ClusterRuleSets().GroupResource(), "s", errors.New("it was modified"))
	}
	s.version++
	s.stored.SetResourceVersion(strconv.Itoa(s.version))
	if slices.Equal(subresources, []string{"status"}) {
		s.writes = append(s.writes, "status")
		for _, field := range []string{"inventory", "paused", "counted"} {
			list, sent, _ := unstructured.NestedFieldCopy(patch.Object, "status", field)
			switch {
			case sent && list == nil:
				unstructured.RemoveNestedField(s.stored.Object, "status", field)
			case sent:
				if err := unstructured.SetNestedField(s.stored.Object, list, "status", field); err != nil {
					return nil, err
				}
			}
		}
		return s.stored.DeepCopy(), nil
	}
	if metadata, _ := patch.Object["metadata"].(map[string]any); metadata["annotations"] != nil {
		if s.failAnnotations != nil {
			return nil, s.failAnnotations
		}
		s.writes = append(s.writes, "annotations")
		changes, _ := metadata["annotations"].(map[string]any)
		annotations := s.stored.GetAnnotations()
		for name, value := range changes {
			if annotations[name], _ = value.(string); value == nil {
				delete(annotations, name)
			}
		}
		s.stored.SetAnnotations(annotations)
		return s.stored.DeepCopy(), nil
	}
	s.writes = append(s.writes, "finalizers")
	s.stored.SetFinalizers(patch.GetFinalizers())
	patched := s.stored.DeepCopy()
	if s.stored.GetDeletionTimestamp() != nil && len(s.stored.GetFinalizers()) == 0 {
		s.stored = nil
	}
	return patched, nil
}
