package tenants

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// steady waits until all processes are ready, one of them leads and writes, and the condition holds. It returns that one.
func (f *fleet) steady(t *testing.T, condition func() bool) *member {
	t.Helper()
	var leaders []*member
	eventually(t, "three processes are ready and one leads", func() bool {
		leaders = nil
		warm := 0
		holds := condition()
		for _, r := range f.live {
			if f.warm(t, r) {
				warm++
			}
			if r.leads(t) {
				leaders = append(leaders, r)
			}
		}
		return warm == 3 && len(leaders) == 1 && holds
	})
	since := time.Now()
	eventually(t, "the leader writes", func() bool {
		f.trail.read(t)
		return f.trail.ended(leaders[0]).After(since)
	})
	return leaders[0]
}

// warm reports whether all caches of a process are synced.
func (f *fleet) warm(t *testing.T, r *member) bool {
	t.Helper()
	says, as := r.health(t), "as "+f.namespace+"/"
	return strings.Count(says, as) >= f.caches && strings.Count(says, as) == strings.Count(says, as+"bot: synced")+strings.Count(says, as+"bob: synced")
}

// leads reports whether a process says that it leads.
func (r *member) leads(t *testing.T) bool {
	t.Helper()
	return strings.Contains(r.health(t), "election: leading")
}

// silent waits until nothing is under way any more of a process that was ended. What was
// sent before that may land a moment later, and is not late.
func (f *fleet) silent(t *testing.T, of *member) {
	t.Helper()
	f.trail.read(t)
	count, since := len(f.trail.of(of)), time.Now()
	eventually(t, "nothing is under way", func() bool {
		f.trail.read(t)
		if now := len(f.trail.of(of)); now != count {
			count, since = now, time.Now()
		}
		return time.Since(since) > time.Second
	})
}

// calm holds that for ten seconds nothing is written, but the lease by its holder, once
// what has happened is told. Counters are told ten seconds late.
func (f *fleet) calm(t *testing.T, leader *member) {
	t.Helper()
	const window = 10 * time.Second
	since := time.Now()
	within(t, 2*time.Minute, "the cluster is quiet", func() bool {
		f.trail.read(t)
		if f.trail.newest.After(since) {
			since = f.trail.newest
		}
		return time.Since(since) > window
	})
	holders := map[string]bool{}
	for _, r := range f.trail.leases {
		if r.granted() && r.StageTimestamp.After(since) {
			holders[r.User.Username] = true
		}
	}
	if len(holders) != 1 || !holders[leader.user()] {
		t.Errorf("the lease was renewed by %v, want %s alone", holders, leader.name)
	}
	if f.leaders(t) != 1 {
		t.Error("there is not exactly one leader")
	}
}

// leaders counts who says that it leads.
func (f *fleet) leaders(t *testing.T) int {
	t.Helper()
	return len(slices.DeleteFunc(slices.Clone(f.live), func(r *member) bool { return !r.leads(t) }))
}

// tail is the end of what a process has said, but for what it wrote.
func tail(r *member) string {
	lines := slices.DeleteFunc(strings.Split(r.output.String(), "\n"), func(line string) bool { return strings.Contains(line, "msg=wrote ") })
	return strings.Join(lines[max(0, len(lines)-50):], "\n")
}
