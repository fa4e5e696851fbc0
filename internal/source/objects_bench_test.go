package source

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// BenchmarkObjects is a list of 500 set objects of 4 KB of which none, or one, is another one
// than before.
func BenchmarkObjects(b *testing.B) {
	const sets = 500
	server := newAPI()
	objects := NewObjects(server, slog.New(slog.DiscardHandler))
	ctx, cancel := context.WithCancel(b.Context())
	var running sync.WaitGroup
	running.Go(func() { objects.Run(ctx) })
	defer running.Wait()
	defer cancel()
	for !objects.Synced() {
		<-objects.Changed()
	}
	put := func(i int, resume string) {
		server.put(Key{"RuleSet", "shop", fmt.Sprintf("s%d", i)}, func(u *unstructured.Unstructured) {
			var rules []any
			for rule := range 20 {
				rules = append(rules, map[string]any{
					"name": fmt.Sprintf("paint-%d", rule), "watch": "configmaps", "when": `object.data?.other != "color"`,
					"actions": []any{map[string]any{"patch": map[string]any{"merge": map[string]any{"data": map[string]any{"other": "color"}}}}},
				})
			}
			u.SetAnnotations(map[string]string{"dyncontroller.dev/resume": resume})
			u.Object["spec"] = map[string]any{
				"serviceAccountName": "bot", "rules": rules,
				"resources": map[string]any{"configmaps": map[string]any{"version": "v1", "resource": "configmaps"}},
			}
		})
	}
	for i := range sets {
		put(i, "")
		for len(objects.List()) <= i {
			<-objects.Changed()
		}
	}
	for _, changed := range []int{0, 1} {
		b.Run(fmt.Sprintf("changed=%d", changed), func(b *testing.B) {
			b.ReportAllocs()
			resume := 0
			for b.Loop() {
				if changed > 0 {
					resume++
					put(0, fmt.Sprint(resume))
					<-objects.Changed()
				}
				if n := len(objects.List()); n != sets {
					b.Fatalf("%d sets are listed", n)
				}
			}
		})
	}
}
