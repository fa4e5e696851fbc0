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
	rounds  = 5   // of each, in turn
	changes = 200 // in a round
)

// TestMeasureDefinitionComesAndGoes measures how long another rule takes from a change to
// its write, while nothing else happens and while a CRD comes and goes: the median of the
// disturbed rounds' 99th percentile is within those of the quiet ones.
func TestMeasureDefinitionComesAndGoes(t *testing.T) {
	if !*measure {
		t.Skip("it measures: run with -args -measure")
	}
	namespace := cluster.Namespace(t)
	d := definition{plural: "measures", versions: []version{{name: "v1", store: true, spec: sized}}}
	defer func() { d.remove(t) }()
	p := serve(t, "--rules", rulesFile(t, namespace, d.rules("v1")))
	others(t, namespace, "1")
	var quiet, disturbed []time.Duration
	latencies(t, namespace, "warm") // The first round is of a process that has just begun.
	for round := range rounds {
		quiet = append(quiet, percentile(latencies(t, namespace, fmt.Sprintf("quiet%d-", round))))
		since, ctx := p.now(), t.Context()
		ctx, stop := context.WithCancel(ctx)
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
		disturbed = append(disturbed, percentile(latencies(t, namespace, fmt.Sprintf("disturbed%d-", round))))
		stop()
		coming.Wait()
		t.Logf("round %d: p99 quiet %s, disturbed %s, while the CRD came and went %d times; %d lines in the log",
			round, quiet[round], disturbed[round], cycles, p.lines(since, d.plural+"."))
	}
	slices.Sort(quiet)
	slices.Sort(disturbed)
	median := disturbed[rounds/2]
	t.Logf("p99 quiet %s to %s, disturbed median %s of %s", quiet[0], quiet[rounds-1], median, disturbed)
	if median > quiet[rounds-1] {
		t.Errorf("the other rule is slower: %s, and %s at most without", median, quiet[rounds-1])
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
