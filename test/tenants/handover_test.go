package tenants

import (
	"flag"
	"maps"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/dyncontroller/dyncontroller/test/proxy"
)

// handOvers is for a recorded run: make test-long.
var handOvers = flag.Int("handovers", 0, "how often TestHandOvers ends the leader")

// lags is how late the watches of the processes are, of one after the other. The last is late by more than a cache may be
// by which something is decided.
var lags = []struct{ parents, children time.Duration }{
	{300 * time.Millisecond, time.Second},
	{time.Second, 300 * time.Millisecond},
	{4 * time.Second, 100 * time.Millisecond},
	{100 * time.Millisecond, 4 * time.Second},
	{time.Second, time.Second},
	{5 * time.Second, 5 * time.Second},
}

// TestHandOvers holds what becomes of children when the leader changes again and again, while parents come, change and
// go, and the watches of all processes lag, each of another resource by another time: none is doubled, none that is
// wanted is deleted, none is made for a parent that is gone, and an old leader writes nothing once there is a new one.
// It runs where it is asked for: test/worlds holds the same, with more faults, on a simulated API server.
func TestHandOvers(t *testing.T) {
	if *handOvers == 0 {
		t.Skip("no -handovers")
	}
	t.Parallel()
	f := newFleet(t, chronicled, foremen...)
	f.caches, f.pause = 3, 14*time.Second
	f.arguments = []string{
		"--leader-elect-lease-duration=10s", "--leader-elect-renew-deadline=8s", "--leader-elect-retry-period=1s",
	}
	account(t, f.on, f.namespace, "bob", foremen...)
	apply(t, f.on, f.namespace, family)
	for range 3 {
		f.startLagging(t)
	}
	all := startFamilies(t, f)
	ways := []func(*testing.T, *member, *succession) (resume func()){f.asked, f.killed, f.stopped, f.rolled}
	for n := range *handOvers {
		var out succession
		old := f.working(t)
		resume := ways[n%len(ways)](t, old, &out)
		var next *member
		eventually(t, "another one leads and writes", func() bool {
			f.trail.read(t)
			i := slices.IndexFunc(f.live, func(r *member) bool { return r != old && f.trail.began(r) != nil })
			if i >= 0 {
				next = f.live[i]
			}
			return i >= 0
		})
		out.gap = f.trail.began(next).StageTimestamp.Sub(f.trail.ended(old))
		resume()
		f.replace(t, old)
		t.Logf("hand-over %d, from %s to %s, %s: nothing was written for %s", n+1, old.name, next.name, out.how, out.gap)
	}
	leader := f.working(t)
	all.stop()
	defer func() { // Also where it does not settle: this says why.
		f.trail.read(t)
		f.trail.checkTenures(t)
		f.trail.checkLeases(t)
		all.checkDoubled(t, f.trail.stored)
		judge(t, f.trail.stored)
		if wrong := unsettled(t, f); wrong != "" {
			t.Error(wrong)
		}
	}()
	eventually(t, "everything settles", func() bool { return unsettled(t, f) == "" })
	f.calm(t, leader)
}

// startLagging starts a process whose watches are late.
func (f *fleet) startLagging(t *testing.T) {
	t.Helper()
	lag := lags[len(f.all)%len(lags)]
	of := func(resource string, by time.Duration) proxy.Fault {
		return proxy.On(func(r proxy.Request) bool { return r.Watches() && r.Resource == resource }, proxy.Action{Delay: by})
	}
	f.fault = proxy.All(of("configmaps", lag.parents), of("podtemplates", lag.children), of("poddisruptionbudgets", lag.children))
	f.start(t)
}

// replace starts another process instead of one that has ended, or is asked to end.
func (f *fleet) replace(t *testing.T, r *member) {
	t.Helper()
	r.stop(t)
	f.live = slices.DeleteFunc(f.live, func(other *member) bool { return other == r })
	f.startLagging(t)
}

// working waits for a leader that has written for some seconds. A process that loses the lease on a busy machine is
// replaced, as a kubelet does.
func (f *fleet) working(t *testing.T) *member {
	t.Helper()
	leader := f.steady(t, func() bool {
		for _, r := range slices.Clone(f.live) {
			if r.over() {
				t.Logf("%s ended by itself with %d", r.name, r.code())
				f.replace(t, r)
			}
		}
		return true
	})
	eventually(t, "the leader has written for some seconds", func() bool {
		f.trail.read(t)
		return leader.over() || f.trail.ended(leader).Sub(f.trail.began(leader).StageTimestamp.Time) > 3*time.Second
	})
	if leader.over() {
		return f.working(t)
	}
	return leader
}

// asked tells a leader to end, which hands over at once.
func (f *fleet) asked(t *testing.T, leader *member, out *succession) (resume func()) {
	t.Helper()
	if out.how = "asked"; leader.over() { // It has lost the lease on a busy machine.
		out.how = "lost"
		return func() {}
	}
	leader.signal(t, syscall.SIGTERM)
	return func() {
		if code := leader.code(); code != 0 {
			t.Errorf("%s ended with %d and said:\n%s", leader.name, code, tail(leader))
		}
	}
}

// rolled replaces the others first, and asks the leader to end as soon as they are ready, as a rollout does: the caches
// of the next leader are younger than the last writes of the old one.
func (f *fleet) rolled(t *testing.T, leader *member, out *succession) (resume func()) {
	t.Helper()
	for _, r := range slices.Clone(f.live) {
		if r != leader {
			f.replace(t, r)
		}
	}
	eventually(t, "the others are ready", func() bool {
		for _, r := range slices.Clone(f.live) {
			if r != leader && r.over() { // It has led, and lost the lease on a busy machine.
				f.replace(t, r)
			}
		}
		return !slices.ContainsFunc(f.live, func(r *member) bool { return !r.over() && !f.warm(t, r) })
	})
	resume = f.asked(t, leader, out)
	out.how += ", rolled out"
	return resume
}

// checkLeases holds that the API server got nothing from a leader once it had got from the next one that it leads.
func (tr *trail) checkLeases(t *testing.T) {
	t.Helper()
	var last *request // that made its sender the leader
	past, late := map[string]*request{}, 0
	all := slices.Concat(append(slices.Collect(maps.Values(tr.writes)), tr.leases)...)
	slices.SortFunc(all, func(a, b request) int { return a.RequestReceivedTimestamp.Compare(b.RequestReceivedTimestamp.Time) })
	for i := range all {
		one := &all[i]
		who := one.User.Username
		switch takes := one.granted() && one.ResponseObject.Spec.HolderIdentity != ""; {
		case past[who] != nil && one.ObjectRef.Resource == "leases" && !one.granted(): // It learns that it leads no more.
		case past[who] != nil:
			late++
			t.Errorf("%s sent %s %s at %s, and %s took the lease at %s", strings.TrimPrefix(who, crewUser), one.Verb, one.RequestURI,
				one.RequestReceivedTimestamp, strings.TrimPrefix(past[who].User.Username, crewUser), past[who].RequestReceivedTimestamp)
		case takes && last != nil && last.User.Username != who:
			past[last.User.Username] = one
			last = one
		case takes:
			last = one
		}
	}
	t.Logf("%d hand-overs, %d writes; received from a leader after it was received that the next one takes the lease: %d",
		len(past), len(all), late)
}
