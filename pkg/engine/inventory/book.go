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

// Book is what sets may have left in the cluster, each thing once, what is stored of their rules with limits, and which of these their objects
// ask to resume. It is immutable; the zero value is empty.
type Book struct {
	leftovers map[plan.Leftover]plan.Leftover // by their [plan.Leftover.Thing]; none that another one covers
	limits    map[plan.Rule]limit.Stored
	asked     map[plan.Rule][]string // which rules a set object asks to resume, by the set
}

// NewBook returns a book of the leftovers. Of two that are the same thing it has the first in order.
func NewBook(leftovers ...plan.Leftover) Book { return Book{}.With(leftovers...) }

// All lists the leftovers in order.
func (b Book) All() []plan.Leftover {
	return slices.SortedFunc(maps.Values(b.leftovers), plan.Leftover.Compare)
}

// Limits returns what is stored of rules with limits.
func (b Book) Limits() map[plan.Rule]limit.Stored {
	out := make(map[plan.Rule]limit.Stored, len(b.limits))
	maps.Copy(out, b.limits)
	return out
}

// Limiting returns the book with just this of rules with limits.
func (b Book) Limiting(limits map[plan.Rule]limit.Stored) Book {
	return Book{b.leftovers, maps.Clone(limits), b.asked}
}

// Asks reports whether the object of its set asks a rule to resume, in the version that the book is of. That is known of sets in
// objects alone. It implements [limit.Asks].
func (b Book) Asks(rule plan.Rule) (asks, known bool) {
	names, known := b.asked[rule.OfSet()]
	return slices.Contains(names, rule.Name), known
}

// Asked names the rules that the object of a set asks to resume, as its annotation does.
func (b Book) Asked(set plan.Rule) []string { return b.asked[set.OfSet()] }

// Asking returns the book with just these rules that the object of a set asks to resume.
func (b Book) Asking(set plan.Rule, names ...string) Book {
	asked := maps.Clone(b.asked)
	if asked == nil {
		asked = map[plan.Rule][]string{}
	}
	asked[set.OfSet()] = names
	return Book{b.leftovers, b.limits, asked}
}

// Equal reports whether two books say the same, but for what is answered of what is asked.
func (b Book) Equal(other Book) bool {
	has := func(all, of map[plan.Rule]limit.Stored) bool {
		for rule, one := range of { // One may be there for what is answered alone.
			if !one.Equal(all[rule]) {
				return false
			}
		}
		return true
	}
	return maps.Equal(b.leftovers, other.leftovers) && has(b.limits, other.limits) && has(other.limits, b.limits) &&
		maps.EqualFunc(b.asked, other.asked, slices.Equal)
}

// With returns the book with the leftovers. What a rule says of one now, its version and its policy, counts wherever the
// rule has left it before.
func (b Book) With(leftovers ...plan.Leftover) Book {
	out := Book{make(map[plan.Leftover]plan.Leftover, len(b.leftovers)+len(leftovers)), b.limits, b.asked}
	now := map[plan.Leftover]plan.Leftover{}
	for _, l := range slices.Backward(slices.SortedStableFunc(slices.Values(leftovers), plan.Leftover.Compare)) {
		out.leftovers[l.Thing()], now[everywhere(l)] = l, l
	}
	for thing, l := range b.leftovers {
		said, found := now[everywhere(l)]
		if found {
			said.Namespace = l.Namespace
			l = said
		}
		if _, found = out.leftovers[thing]; !found {
			out.leftovers[thing] = l
		}
	}
	maps.DeleteFunc(out.leftovers, func(_, l plan.Leftover) bool {
		_, covered := out.leftovers[everywhere(l)]
		return covered && l.Namespace != ""
	})
	return out
}

// And returns the book with all that others say. What another one says of a rule counts.
func (b Book) And(others ...Book) Book {
	var leftovers []plan.Leftover
	limits, asked := b.Limits(), maps.Clone(b.asked)
	for _, other := range others {
		if asked == nil {
			asked = map[plan.Rule][]string{}
		}
		maps.Copy(asked, other.asked)
		leftovers = slices.AppendSeq(leftovers, maps.Values(other.leftovers))
		for rule, stored := range other.limits {
			limits[rule] = limits[rule].With(stored)
		}
	}
	return Book{b.With(leftovers...).leftovers, limits, asked}
}

// Without returns the book without what has been cleaned up. A rule may have come back in the meantime, so what rules
// leave now is to be added again in the same update: b.Without(done...).With(current...).
func (b Book) Without(done ...plan.Leftover) Book {
	cleaned, rest := NewBook(done...), maps.Clone(b.leftovers)
	maps.DeleteFunc(rest, func(_, l plan.Leftover) bool { return cleaned.Has(l) })
	return Book{rest, b.limits, b.asked}
}

// Has reports whether the book has the leftover, in its namespace or everywhere.
func (b Book) Has(l plan.Leftover) bool {
	_, here := b.leftovers[l.Thing()]
	_, anywhere := b.leftovers[everywhere(l)]
	return here || anywhere
}

// Stale returns what is in the book although no rule leaves it any more: of sets that still exist, where a rule was
// removed or changed, and of sets that are gone altogether. Current is what the rules leave now, and rules are all that
// exist, among them those that leave nothing.
//
// What a rule still leaves on objects of the resource is not stale, whatever the version or policy was that it was
// recorded with. Where a rule was everywhere and now keeps to some namespaces, that stays in the book until the rule is
// gone.
func (b Book) Stale(current []plan.Leftover, rules []plan.Rule) (removed, gone []plan.Leftover) {
	wanted, somewhere, sets := NewBook(current...), map[plan.Leftover]bool{}, map[plan.Rule]bool{}
	for _, l := range current {
		somewhere[everywhere(l)] = true
	}
	for _, rule := range rules {
		sets[rule.OfSet()] = true
	}
	for _, l := range b.All() {
		switch {
		case wanted.Has(l), l.Namespace == "" && somewhere[l.Thing()]: // It may be on an object that is wanted.
		case sets[l.Rule.OfSet()]:
			removed = append(removed, l)
		default:
			gone = append(gone, l)
		}
	}
	return removed, gone
}

