package cleanup_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/engine/cleanup"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// TestSweepLooksAgain holds that what a request under way puts back is found.
func TestSweepLooksAgain(t *testing.T) {
	c := newCluster(t, `name: x, finalizers: [HOLD-a]`)
	c.after = func(pass int) {
		if pass == 1 {
			c.put(t, `name: late, finalizers: [HOLD-a]`)
		}
	}
	done, err := cleanup.Sweep(t.Context(), c.options(), []plan.Leftover{finalizer})
	if err != nil || len(done) != 1 || len(c.lists) != 3 {
		t.Errorf("got %v, %v after %d lists", done, err, len(c.lists))
	}
}

// TestSweepEnds holds that who puts things back for ever does not keep it busy for
// ever, and is not taken for done.
func TestSweepEnds(t *testing.T) {
	c := newCluster(t)
	c.put(t, `name: x, finalizers: [HOLD-a]`)
	c.after = func(int) { c.put(t, `name: x, finalizers: [HOLD-a]`) }
	done, err := cleanup.Sweep(t.Context(), c.options(), []plan.Leftover{finalizer, fields})
	if err == nil || !strings.Contains(err.Error(), "after 10 passes") {
		t.Errorf("got %v", err)
	}
	if !slices.Equal(done, []plan.Leftover{fields}) {
		t.Errorf("done is what was not there, got %v", done)
	}
}

// TestSweepOutlivesItsList holds that a list that expires while much is written is
// taken up again.
func TestSweepOutlivesItsList(t *testing.T) {
	c := newCluster(t)
	for i := range 30 {
		c.put(t, fmt.Sprintf(`name: x%d, finalizers: [HOLD-a]`, i))
	}
	expiring := &expires{cluster: c}
	options := c.options()
	options.Reader = expiring
	done, err := cleanup.Sweep(t.Context(), options, []plan.Leftover{finalizer})
	if err != nil || len(done) != 1 || len(c.sent) != 30 {
		t.Errorf("got %v, %v after %d requests", done, err, len(c.sent))
	}
}

// expires ends a list after ten objects that were to be cleaned up.
type expires struct{ *cluster }

// List implements cleanup.Reader.
func (e *expires) List(ctx context.Context, s plan.Selection, visit func(map[string]any) error) error {
	before := len(e.sent)
	return e.cluster.List(ctx, s, func(object map[string]any) error {
		if len(e.sent)-before == 10 {
			return apierrors.NewResourceExpired("the continue token is too old")
		}
		return visit(object)
	})
}

// TestSweepStops holds that nothing is sent once the context is done.
func TestSweepStops(t *testing.T) {
	c := newCluster(t, `name: x, finalizers: [HOLD-a]`, `name: xx, finalizers: [HOLD-a]`)
	ctx, cancel := context.WithCancel(t.Context())
	c.answer = func(plan.Operation) *write.Result {
		cancel()
		return nil
	}
	done, err := cleanup.Sweep(ctx, c.options(), []plan.Leftover{finalizer, in("ns", finalizer)})
	if !errors.Is(err, context.Canceled) || len(done) > 0 || len(c.sent) != 1 || len(c.lists) != 1 {
		t.Errorf("got %v, %v after %v", done, err, c.sent)
	}
}

// TestSweepConfirms holds that nothing is sent any more once the rule may not be gone.
func TestSweepConfirms(t *testing.T) {
	c := newCluster(t, `name: x, finalizers: [HOLD-a]`, `name: xx, finalizers: [HOLD-a]`)
	back := errors.New("it is back")
	options := c.options()
	options.Confirm = func(_ context.Context, rule plan.Rule) error {
		if rule != finalizer.Rule {
			t.Errorf("it asked about %s", rule)
		}
		if len(c.sent) > 0 {
			return back
		}
		return nil
	}
	done, err := cleanup.Sweep(t.Context(), options, []plan.Leftover{finalizer})
	if !errors.Is(err, back) || len(done) > 0 || len(c.sent) != 1 {
		t.Errorf("got %v, %v after %v", done, err, c.sent)
	}
}

// TestSweepWaits holds that an API server that asks for time gets it.
func TestSweepWaits(t *testing.T) {
	tests := map[string]struct {
		reason      string
		asked, want time.Duration
	}{
		"Asked":   {"As long as it asked for.", 7 * time.Second, 7 * time.Second},
		"Silent":  {"A little, where it does not say.", 0, time.Second},
		"TooLong": {"Not for ever.", time.Hour, 30 * time.Second},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCluster(t, `name: x, finalizers: [HOLD-a]`)
				c.answer = func(plan.Operation) *write.Result {
					if len(c.sent) > 0 {
						return nil
					}
					return &write.Result{Class: write.Overloaded, RetryAfter: tc.asked}
				}
				start := time.Now()
				done, err := cleanup.Sweep(t.Context(), c.options(), []plan.Leftover{finalizer})
				if err != nil || len(done) != 1 || time.Since(start) != tc.want {
					t.Errorf("%s got %v, %v after %v", tc.reason, done, err, time.Since(start))
				}
			})
		})
	}
}

