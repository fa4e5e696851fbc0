package informer

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"

	"github.com/dyncontroller/dyncontroller/pkg/engine/compact"
	"github.com/dyncontroller/dyncontroller/pkg/rules/projection"
)

// Set is the running informers. It is safe for concurrent use.
type Set struct {
	client  dynamic.Interface
	handler Handler
	log     *slog.Logger
	clock   clock.PassiveClock
	options Options

	change sync.Mutex // one change at a time

	mu sync.RWMutex
	desired
	running map[Key]*running // guarded by mu
	wider   map[Key]*running // are filled beside those that run, and take their places; guarded by mu

	taken atomic.Int64 // about the bytes of the objects of all informers that run
	count atomic.Int64 // of the informers that run
}

// desired is what the informers are to be like. The lock of the set guards all of it.
type desired struct {
	wanted []Key
	keeps  Keeps
	beside bool // caches that keep too little are shown until others are complete
	denied map[Key]error
}

// Options are how the caches of a set differ from others. The zero value is for a set by itself, without limit.
type Options struct {
	// Shared is shared with other sets of the same API server; nil for none.
	Shared *Shared
	// Client returns a client that decodes just these fields of objects, or the client of the set; nil for the latter.
	Client func(*projection.Fields) dynamic.Interface
	// Lasting has a cache show what it had last, and be synced, when the API server does not list it any more. Otherwise such a
	// cache shows nothing.
	Lasting bool
	// Limit is how many bytes the caches may take together, 0 for any: [cacheBytes] for each, and its [Status.Bytes]. When they take more,
	// Exceeded is called with the largest cache, once, while its list is still under way where that alone is too much.
	Limit    int64
	Exceeded func(Key)
}

// Keeps are the fields that the caches of each resource keep, at least; of a resource that is not there, whole objects.
type Keeps map[schema.GroupVersionResource]*projection.Fields

// Union keeps what either keeps.
func (k Keeps) Union(other Keeps) Keeps {
	out := maps.Clone(k)
	for gvr, fields := range other {
		if of, both := k[gvr]; both {
			fields = projection.Union(of, fields)
		}
		out[gvr] = fields
	}
	return out
}

// ErrTooLarge is why a cache is denied of which there is too much.
var ErrTooLarge = errors.New("the caches take too much memory")

// ErrTooMany is why a cache is denied that is one too many.
var ErrTooMany = errors.New("there are too many caches")

// NewSet returns a set with no informers.
func NewSet(client dynamic.Interface, handler Handler, log *slog.Logger, options Options) *Set {
	options.Shared = cmp.Or(options.Shared, NewShared())
	return &Set{client: client, handler: handler, log: log, clock: clock.RealClock{}, options: options, running: map[Key]*running{}, wider: map[Key]*running{}}
}

// Want starts and stops informers until exactly the wanted ones run that are not denied; the others go on undisturbed. Stopped
// caches show nothing any more. Want does not wait for their informers, since client-go sleeps through its back-off before it
// sees that it is to end, but when Want returns the handler is not told any more that one of them is complete. So a handler
// must not call Want or Deny from Synced.
//
// An informer without a resource begins anew: the caller may know that the resource has come, which the informer would see
// after its back-off only.
//
// A cache that keeps less than it should is filled anew. With beside it is shown as it is meanwhile, and [Handler] is told when
// it is wider; otherwise it is not complete until then. A cache that keeps more goes on.
func (s *Set) Want(keys []Key, keeps Keeps, beside bool) {
	s.adjust(func() { s.wanted, s.keeps, s.beside = slices.Clone(keys), keeps, beside }, hasNoResource)
}

// Deny sets which informers must not run although they are wanted, and why. It replaces what was denied before, and starts and
// stops as Want does.
func (s *Set) Deny(denied map[Key]error) {
	s.adjust(func() { s.denied = maps.Clone(denied) }, hasNoResource)
}

// hasNoResource reports whether there has never been anything to list.
func hasNoResource(r *running) bool {
	return !r.hasSynced() && apierrors.IsNotFound(r.latest())
}

// Renew has the informers of a resource begin anew, the others go on undisturbed. It is for changes that no watch tells, as
// when a new schema has the API server show other objects than before. The cached objects are not shown any more. A lasting set
// goes on as it is. As for Want, a handler must not call it from Synced.
func (s *Set) Renew(gvr schema.GroupVersionResource) {
	s.adjust(func() {}, func(r *running) bool { return r.key.GVR == gvr && !s.options.Lasting })
}

