package access_test

import (
	gocmp "cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/clock"

	"github.com/dyncontroller/dyncontroller/internal/access"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// desk answers as it is told to, and keeps when it was asked for what.
type desk struct {
	mu      sync.Mutex
	finding access.Finding // guarded by mu
	err     error          // guarded by mu
	takes   time.Duration  // guarded by mu
	began   time.Time
	asked   []string // guarded by mu
}

func (d *desk) Review(ctx context.Context, permissions []plan.Permission) (access.Finding, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	line := time.Since(d.began).Round(time.Second).String()
	for _, p := range permissions {
		line += " " + p.Verb
	}
	d.asked = append(d.asked, line)
	takes, finding, err := d.takes, d.finding, d.err
	if takes > 0 {
		d.mu.Unlock()
		select {
		case <-time.After(takes):
		case <-ctx.Done():
			err = ctx.Err()
		}
		d.mu.Lock()
	}
	return finding, err
}

func (d *desk) set(finding access.Finding, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.finding, d.err = finding, err
}

func (d *desk) log() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.asked)
}

func (d *desk) forget() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.asked = nil
}

// watched is a watcher under way, in a bubble.
type watched struct {
	*access.Watcher
	desk *desk
	mu   sync.Mutex
	told []string // guarded by mu
}

func watch(t *testing.T, d *desk, intervals ...access.Intervals) *watched {
	t.Helper()
	d.began = time.Now()
	w := &watched{desk: d}
	w.Watcher = access.NewWatcher(d, access.NewPace(), gocmp.Or(append(intervals, access.Intervals{})...), clock.RealClock{}, func(v access.Verdict) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.told = append(w.told, shown(v))
	})
	w.Lead()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.Run(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		<-done
	})
	synctest.Wait()
	return w
}

// after lets time go by.
func (w *watched) after(d time.Duration) {
	<-time.After(d) // Of the bubble.
	synctest.Wait()
}

func (w *watched) verdicts() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Join(w.told, "\n")
}

func shown(v access.Verdict) string {
	parts := []string{string(v.UID)}
	if v.Known {
		parts = append(parts, "known")
	}
	if v.Recreated {
		parts = append(parts, "recreated")
	}
	for _, p := range v.Missing {
		parts = append(parts, "lacks "+p.Verb)
	}
	if v.Account != nil {
		parts = append(parts, v.Account.Error())
	}
	if v.Unknown != nil {
		parts = append(parts, "unknown: "+v.Unknown.Error())
	}
	return strings.Join(parts, " ")
}

// TestVerdicts holds what is told of what is found out, look by look.
func TestVerdicts(t *testing.T) {
	type look struct {
		finding access.Finding
		err     error
	}
	here := access.Finding{UID: "u-1"}
	lacking := access.Finding{UID: "u-1", Missing: []plan.Permission{right("get", "pods")}}
	other := access.Finding{UID: "u-2"}
	absent := access.Finding{Account: access.ErrNoAccount}
	denied := access.Finding{UID: "u-1", Account: &access.ImpersonationError{Account: account}}
	down := errors.New("connection refused")
	tests := map[string]struct {
		reason string
		looks  []look
		want   []string
	}{
		"quiet":          {"What stays is told once.", []look{{here, nil}, {here, nil}, {here, nil}}, []string{"u-1 known"}},
		"taken and back": {"Each change is told.", []look{{here, nil}, {lacking, nil}, {lacking, nil}, {here, nil}}, []string{"u-1 known", "u-1 known lacks get", "u-1 known"}},
		"down": {
			"What was known stays.",
			[]look{{lacking, nil}, {access.Finding{}, down}, {access.Finding{}, errors.New("timeout")}, {lacking, nil}},
			[]string{"u-1 known lacks get", "u-1 known lacks get unknown: connection refused", "u-1 known lacks get"},
		},
		"down at first":  {"Nothing is known.", []look{{here, down}, {here, nil}}, []string{" unknown: connection refused", "u-1 known"}},
		"gone and back":  {"Another account has the name.", []look{{here, nil}, {absent, nil}, {other, nil}, {other, nil}}, []string{"u-1 known", " known there is no such ServiceAccount", "u-2 known recreated"}},
		"swapped":        {"It happened between two looks.", []look{{here, nil}, {other, nil}, {other, nil}}, []string{"u-1 known", "u-2 known recreated"}},
		"swapped, down":  {"What the old one could is nothing to the new one.", []look{{lacking, nil}, {other, down}, {other, nil}}, []string{"u-1 known lacks get", "u-2 recreated unknown: connection refused", "u-2 known"}},
		"hidden account": {"An account that cannot be looked for is not another one.", []look{{here, nil}, {access.Finding{}, down}, {here, nil}}, []string{"u-1 known", "u-1 known unknown: connection refused", "u-1 known"}},
		"denied":         {"The process loses its right, and gets it back.", []look{{here, nil}, {denied, nil}, {here, nil}}, []string{"u-1 known", "u-1 known " + denied.Account.Error(), "u-1 known"}},
		"the process":    {"It has no uid.", []look{{access.Finding{}, nil}, {access.Finding{}, nil}}, []string{" known"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := &desk{finding: tc.looks[0].finding, err: tc.looks[0].err}
				w := watch(t, d)
				for _, look := range tc.looks[1:] {
					d.set(look.finding, look.err)
					w.after(time.Minute)
				}
				if diff := cmp.Diff(strings.Join(tc.want, "\n"), w.verdicts()); diff != "" {
					t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
				}
			})
		})
	}
}

