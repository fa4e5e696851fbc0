package e2e

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

var measure = flag.Bool("measure", false, "measure what takes minutes, and is not asserted elsewhere")

const (
	rounds  = 5    // of each, in turn
	changes = 1000 // in a round
)

// TestMeasureDefinitionComesAndGoes measures how long another rule takes from a change to
// its write: while nothing else happens, and while a CRD comes and goes that a rule is about. The
// median of these rounds' 99th percentile is within those of the quiet ones. One that no rule is
// about tells how much of it is for the API server, which is busy too.
func TestMeasureDefinitionComesAndGoes(t *testing.T) {
	if !*measure {
		t.Skip("it measures: run with -args -measure")
	}
	planes.Lend(t) // Nothing runs beside it.
	namespace := cluster(t).Namespace(t)
	watched := definition{plural: "measures", versions: []version{{name: "v1", store: true, spec: sized}}}
	ignored := definition{plural: "ignoreds", versions: watched.versions}
	p := serve(t, "--rules", rulesFile(t, namespace, watched.rules("v1")))
	others(t, namespace, "1")
	latencies(t, namespace, "warm") // The first round is of a process that has just begun.
	disturbances := []struct {
		name string
		by   *definition
	}{{"quiet", nil}, {"ignored", &ignored}, {"watched", &watched}}
	p99 := map[string][]time.Duration{}
	for round := range rounds {
		for _, d := range disturbances {
			since := p.now()
			calm := disturb(t, namespace, d.by)
			took := percentile(latencies(t, namespace, fmt.Sprintf("%s%d-", d.name, round)))
			cycles := calm()
			p99[d.name] = append(p99[d.name], took)
			t.Logf("round %d, %s: p99 %s, the CRD came and went %d times; %d lines in the log", round, d.name, took, cycles, p.lines(since, "measures."))
		}
	}
	for name := range p99 {
		slices.Sort(p99[name])
	}
	t.Logf("p99 quiet %s, ignored %s, watched %s", p99["quiet"], p99["ignored"], p99["watched"])
	if median, most := p99["watched"][rounds/2], p99["quiet"][rounds-1]; median > most {
		t.Errorf("the other rule is slower: %s, and %s at most without", median, most)
	}
}

// disturb has a CRD come and go with objects, nil for none, until calm is called, which says how
// often.
func disturb(t *testing.T, namespace string, d *definition) (calm func() int) {
	t.Helper()
	if d == nil {
		return func() int { return 0 }
	}
	ctx, stop := context.WithCancel(t.Context())
	var coming sync.WaitGroup
	cycles := 0
	coming.Go(func() {
		for ; ctx.Err() == nil; cycles++ {
			d.install(t)
			for i := range 20 {
				d.thing(t, "v1", namespace, "thing-"+strconv.Itoa(i), "{size: 1}")
			}
			d.remove(t)
		}
	})
	return func() int {
		stop()
		coming.Wait()
		return cycles
	}
}

// percentile is the 99th.
func percentile(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)*99/100].Round(10 * time.Microsecond)
}

// latencies are how long the other rule takes, from the answer to a change until a watch
// shows the write.
func latencies(t *testing.T, namespace, value string) []time.Duration {
	t.Helper()
	maps := client(t).Resource(configmaps).Namespace(namespace)
	watch, err := maps.Watch(t.Context(), metav1.ListOptions{FieldSelector: "metadata.name=other"})
	if err != nil {
		t.Fatal(err)
	}
	defer watch.Stop()
	var out []time.Duration
	for i := range changes {
		number := value + strconv.Itoa(i)
		edit(t, configmaps, namespace, "other", `{"data":{"number":"`+number+`"}}`)
		changed := time.Now()
		for event := range watch.ResultChan() {
			object, ok := event.Object.(*unstructured.Unstructured)
			if ok && field(object, "data", "copy") == number {
				break
			}
		}
		out = append(out, time.Since(changed))
	}
	return out
}
