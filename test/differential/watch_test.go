package differential

import (
	"context"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/rest"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/dyncontroller/dyncontroller/pkg/simulate/storage"
)

// TestWatch holds that watches of the simulated API server show what those of a real one do, where the same is done to both.
// DIFFERENTIAL_SEED, DIFFERENTIAL_FIRST and DIFFERENTIAL_WATCHES ask for other histories, for the one that differed, or for more.
func TestWatch(t *testing.T) {
	seed, first, histories := number64(t, "DIFFERENTIAL_SEED", 6), number64(t, "DIFFERENTIAL_FIRST", 0), number64(t, "DIFFERENTIAL_WATCHES", 40)
	client, err := rest.HTTPClientFor(control.RESTConfig())
	if err != nil {
		t.Fatal(err)
	}
	r := &watchRunner{runner: &runner{t: t, seed: seed, client: client, counts: map[string]int{}, codes: map[int]int{}}, kinds: watchedKinds(t)}
	var runners sync.WaitGroup
	next := make(chan int)
	for range 8 * runtime.GOMAXPROCS(0) {
		runners.Go(func() {
			for index := range next {
				r.run(t.Context(), index)
			}
		})
	}
	for index := range int(histories) {
		next <- int(first) + index
	}
	close(next)
	runners.Wait()
	t.Logf("seed %d: %d histories, %d differ, %d were repeated", seed, histories, r.different, r.repeated)
	for _, what := range slices.Sorted(maps.Keys(r.counts)) {
		t.Logf("%6d %s", r.counts[what], what)
	}
}

// watchedKinds are those of which there are histories: a built-in one and a custom one.
func watchedKinds(t *testing.T) (out []*kind) {
	t.Helper()
	for _, resource := range []string{"configmaps", "gadgets"} {
		i := slices.IndexFunc(shared.kinds, func(k *kind) bool { return k.GroupVersionResource.Resource == resource && k.Version == "v1" })
		if i < 0 {
			t.Fatalf("there are no %s", resource)
		}
		out = append(out, shared.kinds[i])
	}
	return out
}

// watchRunner runs histories. It is safe for concurrent use.
type watchRunner struct {
	*runner
	kinds []*kind
}

// run makes a history, and holds both API servers to it.
func (r *watchRunner) run(ctx context.Context, index int) {
	h, err := shared.history(ctx, r.seed, index, r.kinds[index%len(r.kinds)])
	if err != nil {
		r.t.Errorf("history %d of seed %d: %v", index, r.seed, err)
		return
	}
	diff, err := r.steady(func() (string, error) { return r.compare(ctx, h) })
	if err != nil {
		r.t.Errorf("history %d of seed %d:\n%s%v", index, r.seed, h, err)
		return
	}
	if diff == "" {
		return
	}
	r.t.Errorf("history %d of seed %d:\n%s%s", index, r.seed, h, diff)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.different++
}

// longest is how long a history may take, with all of what is shown of it.
const longest = time.Minute

// compare tells both API servers a history, and returns how their answers or what they show of it differ.
func (r *watchRunner) compare(ctx context.Context, h history) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	r.mu.Lock()
	r.fresh++
	number := r.fresh
	r.mu.Unlock()
	var spaces []string
	for space := range 2 {
		name := fmt.Sprintf("watched%d-%d", number, space)
		if err := r.makeNamespace(ctx, name); err != nil {
			return "", err
		}
		spaces = append(spaces, name)
	}
	truth := newShow(r.client, control.RESTConfig().Host, h, spaces)
	simulated := newShow(shared.client(newRemembering()), "http://simulated", h, spaces)
	both := []*show{truth, simulated}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
		defer cancel()
		for _, s := range both {
			s.close()
		}
		if err := truth.clear(ctx); err != nil {
			r.t.Errorf("clearing up: %v", err)
		}
	}()
	if diff, err := play(ctx, h, truth, simulated); diff != "" || err != nil {
		return diff, err
	}
	for _, s := range both {
		if err := s.finish(ctx); err != nil {
			return "", err
		}
	}
	for i, w := range h.watches {
		want, got := truth.seen(i), simulated.seen(i)
		if diff := differ(w, want, got); diff != "" {
			return fmt.Sprintf("     watch %d, %s:\n%s", i, w, diff), nil
		}
		r.count(w, want)
	}
	return "", nil
}

// play does the history to both, with their watches.
func play(ctx context.Context, h history, truth, simulated *show) (string, error) {
	for i, t := range h.turns {
		for _, s := range []*show{truth, simulated} {
			if err := s.open(ctx, i); err != nil {
				return "", err
			}
		}
		want, err := truth.do(ctx, t)
		if err != nil {
			return "", err
		}
		got, err := simulated.do(ctx, t)
		if err != nil {
			return "", err
		}
		if diff := differs(want, got); diff != "" {
			return fmt.Sprintf("     at %d:\n%s", i+1, diff), nil
		}
	}
	return "", nil
}

// differ is how what a watch showed differs: its answer, then which events it showed, then their objects. A real API server that is
// about to end a watch sends a bookmark or a few, and none if it is late.
func differ(w watching, want, got seen) string {
	if diff := differs(want.answer, got.answer); diff != "" {
		return diff
	}
	if diff := cmp.Diff(want.lines, got.lines); diff != "" {
		return fmt.Sprintf("     events (-real +simulated):\n%s", diff)
	}
	for i := range want.objects {
		if diff := differs(answer{Body: want.objects[i]}, answer{Body: got.objects[i]}); diff != "" {
			return fmt.Sprintf("     event %d, %s:\n%s", i, want.lines[i], diff)
		}
	}
	switch {
	case w.last != nil: // Bookmarks come after a minute, so only if a real API server is slow.
	case len(want.bookmarks) > 0 && len(got.bookmarks) == 0, len(got.bookmarks) > 0 && w.query.Get("resourceVersion") == toCome:
		return fmt.Sprintf("     bookmarks: real %s, simulated %s\n", shown(want.bookmarks), shown(got.bookmarks))
	case len(want.bookmarks) > 0:
		return differs(answer{Body: want.bookmarks[0]}, answer{Body: got.bookmarks[0]})
	}
	return ""
}

func (r *watchRunner) count(w watching, what seen) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.counts[w.what]++
	r.counts["bookmarks"] += len(what.bookmarks)
	for _, event := range what.types {
		r.counts["events "+event]++
	}
}

// newRemembering is a world that can be watched, but not from before.
func newRemembering() *storage.World {
	world := storage.NewWorld(clocktesting.NewFakeClock(start))
	world.Remember()
	world.Compact()
	return world
}
