package inventory

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// Parts are the stores that keep a book together.
type Parts struct {
	// Sets have what their own set has left, by the set: the name of the rule is empty.
	Sets map[plan.Rule]Store
	// Rest has what is left of all other sets.
	Rest Store
	// Account is who runs the sets. It takes over what passes from Rest to one of them: as
	// whom that was left, a process itself maybe, is not for the set to say.
	Account types.NamespacedName
}

// PartialError says that parts of a book are not stored, or cannot be read. The others
// are.
type PartialError struct {
	Err error
	// of are the sets that have a part of their own, and failed those among them of which
	// nothing is known; rest says that nothing is known of all others.
	of, failed map[plan.Rule]bool
	rest       bool
}

// Error implements error.
func (e *PartialError) Error() string { return e.Err.Error() }

// Unwrap gives the errors of the parts.
func (e *PartialError) Unwrap() error { return e.Err }

// Lacks reports whether it is not known what is stored of a set. No error lacks nothing.
func (e *PartialError) Lacks(set plan.Rule) bool {
	switch {
	case e == nil:
		return false
	case e.of[set]:
		return e.failed[set]
	default:
		return e.rest
	}
}

// Join returns the store that the parts make together. They are asked for each time, as
// they may be others by then. What is left of a set moves with it from one part to
// another.
//
// A part that fails does not keep the others from being stored: the error is then a
// [PartialError], unless all fail. A change is made set by set, so what it makes of one must not depend
// on what another has left.
func Join(parts func() Parts) Store { return joined{parts} }

type joined struct{ parts func() Parts }

// Load implements [Store]. It returns what can be read, with a [PartialError] where that
// is not all.
func (j joined) Load(ctx context.Context) (Book, error) {
	parts := j.parts()
	all, failed := parts.Rest.Load(ctx)
	var errs []error
	if failed != nil {
		errs = append(errs, failed)
	}
	lost := map[plan.Rule]bool{}
	for _, set := range parts.sets() {
		book, err := parts.Sets[set].Load(ctx)
		if err != nil {
			errs, lost[set] = append(errs, inSet(set, err)), true
			continue
		}
		all = all.And(book)
	}
	return all, parts.partial(errs, lost, failed != nil)
}

// Update implements [Store]. The rest comes last: what a set takes over from there is
// given up when the set has it.
func (j joined) Update(ctx context.Context, change func(Book) Book) (Book, error) {
	u := update{parts: j.parts(), change: change, failed: map[plan.Rule]bool{}}
	var err error
	if u.rest, err = u.parts.Rest.Load(ctx); err != nil {
		u.errs = append(u.errs, err)
	}
	for _, set := range u.parts.sets() {
		u.set(ctx, set)
	}
	if err == nil { // It would fail again.
		err = u.others(ctx)
	}
	return u.stored, u.parts.partial(u.errs, u.failed, err != nil)
}

// update is one change of all parts.
type update struct {
	parts  Parts
	change func(Book) Book
	rest   Book // as it was read
	failed map[plan.Rule]bool
	stored Book
	errs   []error
}

// set changes the part of a set. Where it fails, what it had is stored still.
func (u *update) set(ctx context.Context, set plan.Rule) {
	is := func(l plan.Leftover) bool { return l.Rule.OfSet() == set }
	before, _ := u.rest.split(is)
	before.leftovers = before.All() // They are not the rest's any more.
	for i := range before.leftovers {
		before.leftovers[i].Account = u.parts.Account
	}
	var had Book
	book, err := u.parts.Sets[set].Update(ctx, func(b Book) Book {
		had = b
		own, _ := u.change(before.And(b)).split(is)
		return own
	})
	if err != nil {
		u.errs, u.failed[set] = append(u.errs, inSet(set, err)), true
		book = before.And(had)
	}
	u.stored = u.stored.And(book)
}

// others changes the rest, which keeps what a set could not take over.
func (u *update) others(ctx context.Context) error {
	kept := func(l plan.Leftover) bool { return u.failed[l.Rule.OfSet()] }
	elsewhere := func(l plan.Leftover) bool { return u.parts.Sets[l.Rule.OfSet()] != nil }
	book, err := u.parts.Rest.Update(ctx, func(b Book) Book {
		_, own := u.change(b).split(elsewhere)
		keeping, _ := b.split(kept)
		return own.And(keeping)
	})
	if err != nil {
		u.errs = append(u.errs, err)
		book = u.rest
	}
	u.stored = u.stored.And(book)
	return err
}

// sets are those that have a part of their own, in order.
func (p Parts) sets() []plan.Rule {
	return slices.SortedFunc(maps.Keys(p.Sets), func(a, b plan.Rule) int {
		return plan.Leftover{Rule: a}.Compare(plan.Leftover{Rule: b})
	})
}

func inSet(set plan.Rule, err error) error { return fmt.Errorf("of %s: %w", set.SetName(), err) }

// partial is the error of the parts of which some have failed.
func (p Parts) partial(errs []error, failed map[plan.Rule]bool, rest bool) error {
	if len(errs) == 0 || len(errs) == len(p.Sets)+1 {
		return errors.Join(errs...)
	}
	of := make(map[plan.Rule]bool, len(p.Sets))
	for set := range p.Sets {
		of[set] = true
	}
	return &PartialError{Err: errors.Join(errs...), of: of, failed: failed, rest: rest}
}
