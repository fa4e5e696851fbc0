package informer

import (
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

var gadgets = Key{GVR: widgets.GroupVersion().WithResource("gadgets")}

// reshape has a field of an object shown that nobody has written, as another schema does.
func (a *api) reshape(name types.NamespacedName, field, value string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	object := a.objects[name].DeepCopy()
	object.Object[field] = value
	a.objects[name] = object
}

// shape is what a cache shows of the field of x.
func (o outage) shape(key Key) string {
	view := o.View(key, "a", "x")
	if view.Object == nil {
		return "nothing"
	}
	return plan.Text(view.Object.Fields(), "shape")
}

// TestRenew holds that the caches of a resource show what the API server shows now, that
// they show nothing before they are complete again, and that others are left alone.
func TestRenew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOutage(t)
		defer o.Stop()
		inside := Key{GVR: widgets, Namespace: "a"}
		denied := Key{GVR: widgets, Namespace: "b"}
		o.Want([]Key{everywhere, inside, denied, gadgets}, nil, false)
		o.Deny(map[Key]error{denied: errNoRight})
		o.told.since()
		o.server.reshape(types.NamespacedName{Namespace: "a", Name: "x"}, "shape", "round")
		expect := func(reason string, all, in, other string, lists int, synced ...string) {
			t.Helper()
			if diff := cmp.Diff([]string{all, in, other}, []string{o.shape(everywhere), o.shape(inside), o.shape(gadgets)}); diff != "" {
				t.Errorf("%s: they show (-want +got):\n%s", reason, diff)
			}
			if diff := cmp.Diff(synced, o.told.since()); diff != "" {
				t.Errorf("%s: told to be complete (-want +got):\n%s", reason, diff)
			}
			if got := o.server.requests("list"); got != lists {
				t.Errorf("%s: %d lists, want %d", reason, got, lists)
			}
		}
		o.server.refuse(errOverloaded, nil)
		expect("it is not told", "", "", "", 0)
		o.Renew(widgets)
		synctest.Wait()
		expect("they cannot be listed", "nothing", "nothing", "", 2)
		if o.View(everywhere, "a", "x").Synced || !o.View(gadgets, "a", "x").Synced {
			t.Error("what begins anew is not complete, and what does not is")
		}
		o.server.refuse(nil, nil)
		passes(2 * time.Minute)
		expect("they can", "round", "round", "", 2, everywhere.String(), inside.String())
		if n, none := o.server.streams(everywhere), o.server.streams(denied); n != 1 || none != 0 {
			t.Errorf("%d watches, and %d of what is denied", n, none)
		}

		o.server.refuse(nil, nil)
		o.Renew(widgets.GroupVersion().WithResource("others"))
		synctest.Wait()
		expect("nobody wants it", "round", "round", "", 0)
		o.options.Lasting = true
		o.Renew(widgets)
		synctest.Wait()
		expect("lasting", "round", "round", "", 0)
	})
}

// TestRenewRaces lets renewals race with each other, and with changes of what is wanted.
func TestRenewRaces(t *testing.T) {
	server, handler := &api{}, &told{}
	server.put(widget("a", "x"))
	set := NewSet(server, handler, slog.New(slog.DiscardHandler), Options{})
	handler.during = func() { whatRead(set, everywhere) }
	var all sync.WaitGroup
	for range 2 {
		all.Go(func() {
			for range 50 {
				set.Renew(widgets)
			}
		})
	}
	all.Go(func() {
		for i := range 50 {
			wanted := []Key{everywhere, gadgets}[:i%3]
			set.Want(wanted, nil, false)
		}
	})
	all.Wait()
	set.Stop()
	set.Renew(widgets)
	if len(set.Status()) != 0 {
		t.Error("what has stopped begins anew")
	}
}
