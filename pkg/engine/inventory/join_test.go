package inventory_test

import (
	"context"
	"errors"
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

// Read implements [inventory.Part].
func (p *part) Read(ctx context.Context) (inventory.Book, inventory.Replace, error) {
	if p.loads != nil {
		return inventory.Book{}, nil, p.loads
	}
	book, replace, err := p.Memory.Read(ctx)
	if p.updates != nil {
		replace = func(context.Context, inventory.Book) (inventory.Book, error) { return inventory.Book{}, p.updates }
	}
	return book, replace, err
}

func mustJoin(t *testing.T, s inventory.Part, change func(inventory.Book) inventory.Book) inventory.Book {
	t.Helper()
	book, err := inventory.Update(t.Context(), s, change)
	if err != nil {
		t.Fatal(err)
	}
	return book
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

func (p parts) joined() inventory.Part {
	return inventory.Join(func() inventory.Parts {
		return inventory.Parts{Sets: map[plan.Rule]inventory.Part{setNamed("s"): p.s, setNamed("t"): p.t}, Rest: p.rest}
	})
}

// TestJoin holds where leftovers are stored, and what is told of parts that fail.
func TestJoin(t *testing.T) {
	const sa, sb, ta, fa = "s/a finalizer pods.v1", "s/b finalizer pods.v1", "t/a finalizer pods.v1", "f/a finalizer pods.v1"
	refused, lost := errors.New("refused"), inventory.ErrGone
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
			book, err := inventory.Update(t.Context(), p.joined(), tc.change)
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

// TestJoinAsksForItsParts holds that a set that comes later is stored by itself.
func TestJoinAsksForItsParts(t *testing.T) {
	p := newParts(t, nil, nil, nil)
	now := inventory.Parts{Rest: p.rest}
	store := inventory.Join(func() inventory.Parts { return now })
	mustJoin(t, store, adding("s/a finalizer pods.v1"))
	now.Sets = map[plan.Rule]inventory.Part{setNamed("s"): p.s}
	mustJoin(t, store, adding())
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
		return inventory.Parts{Sets: map[plan.Rule]inventory.Part{setNamed("s"): p.s}, Rest: p.rest, Account: bot}
	})
	mustJoin(t, store, adding())
	for name, at := range map[string]struct {
		store inventory.Part
		want  types.NamespacedName
	}{"the set": {p.s, bot}, "the rest": {p.rest, types.NamespacedName{}}} {
		if all := mustLoad(t, at.store).All(); len(all) != 1 || all[0].Account != at.want {
			t.Errorf("%s has %v", name, all)
		}
	}
}

// contested is a part to which somebody else writes after each of the next reads.
type contested struct {
	inventory.Memory
	others []string
}

// Read implements [inventory.Part].
func (c *contested) Read(ctx context.Context) (inventory.Book, inventory.Replace, error) {
	book, replace, err := c.Memory.Read(ctx)
	if len(c.others) > 0 {
		other := c.others[0]
		c.others = c.others[1:]
		_, errOther := inventory.Update(ctx, &c.Memory, adding(other))
		err = errors.Join(err, errOther)
	}
	return book, replace, err
}

// TestJoinOvertaken holds that nothing is lost where somebody else writes to a part or to the rest, and that all parts are changed
// anew together then.
func TestJoinOvertaken(t *testing.T) {
	const sa, sb, sc, fa, fb, fc = "s/a finalizer pods.v1", "s/b finalizer pods.v1", "s/c finalizer pods.v1", "f/a finalizer pods.v1",
		"f/b finalizer pods.v1", "f/c finalizer pods.v1"
	tests := map[string]struct {
		reason  string
		s, rest []string // what others add
		changes int
		want    []string
	}{
		"Nobody": {"All of it is changed once.", nil, nil, 1, []string{fa, sa}},
		"Set":    {"The set is read again.", []string{sb}, nil, 2, []string{fa, sa, sb}},
		"Rest":   {"Or the rest is.", nil, []string{fb}, 2, []string{fa, fb, sa}},
		"Both":   {"As often as it takes for both together.", []string{sb, sc}, []string{fb, fc}, 3, []string{fa, fb, fc, sa, sb, sc}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s, rest := &contested{others: tc.s}, &contested{others: tc.rest}
			store := inventory.Join(func() inventory.Parts {
				return inventory.Parts{Sets: map[plan.Rule]inventory.Part{setNamed("s"): s, setNamed("t"): &inventory.Memory{}}, Rest: rest}
			})
			changes := 0
			book := mustJoin(t, store, func(b inventory.Book) inventory.Book {
				changes++
				return adding(sa, fa)(b)
			})
			if diff := cmp.Diff(tc.want, shown(book)); diff != "" {
				t.Errorf("%s\nreturned (-want +got):\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.want, append(shown(mustLoad(t, &rest.Memory)), shown(mustLoad(t, &s.Memory))...)); diff != "" {
				t.Errorf("%s\nstored (-want +got):\n%s", tc.reason, diff)
			}
			if changes != tc.changes {
				t.Errorf("%s The change is made %d times, want %d", tc.reason, changes, tc.changes)
			}
		})
	}
}

// TestJoinChangesOnce holds that an update costs no more for each set where there are more of them: the change is made once.
func TestJoinChangesOnce(t *testing.T) {
	parts, leaves := manySets(50)
	changes := 0
	book := mustJoin(t, inventory.Join(func() inventory.Parts { return parts }), func(b inventory.Book) inventory.Book {
		changes++
		return b.With(leaves...)
	})
	if changes != 1 || len(book.All()) != len(leaves) {
		t.Errorf("the change is made %d times, and %d of %d are stored", changes, len(book.All()), len(leaves))
	}
	for set, part := range parts.Sets {
		if got := mustLoad(t, part).All(); len(got) != 2 || got[0].Rule.OfSet() != set {
			t.Errorf("%s has %v", set.SetName(), got)
		}
	}
}
