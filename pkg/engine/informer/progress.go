package informer

import (
	"time"

	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/apimachinery/pkg/watch"
)

// progress is how far a cache follows the API server.
type progress struct {
	heard     time.Time // the last list, event or bookmark
	bookmarks bool      // the API server sends bookmarks
	watching  *watch.ProxyWatcher
	opened    time.Time // when that watch began

	reached     observation // a version that the cache has come to
	first, next observation // the first one after that, and the last, that it may not have come to yet
	asked       time.Time   // when a version was last asked for, or will be; a list counts as half a second before it began
	missed      time.Time   // when a version was last wanted and not there
	began       time.Time   // when the list that is under way began

	// relisting is why the cache has to be listed anew, and listing since when; nil where it has not. Where nobody answered for
	// a while, etcd may have been restored from a snapshot: a watch that goes on from the last version would leave out the part
	// of the new history that is before it.
	relisting error
	listing   time.Time
}

// observation is a version of the resource that the API server gave, and the moment before it was asked for it.
type observation struct {
	version string
	at      time.Time
}

// invalidate notes that the cache has to be listed anew.
func (p *progress) invalidate(now time.Time, why error) {
	p.listing, p.relisting = now, why
	p.reached, p.first, p.next = observation{}, observation{}, observation{} // Of a history that may not be this one.
}

// expect takes a version that the cache is to come to. What was asked for, or written, before the list began may be of another history,
// and an answer may be late.
func (p *progress) expect(newer observation) {
	if newer.at.After(p.next.at) && newer.at.After(p.reached.at) && !newer.at.Before(p.began) {
		p.next = newer
		if p.first.version == "" {
			p.first = newer
		}
	}
}

// reach takes a version up to which the cache shows all. A cache that stays behind never comes to the last version, and to the first one all the
// same.
func (p *progress) reach(version string) {
	has := func(o observation) bool {
		order, err := resourceversion.CompareResourceVersion(version, o.version)
		return err == nil && order >= 0
	}
	switch {
	case has(p.next):
		p.reached, p.first, p.next = p.next, observation{}, observation{}
	case has(p.first):
		p.reached, p.first = p.first, p.next
	}
}
