package rules_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
)

const typicalRule = `
  - name: rule-%d
    watch: tidbclusters
    let:
      pd: object.spec.pd?.replicas ?? 0
    when: object.metadata.labels.env == "prod" && pd > 0 && pd %% 2 == 0
    actions:
    - patch: {merge: {spec: {pd: {replicas: "${pd + 1}"}}}}
    - event: {type: Warning, reason: EvenPD, message: "PD had ${pd} members"}`

// BenchmarkEvaluateUnmatched is what most events cost: a rule that looks and
// does nothing.
func BenchmarkEvaluateUnmatched(b *testing.B) {
	set := mustLoad(b, head+"  rules:"+fmt.Sprintf(typicalRule, 0))
	s := snapshot(set, object(b, `{metadata: {name: n, labels: {env: prod}, annotations: {a: b}}, spec: {pd: {replicas: 3}}, status: {}}`))
	s.Explain = false
	b.ReportAllocs()
	for b.Loop() {
		if plan := set.Evaluate(s); len(plan.Operations) > 0 {
			b.Fatal("matched")
		}
	}
}

// BenchmarkEvaluateMatched includes building the patch.
func BenchmarkEvaluateMatched(b *testing.B) {
	set := mustLoad(b, head+"  rules:"+fmt.Sprintf(typicalRule, 0))
	s := snapshot(set, object(b, `{metadata: {name: n, labels: {env: prod}, annotations: {a: b}}, spec: {pd: {replicas: 2}}, status: {}}`))
	b.ReportAllocs()
	for b.Loop() {
		if plan := set.Evaluate(s); len(plan.Operations) != 1 {
			b.Fatal("not matched")
		}
	}
}

func BenchmarkLoad1000Rules(b *testing.B) {
	var text strings.Builder
	text.WriteString(head + "  rules:")
	for i := range 1000 {
		fmt.Fprintf(&text, typicalRule, i)
	}
	// A file may have 256 KiB, so the rules come in several.
	rulesOf := strings.Split(text.String(), "  - name:")
	var files []document.File
	for i := range 10 {
		part := strings.Replace(head, "name: set", fmt.Sprintf("name: set-%d", i), 1) + "  rules:\n"
		for _, rule := range rulesOf[1+i*100 : 101+i*100] {
			part += "  - name:" + rule
		}
		files = append(files, document.File{Name: fmt.Sprintf("%d.yaml", i), Data: []byte(part)})
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, errs := rules.Load(files, rules.Options{}); len(errs) > 0 {
			b.Fatal(errs.Render())
		}
	}
}
