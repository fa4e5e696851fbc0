package informer

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/utils/clock"
)

// Load is what one informer holds, and how fresh that is.
type Load struct {
	Key     Key
	Objects int
	// Bytes estimates the memory that the objects take. It is off by some tenths.
	Bytes int64
	// Heard is when the API server last answered a list of it, or sent an event or
	// a bookmark; before the first answer, when it was started. The API server sends
	// a bookmark about once a minute: a watch that is not heard of for longer is cut off, and ended.
	Heard time.Time
}

// Loads lists what the informers hold that run, in a stable order. It costs little, however
// many objects there are.
func (s *Set) Loads() []Load {
	s.mu.RLock()
	defer s.mu.RUnlock()
	out := make([]Load, 0, len(s.running))
	for key, r := range s.running {
		out = append(out, r.load.read(key))
	}
	slices.SortFunc(out, func(a, b Load) int { return strings.Compare(a.Key.String(), b.Key.String()) })
	return out
}

// load counts what one informer holds, as its handler is told of it, and when it was
// heard. It is safe for concurrent use; a nil one counts nothing.
type load struct {
	clock   clock.PassiveClock
	objects atomic.Int64
	bytes   atomic.Int64
	heard   atomic.Pointer[time.Time]
	// bookmarks says that the API server sends bookmarks.
	bookmarks atomic.Bool
}

func newLoad(c clock.PassiveClock) *load {
	l := &load{clock: c}
	l.hear()
	return l
}

func (l *load) hear() {
	now := l.clock.Now()
	l.heard.Store(&now)
}

// silence is for how long nothing was heard, whatever the wall clock was set to.
func (l *load) silence() time.Duration { return l.clock.Since(*l.heard.Load()) }

// replace counts an object as it is now for what it was before; nil is none. It returns by how much there is more.
func (l *load) replace(before, after map[string]any) int64 {
	if l == nil {
		return 0
	}
	grown := sizeOf(after) - sizeOf(before)
	l.bytes.Add(grown)
	return grown
}

// add counts that there are more or fewer objects.
func (l *load) add(objects int64) {
	if l != nil {
		l.objects.Add(objects)
	}
}

func (l *load) read(key Key) Load {
	return Load{
		Key: key, Objects: int(l.objects.Load()), Bytes: max(0, l.bytes.Load()),
		Heard: l.heard.Load().Round(0),
	}
}

// What values take in memory: a string or a value of any type is two words, and a map has
// its slots in groups of 8, each of a key, a value and a byte.
const (
	word      = 8
	twoWords  = 2 * word
	mapHeader = 6 * word
	mapSlots  = 8
	slotSize  = 2*twoWords + 1
)

// sizeOf estimates what a decoded object takes, in bytes.
func sizeOf(value any) int64 {
	switch value := value.(type) {
	case map[string]any:
		return sizeOfMap(value)
	case []any:
		size := int64(twoWords + word)
		for _, element := range value {
			size += twoWords + sizeOf(element)
		}
		return size
	case string:
		return twoWords + sizeOfText(value)
	case nil, bool:
		return 0 // The two of them are there once.
	default:
		return word
	}
}

func sizeOfMap(fields map[string]any) int64 {
	if fields == nil {
		return 0
	}
	slots := mapSlots
	if len(fields) > slots { // From then on, an eighth stays free.
		for len(fields) > slots/mapSlots*(mapSlots-1) {
			slots *= 2
		}
	}
	size := int64(mapHeader + slots*slotSize)
	for key, value := range fields {
		size += sizeOfText(key) + sizeOf(value)
	}
	return size
}

// sizeOfText is without the header of the string.
func sizeOfText(text string) int64 { return int64(len(text)+word-1) / word * word }

// heardWatch is a watch that tells its informer of each event but errors, bookmarks included. What
// stops it need not read it to its end.
type heardWatch struct {
	watch.Interface
	of      *running
	opened  time.Time
	quorum  bool   // it begins with a list of a quorum
	filled  func() // its first list is complete, or has failed; may be called several times
	out     chan watch.Event
	stop    sync.Once
	stopped chan struct{}
}

func (r *running) hear(w watch.Interface, quorum bool, filled func()) watch.Interface {
	h := &heardWatch{
		Interface: w, of: r, opened: r.load.clock.Now(), quorum: quorum, filled: filled,
		out: make(chan watch.Event), stopped: make(chan struct{}),
	}
	r.watch.Store(h)
	if r.bound.outdated() { // Since it was asked for.
		h.Stop()
	}
	go h.pass()
	return h
}

// ResultChan implements [watch.Interface].
func (h *heardWatch) ResultChan() <-chan watch.Event { return h.out }

// Stop implements [watch.Interface].
func (h *heardWatch) Stop() {
	h.stop.Do(func() { close(h.stopped) })
	h.Interface.Stop()
}

func (h *heardWatch) pass() {
	defer close(h.out)
	defer h.filled()
	for {
		event, open := h.next()
		if !open {
			return
		}
		if event.Type != watch.Error {
			h.of.heard()
		}
		switch event.Type {
		case watch.Bookmark:
			h.bookmark(event.Object)
		case watch.Added:
			h.of.arrived(fieldsOf(event.Object))
		default:
		}
		select {
		case h.out <- event:
		case <-h.stopped:
			return
		}
	}
}

// bookmark notes that there are bookmarks, and the one that ends the list at the beginning.
func (h *heardWatch) bookmark(object runtime.Object) {
	h.of.load.bookmarks.Store(true)
	of, err := meta.Accessor(object)
	if err != nil || of.GetAnnotations()[metav1.InitialEventsAnnotationKey] != "true" {
		return
	}
	h.filled()
	if h.quorum {
		h.of.listed(of.GetResourceVersion())
	}
}

func (h *heardWatch) next() (event watch.Event, open bool) {
	select {
	case event, open = <-h.Interface.ResultChan():
	case <-h.stopped:
	}
	return event, open
}
