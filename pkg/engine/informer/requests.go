package informer

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/utils/clock"

	"github.com/dyncontroller/dyncontroller/pkg/client"
	"github.com/dyncontroller/dyncontroller/pkg/engine/compact"
	"github.com/dyncontroller/dyncontroller/pkg/engine/live"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// The reflector lists and watches through list and watch, by which the informer knows how each request went, and each event.
// The reflector does not report all failures: a streamed first list that is refused a connection, or told to slow down, is
// tried again without a call of the watch error handler.

// The API server sends a bookmark about once a minute, so a watch that has been silent for longer is cut off, unless the
// API server sends no bookmarks. A watch that is the first list ends with one in any case.
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

// maxFirstList is how long a first list counts among [maxFirstLists]: lists that hang must not keep all others out.
const maxFirstList = 10 * time.Second

// errListAnew has the reflector forget its version, and list with a quorum.
var errListAnew = apierrors.NewResourceExpired("the cache is listed anew")

func (r *running) list(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
	return untilAnswered(ctx, r, isUnanswered, func() (runtime.Object, error) { return r.listOnce(ctx, options) })
}

// watch does not wait where the reflector lists after an error.
func (r *running) watch(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	again := func(err error) bool { return options.SendInitialEvents != nil && utilnet.IsConnectionRefused(err) }
	return untilAnswered(ctx, r, again, func() (watch.Interface, error) { return r.watchOnce(ctx, options) })
}

// untilAnswered sends a request again while nobody answers it. The reflector would wait for up to a minute before it does so, and
// nothing can end its wait when another informer is answered.
func untilAnswered[T any](ctx context.Context, r *running, again func(error) bool, request func() (T, error)) (T, error) {
	for attempt := 0; ; attempt++ {
		answered := r.set.options.Shared.reconnects.answered()
		answer, err := request()
		if err == nil || !again(err) || !r.set.options.Shared.reconnects.wait(ctx, attempt, answered) {
			return answer, err
		}
	}
}

func (r *running) listOnce(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
	first := !r.hasSynced() && options.ResourceVersionMatch != metav1.ResourceVersionMatchExact
	end, err := r.begin(ctx, first, &options)
	if err != nil {
		return nil, err
	}
	defer end()
	list, err := r.page(ctx, options)
	r.answered(true, err)
	if err != nil {
		return nil, err
	}
	kept := &internalversion.List{ListMeta: metav1.ListMeta{
		ResourceVersion: list.GetResourceVersion(), Continue: list.GetContinue(), RemainingItemCount: list.GetRemainingItemCount(),
	}}
	for i := range list.Items {
		kept.Items = append(kept.Items, r.arrived(&list.Items[i], first))
		list.Items[i].Object = nil
	}
	if options.ResourceVersion == "" && list.GetContinue() == "" {
		r.listed(list.GetResourceVersion())
	}
	return kept, nil
}

// page asks for a list, or a page of it. The API server may give whole lists from its cache although a page was asked for; if one is too
// large, it is asked for pages.
func (r *running) page(ctx context.Context, options metav1.ListOptions) (*unstructured.UnstructuredList, error) {
	list, err := r.resource.List(ctx, options)
	for _, tooLarge := errors.AsType[*client.SizeError](err); tooLarge; _, tooLarge = errors.AsType[*client.SizeError](err) {
		switch {
		case options.Limit == 0 && options.ResourceVersion != "":
			return nil, errListAnew // From the storage, page by page.
		case options.Limit <= 1:
			return nil, err
		case options.ResourceVersion == "":
			options.Limit = max(1, options.Limit/16)
		}
		options.ResourceVersion, options.ResourceVersionMatch = "", ""
		list, err = r.resource.List(ctx, options)
	}
	if err != nil {
		return nil, err //nolint:wrapcheck // The reflector tells errors of the API server apart.
	}
	for i := range list.Items {
		if err := live.CheckListed(r.key, &list.Items[i]); err != nil {
			return nil, err //nolint:wrapcheck // As above.
		}
	}
	return list, nil
}

