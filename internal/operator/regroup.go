package operator

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/pkg/rules"
)

// regroup gives each tenant the rules of its identity. A tenant of which nothing has
// changed is left alone, so that nobody is disturbed by the changes of others, nor by
// what goes wrong with them. Files are in effect as a whole or not at all: where a tenant
// of theirs cannot be had, all stays as it was. The lock is held.
func (o *Operator) regroup() error {
	all := o.joined()
	wanted := o.accounts(all)
	defer o.announce()
	err := o.hire(wanted)
	if err != nil && !o.manned() {
		return err
	}
	concerns, now := o.concerns(), o.takenOver(all).ByIdentity()
	o.ask()
	for _, t := range o.sorted() {
		err = errors.Join(err, t.take(cmp.Or(now[t.account], &rules.Set{}), concerns.of(t.account)))
	}
	o.dismiss(wanted)
	if o.options.Changed != nil {
		o.options.Changed(all)
	}
	return err
}

// regroupNow does it for somebody who cannot be told of an error. The lock is held.
func (o *Operator) regroupNow() {
	if err := o.regroup(); err != nil {
		o.undone = true
		o.options.Log.Error("the rules could not be put into effect", "err", err)
	}
}

// hire makes the tenants that are missing, as many as can be had. The lock is held.
func (o *Operator) hire(wanted []types.NamespacedName) error {
	var errs []error
	for _, account := range wanted {
		if o.tenants[account] != nil {
			continue
		}
		t, err := o.newTenant(account)
		if err != nil {
			errs = append(errs, fmt.Errorf("running rules as %s: %w", accountName(account), err))
			continue
		}
		o.tenants[account] = t
	}
	return errors.Join(errs...)
}

// manned reports whether there are tenants for all rules of files. The lock is held.
func (o *Operator) manned() bool {
	return !slices.ContainsFunc(o.rules.Identities(), func(account types.NamespacedName) bool { return o.tenants[account] == nil })
}

// dismiss ends the tenants that nobody needs any more, which have no rules by now. The
// wanted ones are in order. The lock is held.
func (o *Operator) dismiss(wanted []types.NamespacedName) {
	for _, t := range o.sorted() {
		if _, found := slices.BinarySearchFunc(wanted, t.account, byName); !found {
			delete(o.tenants, t.account)
			close(t.gone)
			t.close()
		}
	}
}

// announce says that there are other tenants. The lock is held.
func (o *Operator) announce() {
	close(o.news)
	o.news = make(chan struct{})
	o.changed()
}

// concerns tell apart what tenants have to look after besides their rules: what set
// objects may have left.
type concerns struct {
	all string                                    // of everybody
	by  map[types.NamespacedName]*strings.Builder // of each
}

// of is what concerns an account.
func (c concerns) of(account types.NamespacedName) string {
	if own := c.by[account]; own != nil {
		return c.all + own.String()
	}
	return c.all
}

// concerns are those of all tenants. A set that a file has as well concerns who acts for
// the file. The lock is held.
func (o *Operator) concerns() concerns {
	out := concerns{fmt.Sprintln(o.listed), map[types.NamespacedName]*strings.Builder{}}
	files := owners(o.rules)
	for _, set := range o.inOrder() {
		whose := set.accounts()
		if set.taken {
			whose = append(whose, files[set.Key])
		}
		for _, account := range whose {
			if out.by[account] == nil {
				out.by[account] = &strings.Builder{}
			}
			fmt.Fprintln(out.by[account], set.Key, set.UID, set.Deleting, set.taken)
		}
	}
	return out
}

// given is what a tenant was told to do last.
type given struct {
	rules    []*rules.Rule
	concerns string
}

// take has the tenant do what it is to do now. It is called with the lock of the
// operator.
func (t *tenant) take(set *rules.Set, concerns string) error {
	next := given{set.Rules(), concerns}
	if t.given != nil && slices.Equal(t.given.rules, next.rules) && t.given.concerns == concerns {
		return nil
	}
	t.given = nil // Until it is known to be so.
	if err := t.setRules(set); err != nil {
		return err
	}
	t.given = &next
	return nil
}