// adjust changes what is wanted or denied, and starts and stops informers accordingly. Those that are to begin anew are
// replaced.
func (s *Set) adjust(change func(), anew func(*running) bool) {
	s.change.Lock()
	defer s.change.Unlock()
	s.mu.Lock()
	change()
	runs := sets.New(s.wanted...).Delete(slices.Collect(maps.Keys(s.denied))...)
	before := map[Key]*running{} // of what begins anew
	var ended []*running
	for key, r := range s.running {
		w, keeps := s.wider[key], s.keeps[key.GVR]
		narrow, again := !r.keeps.Covers(keeps), !runs.Has(key) || anew(r)
		if w != nil && (again || !narrow || !w.keeps.Covers(keeps) || anew(w)) {
			delete(s.wider, key)
			ended, w = append(ended, w), nil
		}
		if again || narrow && !s.beside {
			before[key], ended = r, append(ended, r)
			delete(s.running, key)
		}
		if w != nil && s.running[key] == nil {
			w.least = r.version()
			w.hidden.Store(false)
			s.running[key] = w
			delete(s.wider, key)
		}
	}
	s.mu.Unlock()
	for _, r := range ended { // Without the lock: the handler may be in Synced, and look into the caches.
		r.end()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	clients := map[*projection.Fields]dynamic.Interface{} // The caches of a resource share one.
	start := func(key Key, keeps *projection.Fields, before *running) *running {
		if clients[keeps] == nil {
			clients[keeps] = clientFor(s, keeps)
		}
		return s.start(key, keeps, clients[keeps], before)
	}
	for _, key := range s.wanted {
		switch r, keeps := s.running[key], s.keeps[key.GVR]; {
		case !runs.Has(key):
		case r == nil:
			s.running[key] = start(key, keeps, before[key])
		case s.wider[key] == nil && !r.keeps.Covers(keeps):
			w := start(key, keeps, r)
			w.behind.Store(true)
			w.hidden.Store(true)
			s.wider[key] = w
		}
	}
}

// clientFor returns a client for caches of the set that keep these fields.
func clientFor(s *Set, keeps *projection.Fields) dynamic.Interface {
	if s.options.Client == nil {
		return s.client
	}
	return s.options.Client(keeps)
}

// complete tells that a cache is complete, once it has come as far as the one before it had. One that is wider than that takes
// its place.
func (s *Set) complete(r *running) {
	r.telling.Lock()
	defer r.telling.Unlock()
	var narrow *running
	err := wait.PollUntilContextCancel(r.ctx, versionCheck, true, func(context.Context) (bool, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		narrow = nil
		if s.wider[r.key] == r {
			narrow = s.running[r.key]
			r.least = narrow.version()
		}
		if order, err := resourceversion.CompareResourceVersion(r.version(), r.least); err == nil && order < 0 {
			return false, nil // Versions that cannot be compared hold nobody up.
		}
		r.behind.Store(false)
		if narrow != nil {
			s.running[r.key] = r
			delete(s.wider, r.key)
			r.hidden.Store(false)
		}
		return true, nil
	})
	if err == nil && narrow != nil {
		narrow.end() // Also if this one has been ended since: nobody else knows of it.
	}
	switch {
	case err != nil || r.ctx.Err() != nil: // It is not wanted any more.
	case narrow == nil || !narrow.announced: // It has ended, so that it never will be.
		r.announced = true
		s.handler.Synced(r.key)
	default: // What the narrow cache has shown, and not told yet, it does not tell any more.
		r.announced = true
		s.handler.Widened(r.key)
	}
}

// versionCheck is how often a wider cache is compared with the one in whose place it comes.
const versionCheck = 50 * time.Millisecond

// Stop ends all informers.
func (s *Set) Stop() {
	s.Want(nil, nil, false)
}

// View is what one cache knows of one object.
type View struct {
	// Synced says that the cache is complete. In a cache that is not, the absence of an object means nothing.
	Synced bool
	// Narrow says that the cache keeps less than is wanted, and another one is filled beside it.
	Narrow bool
	// Object is nil where there is none.
	Object *compact.Object
}

// find returns nil where no such informer runs.
func (s *Set) find(key Key) *running {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.running[key]
}

// synced returns nil where the cache is not complete or does not run.
func (s *Set) synced(key Key) *running {
	if r := s.find(key); r != nil && r.isComplete() {
		return r
	}
	return nil
}

// View looks an object up.
func (s *Set) View(key Key, namespace, name string) View {
	s.mu.RLock()
	r, narrow := s.running[key], s.wider[key] != nil
	s.mu.RUnlock()
	if r == nil {
		return View{}
	}
	return View{Synced: r.isComplete(), Narrow: narrow, Object: r.get(cache.NewObjectName(namespace, name))}
}

// MaxStaleness is how far a cache may be behind the API server that [Set.Fresh] calls fresh.
const MaxStaleness = 2 * time.Second

// Fresh reports whether a cache shows all that the API server had stored at a moment less than [MaxStaleness] ago, and
// returns that moment. It does not wait: the cache is compared with a version of its resource that the API server gave in
// the last seconds. Where there is none the answer is no, and the caller is expected to read live. When Fresh is called a
// second time soon after, the version is requested in the background. So one request serves many objects that change
// together, and none is sent for an object that changes alone.
//
// A cache of a resource that does not change has no newer version than its last event or bookmark. A second watch, from
// there, brings a bookmark after one to two seconds. While objects of the resource are written, [Set.Writing] has the versions, and
// none is requested.
func (s *Set) Fresh(key Key) (at time.Time, fresh bool) {
	r := s.synced(key)
	if r == nil {
		return time.Time{}, false
	}
	now, version := s.clock.Now(), r.version()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reach(version)
	fresh = r.relisting == nil && Age(now, r.reached.at) < MaxStaleness
	again := fresh || Age(now, r.missed) < MaxStaleness
	if !fresh {
		r.missed = now
	}
	if again && Age(now, r.asked) > MaxStaleness/2 && Age(now, r.reached.at) > MaxStaleness/4 {
		r.asked = now
		go catchUp(r, r.began)
	}
	return r.reached.at, fresh
}

// Writing is called before a request that writes an object of a resource. The returned function is called with the resourceVersion of
// the answer, if the request has changed something: whatever was stored before it has an earlier version, so a cache that has come to
// this version shows all of that.
//
// A cache waits for one version at a time: it would come to none if each write put off the one before. A version that is older than
// what the cache showed before the request says that etcd may have been restored, so the API server is asked.
func (s *Set) Writing(gvr schema.GroupVersionResource) (changed func(version string)) {
	before, at := map[*running]string{}, s.clock.Now()
	s.mu.RLock()
	for key, r := range s.running {
		if key.GVR == gvr && r.isComplete() {
			before[r] = r.version()
		}
	}
	s.mu.RUnlock()
	return func(version string) {
		for r, before := range before {
			order, err := resourceversion.CompareResourceVersion(version, before)
			now, shown := s.clock.Now(), r.version()
			r.mu.Lock()
			r.reach(shown)
			switch {
			case err != nil:
			case order > 0 && Age(now, r.next.at) >= MaxStaleness/2:
				r.expect(observation{version, at})
			case order < 0 && Age(now, r.asked) > MaxStaleness/2:
				r.asked = now
				go r.ask()
			}
			r.mu.Unlock()
		}
	}
}

// Age is the time since a moment by the clock that runs faster, for a clock may stop while the machine sleeps, and
// another may be set back.
func Age(now, since time.Time) time.Duration {
	return max(now.Sub(since), now.Round(0).Sub(since.Round(0)))
}

// Version is the resourceVersion up to which a cache is complete: it shows every change of its objects up to this version, and
// may show some of the later ones. It is empty where the cache is not synced or does not run, and where the server has no
// versions.
//
// The version moves with events and bookmarks, and stays while a watch is broken, until a new list replaces
// the objects as a whole.
func (s *Set) Version(key Key) string {
	if r := s.synced(key); r != nil {
		return r.version()
	}
	return ""
}

// Relist has a cache listed anew that has been found to lack something, for example because its watch does not deliver any
// more. The cached objects stay visible until the list is there.
func (s *Set) Relist(key Key) {
	if r := s.synced(key); r != nil {
		r.relist(errBehind)
	}
}

// Names lists the objects in a cache, in no order.
func (s *Set) Names(key Key) []types.NamespacedName {
	r := s.find(key)
	if r == nil {
		return nil
	}
	keys := r.indexer.ListKeys()
	out := make([]types.NamespacedName, 0, len(keys))
	for _, text := range keys {
		name, _ := cache.ParseObjectName(text)
		out = append(out, name.AsNamespacedName())
	}
	return out
}

// Count is how many objects are in a cache.
func (s *Set) Count(key Key) int {
	if r := s.find(key); r != nil {
		return len(r.indexer.ListKeys())
	}
	return 0
}

// Status is the state of one informer, what it holds, and how fresh that is.
type Status struct {
	Key    Key
	Synced bool
	Err    error // why it cannot list or watch now, has to list anew, or is denied; nil where it follows the API server

	Objects int
	// Bytes estimates the memory that the objects take, within some tenths.
	Bytes int64
	// Heard is when the API server last answered a list, or sent an event or a bookmark; before that, when the informer was
	// started, and zero where it is denied. The API server sends a bookmark about once a minute: a watch that is silent for
	// longer is cut off, and ended.
	Heard time.Time
}

// Status lists the informers that run, and those that would run if they were not denied, in a stable order. Its cost does not
// depend on the number of objects.
func (s *Set) Status() []Status {
	s.mu.RLock()
	defer s.mu.RUnlock()
	out := make([]Status, 0, len(s.running))
	for key, r := range s.running {
		r.mu.Lock()
		out = append(out, Status{key, r.isComplete(), cmp.Or(r.err, r.relisting), int(r.objects.Load()), max(0, r.bytes.Load()), r.heard.Round(0)})
		r.mu.Unlock()
	}
	for _, key := range s.wanted {
		if err, denied := s.denied[key]; denied {
			out = append(out, Status{Key: key, Err: err})
		}
	}
	slices.SortFunc(out, func(a, b Status) int { return strings.Compare(a.Key.String(), b.Key.String()) })
	return out
}
