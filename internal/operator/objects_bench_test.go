package operator

import (
	"fmt"
	"strings"
	"testing"

	"github.com/dyncontroller/dyncontroller/internal/config"
	"github.com/dyncontroller/dyncontroller/internal/source"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema/builtin"
)

// BenchmarkSetObjects is a list of 500 sets of which none, or one, is another one than before.
func BenchmarkSetObjects(b *testing.B) {
	const sets = 500
	text := func(i int, color string) string {
		var out strings.Builder
		out.WriteString(paints(fmt.Sprintf("s%d", i), fmt.Sprintf("bot-%d", i), color))
		for rule := range 18 { // 4 KB.
			fmt.Fprintf(&out, "  - name: paint-%d\n    watch: configmaps\n    when: object.data?.other != \"color\"\n"+
				"    actions: [{patch: {merge: {data: {other: color}}}}]\n    description: one of many rules, of which a set has some\n", rule)
		}
		return out.String()
	}
	for _, changed := range []int{0, 1} {
		b.Run(fmt.Sprintf("changed=%d", changed), func(b *testing.B) {
			k := newKit(b, func(o *Options) {
				o.Settings = config.Config{FromCluster: true, Instance: "default", Workers: 1, DryRun: config.DryRunNone}
			})
			schemas := said{known: schema.NewCatalog(builtin.Source()).Growing()}
			var all []source.Object
			for i := range sets {
				all = append(all, asObject(b, text(i, "red")))
			}
			k.SetObjects(b.Context(), all, schemas)
			other := asObject(b, text(0, "blue"))
			b.ReportAllocs()
			for b.Loop() {
				if changed > 0 {
					other.Generation = all[0].Generation + 1
					all[0], other = other, all[0]
				}
				k.SetObjects(b.Context(), all, schemas)
			}
			b.StopTimer()
			for _, one := range k.sorted() {
				one.close()
			}
			if k.log.says("level=ERROR") || k.log.says("refused") {
				b.Error(k.log)
			}
		})
	}
}
