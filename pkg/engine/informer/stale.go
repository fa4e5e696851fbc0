package informer

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// MaxStaleness is how far a cache may be behind the API server that [Set.Fresh] calls fresh.
const MaxStaleness = 2 * time.Second

// The API server sends a bookmark about once a minute, so a watch that has been silent for longer is cut off, unless the
// API server sends no bookmarks.
const (
	maxSilence   = 90 * time.Second
	silenceCheck = 30 * time.Second // how often that is looked at
)

// Why a cache is listed anew.
var (
	errSilent   = errors.New("the watch has not sent anything, not even a bookmark, for " + maxSilence.String())
	errBehind   = errors.New("the watch does not send what the API server has stored for some time")
	errRestored = errors.New("the API server has gone back to an older version, as after a restore of etcd")
)

// Fresh reports whether a cache shows all that the API server had stored at a moment less than [MaxStaleness] ago, and
// returns that moment. It does not wait: the cache is compared with a version of its resource that the API server gave in
// the last seconds. Where there is none the answer is no, and who asks is expected to read live. The version is asked for
// in the background when it is wanted a second time soon after, so that one request serves many objects that change
// together, and none is sent for an object that changes alone.
//
// A cache of a resource that does not change has no newer version than its last event or bookmark. It is not fresh,
// although it lacks nothing.
func (s *Set) Fresh(key Key) (at time.Time, fresh bool) {
	r := s.find(key)
	if r == nil || !r.informer.HasSynced() {
		return time.Time{}, false
	}
	return r.fresh()
}

// Relist has a cache listed anew that has been found to lack something, for example because its watch has stopped to
// deliver. What is cached stays visible until the list is there.
func (s *Set) Relist(key Key) {
	r := s.find(key)
	if r != nil && r.informer.HasSynced() {
		r.relist(errBehind)
	}
}

// relist ends the watch, so that the reflector begins anew, with a list. A list that is due, or under way, shows what the
// watch has left out.
func (r *running) relist(why error) {
	if due := r.bound.reason(); due != nil && errors.Is(why, errBehind) {
		return
	}
	r.bound.invalidate(r.load.clock.Now(), why)
	r.log.Warn("the cache is listed anew", "gvr", plan.ResourceName(r.key.GVR), "informer", r.key.String(), "err", why)
	if w := r.watching.Load(); w != nil {
		w.Stop()
	}
}

// bound is the newest version of a resource that the API server gave, and whether the history that the cache follows is
// still that of the API server. It is safe for concurrent use; the zero value knows nothing.
type bound struct {
	mu sync.Mutex
	// reached is a version that the cache has come to, and next a newer one that it may have to come to yet; guarded by mu.
	reached, next observation
	asking        bool      // a request for a version is under way; guarded by mu
	missed        time.Time // when one was last wanted and not there; guarded by mu
	// listing is since when the cache has to be listed anew, zero where it has not. Where nobody answered for a while,
	// etcd may have been restored from a snapshot: a watch that goes on from the last version would leave out what
	// other history there is before it. Guarded by mu.
	listing time.Time
	why     error // the same; guarded by mu
	// began is when the list that is under way began; guarded by mu.
	began time.Time
}

// observation is a version that the API server gave, and the moment before it was asked for it.
type observation struct {
	version string
	at      time.Time
}

// Age is the time since a moment by the clock that runs faster, for a clock may stop while the machine sleeps, and
// another may be set back.
func Age(now, since time.Time) time.Duration {
	return max(now.Sub(since), now.Round(0).Sub(since.Round(0)))
}

// fresh is [Set.Fresh] for one informer.
func (r *running) fresh() (at time.Time, fresh bool) {
	now, store := r.load.clock.Now(), r.version()
	b := &r.bound
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.next.version != "" && reached(store, b.next.version) {
		b.reached, b.next = b.next, observation{}
	}
	fresh = b.listing.IsZero() && b.reached.version != "" && Age(now, b.reached.at) < MaxStaleness
	again := fresh || Age(now, b.missed) < MaxStaleness
	if !fresh {
		b.missed = now
	}
	newest := b.reached.at
	if b.next.version != "" {
		newest = b.next.at
	}
	if again && !b.asking && Age(now, newest) > MaxStaleness/2 {
		b.asking = true
		go r.ask()
	}
	return b.reached.at, fresh
}