// TestSweepWaitsNoLonger holds that the wait ends with the context.
func TestSweepWaitsNoLonger(t *testing.T) {
	c := newCluster(t, `name: x, finalizers: [HOLD-a]`)
	ctx, cancel := context.WithCancel(t.Context())
	c.answer = func(plan.Operation) *write.Result {
		cancel()
		return &write.Result{Class: write.Overloaded, RetryAfter: time.Hour}
	}
	if _, err := cleanup.Sweep(ctx, c.options(), []plan.Leftover{finalizer}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// TestSweepTellsOfSome holds that very many failures are counted, not collected.
func TestSweepTellsOfSome(t *testing.T) {
	c := newCluster(t)
	for i := range 1000 {
		c.put(t, fmt.Sprintf(`name: x%d, finalizers: [HOLD-a]`, i))
	}
	c.answer = func(plan.Operation) *write.Result { return &write.Result{Class: write.Terminal, Err: errors.New("no")} }
	_, err := cleanup.Sweep(t.Context(), c.options(), []plan.Leftover{finalizer})
	if err == nil || strings.Count(err.Error(), "\n") != 10 || !strings.Contains(err.Error(), "and 990 more") {
		t.Errorf("got %v", err)
	}
}

// TestSweepStreams holds that nothing of the objects is kept, however many there are.
func TestSweepStreams(t *testing.T) {
	const many, large = 2000, 64 << 10
	options := cleanup.Options{Reader: stream{many, large}, Writer: nobody{t}}
	if done, err := cleanup.Sweep(t.Context(), options, []plan.Leftover{finalizer, fields, children}); err != nil || len(done) != 3 {
		t.Fatalf("got %v, %v", done, err)
	}
	runtime.GC()
	var after runtime.MemStats
	runtime.ReadMemStats(&after)
	if after.HeapAlloc > many*large/4 {
		t.Errorf("%d bytes are kept", after.HeapAlloc)
	}
}

// stream lists many large objects, each made when it is its turn.
type stream struct{ many, size int }

// List implements cleanup.Reader.
func (s stream) List(_ context.Context, _ plan.Selection, visit func(map[string]any) error) error {
	for i := range s.many {
		object := map[string]any{"metadata": map[string]any{"name": fmt.Sprint(i)}, "data": strings.Repeat("x", s.size)}
		if err := visit(object); err != nil {
			return err
		}
	}
	return nil
}

// Get implements cleanup.Reader.
func (s stream) Get(context.Context, schema.GroupVersionResource, string, string) (map[string]any, error) {
	return nil, nil
}

// Served implements cleanup.Reader.
func (s stream) Served(context.Context, schema.GroupResource) (cleanup.Resource, bool, error) {
	return cleanup.Resource{}, false, nil
}

// nobody is not written to.
type nobody struct{ t *testing.T }

// Write implements cleanup.Writer.
func (n nobody) Write(_ context.Context, o plan.Operation) write.Result {
	n.t.Errorf("%s was sent", o.Type)
	return write.Result{Class: write.Terminal}
}

// TestSweepOfADryRun holds that nothing is left where nothing would be, and that it is told once.
func TestSweepOfADryRun(t *testing.T) {
	const held = `name: x, deletionTimestamp: "2026-01-01T00:00:00Z", finalizers: [HOLD-a]`
	freed := map[string]any{"kind": "Widget", "metadata": map[string]any{"name": "x", "deletionTimestamp": "2026-01-01T00:00:00Z"}}
	kept := map[string]any{"kind": "Widget", "metadata": map[string]any{"name": "x"}}
	tests := map[string]struct {
		reason string
		left   plan.Leftover
		object string
		answer map[string]any // to the first request
	}{
		"Freed":   {"It would be gone.", finalizer, held, freed},
		"Kept":    {"It would have nothing of the rule any more.", finalizer, `name: x, finalizers: [HOLD-a]`, kept},
		"Deleted": {"A deletion is all there is to do.", children, `name: x, labels: {LABELS-a}, managedFields: [MADE-a]`, nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t, tc.object)
			c.answer = func(plan.Operation) *write.Result {
				if len(c.sent) > 0 {
					return &write.Result{Class: write.Repeated}
				}
				return &write.Result{Class: write.Simulated, Object: tc.answer}
			}
			done, err := cleanup.Sweep(t.Context(), c.options(), []plan.Leftover{tc.left})
			if err != nil || c.reports != 1 || len(c.objects) != 1 || !slices.Equal(done, []plan.Leftover{tc.left}) {
				t.Errorf("%s done %v after %d reports, err %v, %d objects", tc.reason, done, c.reports, err, len(c.objects))
			}
		})
	}
}
