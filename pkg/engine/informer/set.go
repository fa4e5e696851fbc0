package informer

import (
	"cmp"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/cache"
)

// Set is the running informers. It is safe for concurrent use.
type Set struct {
	client  dynamic.Interface
	handler Handler
	log     *slog.Logger

	lasting  bool
	peers    *Peers
	limit    int64 // 0 for none
	exceeded func(Key)

	change sync.Mutex // one change at a time

	count sync.Mutex
	taken int64 // bytes, of all informers that run; guarded by count

	mu      sync.RWMutex
	wanted  []Key            // guarded by mu
	denied  map[Key]error    // guarded by mu
	running map[Key]*running // guarded by mu
}

// NewSet returns a set with no informers.
func NewSet(client dynamic.Interface, handler Handler, log *slog.Logger) *Set {
	return &Set{client: client, handler: handler, log: log, peers: NewPeers(), running: map[Key]*running{}}
}

// Lasting has a set that has no informers yet show what a cache had last, and call it
// synced, when the API server does not list it any more. It is for who rather goes by what
// was than by nothing. It returns the set.
func (s *Set) Lasting() *Set {
	s.lasting = true
	return s
}

// ErrTooLarge is why a cache is denied of which there is too much.
var ErrTooLarge = errors.New("the caches take too much memory")

// Within has a set that has no informers yet say when its caches take more than so many bytes together, as [Load.Bytes]
// estimates them: exceeded is called with the largest cache, once, while its list is still under way where that alone is
// too much. It returns the set.
func (s *Set) Within(limit int64, exceeded func(Key)) *Set {
	s.limit, s.exceeded = limit, exceeded
	return s
}

// grow counts what an informer takes. One that has ended takes nothing, whatever still arrives at it.
func (s *Set) grow(of *running, bytes int64) {
	s.count.Lock()
	if of.load.gone {
		s.count.Unlock()
		return
	}
	of.load.bytes += bytes
	s.taken += bytes
	exceeded := s.limit != 0 && s.taken > s.limit
	s.count.Unlock()
	if exceeded {
		s.exceed()
	}
}

// exceed tells of the informer that takes most, once, unless what one takes that is about to end is what was too much.
func (s *Set) exceed() {
	s.mu.RLock()
	defer s.mu.RUnlock()
	s.count.Lock()
	defer s.count.Unlock()
	var largest *running
	var taken int64
	for _, r := range s.running {
		taken += r.load.bytes
		if largest == nil || r.load.bytes > largest.load.bytes {
			largest = r
		}
	}
	if taken > s.limit && !largest.load.exceeds {
		largest.load.exceeds = true
		go s.exceeded(largest.key) // Who is called will stop the informer.
	}
}

// shrink takes back all that was counted of an informer that ends, or lists anew.
func (s *Set) shrink(of *running, ends bool) {
	s.count.Lock()
	defer s.count.Unlock()
	s.taken -= of.load.bytes
	of.load.bytes, of.load.gone = 0, of.load.gone || ends
}

// Want starts and stops informers until exactly the wanted ones run that are not denied;
// the others go on undisturbed. What those that stop have cached is not shown any more.
// They are not waited for, since client-go sleeps through its back-off before it sees
// that it is to end, but when Want returns the handler is not told any more that one of
// them is complete. So a handler that is told that must not call Want or Deny.
func (s *Set) Want(keys []Key) error {
	s.change.Lock()
	defer s.change.Unlock()
	s.mu.Lock()
	s.wanted = slices.Clone(keys)
	s.mu.Unlock()
	return s.adjust()
}

// Deny says which informers must not run although they are wanted, and why. It takes the
// place of what was denied before, and starts and stops as Want does.
func (s *Set) Deny(denied map[Key]error) error {
	s.change.Lock()
	defer s.change.Unlock()
	s.mu.Lock()
	s.denied = maps.Clone(denied)
	s.mu.Unlock()
	return s.adjust()
}

