package informer

import (
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/dyncontroller/dyncontroller/pkg/engine/compact"
)

// TestLoadCounts holds that what is counted is what there is, whatever way it came and went.
func TestLoadCounts(t *testing.T) {
	small, fields := object("1"), object("2").Fields()
	fields["text"] = "a text that makes it larger than it was before"
	large := compact.New(fields)
	one, two := small.Size(), large.Size()
	if one >= two {
		t.Fatalf("the larger object takes %d bytes, the smaller %d", two, one)
	}
	fields = object("1").Fields()
	fields["metadata"].(map[string]any)["name"] = "b"
	other := compact.New(fields)
	f := reflected{filled(&heard{}, clocktesting.NewFakePassiveClock(time.Unix(100, 0)))}
	f.set.running = map[Key]*running{{}: f.running}
	for i, step := range []struct {
		reason  string
		event   func() error
		objects int
		bytes   int64
	}{
		{"Nothing yet.", func() error { return nil }, 0, 0},
		{"One more.", func() error { return f.Add(small) }, 1, one},
		{"It has grown.", func() error { return f.Update(large) }, 1, two},
		{"A relist repeats it.", func() error { return f.Replace([]any{large}, "2") }, 1, two},
		{"Another one.", func() error { return f.Add(other) }, 2, one + two},
		{"It shrinks.", func() error { return f.Update(small) }, 2, 2 * one},
		{"One is gone.", func() error { return f.Delete(small) }, 1, one},
		{"It is gone again.", func() error { return f.Delete(small) }, 1, one},
		{"So is the other, which was missed.", func() error { return f.Replace(nil, "3") }, 0, 0},
	} {
		if err := step.event(); err != nil {
			t.Fatal(err)
		}
		got := f.set.Status()[0]
		if got.Objects != step.objects || got.Bytes != step.bytes {
			t.Errorf("step %d: have %d objects of %d bytes, want %d of %d. %s", i, got.Objects, got.Bytes, step.objects, step.bytes, step.reason)
		}
	}
}

// TestStatus holds that an informer says what it holds, and that it is counted anew after a
// relist that comes without the watch.
func TestStatus(t *testing.T) {
	client := &api{}
	for i := range 5 {
		client.put(widget(fmt.Sprintf("ns-%d", i), fmt.Sprintf("w-%d", i)))
	}
	all, one := Key{GVR: widgets}, Key{GVR: widgets, Namespace: "ns-1"}
	set, synced := begin(t, client, all, one)
	<-synced
	<-synced
	until(t, "both count", func() bool { return objects(set, all) == 5 && objects(set, one) == 1 })
	before := set.Status()
	if before[0].Key != all || before[1].Key != one || before[0].Bytes <= before[1].Bytes || before[1].Bytes <= 0 {
		t.Errorf("the informers are %+v", before)
	}
	client.remove(types.NamespacedName{Namespace: "ns-1", Name: "w-1"})
	until(t, "one is gone", func() bool { return objects(set, all) == 4 && objects(set, one) == 0 })
	client.hold(all, true)
	client.remove(types.NamespacedName{Namespace: "ns-2", Name: "w-2"})
	client.expire(all)
	client.hold(all, false)
	until(t, "what was missed is counted", func() bool { return objects(set, all) == 3 })
	set.Stop()
	if left := set.Status(); len(left) != 0 {
		t.Errorf("what does not run holds nothing, have %+v", left)
	}
}

func objects(set *Set, key Key) int {
	for _, load := range set.Status() {
		if load.Key == key {
			return load.Objects
		}
	}
	return -1
}

// until waits for what informers do in their own time.
func until(t testing.TB, what string, condition func() bool) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for deadline := time.After(time.Minute); !condition(); {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("never came true: %s", what)
		}
	}
}

