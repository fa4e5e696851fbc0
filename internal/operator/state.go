package operator

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/internal/source"
	"github.com/dyncontroller/dyncontroller/pkg/api/v1alpha1"
	"github.com/dyncontroller/dyncontroller/pkg/engine/inventory"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
)

// state is which sets there are, and which tenants run them. Its lock is held by who calls its methods, where they do not say
// otherwise.
type state struct {
	mu        sync.Mutex
	rules     *rules.Set                    // of files
	objects   map[source.Key]*object        // sets in the cluster
	left      map[types.NamespacedName]bool // accounts of sets in files that may be gone
	tenants   map[types.NamespacedName]*tenant
	runs      map[source.Key]*tenant         // who carries out the rules of a set, or did last
	handovers map[source.Key]*handover       // the sets of which another process is yet to do so
	listed    bool                           // the set objects are known
	undone    bool                           // not all tenants have what they should
	news      chan struct{}                  // closed when there are other tenants
	viewed    map[source.Key]v1alpha1.Status // of sets in files, as last told
}

func newState() state {
	return state{
		rules: &rules.Set{}, objects: map[source.Key]*object{}, left: map[types.NamespacedName]bool{}, tenants: map[types.NamespacedName]*tenant{},
		runs: map[source.Key]*tenant{}, news: make(chan struct{}),
	}
}

// present takes the lock, and lists the tenants in order, with a channel that is closed when there are
// others.
func (s *state) present() ([]*tenant, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sorted(), s.news
}

// Listed takes the lock, and reports whether the set objects that there were at the start are known, and
// have their caches.
func (s *state) Listed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.listed
}

// accepted lists the versions in effect of set objects whose present version is refused.
func (s *state) accepted() []source.Object {
	var out []source.Object
	for _, object := range s.objects {
		if object.refused() && object.good.set != nil {
			out = append(out, object.good.Object)
		}
	}
	return out
}

// joined are all rules that are to be in effect.
func (s *state) joined() *rules.Set {
	sets := []*rules.Set{s.rules}
	for _, object := range s.inOrder() {
		if object.effective() != nil {
			sets = append(sets, object.effective())
		}
	}
	return rules.Join(sets...)
}

// accounts lists the identities that have rules, or something to clean up, in order. The
// process's own is among them: it tells of sets that are gone.
func (s *state) accounts(all *rules.Set) []types.NamespacedName {
	out := maps.Clone(s.left)
	out[types.NamespacedName{}] = true
	for _, account := range all.Identities() {
		out[account] = true
	}
	for _, set := range s.objects {
		for _, account := range set.accounts() {
			out[account] = true
		}
	}
	return slices.SortedFunc(maps.Keys(out), byName)
}

// concerns are what tenants have to look after besides their rules: what set objects may have
// left. A set that a file has as well concerns who acts for the file.
func (s *state) concerns() map[types.NamespacedName][]byte {
	out, files := map[types.NamespacedName][]byte{}, owners(s.rules)
	for _, set := range s.inOrder() {
		whose := set.accounts()
		if set.taken {
			whose = append(whose, files[set.Key])
		}
		for _, account := range whose {
			out[account] = fmt.Appendln(out[account], set.Key, set.UID, set.Deleting, set.taken)
		}
	}
	return out
}

// sorted lists the tenants in order.
func (s *state) sorted() []*tenant {
	return slices.SortedFunc(maps.Values(s.tenants), func(a, b *tenant) int { return byName(a.account, b.account) })
}

func byName(a, b types.NamespacedName) int {
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}

// inOrder lists the set objects by name.
func (s *state) inOrder() []*object {
	return slices.SortedFunc(maps.Values(s.objects), func(a, b *object) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Namespace, b.Namespace))
	})
}

// tenantsOf are those that run the rules of a set, or clean up after it.
func (s *state) tenantsOf(set *object) []*tenant {
	var out []*tenant
	for _, account := range set.accounts() {
		if t := s.tenants[account]; t != nil {
			out = append(out, t)
		}
	}
	return out
}

// idle lists the accounts that have left nothing by a book, and whose tenants have no
// rules.
func (s *state) idle(book inventory.Book) []types.NamespacedName {
	var out []types.NamespacedName
	for account := range s.left {
		has := func(l plan.Leftover) bool { return l.Account == account }
		if t := s.tenants[account]; t != nil && t.given != nil && len(t.given.rules) == 0 && !slices.ContainsFunc(book.All(), has) {
			out = append(out, account)
		}
	}
	return out
}

// deleting lists the sets that wait for our finalizer to be removed.
func (s *state) deleting() []*object {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.DeleteFunc(s.inOrder(), func(set *object) bool { return !set.Deleting || !set.Finalizer })
}
