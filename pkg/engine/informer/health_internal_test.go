package informer

import (
	"bytes"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
)

var (
	errNoResource = apierrors.NewNotFound(widgets.GroupResource(), "")
	errForbidden  = apierrors.NewForbidden(widgets.GroupResource(), "", errors.New("no"))
	errConversion = apierrors.NewInternalError(errors.New("conversion webhook failed"))
	errOverloaded = apierrors.NewTooManyRequests("slow down", 1)
	errUncached   = apierrors.NewTooManyRequests("storage is (re)initializing: failed to list", 1)
	errExpired    = apierrors.NewResourceExpired("too old")
	errUnreached  = &url.Error{Op: "Get", URL: "https://a", Err: &net.OpError{Op: "dial", Err: os.NewSyscallError("connect", errors.New("refused"))}}
)

// lines is a log of messages. It is safe for concurrent use.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// since returns the messages since it was last asked.
func (l *lines) since() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer l.text.Reset()
	var out []string
	for line := range strings.Lines(l.text.String()) {
		_, message, _ := strings.Cut(line, `msg="`)
		message, _, _ = strings.Cut(message, `"`)
		out = append(out, message)
	}
	return out
}

// outage is an API with an informer that has seen x and whose watch breaks.
type outage struct {
	*Set
	server *api
	told   *told
	log    *lines
}

func newOutage(t *testing.T) outage {
	t.Helper()
	o := outage{server: &api{plain: true}, told: &told{}, log: &lines{}}
	o.server.put(widget("a", "x"))
	o.Set = NewSet(o.server, o.told, slog.New(slog.NewTextHandler(o.log, nil)), Options{})
	o.Want([]Key{everywhere}, nil, false)
	synctest.Wait()
	if synced := o.told.since(); len(synced) != 1 || !whatRead(o.Set, everywhere).Synced {
		t.Fatalf("it is not complete: %q", synced)
	}
	o.log.since()
	return o
}

// passes lets time pass.
func passes(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

const (
	cannot = "cannot list or watch"
	can    = "can list and watch again"
)

// TestOutdated holds which answers say that a cache is out of date: nothing of it is shown
// then, it is complete again when there is a new list, and that is told.
func TestOutdated(t *testing.T) {
	nothing, before, after := shows{}, shows{true, true, 1, true, true}, shows{Synced: true, Names: 1, Version: true, Answers: true}
	for name, tc := range map[string]struct {
		reason      string
		list, watch error
		soon, later shows
		again       bool
	}{
		"not served": {reason: "The resource is gone, or the version.", list: errNoResource, watch: errNoResource, soon: nothing, later: nothing, again: true},
		"forbidden":  {reason: "Once may be for the server; that it goes on says that what is not told may have changed.", list: errForbidden, watch: errForbidden, soon: before, later: nothing, again: true},
		"failing":    {reason: "Once is nothing; that it goes on says that it will.", list: errConversion, watch: errConversion, soon: before, later: nothing, again: true},
		"overloaded": {reason: "It has too much to do, and may have nothing to tell.", list: errOverloaded, watch: errOverloaded, soon: before, later: before},
		"unreadable": {reason: "It cannot read what it has, which it calls overload. Once it says so after each change of the CRD.", list: errUncached, watch: errUncached, soon: before, later: nothing, again: true},
		"unreached":  {reason: "Where nothing can be read nothing can be written either.", list: errUnreached, watch: errUnreached, soon: before, later: before},
		"no watch":   {reason: "It lists instead.", watch: errForbidden, soon: before, later: before},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := newOutage(t)
				defer o.Stop()
				o.server.refuse(tc.list, tc.watch)
				o.server.expire(everywhere)
				passes(2 * time.Second)
				if diff := cmp.Diff(tc.soon, whatRead(o.Set, everywhere)); diff != "" {
					t.Errorf("%s At first it shows (-want +got):\n%s", tc.reason, diff)
				}
				passes(30 * time.Minute)
				if diff := cmp.Diff(tc.later, whatRead(o.Set, everywhere)); diff != "" {
					t.Errorf("%s Later it shows (-want +got):\n%s", tc.reason, diff)
				}
				if err := o.Status()[0].Err; err == nil {
					t.Errorf("the status is %+v", o.Status()[0])
				}
				if n := o.server.requests("list") + o.server.requests("watch"); n > 400 {
					t.Errorf("there were %d requests in half an hour", n)
				}
				if diff := cmp.Diff([]string{cannot}, o.log.since()); diff != "" {
					t.Errorf("the log (-want +got):\n%s", diff)
				}
				o.told.since()

				o.server.refuse(nil, nil)
				o.server.remove(types.NamespacedName{Namespace: "a", Name: "x"})
				o.server.put(widget("a", "y"))
				passes(2 * time.Minute)
				if diff := cmp.Diff(after, whatRead(o.Set, everywhere)); diff != "" {
					t.Errorf("when it is over it shows (-want +got):\n%s", diff)
				}
				if again := len(o.told.since()) == 1; again != tc.again {
					t.Errorf("told to be complete: %t", again)
				}
				o.server.put(widget("a", "y", labelled("color", "red"))) // Something that a watch tells.
				synctest.Wait()
				if diff := cmp.Diff([]string{can}, o.log.since()); diff != "" || o.Status()[0].Err != nil {
					t.Errorf("the status is %+v, the log (-want +got):\n%s", o.Status()[0], diff)
				}
			})
		})
	}
}

