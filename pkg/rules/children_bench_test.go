package rules_test

import (
	"fmt"
	"testing"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
)

// indexed answers look-ups by name from an index, as the caches of a process do, and any other one with all objects.
type indexed struct {
	all    []map[string]any
	byName map[string][]map[string]any
}

// Read implements [lookup.Source].
func (x indexed) Read(q plan.Read) ([]map[string]any, error) {
	if q.By == plan.ByName {
		return x.byName[q.Names[0]], nil
	}
	return x.all, nil
}

// BenchmarkChildren is an evaluation of a rule that applies so many children: none are there yet, all are as it wants them, and it
// wants none of them any more. The time for each child must not grow with their number.
func BenchmarkChildren(b *testing.B) {
	const children = `apiVersion: dyncontroller.dev/v1alpha1
kind: ClusterRuleSet
metadata: {name: set}
spec:
  resources:
    tidbclusters: {group: pingcap.com, version: v1alpha1, resource: tidbclusters}
    maps: {version: v1, resource: configmaps}
  rules:
  - name: children
    watch: tidbclusters
    with:
      maps: {resource: maps, all: true}
    actions:
    - forEach: {num: "${1..object.spec.children}"}
      apply:
        resource: maps
        manifest: {metadata: {name: "child-${num}"}, data: {key: "${len(maps) >= 0 ? 'x' : 'y'}"}}
        prune: true
`
	for _, n := range []int{1000, 4000, 16000} {
		parent := func(children int) string {
			return fmt.Sprintf(`{kind: TidbCluster, metadata: {name: basic}, spec: {children: %d}}`, children)
		}
		s := newStage(b, []string{children}, parent(n))
		empty := s.snapshot()
		empty.Related = indexed{}
		there := indexed{byName: map[string][]map[string]any{}}
		for _, o := range s.set.Evaluate(empty).Operations {
			s.objects[configMaps] = nil // Each is new, and need not be looked for.
			s.carryOut(o)
			there.all = append(there.all, s.objects[configMaps][0])
			there.byName[o.Target.Name] = there.all[len(there.all)-1:]
		}
		full := empty
		full.Related = there
		none := newStage(b, []string{children}, parent(0)).snapshot()
		none.Related = there
		for name, tc := range map[string]struct {
			snapshot   rules.Snapshot
			operations int
		}{"make": {empty, n}, "same": {full, 0}, "prune": {none, n}} {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				for b.Loop() {
					if p := s.set.Evaluate(tc.snapshot); len(p.Operations) != tc.operations {
						b.Fatalf("%d operations, want %d: %v", len(p.Operations), tc.operations, p.Decisions)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/child")
			})
		}
	}
}
