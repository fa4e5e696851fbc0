package inventory_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/pkg/engine/inventory"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// as gives leftovers to an account.
func as(account string, all ...plan.Leftover) []plan.Leftover {
	for i := range all {
		all[i].Account = types.NamespacedName{Namespace: "ns", Name: account}
	}
	return all
}

func scopeOf(store inventory.Part, account string) inventory.Part {
	return inventory.Scope(store, func(l plan.Leftover) bool { return l.Account.Name == account })
}

func with(all ...plan.Leftover) func(inventory.Book) inventory.Book {
	return func(b inventory.Book) inventory.Book { return b.With(all...) }
}

// acting adds leftovers of a set in the cluster, which always acts as somebody.
func acting(lines ...string) func(inventory.Book) inventory.Book {
	return with(as("bot", leftovers(lines...)...)...)
}

// TestScope holds that two who share a book see their own part of it.
func TestScope(t *testing.T) {
	var whole inventory.Memory
	bot, other := scopeOf(&whole, "bot"), scopeOf(&whole, "other")
	mustUpdate(t, bot, with(as("bot", leftovers("s/a finalizer pods.v1", "s/b finalizer pods.v1")...)...))
	book := mustUpdate(t, other, with(as("other", leftovers("t/a finalizer pods.v1")...)...))
	if diff := cmp.Diff([]string{"t/a finalizer pods.v1"}, shown(book)); diff != "" {
		t.Errorf("what an update returns (-want +got):\n%s", diff)
	}
	removed, gone := mustLoad(t, bot).Stale(nil, nil)
	if diff := cmp.Diff([]string{"s/a finalizer pods.v1", "s/b finalizer pods.v1"}, shown(inventory.NewBook(append(removed, gone...)...))); diff != "" {
		t.Errorf("the sets of another are not gone (-want +got):\n%s", diff)
	}
	mustUpdate(t, bot, func(b inventory.Book) inventory.Book { return b.Without(b.All()...) })
	if diff := cmp.Diff([]string{"t/a finalizer pods.v1"}, shown(mustLoad(t, &whole))); diff != "" {
		t.Errorf("what is left of all (-want +got):\n%s", diff)
	}
	book = mustUpdate(t, bot, with(as("stranger", leftovers("u/a finalizer pods.v1")...)...))
	if len(book.All()) != 0 || len(mustLoad(t, &whole).All()) != 1 {
		t.Errorf("what is not its own was stored: %v", shown(mustLoad(t, &whole)))
	}
}

// TestScopePassesOn holds that what a rule leaves goes with the account that it acts as.
func TestScopePassesOn(t *testing.T) {
	var whole inventory.Memory
	mustUpdate(t, &whole, with(as("bot", leftovers("s/a finalizer pods.v1beta1", "s/b finalizer pods.v1")...)...))
	mustUpdate(t, scopeOf(&whole, "other"), with(as("other", leftovers("s/a finalizer pods.v1")...)...))
	for account, want := range map[string][]string{"bot": {"s/b finalizer pods.v1"}, "other": {"s/a finalizer pods.v1"}} {
		if diff := cmp.Diff(want, shown(mustLoad(t, scopeOf(&whole, account)))); diff != "" {
			t.Errorf("%s has (-want +got):\n%s", account, diff)
		}
	}
}

func TestScopeFails(t *testing.T) {
	refused := errors.New("refused")
	store := scopeOf(newStore(t, broken{err: refused}), "bot")
	if _, err := inventory.Load(t.Context(), store); !errors.Is(err, refused) {
		t.Errorf("loading: %v", err)
	}
	if _, err := inventory.Update(t.Context(), store, adding()); !errors.Is(err, refused) {
		t.Errorf("updating: %v", err)
	}
}

// TestHas holds which leftovers a book has.
func TestHas(t *testing.T) {
	book := inventory.NewBook(leftovers("s/a finalizer pods.v1", "s/b finalizer pods.v1 x")...)
	tests := map[string]struct {
		reason string
		of     string
		want   bool
	}{
		"Same":       {"It is there.", "s/a finalizer pods.v1", true},
		"Version":    {"Another version has the same objects.", "s/a finalizer pods.v2", true},
		"Narrower":   {"Everywhere is there too.", "s/a finalizer pods.v1 y", true},
		"Wider":      {"One namespace is not everywhere.", "s/b finalizer pods.v1", false},
		"OtherPlace": {"Nor another one.", "s/b finalizer pods.v1 y", false},
		"OtherRule":  {"Another rule has its own.", "s/c finalizer pods.v1", false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := book.Has(leftover(tc.of)); got != tc.want {
				t.Errorf("%s got %v", tc.reason, got)
			}
		})
	}
}
