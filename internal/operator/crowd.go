package operator

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/internal/source"
	"github.com/dyncontroller/dyncontroller/pkg/engine/informer"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
)

// crowd is which caches an account does not get because its rules need too many.
type crowd struct {
	needed, limit int
	refused       map[informer.Key]bool
}

// err says why a cache is refused.
func (c crowd) err(account types.NamespacedName) error {
	return fmt.Errorf("%w: the rules of %s need %d, and may have %d; use fewer selectors and namespaces, or raise --account-max-caches",
		informer.ErrTooMany, accountName(account), c.needed, c.limit)
}

// of says which rules of a set wait for caches that the account does not get, nil for none.
func (c crowd) of(set *rules.Set, account types.NamespacedName) error {
	var wait []string
	for _, rule := range set.Rules() {
		if slices.ContainsFunc(slices.Concat(rule.Watches(), rule.Related()), func(key informer.Key) bool { return c.refused[key] }) {
			wait = append(wait, rule.ID.Name)
		}
	}
	if len(wait) == 0 {
		return nil
	}
	return fmt.Errorf("%d of %d rules wait (%s): %w", len(wait), len(set.Rules()), strings.Join(document.Few(wait, fewRules), ", "), c.err(account))
}

// fewRules is how many rules a message names.
const fewRules = 5

// fit finds out which caches of the rules of an account are too many. The sets get theirs in the order of their age, and the rules
// of a set as they are written. A rule that needs more than are left gets none, and leaves them to the rules after it. The rules
// from before, which are in effect until the caches of the others are filled, come last. The lock is held.
func (o *Operator) fit(now, before *rules.Set) crowd {
	out := crowd{limit: o.options.Settings.AccountCaches, refused: map[informer.Key]bool{}}
	given, needed := map[informer.Key]bool{}, map[informer.Key]bool{}
	for _, all := range [][]*rules.Rule{now.Rules(), before.Rules()} {
		slices.SortStableFunc(all, func(a, b *rules.Rule) int { return o.compareAge(keyOf(a.ID), keyOf(b.ID)) })
		for _, rule := range all {
			more := map[informer.Key]bool{}
			for _, key := range slices.Concat(rule.Watches(), rule.Related()) {
				needed[key] = true
				if !given[key] {
					more[key] = true
				}
			}
			fits := out.limit == 0 || len(given)+len(more) <= out.limit
			for key := range more {
				if fits {
					given[key] = true
					delete(out.refused, key)
				} else {
					out.refused[key] = true
				}
			}
		}
		out.needed = cmp.Or(out.needed, len(needed)) // Without those of the rules from before.
	}
	return out
}

// byAge lists set objects in the order of their age, and by name where that is the same.
func byAge(all []source.Object) []source.Object {
	return slices.SortedFunc(slices.Values(all), func(a, b source.Object) int { return compareAge(a.Created, b.Created, a.Key, b.Key) })
}

// compareAge compares sets by the age of their objects, and by name where that is the same. Sets of files are the oldest. The lock is
// held.
func (s *state) compareAge(a, b source.Key) int {
	created := func(key source.Key) (at time.Time) {
		if object := s.objects[key]; object != nil && !object.taken {
			at = object.Created
		}
		return at
	}
	return compareAge(created(a), created(b), a, b)
}

func compareAge(a, b time.Time, x, y source.Key) int {
	return cmp.Or(a.Compare(b), cmp.Compare(x.String(), y.String()))
}

// fits reports whether an account may have sets that are so long.
func (c *core) fits(bytes int64) bool {
	limit := c.options.Settings.AccountRules
	return limit == 0 || bytes <= limit
}

// overlong is why a set is not compiled: with the older sets of its account, which are so long, it would be too long; nil where it
// would not. Compiled, a set takes about 70 times as much memory.
func (c *core) overlong(one source.Object, older int64) error {
	length := int64(len(one.Document.Data))
	if one.Deleting || c.fits(older+length) {
		return nil
	}
	return fmt.Errorf("the set takes %d bytes as JSON, and the older sets of %s take %d; together they may take %d; "+
		"delete sets or use another account, or raise --account-rules-limit", length, accountName(one.Account), older, c.options.Settings.AccountRules)
}

// turn is what is compiled of the changed sets of each account before the sets of others have their turn. Refused sets count too: they
// take nothing of what an account may have, so there may be any number of them.
type turn struct {
	limit    int64 // bytes for each account, 0 for any number
	compiled map[types.NamespacedName]int64
	ended    bool // a set is left for the next turn
}

// has reports whether a set that was like that is compiled now. The first set of an account always is.
func (t *turn) has(was *object, one source.Object) bool {
	if t.limit == 0 || one.Deleting || was != nil && was.Generation == one.Generation {
		return true
	}
	before := t.compiled[one.Account]
	t.compiled[one.Account] += int64(len(one.Document.Data))
	if before > 0 && t.compiled[one.Account] > t.limit {
		t.ended = true
		return false
	}
	return true
}
