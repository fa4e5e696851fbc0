package limit

import (
	"encoding/base64"
	"hash/fnv"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// Count has objects that a rule has written for, as it is stored for the next process. It
// is comparable.
type Count struct {
	Rule plan.Rule
	// Digest is that of the rule.
	Digest string
	// At is when it last wrote for any of them, in UTC and whole seconds, rounded up.
	At time.Time
	// Objects are marks of the objects, each 4 letters of base64, in order.
	Objects string
}

const (
	// countParts is into how many parts of a window what is stored is divided.
	countParts = 8
	// mostCounted bounds the objects that are stored of a rule: the last ones.
	mostCounted = 4096
	// unstoredShare is which part of its limit a rule may write for that is not stored yet.
	unstoredShare = 10
)

// mark is a short name of an object: 1 of 16 million.
func mark(object types.UID) types.UID {
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(object))
	sum := hash.Sum32()
	sum ^= sum >> 24
	return types.UID(base64.RawURLEncoding.EncodeToString([]byte{byte(sum >> 16), byte(sum >> 8), byte(sum)}))
}

const markLength = 4

// counts are what is in a window, to be stored.
func (s *state) counts() []Count {
	part := max(s.Limits.Per/countParts, time.Second)
	var out []Count
	marks := map[time.Time][]types.UID{}
	n := 0
	for e := s.window.written.Back(); e != nil; e = e.Prev() {
		one, _ := e.Value.(*entry)
		one.storing = one.at
		if n++; n <= mostCounted {
			at := one.at.UTC().Add(part - 1).Truncate(part)
			marks[at] = append(marks[at], s.window.nameOf(one))
		}
	}
	for at, of := range marks {
		slices.Sort(of)
		var text strings.Builder
		for _, one := range of {
			text.WriteString(string(one))
		}
		out = append(out, Count{Rule: s.ID, Digest: s.Digest, At: at, Objects: text.String()})
	}
	return SortedCounts(out)
}

// restore takes over what an earlier process has stored. Its window is empty.
func (s *state) restore(stored []Count, now time.Time) {
	for _, c := range SortedCounts(slices.Clone(stored)) {
		if c.Rule != s.ID || c.Digest != s.Digest {
			continue
		}
		s.stored = append(s.stored, c)
		at := c.At
		if at.After(now) {
			at = now
		}
		for i := 0; i+markLength <= len(c.Objects); i += markLength {
			s.window.restore(types.UID(c.Objects[i:i+markLength]), at)
		}
	}
}

// SortedCounts returns them in order.
func SortedCounts(counts []Count) []Count {
	slices.SortFunc(counts, func(a, b Count) int {
		if order := (Pause{Rule: a.Rule}).compare(Pause{Rule: b.Rule}); order != 0 {
			return order
		}
		return a.At.Compare(b.At)
	})
	return counts
}

// StoreCounts returns what is to be stored in place of what is, as [Limits.Store] does of
// pauses.
func (l *Limits) StoreCounts(stored []Count, gone func(plan.Rule) bool) []Count {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []Count
	for _, c := range stored {
		s := l.rules[c.Rule]
		if s != nil && !s.known || s == nil && !gone(c.Rule) {
			out = append(out, c)
		}
	}
	for id, s := range l.rules {
		if _, unsaved := l.unsaved[id]; unsaved {
			s.stored = s.counts()
		}
		if s.known {
			out = append(out, s.stored...)
		}
	}
	return SortedCounts(out)
}

// Recall takes over what is stored, of the sets that could be read, before [Limits.Learn] is
// told the same of pauses.
func (l *Limits) Recall(stored []Count, read func(set plan.Rule) bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for id, s := range l.rules {
		if !s.known && read(id.OfSet()) {
			s.restore(stored, l.clock.Now())
		}
	}
}
