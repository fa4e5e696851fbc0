package informer

import (
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var (
	errUnavailable = apierrors.NewServiceUnavailable("no endpoints")
	errBadGateway  = apierrors.NewGenericServerResponse(http.StatusBadGateway, "list", widgets.GroupResource(), "", "", 0, true)
	errTimeout     = apierrors.NewTimeoutError("upstream", 1)
)

// keyIn is a resource of a group.
func keyIn(group string, n int) Key {
	return Key{GVR: schema.GroupVersionResource{Group: group, Version: "v1", Resource: "kind" + strconv.Itoa(n)}}
}

// breaks has the watches of these end, and all requests get these answers.
func (o outage) breaks(err error, keys ...Key) {
	o.server.refuse(err, err)
	for _, key := range keys {
		o.server.expire(key)
	}
}

// among adds a set that watches these, of the same API server, and waits for it.
func (o outage) among(t *testing.T, keys ...Key) *Set {
	t.Helper()
	set := NewSet(o.server, o.told, slog.New(slog.DiscardHandler), Options{Shared: o.options.Shared})
	set.Want(keys, nil, false)
	o.told.since()
	return set
}

// TestOutageOfTheServer holds that no cache begins anew because the API server is down: each
// shows what it had, lists once when it is back, and nobody is told that it is complete.
func TestOutageOfTheServer(t *testing.T) {
	for name, err := range map[string]error{"502": errBadGateway, "503": errUnavailable, "504": errTimeout} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := newOutage(t)
				keys := []Key{everywhere, gadgets}
				for i := range 20 {
					keys = append(keys, keyIn("group"+strconv.Itoa(i%5), i))
				}
				half := len(keys) / 2
				sets := []*Set{o.among(t, keys[:half]...), o.among(t, keys[half:]...)}
				o.Stop()
				o.breaks(err, keys...)
				passes(30 * time.Minute)
				for i, key := range keys {
					before := shows{true, true, 1, true, true}
					if diff := cmp.Diff(before, whatRead(sets[i/half], key)); diff != "" {
						t.Errorf("%s shows (-want +got):\n%s", key, diff)
					}
				}
				o.server.refuse(nil, nil)
				passes(2 * time.Minute)
				if told := o.told.since(); len(told) > 0 {
					t.Errorf("told that they are complete: %q", told)
				}
				if n := o.server.requests("list"); n != len(keys) {
					t.Errorf("%d lists of %d caches", n, len(keys))
				}
				for _, set := range sets {
					set.Stop()
				}
				o.options.Shared.running.Range(func(r, _ any) bool {
					t.Errorf("an informer is left: %v", r)
					return true
				})
			})
		})
	}
}

// TestBackTogether holds that all caches come back soon after the first one that the API server answers again, however long each
// has not been answered.
func TestBackTogether(t *testing.T) {
	for name, err := range map[string]error{"Unreached": errUnreached, "503": errUnavailable} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := newOutage(t)
				var keys []Key
				for i := range 400 {
					keys = append(keys, keyIn("group"+strconv.Itoa(i%5), i))
				}
				set := o.among(t, keys...)
				defer set.Stop()
				o.Stop()
				o.breaks(err, keys...)
				passes(30 * time.Minute)
				requests := o.server.requests("list") + o.server.requests("watch")
				o.server.refuse(nil, nil)
				for o.server.requests("list") == 0 {
					passes(100 * time.Millisecond)
				}
				passes(4 * time.Second)
				if n := o.server.requests("list"); n != len(keys) {
					t.Errorf("%d lists of %d caches", n, len(keys))
				}
				if most := 11 * 30 * 60; requests > most {
					t.Errorf("%d requests while the API server was down, want %d or fewer", requests, most)
				}
			})
		})
	}
}

// TestOutageOfAResource holds which caches begin anew where not all of the API server is down.
func TestOutageOfAResource(t *testing.T) {
	one, alike, other, third := keyIn("one", 1), keyIn("one", 2), keyIn("other", 1), keyIn("third", 1)
	tests := map[string]struct {
		reason   string
		err      error
		own, far []Key // of the set, and of another one
		well     []Key
		want     []Key
	}{
		"Alone":     {"There is nobody to compare with.", errUnavailable, []Key{one}, nil, nil, []Key{one}},
		"Aggregate": {"Resources of one version of a group are nobody.", errUnavailable, []Key{one, alike}, nil, nil, []Key{alike, one}},
		"Others":    {"Others are well.", errUnavailable, []Key{one, other}, nil, []Key{other}, []Key{one}},
		"Elsewhere": {"Others are well that another identity watches.", errUnavailable, []Key{one}, []Key{other}, []Key{other}, []Key{one}},
		"SameGroup": {"One of the same group is well.", errUnavailable, []Key{one, alike, other}, nil, []Key{alike}, []Key{one, other}},
		"Nobody":    {"None is.", errUnavailable, []Key{one}, []Key{other, third}, nil, nil},
		"Answered":  {"It is the API server itself that fails to read them.", errConversion, []Key{one, other}, nil, nil, []Key{one, other}},
		"Uncached":  {"So it is.", errUncached, []Key{one, other}, nil, nil, []Key{one, other}},
		"Forbidden": {"Nothing is to be read any more.", errForbidden, []Key{one, other}, nil, nil, []Key{one, other}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := newOutage(t)
				o.Stop()
				own, far := o.among(t, tc.own...), o.among(t, tc.far...)
				defer own.Stop()
				defer far.Stop()
				o.server.spare(nil, tc.well...)
				o.breaks(tc.err, append(slices.Clone(tc.own), tc.far...)...)
				passes(10 * time.Minute)
				for _, key := range tc.own {
					if got, want := whatRead(own, key).Synced, !slices.Contains(tc.want, key); got != want {
						t.Errorf("%s %s is shown: %t", tc.reason, key, got)
					}
				}
				o.server.refuse(nil, nil)
				passes(2 * time.Minute)
				var want []string
				for _, key := range tc.want {
					want = append(want, key.String())
				}
				slices.Sort(want)
				if diff := cmp.Diff(want, o.told.since()); diff != "" {
					t.Errorf("%s Told to be complete (-want +got):\n%s", tc.reason, diff)
				}
			})
		})
	}
}

// TestOutageThatStays holds that a resource which is down still when the API server is back
// begins anew.
func TestOutageThatStays(t *testing.T) {
	one, other := keyIn("one", 1), keyIn("other", 1)
	tests := map[string]struct {
		reason string
		answer error // to who asks for the other
	}{
		"Well": {"The other can be read again.", nil},
		"Gone": {"The other is not served any more, says the API server.", errNoResource},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := newOutage(t)
				defer o.Stop()
				o.Want([]Key{one, other}, nil, false)
				o.told.since()
				o.breaks(errUnavailable, one, other)
				passes(10 * time.Minute)
				if !whatRead(o.Set, one).Synced {
					t.Fatalf("%s It began anew before", tc.reason)
				}
				o.server.spare(tc.answer, other)
				passes(10 * time.Minute)
				if whatRead(o.Set, one).Synced {
					t.Errorf("%s It is still shown", tc.reason)
				}
			})
		})
	}
}
