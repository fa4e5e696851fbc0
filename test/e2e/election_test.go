package e2e

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/dyncontroller/dyncontroller/internal/election"
	"github.com/dyncontroller/dyncontroller/test/proxy"
	"github.com/dyncontroller/dyncontroller/test/virtual"
)

var (
	leases       = schema.GroupVersionResource{Group: "coordination.k8s.io", Version: "v1", Resource: "leases"}
	roles        = schema.GroupVersionResource{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "roles"}
	rolebindings = schema.GroupVersionResource{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "rolebindings"}
)

// terms are the times of an election.
type terms struct{ lease, renew, retry time.Duration }

// short ones, so that a test need not wait for long. A busy machine must not miss a renewal.
var short = terms{lease: 8 * time.Second, renew: 6 * time.Second, retry: 500 * time.Millisecond}

// candidate takes part in the election of a namespace, and writes one ConfigMap again and again while it leads.
type candidate struct {
	*election.Candidate
	fence *election.Fence
	proxy *proxy.Proxy
	stop  context.CancelFunc
	done  chan struct{}
	err   error // once done is closed

	mu     sync.Mutex
	writes []landed // guarded by mu
}

// landed is a write that the API server has answered.
type landed struct{ sent, answered time.Time }

// startCandidate starts one, with a way to the API server of its own. As is nil for the administrator.
func startCandidate(t *testing.T, namespace string, times terms, as func(*rest.Config)) *candidate {
	t.Helper()
	way, _ := virtual.Proxy(t, cluster(t), proxy.Options{TLS: true}) // It outlives the candidate, which releases its lease in the end.
	config := way.RESTConfig()
	if as != nil {
		as(config)
	}
	c := &candidate{proxy: way, fence: election.NewFence(times.renew), done: make(chan struct{})}
	log := slog.New(slog.NewTextHandler(t.Output(), nil))
	var err error
	c.Candidate, err = election.New(config, election.Options{
		Namespace: namespace, Name: "test", Lease: times.lease, Retry: times.retry, Fence: c.fence, Log: log,
	})
	if err != nil {
		t.Fatal(err)
	}
	// Only the lease is subject to the rights of whoever takes part.
	writer, err := dynamic.NewForConfig(c.fence.Guard(way.RESTConfig()))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	c.stop = cancel
	go func() {
		defer close(c.done)
		c.err = c.Run(ctx, func(ctx context.Context) error {
			c.work(ctx, writer.Resource(configmaps).Namespace(namespace))
			return nil
		})
	}()
	t.Cleanup(func() {
		cancel()
		<-c.done
	})
	return c
}

// work writes until the context ends.
func (c *candidate) work(ctx context.Context, configmaps dynamic.ResourceInterface) {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for n := 0; ctx.Err() == nil; n++ {
		// What is under way when the leader is told to end is finished, as the engine does it.
		bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
		patch := fmt.Sprintf(`{"data":{"writer":%q,"n":"%d"}}`, c.Identity(), n)
		sent := time.Now()
		_, err := configmaps.Patch(bounded, "shared", types.MergePatchType, []byte(patch), metav1.PatchOptions{FieldManager: "test"})
		cancel()
		if err == nil {
			c.mu.Lock()
			c.writes = append(c.writes, landed{sent, time.Now()})
			c.mu.Unlock()
		}
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
	}
}

func (c *candidate) written() []landed {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.writes)
}

// electing are two candidates, of which the first leads and the second knows of it.
func electing(t *testing.T, times terms, as func(*rest.Config)) (namespace string, first, second *candidate) {
	t.Helper()
	namespace = cluster(t).Namespace(t)
	create(t, configmaps, namespace, "{apiVersion: v1, kind: ConfigMap, metadata: {name: shared}}")
	if as != nil {
		allowElection(t, namespace)
	}
	first = startCandidate(t, namespace, times, as)
	eventually(t, "the first leads", func() bool { return len(first.written()) > 10 })
	second = startCandidate(t, namespace, times, as)
	eventually(t, "the second watches", func() bool {
		return second.Holder() == first.Identity() && second.proxy.Count(proxy.Request.Watches) > 0
	})
	return namespace, first, second
}

// gap waits for the second to lead, and returns the time from the last write of the first to the first of the second.
// None of the first may be under way when the second begins.
func gap(t *testing.T, first, second *candidate) time.Duration {
	t.Helper()
	eventually(t, "the second leads", func() bool { return len(second.written()) > 10 })
	<-first.done
	all := first.written()
	last, next := all[len(all)-1], second.written()[0]
	between := next.sent.Sub(last.answered)
	if between <= 0 {
		t.Errorf("the second wrote %s before the last answer to the first", -between)
	}
	t.Logf("from the last write of the first to the first of the second passed %s", next.answered.Sub(last.answered))
	return next.answered.Sub(last.answered)
}

