package operator

import (
	"maps"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/internal/source"
)

// How long it takes until it is tried again to let go of a set: the longer, the more
// often it was tried in vain.
const (
	dischargeSoonest = time.Second
	dischargeLatest  = 5 * time.Minute
)

// patience is what became of sets that could not be let go of, so that they cost little,
// however many somebody has. It is not safe for concurrent use.
type patience map[source.Key]*tried

// tried is what became of one set.
type tried struct {
	about condition
	wait  time.Duration // how long it rested last, 0 for not yet
	next  time.Time     // when it is due
	said  string        // what went wrong last, empty for nothing
}

// condition is what a set was like when it was tried.
type condition struct {
	uid     types.UID
	version string // of the resource
	taken   bool
}

// of returns what is known of a set, which is due at once where it has changed.
func (p patience) of(set *object) *tried {
	now := condition{set.UID, set.ResourceVersion, set.taken}
	t := p[set.Key]
	switch {
	case t == nil || t.about.uid != now.uid:
		t = &tried{about: now}
	case t.about != now:
		t = &tried{about: now, said: t.said}
	}
	p[set.Key] = t
	return t
}

// keep forgets all but these sets.
func (p patience) keep(sets []*object) {
	still := make(map[source.Key]bool, len(sets))
	for _, set := range sets {
		still[set.Key] = true
	}
	maps.DeleteFunc(p, func(key source.Key, _ *tried) bool { return !still[key] })
}

// due reports whether the set is to be tried.
func (t *tried) due(now time.Time) bool { return !now.Before(t.next) }

// take notes how a try went, and reports whether that is to be told.
func (t *tried) take(now time.Time, err error) (news bool) {
	t.wait = min(max(2*t.wait, dischargeSoonest), dischargeLatest)
	t.next = now.Add(t.wait)
	news = err != nil && err.Error() != t.said
	t.said = text(err)
	return news
}
