package informer

import (
	"slices"
	"strings"
	"sync/atomic"
	"time"

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
	s.count.Lock()
	defer s.count.Unlock()
	out := make([]Load, 0, len(s.running))
	for key, r := range s.running {
		out = append(out, Load{key, int(r.load.objects.Load()), max(0, r.load.bytes), r.load.heard.Load().Round(0)})
	}
	slices.SortFunc(out, func(a, b Load) int { return strings.Compare(a.Key.String(), b.Key.String()) })
	return out
}

// load is what one informer holds, and when it was heard. It is safe for concurrent use.
type load struct {
	clock     clock.PassiveClock
	objects   atomic.Int64 // that the handler was told of
	heard     atomic.Pointer[time.Time]
	bookmarks atomic.Bool // the API server sends bookmarks

	bytes   int64 // those of a first list that is under way included; this and the rest is guarded by [Set.count]
	exceeds bool  // it was told that the caches take too much because of this one
	gone    bool  // nothing is counted any more
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
