package inventory

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/pkg/api/v1alpha1"
	"github.com/dyncontroller/dyncontroller/pkg/engine/limit"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// Book is what sets may have left in the cluster, sorted and each once, and what is stored of their rules with limits. It
// is immutable; the zero value is empty.
type Book struct {
	leftovers []plan.Leftover
	limits    map[plan.Rule]limit.Stored
}

// NewBook returns a book of the leftovers. Of two that are the same thing it has the first in order, and none that another
// covers.
func NewBook(leftovers ...plan.Leftover) Book {
	at := thingsOf(leftovers)
	sorted := slices.SortedStableFunc(slices.Values(leftovers), plan.Leftover.Compare)
	sorted = slices.CompactFunc(sorted, func(a, b plan.Leftover) bool { return a.Thing() == b.Thing() })
	covered := func(l plan.Leftover) bool { return l.Namespace != "" && at[everywhere(l)] }
	return Book{leftovers: slices.DeleteFunc(sorted, covered)}
}

// Limits returns what is stored of rules with limits.
func (b Book) Limits() map[plan.Rule]limit.Stored {
	out := make(map[plan.Rule]limit.Stored, len(b.limits))
	maps.Copy(out, b.limits)
	return out
}

// Limiting returns the book with just this of rules with limits.
func (b Book) Limiting(limits map[plan.Rule]limit.Stored) Book {
	b.limits = maps.Clone(limits)
	return b
}

// And returns the book with all that others say. What another one says of a rule counts.
func (b Book) And(others ...Book) Book {
	var leftovers []plan.Leftover
	limits := b.Limits()
	for _, other := range others {
		leftovers = append(leftovers, other.leftovers...)
		for rule, stored := range other.limits {
			limits[rule] = limits[rule].With(stored)
		}
	}
	return b.With(leftovers...).Limiting(limits)
}

// All lists the leftovers in order.
func (b Book) All() []plan.Leftover { return slices.Clone(b.leftovers) }

// Equal reports whether two books say the same.
func (b Book) Equal(other Book) bool {
	return slices.Equal(b.leftovers, other.leftovers) && maps.EqualFunc(b.limits, other.limits, limit.Stored.Equal)
}

// With returns the book with the leftovers. What a rule says of one now, its version and its policy, counts wherever the
// rule has left it before.
func (b Book) With(leftovers ...plan.Leftover) Book {
	now := map[plan.Leftover]plan.Leftover{}
	for _, l := range leftovers {
		now[everywhere(l)] = l
	}
	all := slices.Clone(leftovers)
	for _, l := range b.leftovers {
		if said, found := now[everywhere(l)]; found {
			said.Namespace = l.Namespace
			l = said
		}
		all = append(all, l)
	}
	return Book{NewBook(all...).leftovers, b.limits}
}

// Without returns the book without what has been cleaned up. A rule may have come back in the meantime, so what rules
// leave now is to be added again in the same update: b.Without(done...).With(current...).
func (b Book) Without(done ...plan.Leftover) Book {
	return Book{slices.DeleteFunc(b.All(), thingsOf(done).cover), b.limits}
}

// Stale returns what is in the book although no rule leaves it any more: of sets that still exist, where a rule was
// removed or changed, and of sets that are gone altogether. Current is what the rules leave now, and rules are all that
// exist, among them those that leave nothing.
//
// What a rule still leaves on objects of the resource is not stale, whatever the version or policy was that it was
// recorded with. Where a rule was everywhere and now keeps to some namespaces, that stays in the book until the rule is
// gone.
func (b Book) Stale(current []plan.Leftover, rules []plan.Rule) (removed, gone Book) {
	at, anywhere, sets := thingsOf(current), things{}, map[plan.Rule]bool{}
	for _, l := range current {
		anywhere[everywhere(l)] = true
	}
	for _, rule := range rules {
		sets[rule.OfSet()] = true
	}
	for _, l := range b.leftovers {
		switch {
		case at.cover(l), l.Namespace == "" && anywhere[l.Thing()]: // It may be on an object that is wanted.
		case sets[l.Rule.OfSet()]:
			removed.leftovers = append(removed.leftovers, l)
		default:
			gone.leftovers = append(gone.leftovers, l)
		}
	}
	return removed, gone
}

// Covered returns those of the leftovers that the book has, wherever it has them.
func (b Book) Covered(leftovers []plan.Leftover) []plan.Leftover {
	at := thingsOf(b.leftovers)
	return slices.DeleteFunc(slices.Clone(leftovers), func(l plan.Leftover) bool { return !at.cover(l) })
}

