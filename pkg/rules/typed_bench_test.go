package rules_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema/builtin"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema/crd"
)

// thousandRules are ten files of a hundred rules each, of which no two are alike.
func thousandRules() (files []document.File) {
	for i := range 10 {
		var text strings.Builder
		text.WriteString(strings.Replace(head, "name: set", fmt.Sprintf("name: set-%d", i), 1) + "  rules:")
		for j := range 100 {
			rule := fmt.Sprintf(typicalRule, 100*i+j)
			text.WriteString(strings.Replace(rule, `== "prod"`, fmt.Sprintf(`== "prod-%d"`, 100*i+j), 1))
		}
		files = append(files, document.File{Name: fmt.Sprintf("%d.yaml", i), Data: []byte(text.String())})
	}
	return files
}

// BenchmarkCheck1000Rules shows what types add to reading and compiling.
func BenchmarkCheck1000Rules(b *testing.B) {
	files := thousandRules()
	for name, options := range map[string]rules.Options{"typed": typed(b), "untyped": {DefaultNamespace: "default"}} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				set, errs := rules.Load(files, options)
				if len(errs) > 0 {
					b.Fatal(errs.Render())
				}
				if found := set.Warnings().Of(document.Warning); len(found) > 0 {
					b.Fatal(found.Render())
				}
			}
		})
	}
}

// BenchmarkColdCheck reads the definitions, too, as a command does that starts. The file of CRD, if it is given, is read instead of
// the slice of the tests.
func BenchmarkColdCheck(b *testing.B) {
	name := os.Getenv("CRD")
	if name == "" {
		name = "../../test/schemas/tidbclusters.yaml"
	}
	files := []document.File{{Name: "rules.yaml", Data: []byte(head + "  rules:" + fmt.Sprintf(typicalRule, 0))}}
	b.ReportAllocs()
	for b.Loop() {
		data, err := os.ReadFile(filepath.Clean(name))
		if err != nil {
			b.Fatal(err)
		}
		definitions, err := crd.Read("crd.yaml", data)
		if err != nil {
			b.Fatal(err)
		}
		schemas := schema.NewCatalog(crd.NewSource(definitions), builtin.Source())
		if _, errs := rules.Load(files, rules.Options{DefaultNamespace: "default", Schemas: schemas}); len(errs) > 0 {
			b.Fatal(errs.Render())
		}
	}
}
