package engine_test

import (
	"bytes"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/engine/compact"
	"github.com/dyncontroller/dyncontroller/pkg/engine/guard"
	"github.com/dyncontroller/dyncontroller/pkg/engine/informer"
	"github.com/dyncontroller/dyncontroller/pkg/engine/limit"
	"github.com/dyncontroller/dyncontroller/pkg/engine/naming"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
)

// The resources of the cluster: what is watched, and what is made for it.
var (
	widgets = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"}
	gadgets = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "gadgets"}
	items   = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "items"}
)

// cluster is an API server and the caches of it, in memory. It exists to bring
// about what a real one does rarely; what a real one answers is tested on a
// real one.
type cluster struct {
	mu      sync.Mutex
	handler informer.Handler
	stored  map[engine.Key]map[string]any
	version int
	// changedAt has the versions of the last changes.
	changedAt map[engine.Key]int
	// opaque has the API server give versions that cannot be compared.
	opaque bool

	caches    map[informer.Key]*cached
	projected map[projected]*compact.Object
	unsynced  map[informer.Key]bool
	// frozen are caches that see nothing until they are told to catch up.
	frozen map[informer.Key]bool
	// views replaces what a cache knows of every object.
	views   map[informer.Key]map[string]any
	wanted  []informer.Key
	lagging bool // the caches see nothing of what the engine writes
	// untold is called when a cache shows a change, before the handler is told.
	untold func(at informer.Key)
	// recent says that what the caches have missed is less than [informer.MaxStaleness] old, and unknown that nothing is
	// known of that.
	recent, unknown bool
	changedTo       []string  // versions that writes were answered with, in order
	vouched         time.Time // the moment at which that was known of recent caches, zero for always now
	askedFresh      func()    // called under the lock when a cache is asked whether it is fresh
	// asked are wanted but for what is denied, and started has each start of a cache.
	asked, started []informer.Key
	denied         map[informer.Key]error
	keeps          informer.Keeps
	onWant         func() // called by Want
	// narrow says that caches which are filled beside others never become complete.
	narrow bool
	// prepared are caches that have listed before they were wanted.
	prepared map[informer.Key]bool

	// relisted are the caches that were found to lack something.
	relisted []informer.Key

	// gets counts live reads of single objects, and reads those of questions.
	gets, reads int
	liveOK      func() error
	answering   time.Duration // how long a live read of a question takes

	writes []plan.Operation
	taken  []plan.Object // that were to be made, and were there
	// answer replaces the answer to a write; nil means to write. after changes what
	// was answered.
	answer func(operation plan.Operation) *write.Result
	after  func(operation plan.Operation, result write.Result) write.Result

	events  []string
	eventOK func() error
	log     bytes.Buffer
	seen    counts
	// names are given to new objects, in order.
	names []string
	// tune changes the options of engines.
	tune func(*engine.Options)
}

// hooks is an observer that calls the functions that are set.
type hooks struct {
	engine.Observer
	looked    func()
	concluded func([]guard.Failure)
	paused    func(limit.Pause)
}

func (h hooks) Looked(rules.Snapshot, []plan.Decision) {
	if h.looked != nil {
		h.looked()
	}
}

func (h hooks) Concluded(_ engine.Key, failures []guard.Failure) {
	if h.concluded != nil {
		h.concluded(failures)
	}
}

func (h hooks) Paused(pause limit.Pause) {
	if h.paused != nil {
		h.paused(pause)
	}
}

// counts implements [engine.Observer].
type counts struct {
	engine.NopObserver
	mu        sync.Mutex
	evaluated int
	byName    map[string]int // evaluations by the name of the object
	audited   int
	views     int // looks at a cache
	// took is how long objects took to settle, and spared how many changes were not sent.
	took   []string
	spared int
}

// Evaluated implements [engine.Observer].
func (c *counts) Evaluated(key engine.Key, _ plan.Decision) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.evaluated++
	if c.byName == nil {
		c.byName = map[string]int{}
	}
	c.byName[key.Name]++
}

// Wrote implements [engine.Observer].
func (c *counts) Wrote(_ engine.Key, _ plan.Operation, class write.Class) {
	if class == write.Audited {
		c.add(&c.audited)
	}
}

func (c *counts) add(count *int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	*count++
}

// of returns one of the counts.
func (c *counts) of(count *int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return *count
}

// since returns how often which objects were evaluated since before, which is an
// earlier answer.
func (c *counts) since(before map[string]int) map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := map[string]int{}
	for name, n := range c.byName {
		if n > before[name] {
			out[name] = n - before[name]
		}
	}
	return out
}

func newCluster() *cluster {
	return &cluster{
		stored:    map[engine.Key]map[string]any{},
		caches:    map[informer.Key]*cached{},
		changedAt: map[engine.Key]int{},
		projected: map[projected]*compact.Object{},
		unsynced:  map[informer.Key]bool{},
		frozen:    map[informer.Key]bool{},
	}
}