// TestHeard holds that an informer is as fresh as what it heard last.
func TestHeard(t *testing.T) {
	c := clocktesting.NewFakePassiveClock(time.Unix(1000, 0))
	r := filled(deaf{}, c)
	r.set.log, r.heard = slog.New(slog.DiscardHandler), c.Now()
	r.set.running = map[Key]*running{{}: r}
	upstream := watch.NewFake()
	w := r.pass(upstream, false, false, func() {})
	defer w.Stop()
	expect := func(reason string, want int64) {
		t.Helper()
		if got := r.set.Status()[0].Heard.Unix(); got != want {
			t.Errorf("heard at %d, want %d. %s", got, want, reason)
		}
	}
	expect("It starts fresh.", 1000)
	for i, step := range []struct {
		reason string
		happen func()
		heard  bool
	}{
		{"An event.", func() { go upstream.Add(object("1")); <-w.ResultChan() }, true},
		{"A bookmark.", func() { go upstream.Action(watch.Bookmark, object("2")); <-w.ResultChan() }, true},
		{"An error says that nothing more is heard.", func() {
			status := apierrors.NewResourceExpired("too old").Status()
			go upstream.Error(&status)
			<-w.ResultChan()
		}, false},
		{"A list that is answered.", func() { r.answered(true, nil) }, true},
		{"One that is not.", func() { r.answered(true, apierrors.NewInternalError(errors.New("down"))) }, false},
		{"A watch that begins may have nothing to deliver.", func() { r.answered(false, nil) }, false},
	} {
		c.SetTime(c.Now().Add(time.Minute))
		want := c.Now().Unix()
		if !step.heard {
			want -= 60
		}
		step.happen()
		expect(step.reason, want)
		if i == 2 || i >= 4 { // From here on, as if it had been.
			r.heard = c.Now()
		}
	}
}

// TestHeardWatchEnds holds that a watch ends with what it passes on, and that who stops it
// need not read the rest.
func TestHeardWatchEnds(t *testing.T) {
	r := filled(deaf{}, clocktesting.NewFakePassiveClock(time.Unix(1000, 0)))
	t.Run("upstream", func(t *testing.T) {
		upstream := watch.NewFake()
		w := r.pass(upstream, false, false, func() {})
		upstream.Stop()
		if _, open := <-w.ResultChan(); open {
			t.Error("an event came out of nothing")
		}
		w.Stop() // As the reflector does.
	})
	t.Run("stopped", func(t *testing.T) {
		synctest.Test(t, func(*testing.T) {
			events := make(chan watch.Event, 2)
			w := r.pass(watch.NewProxyWatcher(events), false, false, func() {})
			events <- watch.Event{Type: watch.Added, Object: object("1")}
			events <- watch.Event{Type: watch.Added, Object: object("2")}
			synctest.Wait() // One is on its way, and nobody reads it.
			w.Stop()
			w.Stop()
			for range w.ResultChan() { // At most the one; it ends.
			}
		})
	})
}

// TestSizeOf holds that the estimate is near what an object takes, and goes by what is
// in it.
func TestSizeOf(t *testing.T) {
	const pod = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web-%d","namespace":"shop","uid":"c8e7c9de-6a0c-4f0c-a7a4-0000000%d",
"labels":{"app":"web","tier":"front","pod-template-hash":"6d4cf56db6"},"annotations":{"checksum/config":"0d1e7a2fbe31"},
"ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"web","uid":"1","controller":true,"blockOwnerDeletion":true}]},
"spec":{"nodeName":"node-1","containers":[{"name":"web","image":"registry.example.com/shop/web:v1.2.3","ports":[{"containerPort":8080}],
"resources":{"limits":{"cpu":"1","memory":"1Gi"}},"env":[{"name":"A","value":"1"},{"name":"B","value":"2"}]}],"restartPolicy":"Always"},
"status":{"phase":"Running","podIP":"10.0.0.1","conditions":[{"type":"Ready","status":"True","lastTransitionTime":"2026-01-01T00:00:00Z"}]}}`
	const count = 2000
	held := make([]*compact.Object, count)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for i := range held {
		var u unstructured.Unstructured
		if err := u.UnmarshalJSON(fmt.Appendf(nil, pod, i, i)); err != nil {
			t.Fatal(err)
		}
		held[i] = compact.New(u.Object)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	var estimate int64
	for _, object := range held {
		estimate += object.Size()
	}
	taken := int64(after.HeapAlloc) - int64(before.HeapAlloc)
	t.Logf("%d bytes each, estimated %d", taken/count, estimate/count)
	if estimate < taken/2 || estimate > taken*2 {
		t.Errorf("%d objects take %d bytes, estimated %d", count, taken, estimate)
	}
	runtime.KeepAlive(held)
}