// TestElectionKilled holds that the lease of a leader that is gone from one moment to the next is taken, and not before it
// expires. That it is taken at that moment is held by TestKilled of internal/election, in virtual time.
func TestElectionKilled(t *testing.T) {
	virtually(t, func(t *testing.T) {
		_, first, second := electing(t, short, nil)
		first.proxy.Stop()
		if took := gap(t, first, second); took < short.lease-short.renew {
			t.Errorf("it took %s", took)
		}
		if !errors.Is(first.err, election.ErrLost) {
			t.Errorf("the first ended with %v", first.err)
		}
	})
}

// TestElectionHandOver holds that a leader which ends in order does not keep the next one waiting, whatever the lease.
func TestElectionHandOver(t *testing.T) {
	alongside(t)
	_, first, second := electing(t, terms{lease: 10 * time.Minute, renew: 9 * time.Minute, retry: 5 * time.Minute}, nil)
	first.stop()
	gap(t, first, second) // It waits for less than the lease lasts.
	if first.err != nil {
		t.Errorf("the first ended with %v", first.err)
	}
}

// TestElectionFence holds that a leader which cannot renew its lease stops writing in time, though nothing else is in its
// way and nobody tells it.
func TestElectionFence(t *testing.T) {
	virtually(t, func(t *testing.T) {
		namespace, first, second := electing(t, short, nil)
		renewals := func(r proxy.Request) bool { return r.Resource == "leases" }
		first.proxy.SetFault(proxy.On(renewals, proxy.Action{Before: proxy.Break}))
		cut := first.proxy.Last()
		gap(t, first, second)
		if !errors.Is(first.err, election.ErrLost) || first.fence.Left() != 0 {
			t.Errorf("the first ended with %v; it may write for another %s", first.err, first.fence.Left())
		}
		failed := first.proxy.Since(cut, renewals)
		writes := first.proxy.Since(cut, func(r proxy.Request) bool { return r.Resource == "configmaps" })
		if len(failed) < 2 || len(writes) == 0 || writes[len(writes)-1].Number < failed[1].Number {
			t.Errorf("after the last renewal arrived %d writes, and %d requests for another one; it should have gone on until the deadline", len(writes), len(failed))
		}
		if holder := field(get(t, leases, namespace, "test"), "spec", "holderIdentity"); holder != second.Identity() {
			t.Errorf("the lease is held by %v", holder)
		}
	})
}

// TestElectionRights holds which rights are enough, and that with them a candidate watches.
func TestElectionRights(t *testing.T) {
	alongside(t)
	long := terms{lease: 10 * time.Minute, renew: 9 * time.Minute, retry: 5 * time.Minute}
	_, first, second := electing(t, long, func(config *rest.Config) { config.Impersonate.UserName = "elected" })
	for _, c := range []*candidate{first, second} {
		for _, r := range c.proxy.Since(0, func(r proxy.Request) bool { return r.Code == 403 }) {
			t.Errorf("not allowed: %s", r)
		}
	}
	first.stop()
	gap(t, first, second)
}

// allowElection gives the user "elected" what an election needs. A creation has no name that could be allowed.
func allowElection(t *testing.T, namespace string) {
	t.Helper()
	for gvr, text := range map[schema.GroupVersionResource]string{
		roles: `{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: elected}, rules: [
			{apiGroups: [coordination.k8s.io], resources: [leases], verbs: [create]},
			{apiGroups: [coordination.k8s.io], resources: [leases], resourceNames: [test], verbs: [get, watch, update]}]}`,
		rolebindings: `{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: elected},
			roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: elected},
			subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: elected}]}`,
	} {
		create(t, gvr, namespace, text)
	}
	reader, err := dynamic.NewForConfig(impersonating(t, "elected"))
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the rights hold", func() bool {
		_, err := reader.Resource(leases).Namespace(namespace).Create(t.Context(), &unstructured.Unstructured{Object: decode(t,
			"{apiVersion: coordination.k8s.io/v1, kind: Lease, metadata: {generateName: probe-}}")}, metav1.CreateOptions{})
		return err == nil
	})
}

func impersonating(t *testing.T, user string) *rest.Config {
	t.Helper()
	config := cluster(t).RESTConfig()
	config.Impersonate.UserName = user
	return config
}
