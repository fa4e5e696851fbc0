package e2e

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/dyncontroller/dyncontroller/pkg/api/v1alpha1"
	"github.com/dyncontroller/dyncontroller/pkg/engine/inventory"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// hasty is a client that somebody is faster than, once.
type hasty struct {
	dynamic.ResourceInterface
	meantime func()
}

func (h *hasty) Get(ctx context.Context, name string, options metav1.GetOptions, subresources ...string) (*unstructured.Unstructured, error) {
	found, err := h.ResourceInterface.Get(ctx, name, options, subresources...)
	if meantime := h.meantime; meantime != nil {
		h.meantime = nil
		meantime()
	}
	return found, err
}

// TestInventoryObject holds that a set keeps what it has left in its status, and is held
// until that is cleaned up, for both kinds of sets.
func TestInventoryObject(t *testing.T) {
	alongside(t)
	installOwnCRDs(t)
	namespace := cluster(t).Namespace(t)
	cluster := plan.Rule{Kind: "ClusterRuleSet", Set: "kept-" + namespace}
	own := plan.Rule{Kind: "RuleSet", Namespace: namespace, Set: "kept"}
	for set, gvr := range map[plan.Rule]schema.GroupVersionResource{own: v1alpha1.RuleSets(), cluster: v1alpha1.ClusterRuleSets()} {
		t.Run(set.Kind, func(t *testing.T) { (&shelved{set: set, gvr: gvr}).lives(t) })
	}
}

// shelved is a set whose inventory is tried.
type shelved struct {
	set    plan.Rule
	gvr    schema.GroupVersionResource
	client *hasty
	store  *inventory.Object
}

func (s *shelved) make(t *testing.T) {
	t.Helper()
	object := decode(t, ruleSet(s.set.Set))
	fields := unstructured.Unstructured{Object: object}
	fields.SetKind(s.set.Kind)
	fields.SetNamespace(s.set.Namespace)
	if s.set.Namespace == "" {
		spec, _ := object["spec"].(map[string]any)
		spec["serviceAccountNamespace"] = "default"
	}
	create(t, s.gvr, s.set.Namespace, string(mustJSON(t, &fields)))
}

func mustJSON(t *testing.T, object *unstructured.Unstructured) []byte {
	t.Helper()
	data, err := object.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func (s *shelved) leftover(name string) plan.Leftover {
	rule, home := s.set, s.set.Namespace
	rule.Name = name
	if home == "" {
		home = "default"
	}
	return plan.Leftover{
		Rule: rule, GVR: tidbclusters, Namespace: s.set.Namespace, Kind: plan.LeftFields, Release: plan.RemoveFields,
		Account: types.NamespacedName{Namespace: home, Name: "rules"},
	}
}

func (s *shelved) update(t *testing.T, change func(inventory.Book) inventory.Book) {
	t.Helper()
	book, err := inventory.Update(t.Context(), s.store, change)
	if err != nil {
		t.Fatal(err)
	}
	stored, err := inventory.Load(t.Context(), s.store)
	if err != nil || !stored.Equal(book) {
		t.Errorf("stored is %v (%v), want %v", stored.All(), err, book.All())
	}
}

func (s *shelved) holds(t *testing.T, want bool) {
	t.Helper()
	if got := slices.Contains(get(t, s.gvr, s.set.Namespace, s.set.Set).GetFinalizers(), v1alpha1.Finalizer); got != want {
		t.Errorf("the set is held: %v, want %v", got, want)
	}
}

// meantime has somebody be faster in the next update.
func (s *shelved) meantime(do func()) { s.client.meantime = do }

func adding(leftovers ...plan.Leftover) func(inventory.Book) inventory.Book {
	return func(b inventory.Book) inventory.Book { return b.With(leftovers...) }
}

func cleaned(b inventory.Book) inventory.Book { return b.Without(b.All()...) }

func (s *shelved) lives(t *testing.T) {
	s.client = &hasty{ResourceInterface: client(t).Resource(s.gvr).Namespace(s.set.Namespace)}
	s.store = inventory.NewObject(s.client, s.set, "", 0)
	s.make(t)
	generation := get(t, s.gvr, s.set.Namespace, s.set.Set).GetGeneration()
	s.update(t, adding())
	s.holds(t, false)
	edit := func() {
		edit(t, s.gvr, s.set.Namespace, s.set.Set, `{"metadata":{"finalizers":["example.com/theirs"]}}`)
	}
	s.meantime(edit)
	s.update(t, adding(s.leftover("a"), s.leftover("b")))
	s.holds(t, true)
	s.update(t, cleaned)
	s.holds(t, false)
	now := get(t, s.gvr, s.set.Namespace, s.set.Set)
	if diff := cmp.Diff([]string{"example.com/theirs"}, now.GetFinalizers()); diff != "" || now.GetGeneration() != generation {
		t.Errorf("generation %d, was %d; finalizers of others (-want +got):\n%s", now.GetGeneration(), generation, diff)
	}
	remade(t, s)

	s.update(t, adding(s.leftover("a")))
	deleteObject(t, s.gvr, s.set.Namespace, s.set.Set)
	if !exists(t, s.gvr, s.set.Namespace, s.set.Set) {
		t.Fatal("the set is gone before it is clean")
	}
	s.update(t, adding(s.leftover("b")))
	s.update(t, cleaned)
	if exists(t, s.gvr, s.set.Namespace, s.set.Set) {
		t.Error("the set is clean, and there still")
	}
	s.update(t, cleaned)
	if _, err := inventory.Update(t.Context(), s.store, adding(s.leftover("a"))); !isGone(err) {
		t.Errorf("a set that is gone notes nothing, but: %v", err)
	}
}

// remade deletes the set and makes another of its name while an update is under way, and
// tries what a set that is deleted with nothing to keep it is told.
func remade(t *testing.T, s *shelved) {
	t.Helper()
	deleteObject(t, s.gvr, s.set.Namespace, s.set.Set)
	if _, err := inventory.Update(t.Context(), s.store, adding(s.leftover("a"))); !isGone(err) {
		t.Errorf("a set that is about to go is held by nothing, but: %v", err)
	}
	s.meantime(func() {
		edit(t, s.gvr, s.set.Namespace, s.set.Set, `{"metadata":{"finalizers":null}}`)
		s.make(t)
	})
	s.update(t, adding())
	s.meantime(func() {
		deleteObject(t, s.gvr, s.set.Namespace, s.set.Set)
		s.make(t)
	})
	s.update(t, adding(s.leftover("a")))
	s.holds(t, true)
}

func isGone(err error) bool { return errors.Is(err, inventory.ErrGone) }
