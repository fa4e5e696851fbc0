package inventory_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/pkg/engine/inventory"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// part is a store that can fail.
type part struct {
	inventory.Memory
	loads, updates error
}

// Load implements [inventory.Store].
func (p *part) Load(ctx context.Context) (inventory.Book, error) {
	if p.loads != nil {
		return inventory.Book{}, p.loads
	}
	return p.Memory.Load(ctx)
}

// Update implements [inventory.Store]. It fails after it has read, if it can.
func (p *part) Update(ctx context.Context, change func(inventory.Book) inventory.Book) (inventory.Book, error) {
	book, err := p.Load(ctx)
	if err != nil {
		return inventory.Book{}, err
	}
	if p.updates != nil {
		change(book)
		return inventory.Book{}, p.updates
	}
	return p.Memory.Update(ctx, change)
}

func setNamed(name string) plan.Rule { return plan.Rule{Kind: "ClusterRuleSet", Set: name} }

// parts are the stores of the sets s and t, and the rest.
type parts struct{ s, t, rest *part }

func newParts(t *testing.T, s, other, rest []string) parts {
	t.Helper()
	p := parts{&part{}, &part{}, &part{}}
	mustUpdate(t, p.s, adding(s...))
	mustUpdate(t, p.t, adding(other...))
	mustUpdate(t, p.rest, adding(rest...))
	return p
}

func (p parts) joined() inventory.Store {
	return inventory.Join(func() inventory.Parts {
		return inventory.Parts{Sets: map[plan.Rule]inventory.Store{setNamed("s"): p.s, setNamed("t"): p.t}, Rest: p.rest}
	})
}

