package differential

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
)

// TestDifferential holds that the simulated API server answers what a real one does.
// DIFFERENTIAL_SEED, DIFFERENTIAL_PAIRS and DIFFERENTIAL_FIRST ask for others, for more,
// or for the one that differed.
func TestDifferential(t *testing.T) {
	seed, first, pairs := number64(t, "DIFFERENTIAL_SEED", 6), number64(t, "DIFFERENTIAL_FIRST", 0), number64(t, "DIFFERENTIAL_PAIRS", 1000)
	client, err := rest.HTTPClientFor(control.RESTConfig())
	if err != nil {
		t.Fatal(err)
	}
	r := &runner{t: t, seed: seed, client: client, counts: map[string]int{}, codes: map[int]int{}}
	var runners sync.WaitGroup
	next := make(chan int)
	for range 4 * runtime.GOMAXPROCS(0) {
		runners.Go(func() {
			for index := range next {
				r.run(t.Context(), index)
			}
		})
	}
	for index := range int(pairs) {
		next <- int(first) + index
	}
	close(next)
	runners.Wait()
	t.Logf("seed %d: %d pairs of an object and a sequence, %d differ, %d were repeated", seed, pairs, r.different, r.repeated)
	for _, what := range slices.Sorted(maps.Keys(r.counts)) {
		t.Logf("%6d %s", r.counts[what], what)
	}
	t.Logf("answers: %v", r.codes)
}

func number64(t *testing.T, variable string, otherwise uint64) uint64 {
	t.Helper()
	text := os.Getenv(variable)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// runner runs sequences. It is safe for concurrent use.
type runner struct {
	t      *testing.T
	seed   uint64
	client *http.Client

	mu        sync.Mutex
	counts    map[string]int
	codes     map[int]int
	different int
	repeated  int
	fresh     int
}

// mostShrunk bounds how many differences are made smaller: it takes many requests.
const mostShrunk = 12

// run makes a sequence, and holds both sides to it.
func (r *runner) run(ctx context.Context, index int) {
	of := shared.kinds[index%len(shared.kinds)]
	made, err := shared.generate(ctx, r.seed, index, of)
	if err != nil {
		r.t.Errorf("pair %d: %v", index, err)
		return
	}
	diff, err := r.steady(func() (string, error) { return r.compare(ctx, made.sequence) })
	if err != nil {
		r.t.Errorf("pair %d: %v", index, err)
		return
	}
	r.mu.Lock()
	for i, o := range made.operations {
		r.counts[o.what]++
		r.codes[made.answers[i].Code]++
	}
	if diff != "" {
		r.different++
	}
	shrink := diff != "" && r.different <= mostShrunk
	r.mu.Unlock()
	if diff == "" {
		return
	}
	smaller := made.sequence
	if shrink {
		smaller, diff = r.shrink(ctx, made.sequence, diff)
	}
	r.t.Errorf("pair %d:\n%s%s", index, smaller, diff)
}

// again is how often a sequence must differ: the seconds of a real API server end at any
// time, and what it finds in a map it finds in any order.
const again = 3

// steady returns what differs every time.
func (r *runner) steady(compare func() (string, error)) (string, error) {
	for n := 1; ; n++ {
		diff, err := compare()
		if err != nil || diff == "" || n == again {
			return diff, err
		}
		r.mu.Lock()
		r.repeated++
		r.mu.Unlock()
	}
}

// shrink takes out of a sequence what is not needed to see a difference.
func (r *runner) shrink(ctx context.Context, s sequence, diff string) (sequence, string) {
	for i := len(s.operations) - 1; i >= 0; i-- {
		if i == 0 && !s.of.custom {
			break // Without its creation, a built-in object is made of a part.
		}
		without := sequence{s.of, slices.Delete(slices.Clone(s.operations), i, i+1)}
		if found, err := r.compare(ctx, without); err == nil && place(found) == place(diff) {
			s, diff = without, found
			i = min(i, len(s.operations))
		}
	}
	return s, diff
}

// place is the first place that differs.
func place(diff string) string {
	_, rest, _ := strings.Cut(diff, "\n")
	first, _, _ := strings.Cut(rest, "\n")
	return first
}

// compare tells both API servers a sequence, and returns how their answers differ. It
// stops at the first that does.
func (r *runner) compare(ctx context.Context, s sequence) (string, error) {
	r.mu.Lock()
	r.fresh++
	number := r.fresh
	r.mu.Unlock()
	namespace, name := namespaceOf(number), nameOf(number)
	if err := r.makeNamespace(ctx, namespace); err != nil {
		return "", err
	}
	truth := newSide(r.client, control.RESTConfig().Host, s.of, namespace, name)
	simulated := shared.simulated(s.of, namespace, name)
	for i, o := range s.operations {
		want, err := truth.do(ctx, o)
		if err != nil {
			return "", err
		}
		got, err := simulated.do(ctx, o)
		if err != nil {
			return "", err
		}
		if diff := differs(want, got); diff != "" {
			return fmt.Sprintf("     at %d:\n%s", i+1, diff), nil
		}
	}
	return "", nil
}

func (r *runner) makeNamespace(ctx context.Context, name string) error {
	s := newSide(r.client, control.RESTConfig().Host, &kind{Resource: namespaceKind()}, "", name)
	body := map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": name}}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	a, err := s.do(ctx, operation{method: http.MethodPost, collection: true, kind: typeJSON, body: body})
	if err != nil || a.Code != http.StatusCreated {
		return fmt.Errorf("making a namespace: %d %v %w", a.Code, a.Body, err)
	}
	return nil
}

func namespaceKind() *schema.Resource {
	return &schema.Resource{GroupVersionResource: apischema.GroupVersionResource{Version: "v1", Resource: "namespaces"}}
}