// TestDeniedOnce holds that one answer that a list is not allowed is no reason to throw a
// cache away: one of several API servers may be behind, or have just started.
func TestDeniedOnce(t *testing.T) {
	for name, err := range map[string]error{"forbidden": errForbidden, "stranger": apierrors.NewUnauthorized("who?")} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := newOutage(t)
				defer o.Stop()
				for range 3 {
					o.server.refuse(err, err)
					o.server.expire(everywhere)
					for o.server.requests("list") == 0 {
						passes(10 * time.Millisecond)
					}
					if got := whatRead(o.Set, everywhere); !got.Synced || !got.Object || o.Status()[0].Err == nil {
						t.Errorf("it shows %+v, and its status is %+v", got, o.Status())
					}
					o.server.refuse(nil, nil)
					passes(time.Minute)
				}
				if synced := o.told.since(); len(synced) > 0 {
					t.Errorf("it was filled anew: %q", synced)
				}
			})
		})
	}
}

// TestOutdatedWhileStopped holds that what begins anew is stopped like what it began as.
func TestOutdatedWhileStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOutage(t)
		o.server.refuse(errNoResource, errNoResource)
		var both sync.WaitGroup
		both.Go(func() { o.server.expire(everywhere) })
		both.Go(o.Stop)
		both.Wait()
		passes(5 * time.Minute)
		if left := o.Status(); len(left) > 0 {
			t.Errorf("there is still %+v", left)
		}
		asked := o.server.requests("list")
		passes(5 * time.Minute)
		if now := o.server.requests("list"); now != asked {
			t.Errorf("%d lists since it was stopped", now-asked)
		}
	})
}

// TestLasting holds that a set may be told to go on showing what it saw.
func TestLasting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOutage(t)
		defer o.Stop()
		o.options.Lasting = true
		o.server.refuse(errNoResource, errNoResource)
		o.server.expire(everywhere)
		passes(10 * time.Minute)
		if got := whatRead(o.Set, everywhere); !got.Synced || !got.Object || o.Status()[0].Err == nil {
			t.Errorf("it shows %+v, and its status is %+v", got, o.Status())
		}
	})
}