// groups are the parts of a book, by what they belong to. What is stored of a rule with limits belongs to what a leftover
// of the rule would that the process itself has left.
func groups[K comparable](b Book, of func(plan.Leftover) K) map[K]Book {
	out := map[K]Book{}
	for _, l := range b.leftovers {
		key := of(l)
		part := out[key]
		part.leftovers = append(part.leftovers, l)
		out[key] = part
	}
	for rule, stored := range b.limits {
		key := of(plan.Leftover{Rule: rule})
		part := out[key]
		if part.limits == nil {
			part.limits = map[plan.Rule]limit.Stored{}
		}
		part.limits[rule] = stored
		out[key] = part
	}
	return out
}

func setOf(l plan.Leftover) plan.Rule { return l.Rule.OfSet() }

// things are what leftovers are, in their namespaces.
type things map[plan.Leftover]bool

func thingsOf(leftovers []plan.Leftover) things {
	t := things{}
	for _, l := range leftovers {
		t[l.Thing()] = true
	}
	return t
}

// cover reports whether one of the leftovers covers l.
func (t things) cover(l plan.Leftover) bool { return t[l.Thing()] || t[everywhere(l)] }

func everywhere(l plan.Leftover) plan.Leftover {
	l.Namespace = ""
	return l.Thing()
}

// encode returns the book of a set, in order, as the status of the set has it; of pauses and counts nil for none.
func (b Book) encode() v1alpha1.Status {
	s := v1alpha1.Status{Inventory: make([]v1alpha1.Leftover, len(b.leftovers))}
	for i, l := range b.leftovers {
		s.Inventory[i] = v1alpha1.Leftover{
			Rule: l.Rule.Name, Kind: string(l.Kind), Group: l.GVR.Group, Version: l.GVR.Version, Resource: l.GVR.Resource,
			Namespace: l.Namespace, Release: string(l.Release), Prune: l.Prune,
			ServiceAccount: l.Account.Name, ServiceAccountNamespace: l.Account.Namespace,
		}
	}
	for _, rule := range slices.SortedFunc(maps.Keys(b.limits), plan.Rule.Compare) {
		if p := b.limits[rule].Pause; p != nil {
			s.Paused = append(s.Paused, *p)
		}
		s.Counted = append(s.Counted, b.limits[rule].Counts...)
	}
	return s
}

// decoder collects what is read of a book. It is an error not to understand a part: what is not known cannot be cleaned
// up, and would be forgotten, and a rule of which it is not known that it is paused might go on.
type decoder struct {
	leftovers []plan.Leftover
	limits    map[plan.Rule]limit.Stored
}

func newDecoder() *decoder { return &decoder{limits: map[plan.Rule]limit.Stored{}} }

func (d *decoder) leftover(set plan.Rule, s v1alpha1.Leftover) error {
	set.Name = s.Rule
	l := plan.Leftover{
		Rule:      set,
		GVR:       schema.GroupVersionResource{Group: s.Group, Version: s.Version, Resource: s.Resource},
		Namespace: s.Namespace, Kind: plan.LeftoverKind(s.Kind), Release: plan.ReleasePolicy(s.Release), Prune: s.Prune,
		Account: types.NamespacedName{Namespace: s.ServiceAccountNamespace, Name: s.ServiceAccount},
	}
	d.leftovers = append(d.leftovers, l)
	switch {
	case set.Kind == "" || set.Set == "" || s.Rule == "" || s.Version == "" || s.Resource == "":
		return errors.New("it lacks the rule or the resource")
	case !l.Kind.Known():
		return fmt.Errorf("there is no kind %q", s.Kind)
	case l.Release != "" && l.Release != plan.OrphanFields && l.Release != plan.RemoveFields:
		return fmt.Errorf("there is no policy %q", s.Release)
	case (s.ServiceAccount == "") != (s.ServiceAccountNamespace == ""):
		return errors.New("it has half the name of a ServiceAccount")
	default:
		return nil
	}
}

// pause takes the first one of a rule.
func (d *decoder) pause(set plan.Rule, p v1alpha1.Pause) error {
	if p.Rule == "" || p.Digest == "" {
		return errors.New("it lacks the rule")
	}
	set.Name, p.Since = p.Rule, metav1.NewTime(p.Since.UTC())
	d.limits[set] = limit.Stored{Pause: &p}.With(d.limits[set])
	return nil
}

func (d *decoder) count(set plan.Rule, c v1alpha1.Count) error {
	set.Name, c.At = c.Rule, metav1.NewTime(c.At.UTC())
	of := d.limits[set]
	of.Counts = append(of.Counts, c)
	d.limits[set] = of
	return nil
}

func (d *decoder) book() Book {
	for set, of := range d.limits {
		d.limits[set] = of.With(limit.Stored{})
	}
	return NewBook(d.leftovers...).Limiting(d.limits)
}

// each reads a list, and says which of its elements cannot be read.
func each[T any](what string, list []T, read func(T) error) error {
	for i, one := range list {
		if err := read(one); err != nil {
			return fmt.Errorf("%s %d: %w", what, i, err)
		}
	}
	return nil
}

// decode reads JSON that is one value, and nothing besides what is known.
func decode(data []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	return decoder.Decode(into)
}