// TestJoin holds where leftovers are stored, and what is told of parts that fail.
func TestJoin(t *testing.T) {
	const sa, sb, ta, fa = "s/a finalizer pods.v1", "s/b finalizer pods.v1", "t/a finalizer pods.v1", "f/a finalizer pods.v1"
	refused, lost := errors.New("refused"), &inventory.GoneError{Set: setNamed("t")}
	drop := func(b inventory.Book) inventory.Book { return b.Without(b.All()...) }
	type lists struct{ S, T, Rest []string }
	tests := map[string]struct {
		reason string
		before lists
		fails  func(parts)
		change func(inventory.Book) inventory.Book
		want   []string // what is returned
		stored lists
		err    error
		whole  bool // the error is not of a part
	}{
		"EachItsOwn": {
			reason: "What a set leaves is in its store.", change: adding(sa, ta, fa),
			want: []string{fa, sa, ta}, stored: lists{[]string{sa}, []string{ta}, []string{fa}},
		},
		"Nothing": {
			reason: "What is there stays where it is.", before: lists{[]string{sa}, []string{ta}, []string{fa}}, change: adding(),
			want: []string{fa, sa, ta}, stored: lists{[]string{sa}, []string{ta}, []string{fa}},
		},
		"Emptied": {
			reason: "What is cleaned up goes from all.", before: lists{[]string{sa}, []string{ta}, []string{fa}}, change: drop,
		},
		"Moves": {
			reason: "A set that has come to the cluster takes with it what it left before.",
			before: lists{Rest: []string{sa, sb, fa}}, change: adding(sa),
			want: []string{fa, sa, sb}, stored: lists{S: []string{sa, sb}, Rest: []string{fa}},
		},
		"CannotMove": {
			reason: "Until it can be stored there it stays where it was.",
			before: lists{Rest: []string{sa, fa}}, change: adding(sb, ta), fails: func(p parts) { p.s.updates = refused },
			want: []string{fa, sa, ta}, stored: lists{T: []string{ta}, Rest: []string{fa, sa}}, err: refused,
		},
		"SetGone": {
			reason: "A set that was deleted does not hold up others.", change: adding(sa, ta, fa), fails: func(p parts) { p.t.updates = lost },
			want: []string{fa, sa}, stored: lists{S: []string{sa}, Rest: []string{fa}}, err: lost,
		},
		"NotStored": {
			reason: "What a part had before is stored still.", before: lists{S: []string{sa}}, change: adding(sb, fa),
			fails: func(p parts) { p.s.updates = refused },
			want:  []string{fa, sa}, stored: lists{S: []string{sa}, Rest: []string{fa}}, err: refused,
		},
		"NotRead": {
			reason: "Of what cannot be read nothing is known.", before: lists{S: []string{sa}}, change: adding(sb, fa),
			fails: func(p parts) { p.s.loads = refused },
			want:  []string{fa}, stored: lists{S: []string{sa}, Rest: []string{fa}}, err: refused,
		},
		"RestNotRead": {
			reason: "Nor does the rest hold up the sets.", before: lists{Rest: []string{fa}}, change: adding(sa),
			fails: func(p parts) { p.rest.loads = refused },
			want:  []string{sa}, stored: lists{S: []string{sa}, Rest: []string{fa}}, err: refused,
		},
		"RestNotStored": {
			reason: "It has what it had.", before: lists{Rest: []string{fa}}, change: adding(sa, "f/b finalizer pods.v1"),
			fails: func(p parts) { p.rest.updates = refused },
			want:  []string{fa, sa}, stored: lists{S: []string{sa}, Rest: []string{fa}}, err: refused,
		},
		"AllFail": {
			reason: "Nobody can tell what is stored.", before: lists{S: []string{sa}}, change: adding(sa),
			fails:  func(p parts) { p.s.loads, p.t.loads, p.rest.loads = refused, refused, refused },
			stored: lists{S: []string{sa}}, err: refused, whole: true,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			p := newParts(t, tc.before.S, tc.before.T, tc.before.Rest)
			if tc.fails != nil {
				tc.fails(p)
			}
			book, err := p.joined().Update(t.Context(), tc.change)
			_, partly := errors.AsType[*inventory.PartialError](err)
			if !errors.Is(err, tc.err) || partly != (tc.err != nil && !tc.whole) {
				t.Errorf("%s\nthe error is %v, of a part: %v", tc.reason, err, partly)
			}
			if diff := cmp.Diff(tc.want, shown(book)); diff != "" {
				t.Errorf("%s\nreturned (-want +got):\n%s", tc.reason, diff)
			}
			stored := lists{shown(mustLoad(t, &p.s.Memory)), shown(mustLoad(t, &p.t.Memory)), shown(mustLoad(t, &p.rest.Memory))}
			if diff := cmp.Diff(tc.stored, stored); diff != "" {
				t.Errorf("%s\nstored (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestJoinLoads holds that what can be read is.
func TestJoinLoads(t *testing.T) {
	p := newParts(t, []string{"s/a finalizer pods.v1"}, []string{"t/a finalizer pods.v1"}, []string{"f/a finalizer pods.v1"})
	if got := shown(mustLoad(t, p.joined())); !slices.Equal(got, []string{"f/a finalizer pods.v1", "s/a finalizer pods.v1", "t/a finalizer pods.v1"}) {
		t.Errorf("all of it is %v", got)
	}
	p.t.loads = errors.New("refused")
	book, err := p.joined().Load(t.Context())
	if got := shown(book); len(got) != 2 || !errors.Is(err, p.t.loads) || !strings.Contains(err.Error(), "ClusterRuleSet t") {
		t.Errorf("without a part it is %v, and the error %v", got, err)
	}
	p.s.loads, p.rest.loads = p.t.loads, p.t.loads
	if _, err := p.joined().Load(t.Context()); !errors.Is(err, p.t.loads) {
		t.Errorf("without any: %v", err)
	}
}

// TestJoinAsksForItsParts holds that a set that comes later is stored by itself.
func TestJoinAsksForItsParts(t *testing.T) {
	p := newParts(t, nil, nil, nil)
	now := inventory.Parts{Rest: p.rest}
	store := inventory.Join(func() inventory.Parts { return now })
	mustUpdate(t, store, adding("s/a finalizer pods.v1"))
	now.Sets = map[plan.Rule]inventory.Store{setNamed("s"): p.s}
	mustUpdate(t, store, adding())
	if len(mustLoad(t, p.s).All()) != 1 || len(mustLoad(t, p.rest).All()) != 0 {
		t.Errorf("the set has %v, the rest %v", shown(mustLoad(t, p.s)), shown(mustLoad(t, p.rest)))
	}
}

// TestJoinStamps holds that what passes from the rest to a set is left to who runs the
// set: the account it was left as is lost with the part that it is taken from.
func TestJoinStamps(t *testing.T) {
	p := newParts(t, nil, nil, []string{"s/a finalizer pods.v1", "other/a finalizer pods.v1"})
	bot := types.NamespacedName{Namespace: "ns", Name: "bot"}
	store := inventory.Join(func() inventory.Parts {
		return inventory.Parts{Sets: map[plan.Rule]inventory.Store{setNamed("s"): p.s}, Rest: p.rest, Account: bot}
	})
	mustUpdate(t, store, adding())
	for name, at := range map[string]struct {
		store inventory.Store
		want  types.NamespacedName
	}{"the set": {p.s, bot}, "the rest": {p.rest, types.NamespacedName{}}} {
		if all := mustLoad(t, at.store).All(); len(all) != 1 || all[0].Account != at.want {
			t.Errorf("%s has %v", name, all)
		}
	}
}