// TestPace holds how often is asked.
func TestPace(t *testing.T) {
	tests := map[string]struct {
		reason   string
		desk     *desk
		from, to int // questions in ten minutes
	}{
		"calm":    {"About each minute.", &desk{finding: access.Finding{UID: "u-1"}}, 11, 12},
		"missing": {"Every 15 s while something is missing,", &desk{finding: access.Finding{Missing: []plan.Permission{right("get", "pods")}}}, 41, 41},
		"absent":  {"while there is no account,", &desk{finding: access.Finding{Account: access.ErrNoAccount}}, 41, 41},
		"down":    {"and while nobody answers.", &desk{err: errors.New("down")}, 41, 41},
		"slow":    {"Time that an answer takes is not saved.", &desk{err: errors.New("down"), takes: 10 * time.Second}, 24, 25},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := watch(t, tc.desk)
				w.after(10 * time.Minute)
				if n := len(tc.desk.log()); n < tc.from || n > tc.to {
					t.Errorf("%s %d questions: %v", tc.reason, n, tc.desk.log())
				}
			})
		})
	}
}

// TestIntervals holds that a test may have a watcher look more often.
func TestIntervals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		intervals := access.DefaultIntervals()
		intervals.Calm, intervals.Gather, intervals.Apart = 10*time.Second, 0, time.Second
		d := &desk{finding: access.Finding{UID: "u-1"}}
		w := watch(t, d, intervals)
		w.after(time.Minute)
		if n := len(d.log()); n < 6 || n > 7 {
			t.Errorf("%d looks in a minute: %v", n, d.log())
		}
		d.forget()
		w.Look()
		w.after(time.Second)
		if n := len(d.log()); n < 1 {
			t.Error("a look that was asked for is late")
		}
	})
}

// TestLook holds when is asked where there are reasons to.
func TestLook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &desk{finding: access.Finding{UID: "u-1"}}
		w := watch(t, d)
		w.after(10 * time.Second)
		for range 100 {
			w.Look()
		}
		w.after(time.Second)
		w.Look() // Does not put it off.
		w.after(time.Second)
		want := []string{"0s", "12s"}
		if diff := cmp.Diff(want, d.log()); diff != "" {
			t.Fatalf("one look for all, 2 s after the first (-want +got):\n%s", diff)
		}
		w.after(8 * time.Second)
		if diff := cmp.Diff(want, d.log()); diff != "" {
			t.Fatalf("reasons from before a look are none for another (-want +got):\n%s", diff)
		}
		for range 200 { // Until 40 s.
			w.Look()
			w.after(100 * time.Millisecond)
		}
		want = append(want, "22s", "27s", "32s", "37s")
		if diff := cmp.Diff(want, d.log()); diff != "" {
			t.Errorf("looks are 5 s apart, however many reasons there are (-want +got):\n%s", diff)
		}
	})
}

