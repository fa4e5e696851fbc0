package informer

import "sync"

// Peers are the informers that ask one API server, of one set or several. By how the others
// fare, one that gets no answer tells an outage of the server from one of its resource alone.
// After the first, client-go lists again by itself, each cache after a back-off of its own, and
// only what has changed is news; caches that all began anew would have all objects looked at
// again. They also have a bound of first lists in common, and the objects that several of them
// hold. It is safe for concurrent use.
type Peers struct {
	lists   chan struct{} // an element for each first list that is under way
	objects *interned

	mu  sync.Mutex
	all map[*running]bool // guarded by mu
}

// NewPeers returns none.
func NewPeers() *Peers {
	return &Peers{lists: make(chan struct{}, maxFirstLists), objects: newInterned(), all: map[*running]bool{}}
}

// Among has a set that has no informers yet be one of several that ask the same API server.
// It returns the set.
func (s *Set) Among(peers *Peers) *Set {
	s.peers = peers
	return s
}

func (p *Peers) join(r *running) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all[r] = true
}

func (p *Peers) leave(r *running) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.all, r)
}

// isServerDown reports whether it seems to be the API server itself that does not answer: there are
// informers of other resources, and none of them has an answer either. Those of one version of
// a group may be down together, as one aggregated API. Of who has nobody to compare with it is
// taken to be the resource.
func (p *Peers) isServerDown(unanswered *running) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	others := false
	for r := range p.all {
		if r.key.GVR != unanswered.key.GVR && r.isAnswered() {
			return false
		}
		others = others || r.key.GVR.GroupVersion() != unanswered.key.GVR.GroupVersion()
	}
	return others
}

// isAnswered reports whether the last request has an answer, be it that the resource is not
// there, or is not to be read.
func (r *running) isAnswered() bool {
	err := r.errors.latest()
	return err == nil && r.informer.HasSynced() || refuses(err) && !isUnavailable(err)
}