// TestArrives holds that who wants the same caches again has what was not there looked
// for at once, and the others left alone.
func TestArrives(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := outage{server: &api{plain: true}, told: &told{}, log: &lines{}}
		o.Set = NewSet(o.server, o.told, slog.New(slog.NewTextHandler(o.log, nil)), Options{})
		defer o.Stop()
		o.server.refuse(errNoResource, errNoResource)
		want := func() {
			t.Helper()
			o.Want([]Key{everywhere}, nil, false)
			synctest.Wait()
		}
		want()
		passes(10 * time.Minute)
		want()
		if diff := cmp.Diff([]string{cannot}, o.log.since()); diff != "" {
			t.Errorf("the log (-want +got):\n%s", diff)
		}
		o.server.refuse(nil, nil)
		want()
		if synced := o.told.since(); len(synced) != 1 {
			t.Errorf("told to be complete: %q", synced)
		}
		lists := o.server.requests("list")
		want()
		if now := o.server.requests("list"); now != lists {
			t.Errorf("what is complete was listed %d times more", now-lists)
		}
	})
}

// TestListErrorsLogged holds how much is logged of a trouble that reads differently now and
// then.
func TestListErrorsLogged(t *testing.T) {
	log := &lines{}
	in := filled(deaf{}, clock.RealClock{})
	in.set.log = slog.New(slog.NewTextHandler(log, nil))
	count := func(errs ...error) (n int) {
		for _, err := range errs {
			if in.add(err) {
				n++
			}
		}
		return n
	}
	steps := []struct {
		reason string
		errs   []error
		want   int
	}{
		{"Nothing is wrong.", []error{nil, nil}, 0},
		{"The list and the watch are refused in their own words, again and again.", []error{errForbidden, errNoResource, errForbidden, errNoResource, errForbidden}, 2},
		{"A list succeeds in between.", []error{nil, errForbidden, nil, errForbidden}, 0},
		{"Something else is wrong.", []error{errConversion}, 1},
	}
	for _, step := range steps {
		if got := count(step.errs...); got != step.want {
			t.Errorf("%s It is logged %d times, want %d", step.reason, got, step.want)
		}
	}
	in.hear(false)
	in.hear(false)
	if diff := cmp.Diff([]string{can}, log.since()); diff != "" {
		t.Errorf("it is over once (-want +got):\n%s", diff)
	}
	if count(errForbidden) != 1 {
		t.Error("it is another trouble")
	}
}

// TestRefuses holds which failures are those of a server that is asked and will not tell.
func TestRefuses(t *testing.T) {
	for name, tc := range map[string]struct {
		err           error
		refuses, last bool
	}{
		"not served":  {errNoResource, true, true},
		"forbidden":   {errForbidden, true, false},
		"stranger":    {apierrors.NewUnauthorized("who?"), true, false},
		"no list":     {apierrors.NewMethodNotSupported(widgets.GroupResource(), "list"), true, true},
		"failing":     {errConversion, true, false},
		"unavailable": {apierrors.NewServiceUnavailable("no endpoints"), true, false},
		"overloaded":  {errOverloaded, false, false},
		"unreadable":  {errUncached, true, false},
		"too old":     {errExpired, false, false},
		"unreached":   {errUnreached, false, false},
		"wrapped":     {explain(everywhere, errNoResource), true, true},
		"a gateway":   {apierrors.NewGenericServerResponse(http.StatusBadGateway, "list", widgets.GroupResource(), "", "", 0, true), true, false},
	} {
		if got, last := refuses(tc.err), lasts(tc.err); got != tc.refuses || last != tc.last {
			t.Errorf("%s: refuses %t, lasts %t", name, got, last)
		}
	}
}

func TestExplain(t *testing.T) {
	for want, tc := range map[string]struct {
		key Key
		err error
	}{
		"the API server has no resource widgets.v1.example.com: ":                               {everywhere, errNoResource},
		"the API server has no resource widgets.v1.example.com whose objects have namespaces: ": {Key{GVR: widgets, Namespace: "a"}, errNoResource},
		"": {everywhere, errForbidden},
	} {
		got := explain(tc.key, tc.err)
		if got.Error() != want+tc.err.Error() || !errors.As(got, new(apierrors.APIStatus)) {
			t.Errorf("got %q", got)
		}
	}
	if explain(everywhere, nil) != nil {
		t.Error("no error is explained")
	}
}