// version is how far the store is; see [Set.Version].
func (r *running) version() string { return r.informer.GetIndexer().LastStoreSyncResourceVersion() }

// reached reports whether a version is the other one or a later one.
func reached(version, other string) bool {
	order, err := resourceversion.CompareResourceVersion(version, other)
	return err == nil && order >= 0
}

// ask reads the newest version of the resource. One object of a list tells it: the list is that of a quorum.
func (r *running) ask() {
	ctx, cancel := context.WithTimeout(r.ctx, MaxStaleness)
	defer cancel()
	options := metav1.ListOptions{Limit: 1}
	if strings.Contains(r.key.FieldSelector, "metadata.name") {
		options.FieldSelector = r.key.FieldSelector // Who has a right to this name alone may list nothing else.
	}
	before, at := r.version(), r.load.clock.Now()
	list, err := r.resource.List(ctx, options)
	b := &r.bound
	b.mu.Lock()
	b.asking = false
	b.mu.Unlock()
	if err == nil {
		r.observe(list.GetResourceVersion(), before, at)
	}
}

// observe takes a version that the API server gave of the resource. It is later than what the store had when it was
// asked for, unless etcd was restored from a snapshot meanwhile: all that is cached is then of another history, which
// nothing in the new one takes back.
func (r *running) observe(version, before string, at time.Time) {
	b := &r.bound
	if order, err := resourceversion.CompareResourceVersion(version, before); err == nil && order < 0 {
		r.relist(fmt.Errorf("%w: %s after %s", errRestored, version, before))
		r.set.renew(r)
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if at.After(b.next.at) {
		b.next = observation{version, at}
	}
}

// invalidate notes that the cache has to be listed anew.
func (b *bound) invalidate(now time.Time, why error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.listing, b.why = now, why
	b.reached, b.next = observation{}, observation{} // Of a history that may not be this one.
}

// outdated reports whether the cache has to be listed anew since the last list began.
func (b *bound) outdated() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.listing.After(b.began)
}

// reason is why the cache has to be listed anew, nil where it has not.
func (b *bound) reason() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.why
}

// errListAnew has the reflector forget the version that it has come to, and list with a quorum.
var errListAnew = apierrors.NewResourceExpired("the cache is listed anew")

// begin notes that a request begins. It reports whether it may be sent: not one that goes on from an earlier version
// although the cache has to be listed anew.
func (r *running) begin(options metav1.ListOptions) bool {
	b := &r.bound
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case options.ResourceVersionMatch == metav1.ResourceVersionMatchExact:
		return true // Only client-go's check of what it has listed asks so.
	case options.ResourceVersion != "":
		return b.listing.IsZero()
	}
	if options.Continue == "" {
		b.began = r.load.clock.Now()
	}
	return true
}

// listed takes the version of a list of a quorum that is complete.
func (r *running) listed(version string) {
	b := &r.bound
	b.mu.Lock()
	at := b.began
	if !at.Before(b.listing) {
		b.listing, b.why = time.Time{}, nil
	}
	b.mu.Unlock()
	r.observe(version, r.version(), at)
}

// lost notes how a request went: where nobody answered, the API server may be another one when somebody does.
func (r *running) lost(err error) {
	var status apierrors.APIStatus
	if err == nil || errors.Is(err, context.Canceled) || errors.As(err, &status) && !isUnavailable(err) {
		return
	}
	r.bound.invalidate(r.load.clock.Now(), err)
}

// followSilence ends watches that have been silent for too long until the context is done.
func (r *running) followSilence(ctx context.Context) {
	wait.JitterUntilWithContext(ctx, func(context.Context) {
		w := r.watching.Load()
		if !r.informer.HasSynced() || r.load.silence() < maxSilence || w != nil && Age(r.load.clock.Now(), w.opened) < maxSilence {
			return
		}
		r.ask()
		if r.load.bookmarks.Load() {
			r.relist(errSilent)
		}
	}, silenceCheck, 0.5, true)
}
