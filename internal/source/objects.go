package source

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"

	"github.com/dyncontroller/dyncontroller/pkg/api/v1alpha1"
	"github.com/dyncontroller/dyncontroller/pkg/engine/informer"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/spec"
)

// Objects are the RuleSets and ClusterRuleSets of a cluster, in all namespaces. It is
// safe for concurrent use.
type Objects struct {
	log       *slog.Logger
	informers *informer.Set
	news      chan struct{} // has a value when something has changed

	mu   sync.Mutex
	said map[informer.Key]string               // what was logged since the last change; guarded by mu
	read map[*unstructured.Unstructured]Object // what the last List made of the objects in the caches; guarded by mu
}

// NewObjects returns the set objects that a client shows. Nothing is read before
// [Objects.Run].
func NewObjects(client dynamic.Interface, log *slog.Logger) *Objects {
	o := &Objects{log: log, news: make(chan struct{}, 1), said: map[informer.Key]string{}}
	// What goes wrong is told here, with what to do about it.
	o.informers = informer.NewSet(client, told{o}, slog.New(slog.DiscardHandler)).Lasting()
	return o
}

// Run watches the objects until the context is done. It is called once. Where they
// cannot be listed or watched, it tries again until they can, as when their CRDs are
// installed later.
func (o *Objects) Run(ctx context.Context) error {
	if err := o.informers.Want(kindsOfSets()); err != nil {
		return fmt.Errorf("watching the rule sets in the cluster: %w", err)
	}
	<-ctx.Done()
	o.informers.Stop()
	return nil
}

// Changed has a value when sets may have come, gone or changed, when they have been
// listed for the first time, and when they cannot be watched any more. Many changes may
// be one value.
//
// What does not count is a change of no more than what a status tells, but for its
// inventory and its pauses: the echo of our own writes makes no work.
func (o *Objects) Changed() <-chan struct{} { return o.news }

// Synced reports whether both kinds have been listed: only then does it mean that a set
// is gone when it is not there. It stays true while they cannot be watched.
func (o *Objects) Synced() bool {
	states := o.informers.Status()
	return len(states) == len(kindsOfSets()) &&
		!slices.ContainsFunc(states, func(s informer.Status) bool { return !s.Synced })
}

// Trouble is why the objects cannot be listed or watched now, and what to do about it;
// nil where they can.
func (o *Objects) Trouble() error {
	var errs []error
	for _, state := range o.informers.Status() {
		if state.Err != nil {
			errs = append(errs, advised(state.Key, state.Err))
		}
	}
	return errors.Join(errs...)
}

// advised adds to an error what to do about it.
func advised(key informer.Key, err error) error {
	resource := plan.ResourceName(key.GVR)
	switch {
	case apierrors.IsNotFound(err):
		return fmt.Errorf("the API server has no %s: the CRDs are not installed (deploy/crds): %w", resource, err)
	case apierrors.IsForbidden(err), apierrors.IsUnauthorized(err):
		return fmt.Errorf("dyncontroller may not list and watch %s in all namespaces: "+
			"grant it these rights, or run without --rules-from-cluster: %w", resource, err)
	default:
		return fmt.Errorf("cannot list or watch %s: %w", resource, err)
	}
}

// List returns the objects that have been seen so far, sorted by kind, namespace and
// name. Only those are read that the last List has not read.
func (o *Objects) List() []Object {
	o.mu.Lock()
	defer o.mu.Unlock()
	var out []Object
	before := o.read
	o.read = make(map[*unstructured.Unstructured]Object, len(before))
	for _, key := range kindsOfSets() {
		for _, name := range o.informers.Names(key) {
			found := o.informers.View(key, name.Namespace, name.Name).Object
			if found == nil {
				continue
			}
			one, known := before[found] // What a cache has of an object is never changed, but replaced.
			if !known {
				one = objectOf(kindOf(key), found)
			}
			o.read[found] = one
			out = append(out, one)
		}
	}
	slices.SortFunc(out, func(a, b Object) int { return a.compare(b.Key) })
	return out
}

// kindsOfSets are what is listed and watched.
func kindsOfSets() []informer.Key {
	return []informer.Key{{GVR: v1alpha1.ClusterRuleSets()}, {GVR: v1alpha1.RuleSets()}}
}

func kindOf(key informer.Key) string {
	if key.GVR == v1alpha1.ClusterRuleSets() {
		return spec.KindClusterRuleSet
	}
	return spec.KindRuleSet
}

// told is told by the informers.
type told struct{ *Objects }

// Changed implements [informer.Handler].
func (t told) Changed(event informer.Event) {
	t.hear(event.Key, nil)
	if matters(event.Before, event.After) {
		t.tell()
	}
}

// Synced implements [informer.Handler].
func (t told) Synced(key informer.Key) {
	t.hear(key, nil)
	t.tell()
}

// Troubled implements [informer.Handler].
func (t told) Troubled(key informer.Key, err error) {
	err = advised(key, err)
	if t.hear(key, err) {
		t.log.Error("cannot read the rule sets in the cluster", "gvr", plan.ResourceName(key.GVR), "err", err)
		t.tell()
	}
}

// hear notes how things stand, and reports whether that is trouble which was not told.
func (o *Objects) hear(key informer.Key, err error) (news bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if err == nil {
		delete(o.said, key)
		return false
	}
	news = o.said[key] != err.Error()
	o.said[key] = err.Error()
	return news
}

// tell never blocks.
func (o *Objects) tell() {
	select {
	case o.news <- struct{}{}:
	default:
	}
}

// Key names a set object. It is comparable.
type Key struct {
	Kind      string // RuleSet or ClusterRuleSet
	Namespace string // empty for a ClusterRuleSet
	Name      string
}

// String is how messages name the set, such as "RuleSet shop/guard".
func (k Key) String() string {
	return plan.Rule{Kind: k.Kind, Namespace: k.Namespace, Set: k.Name}.SetName()
}

func (k Key) compare(other Key) int {
	return cmp.Or(cmp.Compare(k.Kind, other.Kind), cmp.Compare(k.Namespace, other.Namespace), cmp.Compare(k.Name, other.Name))
}