// TestLookWhileLooking holds that a reason that comes up during a look is looked into.
func TestLookWhileLooking(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &desk{finding: access.Finding{UID: "u-1"}, takes: 3 * time.Second}
		w := watch(t, d)
		w.after(time.Second)
		w.Look()
		w.after(10 * time.Second)
		if diff := cmp.Diff([]string{"0s", "5s"}, d.log()); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	})
}

// TestNeed holds that other permissions are asked for at once, and that nothing is told
// of those from before.
func TestNeed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &desk{finding: access.Finding{UID: "u-1"}}
		w := watch(t, d)
		w.after(20 * time.Second)
		needs := []plan.Permission{right("get", "pods")}
		w.Need(needs)
		needs[0].Verb = "changed"
		synctest.Wait()
		d.mu.Lock()
		d.takes = 10 * time.Second
		d.mu.Unlock()
		w.Need([]plan.Permission{right("list", "pods")})
		w.after(4 * time.Second)
		d.set(access.Finding{UID: "u-1", Missing: []plan.Permission{right("watch", "pods")}}, nil)
		w.Need([]plan.Permission{right("watch", "pods")})
		w.after(10 * time.Second)
		if diff := cmp.Diff([]string{"0s", "20s get", "20s list", "24s watch"}, d.log()); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
		if diff := cmp.Diff("u-1 known\nu-1 known lacks watch", w.verdicts()); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	})
}

// TestNeedTheSame holds that to need what is needed already is no news: sets of others
// change all the time, and a look must come to its end.
func TestNeedTheSame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &desk{finding: access.Finding{UID: "u-1"}, takes: 3 * time.Second}
		w := watch(t, d)
		needs := []plan.Permission{right("get", "pods"), right("list", "pods")}
		for range 20 {
			w.Need(needs)
			w.after(time.Second)
		}
		if diff := cmp.Diff([]string{"0s", "0s get list"}, d.log()); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
		if diff := cmp.Diff("u-1 known", w.verdicts()); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	})
}

// TestNeedAllTheTime holds that nobody keeps a right by needing others all the time.
func TestNeedAllTheTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lacks := []plan.Permission{right("list", "pods")}
		d := &desk{finding: access.Finding{UID: "u-1"}}
		w := watch(t, d)
		d.set(access.Finding{UID: "u-1", Missing: lacks}, nil)
		d.mu.Lock()
		d.takes = 3 * time.Second
		d.mu.Unlock()
		for i := range 60 {
			w.Need([]plan.Permission{right("list", "pods"), right("get", strings.Repeat("s", i+1))})
			w.after(time.Second)
		}
		if diff := cmp.Diff("u-1 known\nu-1 known lacks list", w.verdicts()); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	})
}

// TestNeedFromChanged holds that whoever is told may change what is asked for.
func TestNeedFromChanged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &desk{finding: access.Finding{UID: "u-1"}, began: time.Now()}
		var w *access.Watcher
		told := 0
		w = access.NewWatcher(d, access.NewPace(), access.Intervals{}, clock.RealClock{}, func(access.Verdict) {
			if told++; told == 1 {
				w.Need([]plan.Permission{right("get", "pods")})
				w.Look()
			}
		})
		ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
		defer cancel()
		w.Run(ctx)
		if diff := cmp.Diff([]string{"0s", "0s get"}, d.log()); diff != "" || told != 1 {
			t.Errorf("told %d times (-want +got):\n%s", told, diff)
		}
	})
}

// reviewing is a desk that says what it was asked for.
type reviewing struct{ *desk }

func (r reviewing) Review(ctx context.Context, permissions []plan.Permission) (access.Finding, error) {
	found, err := r.desk.Review(ctx, permissions)
	found.Reviewed = permissions
	return found, err
}

// TestReviewed holds that it is told which permissions an answer is about, and that those stay that
// nothing else is known of.
func TestReviewed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &desk{finding: access.Finding{UID: "u-1"}, began: time.Now()}
		var told []string
		w := access.NewWatcher(reviewing{d}, access.NewPace(), access.Intervals{}, clock.RealClock{}, func(v access.Verdict) {
			line := shown(v) + ", reviewed"
			for _, p := range v.Reviewed {
				line += " " + p.Verb
			}
			told = append(told, line)
		})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			w.Run(ctx)
		}()
		synctest.Wait()
		get, list := right("get", "pods"), right("list", "pods")
		w.Need([]plan.Permission{get, list})
		synctest.Wait()
		d.set(access.Finding{}, errors.New("down"))
		w.Need([]plan.Permission{get})
		synctest.Wait()
		cancel()
		<-done
		want := []string{"u-1 known, reviewed", "u-1 known, reviewed get list", "u-1 known unknown: down, reviewed get list"}
		if diff := cmp.Diff(want, told); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	})
}

