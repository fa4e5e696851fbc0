package tenants

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// bound is how old an object may be that is written for, as the guide promises it.
const bound = 2 * time.Second

// history is what was done to a parent and its children, for the message of a failure.
func history(log []request, parent string) string {
	var out strings.Builder
	ours := map[types.UID]bool{types.UID(parent): true}
	for _, one := range log {
		object := one.ResponseObject
		if object.Metadata.Labels["of"] == parent {
			ours[object.Metadata.UID] = true
		}
		if ours[cmp.Or(object.Details.UID, object.Metadata.UID)] {
			fmt.Fprintf(&out, "\n%s to %s %s %d %s %s %s at %s, %v, deleted %v, %q", one.RequestReceivedTimestamp.Format(clock),
				one.StageTimestamp.Format(clock), one.User.Username, one.ResponseStatus.Code, one.Verb, one.ObjectRef.Resource,
				cmp.Or(object.Metadata.Name, one.ObjectRef.Name), object.Metadata.ResourceVersion, object.Data,
				object.Metadata.DeletionTimestamp, object.Metadata.Finalizers)
		}
	}
	return out.String()
}

// clock is how moments are shown.
const clock = "05.000000"

// checkDoubled holds that no parent ever had two runs.
func (f *families) checkDoubled(t *testing.T, log []request) {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	of := map[string][]*runLife{}
	for _, is := range f.runs {
		of[is.of] = append(of[is.of], is)
	}
	doubled := 0
	for _, runs := range of {
		slices.SortFunc(runs, func(a, b *runLife) int { return cmp.Compare(a.made, b.made) })
		for i, is := range runs[1:] {
			if before := runs[i]; before.gone == 0 || before.gone > is.made {
				doubled++
				t.Errorf("%s was made at %d beside %s, which was made at %d and gone at %d:%s",
					is.name, is.made, before.name, before.made, before.gone, history(log, is.of))
			}
		}
	}
	t.Logf("%d runs of %d parents, %d doubled", len(f.runs), len(of), doubled)
}

// state is what a parent was from a moment between two on, until the next.
type state struct {
	version                    int
	since, latest              time.Time
	wanted, held, ending, gone bool
	letGo                      bool // gone because its last finalizer was taken off
}

func (s state) wants() bool { return s.wanted && !s.ending && !s.gone }

// halts reports whether a run is to go, and prunes whether a budget is.
func (s state) halts() bool  { return !s.gone && (s.ending && s.held || !s.ending && !s.wanted) }
func (s state) prunes() bool { return s.gone || !s.ending && !s.wanted }

// was reports whether a parent may have been so at any time between two moments.
func was(states []state, from, to time.Time, is func(state) bool) bool {
	for i, s := range states {
		if is(s) && !s.since.After(to) && (i+1 == len(states) || !states[i+1].latest.Before(from)) {
			return true
		}
	}
	return false
}

// annals are what an audit log tells of parents and children, by their uids.
type annals struct {
	lives         map[string][]state    // of parents
	parentOf      map[types.UID]string  // of children
	made, deleted map[types.UID]request // runs
	acts          []act
}

// act is a child that was made, changed or deleted by a process, which is right where its parent is as it says.
type act struct {
	request
	what, parent string
	right        func(state) bool
}

// take notes what a request did.
func (a *annals) take(one request) {
	object, deletes := one.ResponseObject, one.Verb == "delete"
	uid, parent := cmp.Or(object.Details.UID, object.Metadata.UID), object.Metadata.Labels["of"]
	if parent != "" {
		a.parentOf[uid] = parent
	}
	resource, byRules := one.ObjectRef.Resource, strings.HasPrefix(one.User.Username, crewUser)
	if resource == "configmaps" {
		if object.Metadata.Labels["role"] == "parent" || a.lives[string(uid)] != nil {
			a.lives[string(uid)] = append(a.lives[string(uid)], stateOf(one))
		}
		return
	}
	is := act{one, resource + " made", a.parentOf[uid], state.wants}
	if deletes {
		is.what, is.right = resource+" deleted", state.prunes
	}
	switch {
	case resource == "podtemplates" && deletes:
		is.right, a.deleted[uid] = state.halts, one
	case resource == "podtemplates":
		a.made[uid] = one
	}
	if byRules {
		a.acts = append(a.acts, is)
	}
}

// judge holds by the audit log that each child was made and deleted because of what its parent was at that time, or less
// than two seconds before, and that no parent was let go before its runs.
func judge(t *testing.T, log []request) {
	t.Helper()
	told := annals{
		lives: map[string][]state{}, parentOf: map[types.UID]string{}, made: map[types.UID]request{}, deleted: map[types.UID]request{},
	}
	for _, one := range log {
		if one.granted() {
			told.take(one)
		}
	}
	for _, states := range told.lives {
		slices.SortStableFunc(states, func(a, b state) int { return cmp.Compare(a.version, b.version) })
	}
	told.checkHeld(t, log)
	all, late, wrong := map[string]int{}, map[string]int{}, map[string]int{}
	for _, one := range told.acts {
		states, arrived, answered := told.lives[one.parent], one.RequestReceivedTimestamp.Time, one.StageTimestamp.Time
		all[one.what]++
		if !was(states, arrived, answered, one.right) {
			late[one.what]++
		}
		if !was(states, arrived.Add(-bound), answered, one.right) {
			wrong[one.what]++
			t.Errorf("%s %s: %s by %s, received at %s:%s", one.what, one.ObjectRef.Name, one.RequestURI,
				strings.TrimPrefix(one.User.Username, crewUser), arrived.Format(clock), history(log, one.parent))
		}
	}
	for _, what := range []string{"podtemplates made", "podtemplates deleted", "poddisruptionbudgets made", "poddisruptionbudgets deleted"} {
		t.Logf("%s: %d, because of a parent that was different by then: %d, and that for longer than %s: %d",
			what, all[what], late[what], bound, wrong[what])
		if all[what] == 0 {
			t.Errorf("nothing was tried: no %s", what)
		}
	}
}

// checkHeld holds that parents that were held had no runs when they were let go.
func (a *annals) checkHeld(t *testing.T, log []request) {
	t.Helper()
	held, early := 0, 0
	for uid, made := range a.made {
		states := a.lives[a.parentOf[uid]]
		if len(states) == 0 {
			continue
		}
		end, over := states[len(states)-1], a.deleted[uid].RequestReceivedTimestamp
		if !end.letGo {
			continue
		}
		held++
		if made.StageTimestamp.Time.Before(end.since) && (over.IsZero() || over.After(end.latest)) {
			early++
			t.Errorf("the run %s was there until %s, and its parent was let go at %s:%s", made.ResponseObject.Metadata.Name,
				over.Format(clock), end.since.Format(clock), history(log, a.parentOf[uid]))
		}
	}
	t.Logf("%d runs of parents that were held and are gone, let go before their runs: %d", held, early)
}

// stateOf is what a write has made of a parent.
func stateOf(one request) state {
	object := one.ResponseObject
	out := state{
		version: number(object.Metadata.ResourceVersion), since: one.RequestReceivedTimestamp.Time, latest: one.StageTimestamp.Time,
		wanted: object.Data["wanted"] == "yes", held: object.Data["held"] == "yes", ending: object.Metadata.DeletionTimestamp != nil,
	}
	out.letGo = out.ending && len(object.Metadata.Finalizers) == 0
	if object.Details.UID != "" || out.letGo {
		out.version, out.gone = math.MaxInt, true
	}
	return out
}
