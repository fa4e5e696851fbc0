package e2e

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// hot keeps a label as another one is.
const hot = `
apiVersion: dyncontroller.dev/v1alpha1
kind: RuleSet
metadata: {name: hot, namespace: NAMESPACE}
spec:
  resources: {configmaps: {version: v1, resource: configmaps, labelSelector: hot=yes}}
  rules:
  - name: follow
    watch: configmaps
    when: object.metadata.labels.seen != object.metadata.labels.poke
    actions: [{patch: {merge: {metadata: {labels: {seen: "${object.metadata.labels.poke}"}}}}}]
`

// TestHotObjectSettles holds that a rule gets its write through to an object of which somebody writes another field 100 times
// a second. Each write of ours carries the resourceVersion that it was decided by, so many of them come too late, 1 to 3 a round. But
// none is sent again before the caches show what it has missed, so no more come too late than the rival and this test have written.
func TestHotObjectSettles(t *testing.T) {
	virtually(t, func(t *testing.T) {
		const (
			rounds = 25
			pause  = 6 * time.Millisecond // between two writes of the rival, which take some time too
		)
		namespace := cluster(t).Namespace(t)
		create(t, configmaps, namespace, `{apiVersion: v1, kind: ConfigMap, metadata: {name: hot, labels: {hot: "yes", poke: "0", seen: "0"}}}`)
		p, args := proxied(t, nil)
		start(t, append(args, "--instance", namespace, "--rules", rulesFile(t, namespace, hot))...)
		object := client(t).Resource(configmaps).Namespace(namespace)
		ctx, stop := context.WithCancel(t.Context())
		var rival sync.WaitGroup
		written := 0
		rival.Go(func() {
			tick := time.NewTicker(pause)
			defer tick.Stop()
			for ; ctx.Err() == nil; <-tick.C {
				patch := fmt.Appendf(nil, `{"data":{"n":"%d"}}`, written)
				if _, err := object.Patch(ctx, "hot", types.MergePatchType, patch, metav1.PatchOptions{}); err == nil {
					written++
				}
			}
		})
		began := time.Now()
		for round := range rounds {
			poke := fmt.Sprint(round + 1)
			edit(t, configmaps, namespace, "hot", fmt.Sprintf(`{"metadata":{"labels":{"poke":%q}}}`, poke))
			eventually(t, "the rule has written", func() bool { return get(t, configmaps, namespace, "hot").GetLabels()["seen"] == poke })
		}
		took := time.Since(began)
		stop()
		rival.Wait()
		var sent, late, stored int
		eventually(t, "all have been answered", func() bool {
			sent, late, stored = 0, 0, 0
			for _, request := range p.Requests() {
				if !storing(request) || request.Namespace != namespace || request.Name != "hot" {
					continue
				}
				sent++
				switch request.Code {
				case http.StatusConflict:
					late++
				case http.StatusOK:
					stored++
				}
			}
			return sent == late+stored
		})
		t.Logf("%d rounds in %s, %.0f writes of the rival a second: %d requests, of which %d were too late and %d stored",
			rounds, took.Round(time.Millisecond), float64(written)/took.Seconds(), sent, late, stored)
		if stored != rounds || late > written+rounds {
			t.Errorf("%d requests were stored, and %d too late; want %d, and at most %d", stored, late, rounds, written+rounds)
		}
	})
}