// TestRunEnds holds that nothing is told once it is over, not even what a look was about
// to find out.
func TestRunEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &desk{finding: access.Finding{UID: "u-1"}, takes: time.Hour, began: time.Now()}
		told := 0
		w := access.NewWatcher(d, access.NewPace(), access.Intervals{}, clock.RealClock{}, func(access.Verdict) { told++ })
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		w.Run(ctx)
		w.Run(ctx) // It is over already.
		if took := time.Since(d.began); took != time.Minute || told != 0 || len(d.log()) != 1 {
			t.Errorf("it took %v, told %d times: %v", took, told, fmt.Sprint(d.log()))
		}
	})
}

// TestPaceOfMany holds what many accounts cost together, and that none of them waits for longer
// than a right that is taken away may go unnoticed.
func TestPaceOfMany(t *testing.T) {
	lacking := access.Finding{Missing: []plan.Permission{right("get", "pods")}}
	tests := map[string]struct {
		reason   string
		accounts int
		finding  access.Finding
		stands   bool // by, until somebody else does not lead any more
		most     int  // looks in a minute of this hour, of two requests each
		longest  time.Duration
	}{
		"few":      {"They are asked about each minute.", 50, access.Finding{UID: "u-1"}, false, 60, 61 * time.Second},
		"many":     {"There are ten requests in a second.", 500, access.Finding{UID: "u-1"}, false, 300, 2 * time.Minute},
		"troubled": {"Trouble makes no more of them.", 500, lacking, false, 300, 2 * time.Minute},
		"standby":  {"Who does not lead asks seldom.", 500, access.Finding{UID: "u-1"}, true, 50, 13 * time.Minute},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				pace := access.NewPace()
				ctx, cancel := context.WithCancel(t.Context())
				var running sync.WaitGroup
				desks := make([]*desk, tc.accounts)
				for i := range desks {
					desks[i] = &desk{finding: tc.finding, began: time.Now()}
					w := access.NewWatcher(desks[i], pace, access.Intervals{}, clock.RealClock{}, func(access.Verdict) {})
					if !tc.stands {
						w.Lead()
					}
					running.Go(func() { w.Run(ctx) })
				}
				<-time.After(10 * time.Minute) // Until they are spread.
				synctest.Wait()
				for _, d := range desks {
					d.forget()
				}
				<-time.After(time.Hour)
				synctest.Wait()
				cancel()
				running.Wait()
				minutes, longest := map[int]int{}, time.Duration(0)
				for _, d := range desks {
					last := 10 * time.Minute
					for _, line := range d.log() {
						at, err := time.ParseDuration(line[:strings.IndexByte(line+" ", ' ')])
						if err != nil {
							t.Fatal(err)
						}
						minutes[int(at/time.Minute)]++
						longest, last = max(longest, at-last), at
					}
				}
				most, all := 0, 0
				for _, n := range minutes {
					most, all = max(most, n), all+n
				}
				t.Logf("%d accounts: %.1f looks in a second, each of two requests; up to %s between two at one", tc.accounts, float64(all)/3600, longest)
				if all > 60*tc.most || most > 350 || longest > tc.longest {
					t.Errorf("%s There are %d looks in an hour, up to %d in a minute, and up to %s between two at an account", tc.reason, all, most, longest)
				}
			})
		})
	}
}

// TestLead holds that who begins to lead looks at once at what is from long ago.
func TestLead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &desk{finding: access.Finding{UID: "u-1"}, began: time.Now()}
		pace := access.NewPace()
		w := access.NewWatcher(d, pace, access.Intervals{}, clock.RealClock{}, func(access.Verdict) {})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			w.Run(ctx)
		}()
		<-time.After(9 * time.Minute)
		w.Lead()
		<-time.After(10 * time.Second)
		cancel()
		<-done
		if diff := cmp.Diff([]string{"0s", "9m0s"}, d.log()); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	})
}