// adjust starts and stops what has to be. Those that stop are told to without the lock:
// one may be telling that it is complete, to somebody who looks into the caches then.
func (s *Set) adjust() error {
	before := map[Key]*listErrors{}
	for _, r := range s.drop() {
		r.end()
		before[r.key] = &r.errors
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, key := range s.wanted {
		if s.running[key] != nil || s.isDenied(key) {
			continue
		}
		if err := s.start(key, before[key]); err != nil {
			return err
		}
	}
	return nil
}

// Renew has the informers of a resource begin anew, the others go on undisturbed. It is
// for who knows that the API server shows other objects than before though nobody has
// written them, as by another schema, which no watch tells of. What is cached is not shown
// any more. A lasting set goes on as it is. As for Want, a handler that is told that a
// cache is complete must not call it.
func (s *Set) Renew(gvr schema.GroupVersionResource) {
	s.mu.RLock()
	var all []*running
	for key, r := range s.running {
		if key.GVR == gvr {
			all = append(all, r)
		}
	}
	s.mu.RUnlock()
	for _, r := range all {
		s.renew(r)
	}
}

// renew has an informer begin anew that is known to be out of date, unless it has ended:
// what it shows is not to be believed any more, and may never be right again.
func (s *Set) renew(old *running) {
	s.change.Lock()
	defer s.change.Unlock()
	s.mu.Lock()
	running := s.running[old.key] == old && !s.lasting
	if running {
		delete(s.running, old.key)
	}
	s.mu.Unlock()
	if !running {
		return
	}
	old.end() // Without the lock, as in adjust.
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.start(old.key, &old.errors); err != nil {
		s.log.Error("an informer does not begin anew", "informer", old.key.String(), "err", err)
	}
}

// drop takes out those that are not to run any more, and those to begin anew: who wants
// other caches may know that a resource has come, of which its own informer would hear
// after its back-off only.
func (s *Set) drop() []*running {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []*running
	for key, r := range s.running {
		if !slices.Contains(s.wanted, key) || s.isDenied(key) || r.hasNoResource() {
			delete(s.running, key)
			out = append(out, r)
		}
	}
	return out
}

// isDenied is for who holds the lock.
func (s *Set) isDenied(key Key) bool {
	_, denied := s.denied[key]
	return denied
}

// Stop ends all informers.
func (s *Set) Stop() {
	// Wanting nothing starts nothing, so there is no error to return.
	_ = s.Want(nil)
}

// View is what one cache knows of one object.
type View struct {
	// Synced says that the cache is complete; an absent object in a cache that
	// is not means nothing.
	Synced bool
	// Object is nil where there is none. It is shared: read only.
	Object *unstructured.Unstructured
}

// find returns nil where no such informer runs.
func (s *Set) find(key Key) *running {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.running[key]
}

// View looks an object up.
func (s *Set) View(key Key, namespace, name string) View {
	r := s.find(key)
	if r == nil {
		return View{}
	}
	return View{Synced: r.informer.HasSynced(), Object: r.get(cache.NewObjectName(namespace, name))}
}

// Names lists the objects in a cache, in no order.
func (s *Set) Names(key Key) []types.NamespacedName {
	r := s.find(key)
	if r == nil {
		return nil
	}
	keys := r.informer.GetIndexer().ListKeys()
	out := make([]types.NamespacedName, 0, len(keys))
	for _, text := range keys {
		if name, err := cache.ParseObjectName(text); err == nil {
			out = append(out, types.NamespacedName{Namespace: name.Namespace, Name: name.Name})
		}
	}
	return out
}

// Count is how many objects are in a cache. Once all have been told of it costs nothing, and
// is of the objects that the handler has been told of.
func (s *Set) Count(key Key) int {
	r := s.find(key)
	switch {
	case r == nil:
		return 0
	case r.told():
		return int(r.load.objects.Load())
	default:
		return len(r.informer.GetIndexer().ListKeys())
	}
}

// Status is the state of one informer.
type Status struct {
	Key    Key
	Synced bool
	Err    error // why it cannot list or watch now, has to list anew, or is denied; nil where it follows the API server
}

// Status lists the informers that run, and those that would if they were not denied, in
// a stable order.
func (s *Set) Status() []Status {
	s.mu.RLock()
	defer s.mu.RUnlock()
	out := make([]Status, 0, len(s.running))
	for key, r := range maps.All(s.running) {
		out = append(out, Status{Key: key, Synced: r.informer.HasSynced(), Err: cmp.Or(r.errors.latest(), r.bound.reason())})
	}
	for _, key := range s.wanted {
		if err, denied := s.denied[key]; denied {
			out = append(out, Status{Key: key, Err: err})
		}
	}
	slices.SortFunc(out, func(a, b Status) int { return strings.Compare(a.Key.String(), b.Key.String()) })
	return out
}
