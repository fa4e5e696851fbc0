package tenants

import (
	"flag"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// rounds is for a recorded run: go test -run TestReplicas -timeout 60m . -args -rounds=20.
var rounds = flag.Int("rounds", 2, "how often TestReplicas kills or stops the leader")

const (
	// leaseDuration is the default of --leader-elect-lease-duration, and handOff what may
	// be added to it until the next leader writes.
	leaseDuration = 15 * time.Second
	handOff       = 2 * time.Second
)

// succession is what came of a leader that was killed or stopped.
type succession struct {
	how     string
	gap     time.Duration // from its last write that landed to the first of the next one
	settled time.Duration // from that until all objects were as the new rules want them
	ended   time.Duration // from SIGCONT until it had ended
	late    int           // writes that it tried afterwards, all of them refused
}

func (o succession) String() string {
	out := fmt.Sprintf("%-7s gap %6.3fs, settled %6.3fs later", o.how, o.gap.Seconds(), o.settled.Seconds())
	if o.how == "stopped" {
		out += fmt.Sprintf(", ended %.3fs after it went on, %d late writes refused", o.ended.Seconds(), o.late)
	}
	return out
}

// TestReplicas holds what three processes do whose leader is killed or stopped again and
// again, while objects change all the time, and the rules whenever nobody leads: the next
// leader writes in time, no write lands that was decided by old rules or by an old state
// of an object, and in the end everything is as the last rules want it.
func TestReplicas(t *testing.T) {
	t.Parallel()
	f := newFleet(t, steering, janitor...)
	f.caches, f.pause = 2, leaseDuration+handOff+3*time.Second // The next one leads by then.
	l := startLoad(t, f)
	f.publish(t)
	for range 3 {
		f.start(t)
	}
	all := make([]succession, 0, *rounds)
	for n := range *rounds {
		end := f.killed
		if n%2 == 1 {
			end = f.stopped
		}
		all = append(all, f.round(t, l, end))
		t.Logf("round %d: %s", n+1, all[n])
	}
	leader := f.steady(t, func() bool { return l.behind(f.version) == 0 })
	l.stop()
	eventually(t, "everything settles", func() bool { return l.unsettled(f.version) == 0 })
	kubectl(t, f.on, "wait", "--for=condition=Ready", "--timeout=2m", "-n", f.namespace, "ruleset/load")
	f.calm(t, leader)

	l.check(t, f.published)
	f.trail.checkTenures(t)
	for _, r := range f.all {
		if strings.Contains(r.output.String(), "DATA RACE") {
			t.Errorf("the race detector found something in %s", r.name)
		}
	}
	gaps := make([]time.Duration, len(all))
	for i, o := range all {
		gaps[i] = o.gap
	}
	slices.Sort(gaps)
	t.Logf("%d rounds, %d writes by rules: gaps of %s to %s, half of them at most %s", len(gaps), l.count(),
		gaps[0].Round(time.Millisecond), gaps[len(gaps)-1].Round(time.Millisecond), gaps[(len(gaps)-1)/2].Round(time.Millisecond))
}

// round ends the leader, and follows what becomes of that until there are three
// processes again.
func (f *fleet) round(t *testing.T, l *load, end func(*testing.T, *member, *succession) (resume func())) succession {
	t.Helper()
	var out succession
	old := f.steady(t, func() bool { return l.behind(f.version) == 0 })
	resume := end(t, old, &out)
	f.silent(t, old)
	f.publish(t)

	var next *member
	succeeded := func() bool {
		f.trail.read(t)
		i := slices.IndexFunc(f.live, func(r *member) bool { return r != old && f.trail.began(r) != nil })
		if i >= 0 {
			next = f.live[i]
		}
		return i >= 0
	}
	if succeeded() {
		t.Fatalf("%s writes already: the new rules were to be stored while nobody leads", next.name)
	}
	eventually(t, "another one leads and writes", succeeded)
	begun := f.trail.began(next).StageTimestamp.Time
	out.gap = begun.Sub(f.trail.ended(old))
	if out.gap > leaseDuration+handOff {
		t.Errorf("%s was followed by %s after %s, more than %s", old.name, next.name, out.gap, leaseDuration+handOff)
	}
	eventually(t, "all objects are as the new rules want them", func() bool { return l.behind(f.version) == 0 })
	out.settled = time.Since(begun)

	resume()
	f.trail.read(t)
	for _, r := range f.trail.of(old) {
		if r.RequestReceivedTimestamp.After(begun) {
			out.late++
			if r.granted() {
				t.Errorf("%s wrote after %s had begun: %s %s", old.name, next.name, r.Verb, r.RequestURI)
			}
		}
	}
	f.live = slices.DeleteFunc(f.live, func(r *member) bool { return r == old })
	f.start(t)
	return out
}

// killed ends a leader from one moment to the next.
func (f *fleet) killed(t *testing.T, leader *member, out *succession) (resume func()) {
	t.Helper()
	out.how = "killed"
	leader.signal(t, syscall.SIGKILL)
	<-leader.ended
	return func() {}
}

// stopped stops a leader. When it goes on, it has lost the lease and does not know it.
func (f *fleet) stopped(t *testing.T, leader *member, out *succession) (resume func()) {
	t.Helper()
	out.how = "stopped"
	leader.signal(t, syscall.SIGSTOP)
	over := time.NewTimer(f.pause)
	return func() {
		<-over.C
		resumed := time.Now()
		leader.signal(t, syscall.SIGCONT)
		within(t, time.Minute, "a leader that has lost the lease ends", leader.over)
		out.ended = time.Since(resumed)
		if code := leader.code(); code <= 0 || !strings.Contains(leader.output.String(), "the lease is lost") {
			t.Errorf("%s ended with %d and said:\n%s", leader.name, code, tail(leader))
		}
	}
}
