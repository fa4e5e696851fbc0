package tenants

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// steady waits until all processes are ready and one of them leads, which keeps up with
// the load, and returns that one.
func (f *fleet) steady(t *testing.T, l *load) *member {
	t.Helper()
	var leaders []*member
	eventually(t, "three processes are ready and one leads", func() bool {
		leaders = nil
		warm := 0
		for _, r := range f.live {
			says := r.health(t)
			if strings.Count(says, "as "+f.namespace+"/bot: synced") == 2 {
				warm++
			}
			if strings.Contains(says, "election: leading") {
				leaders = append(leaders, r)
			}
		}
		return warm == 3 && len(leaders) == 1 && l.behind(f.version) == 0
	})
	since := time.Now()
	eventually(t, "the leader writes", func() bool {
		f.trail.read(t)
		return f.trail.ended(leaders[0]).After(since)
	})
	return leaders[0]
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
	return len(slices.DeleteFunc(slices.Clone(f.live), func(r *member) bool {
		return !strings.Contains(r.health(t), "election: leading")
	}))
}

// tail is the end of what a process has said, but for what it wrote.
func tail(r *member) string {
	lines := slices.DeleteFunc(strings.Split(r.output.String(), "\n"), func(line string) bool { return strings.Contains(line, "msg=wrote ") })
	return strings.Join(lines[max(0, len(lines)-50):], "\n")
}
