package e2e

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/dyncontroller/dyncontroller/pkg/engine/informer"
	"github.com/dyncontroller/dyncontroller/test/proxy"
)

// copying keeps a ConfigMap for each TidbCluster that says its version.
const copying = `
apiVersion: dyncontroller.dev/v1alpha1
kind: RuleSet
metadata: {name: copying, namespace: NAMESPACE}
spec:
  resources:
    tidbclusters: {group: pingcap.com, version: v1alpha1, resource: tidbclusters}
    copies: {version: v1, resource: configmaps, labelSelector: made=yes}
  rules:
  - name: copy
    watch: tidbclusters
    actions:
    - apply:
        resource: copies
        owned: false
        prune: true
        manifest:
          metadata: {name: "${object.metadata.name}", labels: {made: "yes"}}
          data: {version: "${object.spec.version}"}
`

// TestStalledWatch holds that a watch which delivers nothing any more has nothing made for what is gone, nor by what has
// changed, and that the cache is listed anew long before the watch would end.
func TestStalledWatch(t *testing.T) {
	virtually(t, func(t *testing.T) {
		const objects = 20
		namespace := cluster(t).Namespace(t)
		name := func(i int) string { return fmt.Sprintf("basic-%d", i) }
		for i := range objects {
			create(t, tidbclusters, namespace, fmt.Sprintf(broken, name(i)))
		}
		watches := func(r proxy.Request) bool { return r.Watches() && r.Resource == "tidbclusters" }
		way, flags := proxied(t, proxy.All(
			proxy.Nth(1, watches, proxy.Action{Before: proxy.Answer(422)}), // A list, then, that is not delayed.
			proxy.Nth(2, watches, proxy.Action{Delay: 5 * time.Minute}),
		))
		start(t, append(flags, "--rules", rulesFile(t, namespace, copying))...)
		copies := func() map[string]string {
			list, err := client(t).Resource(configmaps).Namespace(namespace).List(t.Context(), metav1.ListOptions{LabelSelector: "made=yes"})
			if err != nil {
				t.Fatal(err)
			}
			out := map[string]string{}
			for _, item := range list.Items {
				out[item.GetName()], _ = field(&item, "data", "version").(string)
			}
			return out
		}
		eventually(t, "there is a copy of each", func() bool { return len(copies()) == objects })
		eventually(t, "it watches", func() bool { return way.Count(watches) >= 2 })
		before := way.Last()
		<-time.After(informer.MaxStaleness) // The list was fresh.

		want := map[string]string{}
		for i := range objects {
			if i%2 == 0 {
				edit(t, tidbclusters, namespace, name(i), `{"spec":{"version":"v9.0.0"}}`)
				want[name(i)] = "v9.0.0"
			} else if err := client(t).Resource(tidbclusters).Namespace(namespace).Delete(t.Context(), name(i), metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		changed := time.Now()
		for i := range objects { // All caches but that of the clusters show this.
			if err := client(t).Resource(configmaps).Namespace(namespace).Delete(t.Context(), name(i), metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		wrong := func(item *unstructured.Unstructured) bool {
			version, _ := field(item, "data", "version").(string)
			return want[item.GetName()] != version
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		made, err := client(t).Resource(configmaps).Namespace(namespace).Watch(ctx, metav1.ListOptions{LabelSelector: "made=yes"})
		if err != nil {
			t.Fatal(err)
		}
		ended := make(chan []string)
		go func() {
			var past []string
			for event := range made.ResultChan() {
				if item, is := event.Object.(*unstructured.Unstructured); is && wrong(item) {
					past = append(past, fmt.Sprintf("%s %s", event.Type, item.GetName()))
				}
			}
			ended <- past
		}()
		within(t, time.Minute, "all is as the clusters want it", func() bool {
			got := copies()
			return len(got) == len(want) && !slices.ContainsFunc(slices.Collect(maps.Keys(want)), func(name string) bool { return got[name] != want[name] })
		})
		t.Logf("all was right %s after the last change", time.Since(changed).Round(100*time.Millisecond))
		cancel()
		if past := <-ended; len(past) > 0 {
			t.Errorf("decided by the past: %v", past)
		}
		written := way.Since(before, func(r proxy.Request) bool { return storing(r) && r.Resource == "configmaps" && r.Code < 300 })
		if len(written) != len(want) {
			lines := make([]string, len(written))
			for i, r := range written {
				lines[i] = r.String()
			}
			t.Errorf("%d writes, want %d:\n%s", len(written), len(want), strings.Join(lines, "\n"))
		}
	})
}

// TestConfirmingIsShared holds that what is made for an object takes one read of it at the most. For objects that come
// together one version that the API server gives vouches for many of them: it is asked for once a second at the most,
// however many there are. How many reads that spares depends on the machine.
func TestConfirmingIsShared(t *testing.T) {
	virtually(t, func(t *testing.T) {
		objects := times(200, 500)
		namespace := cluster(t).Namespace(t)
		way, flags := proxied(t, nil)
		start(t, append(flags, "--rules", rulesFile(t, namespace, copying))...)
		eventually(t, "it watches", func() bool { return way.Count(proxy.Request.Watches) >= 2 })
		before, began := way.Last(), time.Now()
		var writers sync.WaitGroup
		for writer := range 8 {
			writers.Go(func() {
				for i := writer; i < objects; i += 8 {
					create(t, tidbclusters, namespace, fmt.Sprintf(broken, fmt.Sprintf("basic-%d", i)))
				}
			})
		}
		writers.Wait()
		eventually(t, "there is a copy of each", func() bool { return len(names(t, configmaps, namespace, "made=yes")) == objects })
		made := way.Since(before, storing)
		most := 1 + int(time.Since(began)/(informer.MaxStaleness/2))
		of := func(verb string) int {
			return len(way.Since(before, func(r proxy.Request) bool { // Elsewhere it looks for what earlier tests have left.
				return r.Resource == "tidbclusters" && r.Namespace == namespace && r.Verb == verb
			}))
		}
		reads, versions := of("get"), of("list")
		t.Logf("%d reads and %d versions for %d writes", reads, versions, len(made))
		if len(made) < objects || reads > len(made) {
			t.Errorf("it took %d writes and %d reads for %d objects", len(made), reads, objects)
		}
		if versions > most {
			t.Errorf("it took %d versions, want %d", versions, most)
		}
	})
}
