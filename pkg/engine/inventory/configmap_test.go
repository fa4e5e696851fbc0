package inventory_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"

	"github.com/dyncontroller/dyncontroller/pkg/engine/inventory"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

const configMap = "dyncontroller-inventory-default"

func newStore(t *testing.T, c dynamic.ResourceInterface) *inventory.ConfigMap {
	t.Helper()
	store, err := inventory.NewConfigMap(c, "ns", "default")
	if err != nil {
		t.Fatal(err)
	}
	return store
}

func adding(lines ...string) func(inventory.Book) inventory.Book {
	return func(b inventory.Book) inventory.Book { return b.With(leftovers(lines...)...) }
}

func mustUpdate(t *testing.T, s inventory.Part, change func(inventory.Book) inventory.Book) inventory.Book {
	t.Helper()
	book, err := inventory.Update(t.Context(), s, change)
	if err != nil {
		t.Fatal(err)
	}
	return book
}

func mustLoad(t *testing.T, s inventory.Part) inventory.Book {
	t.Helper()
	book, err := inventory.Load(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	return book
}

// TestStore holds what both stores do.
func TestStore(t *testing.T) {
	for name, open := range map[string]func() inventory.Part{
		"ConfigMap": func() inventory.Part { return newStore(t, newClient()) },
		"Memory":    func() inventory.Part { return &inventory.Memory{} },
	} {
		t.Run(name, func(t *testing.T) {
			store := open()
			if got := mustLoad(t, store).All(); len(got) != 0 {
				t.Fatalf("a new store has %v", got)
			}
			mustUpdate(t, store, adding("s/a finalizer pods.v1", "t/b fields nodes.v1 x Remove"))
			got := mustUpdate(t, store, adding("s/a children pods.v1 prune", "s/c created pods.v1"))
			want := []string{
				"s/a children pods.v1 prune", "s/a finalizer pods.v1", "s/c created pods.v1", "t/b fields nodes.v1 x Remove",
			}
			if diff := cmp.Diff(want, shown(got)); diff != "" {
				t.Errorf("returned (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(want, shown(mustLoad(t, store))); diff != "" {
				t.Errorf("stored (-want +got):\n%s", diff)
			}
			var wait sync.WaitGroup
			for i := range 8 {
				wait.Go(func() {
					if _, err := inventory.Update(t.Context(), store, adding(fmt.Sprintf("many/r%d finalizer pods.v1", i))); err != nil {
						t.Error(err)
					}
				})
			}
			wait.Wait()
			if got := len(mustLoad(t, store).All()); got != len(want)+8 {
				t.Errorf("of those added at once some are lost: there are %d", got)
			}
		})
	}
}

func TestConfigMapIsWrittenRarely(t *testing.T) {
	c := newClient()
	store := newStore(t, c)
	mustUpdate(t, store, adding())
	if len(c.writes) != 0 {
		t.Fatalf("there is nothing to keep yet: %v", c.writes)
	}
	mustUpdate(t, store, adding("s/a finalizer pods.v1", "t/b finalizer pods.v1"))
	mustUpdate(t, store, adding("t/b finalizer pods.v1", "s/a finalizer pods.v1"))
	mustUpdate(t, newStore(t, c), adding("s/a finalizer pods.v1"))
	if diff := cmp.Diff([]string{"create " + configMap}, c.writes); diff != "" {
		t.Fatalf("what is recorded already is written again (-want +got):\n%s", diff)
	}
	const want = `{"version":1,"leftovers":[{"setKind":"ClusterRuleSet","set":"s","rule":"a","kind":"finalizer","group":"example.com","version":"v1","resource":"pods"}]}`
	stored := c.stored[configMap]
	id := plan.Rule{Kind: "ClusterRuleSet", Set: "s"}.SetID()
	if got, _, _ := unstructured.NestedString(stored.Object, "data", id); got != want {
		t.Errorf("what is stored must be understood by later versions: got\n%s", got)
	}
	labels := map[string]string{"app.kubernetes.io/managed-by": "dyncontroller", "dyncontroller.dev/instance": "default"}
	if diff := cmp.Diff(labels, stored.GetLabels()); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
	mustUpdate(t, store, func(b inventory.Book) inventory.Book { return b.Without(b.All()...) })
	if data, _, _ := unstructured.NestedMap(c.stored[configMap].Object, "data"); len(data) != 0 {
		t.Errorf("what is cleaned up is still there: %v", data)
	}
	if got := mustLoad(t, store).All(); len(got) != 0 {
		t.Errorf("it reads as %v", got)
	}
}

// TestConfigMapIsShared holds that nothing is lost between two that write at once.
func TestConfigMapIsShared(t *testing.T) {
	tests := map[string]struct {
		reason   string
		before   []string
		meantime func(t *testing.T, c *client)
		want     []string
	}{
		"Created": {
			reason:   "The other created it first.",
			meantime: func(t *testing.T, c *client) { mustUpdate(t, newStore(t, c), adding("s/b finalizer pods.v1")) },
			want:     []string{"s/a finalizer pods.v1", "s/b finalizer pods.v1"},
		},
		"Written": {
			reason:   "The other wrote first.",
			before:   []string{"s/c finalizer pods.v1"},
			meantime: func(t *testing.T, c *client) { mustUpdate(t, newStore(t, c), adding("s/b finalizer pods.v1")) },
			want:     []string{"s/a finalizer pods.v1", "s/b finalizer pods.v1", "s/c finalizer pods.v1"},
		},
		"Deleted": {
			reason:   "Somebody deleted it. What is left now is recorded anew.",
			before:   []string{"s/c finalizer pods.v1"},
			meantime: func(_ *testing.T, c *client) { c.delete(configMap) },
			want:     []string{"s/a finalizer pods.v1"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := newClient()
			store := newStore(t, c)
			mustUpdate(t, store, adding(tc.before...))
			c.meantime = func() { tc.meantime(t, c) }
			mustUpdate(t, store, adding("s/a finalizer pods.v1"))
			if diff := cmp.Diff(tc.want, shown(mustLoad(t, store))); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestConfigMapOvertakenForEver(t *testing.T) {
	c := newClient()
	c.fail = apierrors.NewConflict(inventory.GVR().GroupResource(), configMap, errors.New("it was modified"))
	if _, err := inventory.Update(t.Context(), newStore(t, c), adding("s/a finalizer pods.v1")); !apierrors.IsConflict(err) {
		t.Errorf("it ends with what it could not get past, got %v", err)
	}
}

func TestConfigMapErrors(t *testing.T) {
	id := plan.Rule{Kind: "ClusterRuleSet", Set: "s"}.SetID()
	const good = `{"setKind":"ClusterRuleSet","set":"s","rule":"a","kind":"finalizer","version":"v1","resource":"pods"`
	page := func(entry string) map[string]any {
		return map[string]any{id: `{"version":1,"leftovers":[` + entry + `]}`}
	}
	tests := map[string]struct {
		reason string
		data   map[string]any
		want   string
	}{
		"NotJSON":      {"Somebody edited it.", map[string]any{id: "x"}, "invalid character"},
		"Empty":        {"An empty text is not an empty book.", map[string]any{id: ""}, "unexpected end"},
		"Newer":        {"A later version wrote it.", map[string]any{id: `{"version":2,"things":[]}`}, "format 2, and this program knows format 1"},
		"NoVersion":    {"Nobody knows what this is.", map[string]any{id: `{}`}, "format 0"},
		"NewField":     {"What is not understood could not be cleaned up.", page(good + `,"subresource":"x"}`), "unknown field"},
		"NewKind":      {"Nor could a new kind of thing.", page(strings.ReplaceAll(good, "finalizer", "status") + "}"), `no kind "status"`},
		"NewPolicy":    {"Nor is a policy guessed.", page(good + `,"release":"Maybe"}`), `no policy "Maybe"`},
		"HalfAccount":  {"Nor as whom it is cleaned up.", page(good + `,"serviceAccount":"bot"}`), "half the name of a ServiceAccount"},
		"NoRule":       {"It must be said whose it is.", page(strings.ReplaceAll(good, `"rule":"a",`, "") + "}"), "lacks the rule"},
		"NoResource":   {"And on what.", page(strings.ReplaceAll(good, `"resource":"pods"`, `"resource":""`) + "}"), "lacks the rule or the resource"},
		"OtherSet":     {"A text that was copied to another key is of another set.", map[string]any{"x-00000000": page(good + "}")[id]}, "another key"},
		"Trailing":     {"Two pages in one are no page.", map[string]any{id: `{"version":1,"leftovers":[]}{}`}, "invalid character"},
		"NotAText":     {"No API server stores that.", map[string]any{id: int64(1)}, "data"},
		"ForeignKey":   {"The ConfigMap is somebody else's.", map[string]any{"config.yaml": "a: b"}, `key "config.yaml"`},
		"OneOfSeveral": {"One page that is not understood makes all of it unsure.", map[string]any{id: page(good + "}")[id], "z": "x"}, `key "z"`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := newClient()
			c.set(tc.data)
			store := newStore(t, c)
			_, err := inventory.Load(t.Context(), store)
			_, updateErr := inventory.Update(t.Context(), store, adding("s/b finalizer pods.v1"))
			for _, err := range []error{err, updateErr} {
				if err == nil || !strings.Contains(err.Error(), tc.want) {
					t.Errorf("%s want an error with %q, got %v", tc.reason, tc.want, err)
				} else if !strings.Contains(err.Error(), "ConfigMap ns/"+configMap) || !strings.Contains(err.Error(), "restore it") {
					t.Errorf("it must say what to do: %v", err)
				}
			}
			if len(c.writes) > 0 {
				t.Errorf("%s it was written over: %v", tc.reason, c.writes)
			}
		})
	}
}

func TestConfigMapKeepsTheRest(t *testing.T) {
	c := newClient()
	c.set(nil)
	mustUpdate(t, newStore(t, c), adding("s/a finalizer pods.v1"))
	if got := c.stored[configMap].GetAnnotations()["note"]; got != "keep" {
		t.Errorf("an annotation of somebody else is %q", got)
	}
	if got := c.stored[configMap].GetLabels()["dyncontroller.dev/instance"]; got != "default" {
		t.Errorf("the label of the instance is %q", got)
	}
}

func TestConfigMapRefused(t *testing.T) {
	forbidden := apierrors.NewForbidden(inventory.GVR().GroupResource(), configMap, errors.New("no"))
	c := newClient()
	c.fail = forbidden
	store := newStore(t, c)
	if _, err := inventory.Update(t.Context(), store, adding("s/a finalizer pods.v1")); !apierrors.IsForbidden(err) {
		t.Errorf("what the API server refuses is an error, got %v", err)
	}
	c.fail = apierrors.NewRequestEntityTooLargeError("limit is 3145728")
	_, err := inventory.Update(t.Context(), store, adding("s/a finalizer pods.v1"))
	if err == nil || !strings.Contains(err.Error(), "dyncontroller-inventory-default: ") || !strings.Contains(err.Error(), "run some of the sets with another --instance") {
		t.Errorf("what is too large is named, with a way out, got %v", err)
	}
	unreachable := broken{err: errors.New("connection refused")}
	if _, err := inventory.Load(t.Context(), newStore(t, unreachable)); err == nil || !strings.Contains(err.Error(), "connection refused") {
		t.Errorf("an inventory that cannot be read is not an empty one, got %v", err)
	}
}

func TestInstance(t *testing.T) {
	for instance, ok := range map[string]bool{"default": true, "team-a": true, "": false, "A": false, "a/b": false, strings.Repeat("a", 64): false} {
		if _, err := inventory.NewConfigMap(newClient(), "ns", instance); (err == nil) != ok {
			t.Errorf("%q: got %v", instance, err)
		}
	}
	c := newClient()
	mustUpdate(t, newStore(t, c), adding("s/a finalizer pods.v1"))
	other, err := inventory.NewConfigMap(c, "ns", "other")
	if err != nil {
		t.Fatal(err)
	}
	if got := mustLoad(t, other).All(); len(got) != 0 {
		t.Errorf("another instance has %v", got)
	}
}

// FuzzStored holds that any text in the ConfigMap is read or refused, and that what
// is read is stored as the same again.
func FuzzStored(f *testing.F) {
	f.Add("s-94f02a6bae7b5725", `{"version":1,"leftovers":[]}`)
	f.Add("x", `{"version":1,"leftovers":[{"setKind":"RuleSet","set":"s"}]}`)
	f.Add("s-94f02a6bae7b5725", `{"version":1,"leftovers":[],"paused":[{"setKind":"ClusterRuleSet","set":"s","rule":"a","since":"2026-01-01T12:00:00Z",`+
		`"objects":1,"of":2,"limit":"1","per":"1m","digest":"d"}]}`)
	f.Add("s-94f02a6bae7b5725", `{"version":1,"leftovers":[],"paused":[{"setKind":"ClusterRuleSet","set":"s","rule":"a"}]}`)
	f.Fuzz(func(t *testing.T, key, text string) {
		c := newClient()
		c.set(map[string]any{key: text})
		store := newStore(t, c)
		book, err := inventory.Load(t.Context(), store)
		if err != nil {
			return
		}
		more := adding("s/a finalizer pods.v1")
		if got := mustUpdate(t, store, more); !got.Equal(more(book)) || !mustLoad(t, store).Equal(more(book)) {
			t.Errorf("%s: %q is read as %v, and stored as another", key, text, shown(book))
		}
	})
}