// split returns the parts of a book, by what they belong to. What is known of a rule, or of a set, besides belongs to what a leftover
// would that the process itself has left.
func split[K comparable](b Book, of func(plan.Leftover) K) map[K]Book {
	out := map[K]Book{}
	part := func(key K) Book {
		if _, found := out[key]; !found {
			out[key] = Book{map[plan.Leftover]plan.Leftover{}, map[plan.Rule]limit.Stored{}, map[plan.Rule][]string{}}
		}
		return out[key]
	}
	for thing, l := range b.leftovers {
		part(of(l)).leftovers[thing] = l
	}
	for rule, stored := range b.limits {
		part(of(plan.Leftover{Rule: rule})).limits[rule] = stored
	}
	for set, names := range b.asked {
		part(of(plan.Leftover{Rule: set})).asked[set] = names
	}
	return out
}

func setOf(l plan.Leftover) plan.Rule { return l.Rule.OfSet() }

// everywhere is the same thing in all namespaces.
func everywhere(l plan.Leftover) plan.Leftover {
	l.Namespace = ""
	return l.Thing()
}

// encode returns the book of a set, in order, as the status of the set has it; of pauses and counts nil for none.
func (b Book) encode() v1alpha1.Status {
	s := v1alpha1.Status{Inventory: make([]v1alpha1.Leftover, 0, len(b.leftovers))}
	for _, l := range b.All() {
		s.Inventory = append(s.Inventory, v1alpha1.Leftover{
			Rule: l.Rule.Name, Kind: string(l.Kind), Group: l.GVR.Group, Version: l.GVR.Version, Resource: l.GVR.Resource,
			Namespace: l.Namespace, Release: string(l.Release), Prune: l.Prune, Owned: l.Owned,
			ServiceAccount: l.Account.Name, ServiceAccountNamespace: l.Account.Namespace,
		})
	}
	for _, rule := range slices.SortedFunc(maps.Keys(b.limits), plan.Rule.Compare) {
		if p := b.limits[rule].Pause; p != nil {
			s.Paused = append(s.Paused, *p)
		}
		s.Counted = append(s.Counted, b.limits[rule].Counts...)
		if r := b.limits[rule].Rollout; r != nil {
			s.Rollouts = append(s.Rollouts, *r)
		}
	}
	return s
}

// decode returns the book of a set. It is an error not to understand a part: what is not known cannot be cleaned up, and
// would be forgotten, and a rule of which it is not known that it is paused might go on.
func decode(set plan.Rule, s v1alpha1.Status) (Book, error) {
	leftovers, limits := make([]plan.Leftover, len(s.Inventory)), map[plan.Rule]limit.Stored{}
	for i, left := range s.Inventory {
		l, err := decodeLeftover(set, left)
		if err != nil {
			return Book{}, fmt.Errorf("inventory[%d]: %w", i, err)
		}
		leftovers[i] = l
	}
	for i, p := range s.Paused {
		if p.Rule == "" || p.Digest == "" {
			return Book{}, fmt.Errorf("paused[%d]: it lacks the rule", i)
		}
		set.Name, p.Since = p.Rule, metav1.NewTime(p.Since.UTC())
		limits[set] = limit.Stored{Pause: &p}
	}
	for _, c := range s.Counted {
		set.Name, c.At = c.Rule, metav1.NewTime(c.At.UTC())
		limits[set] = limit.Stored{Pause: limits[set].Pause, Counts: append(limits[set].Counts, c)}
	}
	for i, r := range s.Rollouts {
		if r.Rule == "" || r.Digest == "" {
			return Book{}, fmt.Errorf("rollouts[%d]: it lacks the rule", i)
		}
		set.Name = r.Rule
		one := limits[set]
		one.Rollout = &r
		limits[set] = one
	}
	for rule, stored := range limits {
		limits[rule] = stored.With(limit.Stored{})
	}
	return Book{NewBook(leftovers...).leftovers, limits, nil}, nil
}

func decodeLeftover(set plan.Rule, s v1alpha1.Leftover) (plan.Leftover, error) {
	set.Name = s.Rule
	l := plan.Leftover{
		Rule:      set,
		GVR:       schema.GroupVersionResource{Group: s.Group, Version: s.Version, Resource: s.Resource},
		Namespace: s.Namespace, Kind: plan.LeftoverKind(s.Kind), Release: plan.ReleasePolicy(s.Release), Prune: s.Prune, Owned: s.Owned,
		Account: types.NamespacedName{Namespace: s.ServiceAccountNamespace, Name: s.ServiceAccount},
	}
	switch {
	case s.Rule == "" || s.Version == "" || s.Resource == "":
		return l, errors.New("it lacks the rule or the resource")
	case !l.Kind.Known():
		return l, fmt.Errorf("there is no kind %q", s.Kind)
	case l.Release != "" && l.Release != plan.OrphanFields && l.Release != plan.RemoveFields:
		return l, fmt.Errorf("there is no policy %q", s.Release)
	case (s.ServiceAccount == "") != (s.ServiceAccountNamespace == ""):
		return l, errors.New("it has half the name of a ServiceAccount")
	default:
		return l, nil
	}
}

// parse reads JSON that has nothing besides what is known.
func parse(data []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	return decoder.Decode(into)
}
