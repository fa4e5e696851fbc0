package tenants

import (
	"slices"
	"testing"
	"time"
)

// TestReadTakenAway holds that who may not list and watch any more sees nothing any more,
// and that the sets of others go on, those of the same account too.
func TestReadTakenAway(t *testing.T) {
	virtually(t, func(t *testing.T) {
		s := newTown(t)
		bot := "system:serviceaccount:" + s.mine + ":bot"
		if open := watching(t, bot, "configmaps"); open != 1 {
			t.Fatalf("%d watches of ConfigMaps go on as the account, want 1", open)
		}

		taken := time.Now()
		apply(t, cluster(t), s.mine, role("bot", may("get, patch")))
		s.paint(t, "green") // Whether guard still sees it is not promised.
		s.others(t, "green")
		lacks := []string{"list configmaps " + s.mine, "watch configmaps " + s.mine}
		s.degraded(t, taken, map[string][]string{"color": lacks, "say": lacks},
			"rules color, say may not list configmaps in namespace "+s.mine+" (as "+s.mine+"/bot)",
			"rules color, say may not watch configmaps in namespace "+s.mine+" (as "+s.mine+"/bot)")
		s.isDropped(t)
		eventually(t, "the watch ends", func() bool { return watching(t, bot, "configmaps") == 0 })

		silent := moment()
		before := label(t, configmaps, s.mine, "painted")
		s.paint(t, "black")
		s.others(t, "black")
		if after := label(t, configmaps, s.mine, "painted"); after != before {
			t.Errorf("what nobody may see was painted %v", after)
		}
		s.isDropped(t)
		if sent := about(t, silent, bot, "configmaps"); len(sent) > 0 {
			t.Errorf("requests about what may not be seen: %+v", sent)
		}
		if open := watching(t, bot, "limitranges"); open != 1 {
			t.Errorf("%d watches of LimitRanges go on as the account, want 1", open)
		}

		given := time.Now()
		apply(t, cluster(t), s.mine, role("bot", may("get, list, watch, patch")))
		s.painted(t, "black")
		t.Logf("recovered %s after the right was given back", time.Since(given).Round(time.Millisecond))
		if state := s.process.cache(t, "configmaps.v1 -n "+s.mine, s.mine+"/bot"); state != "[+]synced" {
			t.Errorf("the cache is %q", state)
		}
		s.undisturbed(t, taken)
	})
}

// isDropped checks that the process has nothing of what guard reads, and has all the rest.
func (s town) isDropped(t *testing.T) {
	t.Helper()
	for _, one := range []struct{ selection, account, want string }{
		{"configmaps.v1 -n " + s.mine, s.mine + "/bot", "[!]ServiceAccount " + s.mine + "/bot may not list configmaps in namespace " + s.mine + "; rules wait for it: guard/color, guard/say"},
		{"limitranges.v1 -n " + s.mine, s.mine + "/bot", "[+]synced"},
		{"configmaps.v1 -n " + s.theirs, s.theirs + "/bot", "[+]synced"},
		{"configmaps.v1 -n " + s.mine, s.home + "/bot", "[+]synced"},
		{"configmaps.v1 -n " + s.theirs, s.home + "/bot", "[+]synced"},
	} {
		if got := s.process.cache(t, one.selection, one.account); got != one.want {
			t.Errorf("the cache of %s as %s is %q, want %q", one.selection, one.account, got, one.want)
		}
	}
}

// undisturbed checks that no cache of the others began anew.
func (s town) undisturbed(t *testing.T, since time.Time) {
	t.Helper()
	for _, one := range []struct{ namespace, resource string }{
		{s.mine, "limitranges"}, {s.theirs, "configmaps"}, {s.home, "configmaps"},
	} {
		for _, sent := range about(t, since, "system:serviceaccount:"+one.namespace+":bot", one.resource) {
			if sent.Verb == "list" || sent.Verb == "watch" {
				t.Errorf("the cache of another began anew: %+v", sent)
			}
		}
	}
}

// TestWriteTakenAway holds that who may not patch any more still sees, and that what was
// refused is done once it is allowed.
func TestWriteTakenAway(t *testing.T) {
	virtually(t, func(t *testing.T) {
		s := newTown(t)
		bot := "system:serviceaccount:" + s.mine + ":bot"

		taken := time.Now()
		apply(t, cluster(t), s.mine, role("bot", may("get, list, watch")))
		s.paint(t, "green")
		s.others(t, "green")
		s.degraded(t, taken, map[string][]string{"color": {"patch configmaps " + s.mine}},
			"rule color may not patch configmaps in namespace "+s.mine+" (as "+s.mine+"/bot)")

		s.paint(t, "black")
		s.others(t, "black")
		eventually(t, "the rule that has its rights goes on", func() bool { return s.said(t, "it is to be black") })
		refused := func(r request) bool { return r.Verb == "patch" && r.ResponseStatus.Code == 403 }
		if !slices.ContainsFunc(about(t, taken, bot, "configmaps"), refused) {
			t.Error("the API server has refused nothing")
		}
		if got := label(t, configmaps, s.mine, "painted"); got != "blue" {
			t.Errorf("what may not be patched was painted %v", got)
		}

		given := time.Now()
		apply(t, cluster(t), s.mine, role("bot", may("get, list, watch, patch")))
		s.painted(t, "black")
		t.Logf("recovered %s after the right was given back", time.Since(given).Round(time.Millisecond))
		for _, sent := range about(t, taken, bot, "configmaps") {
			if sent.Verb == "list" || sent.Verb == "watch" {
				t.Errorf("the cache began anew, though it may be read: %+v", sent)
			}
		}
		s.undisturbed(t, taken)
	})
}

// said reports whether there is an Event with this note in the namespace of guard.
func (s town) said(t *testing.T, note string) bool {
	t.Helper()
	return slices.Contains(notes(t, cluster(t), s.mine), note)
}