// next is the version of the next change, of an object; the lock is held.
func (c *cluster) next(of engine.Key) string {
	c.version++
	c.changedAt[of] = c.version
	return c.versionText(c.version)
}

func (c *cluster) versionText(version int) string {
	if c.opaque {
		return "v" + strconv.Itoa(version)
	}
	return strconv.Itoa(version)
}

// put stores an object as another client would.
func (c *cluster) put(t testing.TB, text string) {
	t.Helper()
	object := decode(t, text)
	c.mu.Lock()
	u := unstructured.Unstructured{Object: object}
	key := keyOf(object)
	u.SetResourceVersion(c.next(key))
	if u.GetUID() == "" {
		u.SetUID(types.UID("uid-of-" + u.GetName()))
	}
	c.stored[key] = object
	c.mu.Unlock()
	c.see(key)
}

func (c *cluster) remove(name string) {
	c.drop(engine.Key{GVR: widgets, Namespace: "ns", Name: name})
}

// drop deletes an object as another client would.
func (c *cluster) drop(key engine.Key) {
	c.mu.Lock()
	c.next(key)
	delete(c.stored, key)
	c.mu.Unlock()
	c.see(key)
}

// touch reports a change of the widget a, which is in the caches as it was.
func (c *cluster) touch() {
	key := engine.Key{GVR: widgets, Namespace: "ns", Name: "a"}
	c.mu.Lock()
	var object map[string]any
	for _, cache := range c.caches {
		if found := cache.objects[key]; found != nil {
			object = found
		}
	}
	c.mu.Unlock()
	c.handler.Changed(informer.Event{
		Key: informer.Key{GVR: widgets}, Namespace: "ns", Name: key.Name, After: compact.New(object),
	})
}

func (c *cluster) get(name string) map[string]any {
	return c.of(engine.Key{GVR: widgets, Namespace: "ns", Name: name})
}

func (c *cluster) of(key engine.Key) map[string]any {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.stored[key]
}

// list names what is stored of a resource, in order.
func (c *cluster) list(gvr schema.GroupVersionResource) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []string
	for key := range c.stored {
		if key.GVR == gvr {
			out = append(out, key.Name)
		}
	}
	slices.Sort(out)
	return out
}

func (c *cluster) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.writes)
}

// sent counts the writes of a type.
func (c *cluster) sent(kind plan.Type) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := 0
	for _, operation := range c.writes {
		if operation.Type == kind {
			n++
		}
	}
	return n
}

// locked calls do while nobody else looks at the cluster.
func (c *cluster) locked(do func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	do()
}

// engine returns an engine on the cluster.
func (c *cluster) engine() *engine.Engine { return c.engineWith(engine.Housekeeping{}) }

func (c *cluster) engineWith(house engine.Housekeeping) *engine.Engine {
	options := engine.Options{
		Caches: func(handler informer.Handler) engine.Caches {
			c.handler = handler
			return cachesOf{c}
		},
		Live:         c,
		Writer:       c,
		Recorder:     c,
		Observer:     &c.seen,
		Housekeeping: house,
		Log:          slog.New(slog.NewTextHandler(lockedLog{c}, nil)),
	}
	if c.names != nil {
		options.Name = c.nextName
	}
	if c.tune != nil {
		c.tune(&options)
	}
	e := engine.New(options)
	e.RetryTogether()
	return e
}

// nextName implements [engine.Options.Name].
func (c *cluster) nextName(_ engine.Key, prefix string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.names) == 0 {
		return naming.Random(prefix)
	}
	name := c.names[0]
	c.names = c.names[1:]
	return prefix + name
}

// lockedLog is written to by all workers.
type lockedLog struct{ *cluster }

func (l lockedLog) Write(data []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.log.Write(data)
}

// logText is the log so far.
func (c *cluster) logText() (text string) {
	c.locked(func() { text = c.log.String() })
	return text
}

// keyOf is the key of an object; one that does not say its kind is a widget.
func keyOf(object map[string]any) engine.Key {
	u := unstructured.Unstructured{Object: object}
	key := engine.Key{GVR: widgets, Namespace: u.GetNamespace(), Name: u.GetName()}
	if u.GetKind() != "" {
		key.GVR, _ = meta.UnsafeGuessKindToResource(u.GroupVersionKind())
	}
	return key
}

func item(name string) engine.Key { return engine.Key{GVR: items, Namespace: "ns", Name: name} }

func uidOf(object map[string]any) string {
	return string((&unstructured.Unstructured{Object: object}).GetUID())
}

func resourceVersion(object map[string]any) string {
	return (&unstructured.Unstructured{Object: object}).GetResourceVersion()
}

func keys[V any](m map[engine.Key]V) []engine.Key { return slices.Collect(maps.Keys(m)) }