func (r *running) watchOnce(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	first := options.SendInitialEvents != nil && !r.hasSynced()
	end, err := r.begin(ctx, first, &options)
	if err != nil {
		return nil, err
	}
	w, err := r.resource.Watch(ctx, options)
	r.answered(false, err)
	if err != nil {
		end()
		return nil, err
	}
	if options.SendInitialEvents == nil && r.hasSynced() {
		askSoon(r) // It goes on from a version that the API server may not have come to.
	}
	return r.pass(w, options.ResourceVersion == "", first, end), nil
}

// begin waits until a request may be sent, and adds the selectors. A request that goes on from an earlier version is refused
// where the cache has to be listed anew. The caller calls end, once or more, when a first list is complete or has failed. A
// first list that has taken too long does not wait any more: with each attempt it would keep out others that are answered.
func (r *running) begin(ctx context.Context, first bool, options *metav1.ListOptions) (end func(), err error) {
	options.LabelSelector, options.FieldSelector = r.key.LabelSelector, r.key.FieldSelector
	end = func() {}
	if first && options.Continue == "" {
		r.set.shrink(r) // What came of the last attempt is gone.
	}
	if first && !r.slow.Load() {
		free, err := r.set.options.Shared.lists.take(ctx, r.set)
		if err != nil {
			return nil, fmt.Errorf("waiting to list %s: %w", r.key, err)
		}
		late := clock.RealClock{}.AfterFunc(maxFirstList, func() {
			r.slow.Store(true)
			r.set.log.Warn("the first list takes longer than ten seconds", "gvr", plan.ResourceName(r.key.GVR), "informer", r.key.String())
			free()
		})
		end = func() {
			late.Stop()
			free()
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case options.ResourceVersionMatch == metav1.ResourceVersionMatchExact: // Only client-go's check of what it has listed asks so.
	case options.ResourceVersion != "" && r.relisting != nil:
		end()
		return nil, errListAnew
	case options.ResourceVersion == "" && options.Continue == "":
		r.began = r.set.clock.Now()
	}
	return end, nil
}

// answered takes how a request went. Where it shows that the cache is out of date, and may never be right again, the informer
// begins anew. That a watch begins does not say that it delivers.
func (r *running) answered(list bool, err error) {
	if errors.Is(err, context.Canceled) {
		return
	}
	now := r.set.clock.Now()
	r.mu.Lock()
	if err == nil && list {
		r.heard = now
	}
	if isUnanswered(err) {
		r.invalidate(now, err) // The API server may be another one, of a restored etcd, when it answers.
	} else if isUnanswered(r.err) {
		r.set.options.Shared.reconnects.announce()
	}
	err = explain(r.key, err)
	isNew := r.add(err)
	outdated := r.outdates(list, err)
	r.mu.Unlock()
	if isNew {
		r.set.log.Warn("cannot list or watch", "gvr", plan.ResourceName(r.key.GVR), "informer", r.key.String(), "err", err)
	}
	if err != nil {
		r.set.handler.Troubled(r.key, err)
	}
	switch {
	case !outdated || !r.hasSynced():
	case isUnavailable(err) && r.set.options.Shared.isServerDown(r):
		r.mu.Lock()
		r.unanswered = 0
		r.mu.Unlock()
	default:
		r.renew()
	}
}

// arrived returns what is kept of an object. It counts that of a first list, before it is in the cache.
func (r *running) arrived(object *unstructured.Unstructured, first bool) *compact.Object {
	kept := r.keep(object)
	if first {
		r.set.grow(r, kept.Size())
	}
	return kept
}

// pass returns a watch that passes on the events of another, and notes them. Whoever stops it need not read it to its end.
// quorum says that it begins with a list of a quorum, first that this is the first list, which end ends.
func (r *running) pass(from watch.Interface, quorum, first bool, end func()) watch.Interface {
	out := make(chan watch.Event)
	to := watch.NewProxyWatcher(out)
	r.mu.Lock()
	r.watching, r.opened = to, r.set.clock.Now()
	if r.listing.After(r.began) { // The cache has to be listed anew since the watch was asked for.
		to.Stop()
	}
	r.mu.Unlock()
	go func() {
		defer close(out)
		defer from.Stop()
		defer end()
		defer func() {
			r.mu.Lock()
			defer r.mu.Unlock()
			if r.watching == to {
				r.watching = nil
			}
		}()
		for {
			var event watch.Event
			var open bool
			select {
			case event, open = <-from.ResultChan():
			case <-to.StopChan():
			}
			if !open {
				return
			}
			object, ok := event.Object.(*unstructured.Unstructured)
			if event.Type != watch.Error {
				r.hear(event.Type == watch.Bookmark)
			}
			if ok && event.Type != watch.Bookmark {
				if err := live.CheckListed(r.key, object); err != nil {
					r.answered(false, err)
					return
				}
				event.Object = r.arrived(object, first && event.Type == watch.Added)
			}
			if ok && event.Type == watch.Bookmark && object.GetAnnotations()[metav1.InitialEventsAnnotationKey] == "true" {
				first = false
				end()
				if quorum {
					r.listed(object.GetResourceVersion())
				}
			}
			select {
			case out <- event:
			case <-to.StopChan():
				return
			}
		}
	}()
	return to
}

// hear notes that the API server has sent something that is no error.
func (r *running) hear(bookmark bool) {
	r.mu.Lock()
	r.heard, r.bookmarks = r.set.clock.Now(), r.bookmarks || bookmark
	again := len(r.logged) > 0
	clear(r.logged)
	r.mu.Unlock()
	if again {
		r.set.log.Info("can list and watch again", "gvr", plan.ResourceName(r.key.GVR), "informer", r.key.String())
	}
}

// relist ends the watch, so that the reflector begins anew, with a list. A list that is due, or under way, shows what the
// watch has left out.
func (r *running) relist(why error) {
	r.mu.Lock()
	if r.relisting != nil && errors.Is(why, errBehind) {
		r.mu.Unlock()
		return
	}
	r.invalidate(r.set.clock.Now(), why)
	w := r.watching
	r.mu.Unlock()
	r.set.log.Warn("the cache is listed anew", "gvr", plan.ResourceName(r.key.GVR), "informer", r.key.String(), "err", why)
	if w != nil {
		w.Stop()
	}
}

// askSoon asks for the newest version of the resource a second after it was last asked for, at the soonest.
func askSoon(r *running) {
	now := r.set.clock.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.asked.After(now) {
		return // It will be asked for.
	}
	after := max(0, MaxStaleness/2-Age(now, r.asked))
	r.asked = now.Add(after)
	clock.RealClock{}.AfterFunc(after, func() { r.ask() })
}

// ask reads the newest version of the resource, as of a moment. A list of one object has it: the list is that of a quorum.
func (r *running) ask() (newest observation) {
	ctx, cancel := context.WithTimeout(client.Ahead(r.ctx), MaxStaleness)
	defer cancel()
	options := metav1.ListOptions{Limit: 1}
	if strings.Contains(r.key.FieldSelector, "metadata.name") {
		options.FieldSelector = r.key.FieldSelector // A right to this name alone allows no other list.
	}
	before, at := r.version(), r.set.clock.Now()
	if list, err := r.resource.List(ctx, options); err == nil {
		newest = observation{list.GetResourceVersion(), at}
		r.observe(newest.version, before, at)
	}
	return newest
}

// shortWatch is how many seconds a watch lasts that is opened for its bookmarks. The API server sends one two seconds before the end.
const shortWatch = 3

// catchUp finds out whether the cache shows the newest version of the resource. Its watch brings that version with the next event.
// If there is none, the bookmarks of a short watch from the version of the cache say so. They count while the cache is that of the
// list that began then: after a restore of etcd, versions may be of another history.
func catchUp(r *running, began time.Time) {
	newest, from := r.ask(), r.version()
	if order, err := resourceversion.CompareResourceVersion(from, newest.version); err != nil || order >= 0 {
		return
	}
	ctx, cancel := context.WithTimeout(client.Ahead(r.ctx), shortWatch*time.Second)
	defer cancel()
	w, err := r.resource.Watch(ctx, metav1.ListOptions{
		LabelSelector: r.key.LabelSelector, FieldSelector: r.key.FieldSelector,
		ResourceVersion: from, AllowWatchBookmarks: true, TimeoutSeconds: new(int64(shortWatch)),
	})
	if err != nil {
		return
	}
	defer w.Stop()
	for event := range w.ResultChan() {
		bookmark, is := event.Object.(*unstructured.Unstructured)
		if !is || event.Type != watch.Bookmark {
			return // Something has changed. The watch of the cache brings it.
		}
		r.mu.Lock()
		if r.relisting == nil && r.began.Equal(began) {
			r.reach(bookmark.GetResourceVersion())
		}
		r.mu.Unlock()
	}
}

// listed takes the version of a list of a quorum that is complete.
func (r *running) listed(version string) {
	r.mu.Lock()
	at := r.began
	if !at.Before(r.listing) {
		r.listing, r.relisting = time.Time{}, nil
	}
	// So the next version is asked for early enough for its bookmark to come before the list is too old.
	r.asked = slices.MaxFunc([]time.Time{r.asked, at.Add(-MaxStaleness / 4)}, time.Time.Compare)
	r.mu.Unlock()
	r.observe(version, r.version(), at)
}

// observe takes a version that the API server gave of the resource. It is later than the version of the store when it was
// asked for, unless etcd was restored from a snapshot meanwhile. Then the whole cache is of another history, and no event of
// the new history corrects it.
func (r *running) observe(version, before string, at time.Time) {
	if order, err := resourceversion.CompareResourceVersion(version, before); err == nil && order < 0 {
		r.relist(fmt.Errorf("%w: %s after %s", errRestored, version, before))
		r.renew()
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.expect(observation{version, at})
}

// followSilence ends watches that have been silent for too long. It needs no goroutine while it waits.
func (r *running) followSilence() {
	clock.RealClock{}.AfterFunc(wait.Jitter(silenceCheck, 0.5), func() {
		if r.ctx.Err() != nil {
			return
		}
		defer r.followSilence()
		now := r.set.clock.Now()
		r.mu.Lock()
		silent := now.Sub(r.heard) >= maxSilence && (r.watching == nil || Age(now, r.opened) >= maxSilence)
		watching, bookmarks := r.watching != nil, r.bookmarks
		r.mu.Unlock()
		switch first := !r.hasSynced(); {
		case !silent:
		case first && watching:
			r.relist(errSilent)
		case !first:
			if r.ask(); bookmarks {
				r.relist(errSilent)
			}
		}
	})
}

// health is what the requests of an informer came to, and how far its cache follows the API server. mu guards all of it.
type health struct {
	mu sync.Mutex
	listErrors
	progress
}

// listErrors are those of requests to list and watch.
type listErrors struct {
	err        error                         // of the last request
	refused    int                           // requests since one was not refused
	unanswered int                           // requests that nobody answered, since one was not refused
	denied     int                           // lists in a row that were not allowed
	logged     sets.Set[metav1.StatusReason] // of errors since the last success
}

// maxRefusals is after how many refusals in a row that may pass by themselves a cache is out of date.
const maxRefusals = 3

// add takes the result of a request, and reports whether it is to be logged. Each reason is logged once before the next
// success: a list that succeeds says nothing of the watch after it, and a watch may end as soon as it began.
func (e *listErrors) add(err error) (isNew bool) {
	e.err = err
	reason := apierrors.ReasonForError(err) // Empty where nobody has answered.
	if err == nil || e.logged.Has(reason) {
		return false
	}
	e.logged.Insert(reason)
	return true
}

// outdates takes the result of a request, and reports whether the cache is known to be out of date since, unless the API server
// itself is down. These do not outdate a cache: a connection that breaks, an overloaded server, and a watch alone that is not
// allowed, since a list follows it. Nor does one list that is not allowed: one of several API servers may not know a right yet,
// or have just started. Whoever knows that the right is gone has the cache denied.
func (e *listErrors) outdates(list bool, err error) bool {
	switch {
	case err == nil || !refuses(err):
		e.refused, e.unanswered, e.denied = 0, 0, 0
		return false
	case isUnavailable(err):
		e.unanswered++
		return e.unanswered >= maxRefusals
	case isDenied(err):
		if list {
			e.denied++
		}
		return e.denied > 1
	}
	e.refused++
	return e.refused >= maxRefusals || list && lasts(err)
}

// latest is the error of the last request.
func (h *health) latest() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.err
}

// renew has the informer begin anew, unless it has ended or is lasting: its cache is out of date, and may never be right again.
func (r *running) renew() {
	r.set.adjust(func() {}, func(other *running) bool { return other == r && !r.set.options.Lasting })
}

// isUncached reports whether the API server cannot read the objects of a resource, as when a conversion webhook is down. It
// answers that there are too many requests. It answers so for a moment, too, after it has started or a CRD has changed.
func isUncached(err error) bool {
	return apierrors.IsTooManyRequests(err) && strings.Contains(err.Error(), "storage is (re)initializing")
}

// isUnavailable reports whether whoever passes requests on got no answer: the API server from an aggregated API, or a gateway
// from the API server.
func isUnavailable(err error) bool {
	code := codeOf(err)
	return code == http.StatusBadGateway || code == http.StatusServiceUnavailable || code == http.StatusGatewayTimeout
}

// isUnanswered reports whether a request failed without an answer of the API server, or of the aggregated API that it is for. The error
// must be of a request: one that is no answer counts whatever it is, such as that a list broke off. The engine, which asks the same of any
// error of an attempt, wants one of net/http.
func isUnanswered(err error) bool { return err != nil && (codeOf(err) == 0 || isUnavailable(err)) }

// codeOf is the code of an answer, 0 where there is none.
func codeOf(err error) int32 {
	if answer, is := errors.AsType[*apierrors.StatusError](err); is {
		return answer.ErrStatus.Code
	}
	return 0
}

// refuses reports whether the API server has answered, and will not list or watch. That a version is too old is no refusal:
// a new list follows.
func refuses(err error) bool {
	code := codeOf(err)
	return code != 0 && !apierrors.IsResourceExpired(err) && !apierrors.IsGone(err) && (code != http.StatusTooManyRequests || isUncached(err))
}

// lasts reports whether an answer is the same until somebody does something.
func lasts(err error) bool {
	return apierrors.IsNotFound(err) || apierrors.IsMethodNotSupported(err) || apierrors.IsBadRequest(err)
}

// isDenied reports whether an answer says that the caller is not known or lacks a right.
func isDenied(err error) bool { return apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) }

// explain adds to the error of a resource that is not there what that means: the API server answers the same for an unknown
// resource, for a version that is not served, and for objects without namespaces.
func explain(k Key, err error) error {
	missing := plan.ResourceName(k.GVR)
	if k.Namespace != "" {
		missing += " whose objects have namespaces"
	}
	if apierrors.IsNotFound(err) {
		err = fmt.Errorf("the API server has no resource %s: %w", missing, err)
	}
	return err
}
