package cli

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/internal/operator"
	"github.com/dyncontroller/dyncontroller/pkg/engine/informer"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
)

// maxWaiting is how many rules are named that wait for a cache.
const maxWaiting = 5

// waiting knows which rules need which cache. It is safe for concurrent use; the zero value
// knows of no rules.
type waiting struct {
	all atomic.Pointer[rules.Set] // in effect

	mu sync.Mutex
	of *rules.Set            // that by is about; guarded by mu
	by map[whose][]plan.Rule // guarded by mu
}

// whose is a cache of an identity.
type whose struct {
	account types.NamespacedName
	key     informer.Key
}

// on names the rules that need a cache, the first of them where there are many.
func (w *waiting) on(cache operator.Cache) []string {
	if cache.Synced {
		return nil
	}
	var out []string
	found := w.index()[whose{cache.Account, cache.Key}]
	for _, rule := range found[:min(len(found), maxWaiting)] {
		out = append(out, rule.String())
	}
	if rest := len(found) - maxWaiting; rest > 0 {
		out = append(out, fmt.Sprintf("and %d more", rest))
	}
	return out
}

// index is of the rules in effect. It is made when somebody asks: sets may change often.
func (w *waiting) index() map[whose][]plan.Rule {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := w.all.Load()
	if w.of == all {
		return w.by
	}
	w.of, w.by = all, map[whose][]plan.Rule{}
	for _, rule := range all.Rules() {
		for _, selection := range rule.Reads() {
			at := whose{rule.Identity(), informer.Key(selection)}
			if !slices.Contains(w.by[at], rule.ID) {
				w.by[at] = append(w.by[at], rule.ID)
			}
		}
	}
	return w.by
}
