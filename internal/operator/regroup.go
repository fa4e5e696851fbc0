package operator

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/pkg/rules"
)

// regroup gives each tenant the rules of its identity. A tenant of which nothing has
// changed is left alone, so that nobody is disturbed by the changes of others. The lock
// is held.
func (o *Operator) regroup() error {
	all := o.joined()
	wanted := o.accounts(all)
	defer o.announce()
	if err := o.hire(wanted); err != nil {
		return err
	}
	for _, t := range o.sorted() {
		if err := t.take(all.Of(t.account), o.concerns(t)); err != nil {
			return err
		}
	}
	o.dismiss(wanted)
	if o.options.Changed != nil {
		o.options.Changed(all)
	}
	return nil
}

// hire makes the tenants that are missing. The lock is held.
func (o *Operator) hire(wanted []types.NamespacedName) error {
	for _, account := range wanted {
		if o.tenants[account] != nil {
			continue
		}
		t, err := o.newTenant(account)
		if err != nil {
			return err
		}
		o.tenants[account] = t
	}
	return nil
}

// dismiss ends the tenants that nobody needs any more, which have no rules by now. The
// lock is held.
func (o *Operator) dismiss(wanted []types.NamespacedName) {
	for _, t := range o.sorted() {
		if !slices.Contains(wanted, t.account) {
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

// concerns tells apart what a tenant has to look after besides its rules: what set
// objects may have left. The lock is held.
func (o *Operator) concerns(t *tenant) string {
	var out strings.Builder
	fmt.Fprintln(&out, o.listed)
	for _, set := range o.inOrder() {
		if set.taken || slices.Contains(set.accounts(), t.account) {
			fmt.Fprintln(&out, set.Key, set.UID, set.Deleting, set.taken)
		}
	}
	return out.String()
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
