package scenario_test

import (
	"encoding/json"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/dyncontroller/dyncontroller/pkg/redact"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema/builtin"
	"github.com/dyncontroller/dyncontroller/pkg/simulate/apiserver"
	"github.com/dyncontroller/dyncontroller/pkg/simulate/queue"
	"github.com/dyncontroller/dyncontroller/pkg/simulate/scenario"
)

func instant() time.Time { return time.Date(2026, time.February, 3, 4, 5, 6, 0, time.UTC) }

// setOf compiles rules about Secrets, ConfigMaps and Pods.
func setOf(t testing.TB, rulesText string) *rules.Set {
	t.Helper()
	set, errs := rules.Load([]document.File{{Name: "rules.yaml", Data: []byte(`
apiVersion: dyncontroller.dev/v1alpha1
kind: ClusterRuleSet
metadata: {name: set}
spec:
  resources:
    secrets: {version: v1, resource: secrets}
    configmaps: {version: v1, resource: configmaps}
    pods: {version: v1, resource: pods}
  rules:
` + rulesText)}}, rules.Options{DefaultNamespace: "default", Schemas: schema.NewCatalog(builtin.Source())})
	if mistakes := errs.Of(document.Mistake); len(mistakes) > 0 {
		t.Fatal(mistakes.Render())
	}
	return set
}

func objectOf(t testing.TB, text string) map[string]any {
	t.Helper()
	var out map[string]any
	if err := yaml.Unmarshal([]byte(text), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// start returns a scenario in which nothing has been decided yet.
func start(t testing.TB, order queue.Order, rulesText string, objects ...string) *scenario.Scenario {
	t.Helper()
	server, err := apiserver.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	setup := scenario.Setup{Rules: setOf(t, rulesText), Server: server, Now: instant(), Order: order, Mask: redact.Fingerprint}
	for _, text := range objects {
		setup.Objects = append(setup.Objects, objectOf(t, text))
	}
	s, err := scenario.Start(t.Context(), setup)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// settled is the one phase until the rules rest.
func settled(t testing.TB, rulesText string, objects ...string) scenario.Phase {
	t.Helper()
	s := start(t, queue.FIFO, rulesText, objects...)
	if err := s.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s.Phases()[0]
}

func shown(t testing.TB, value any) string {
	t.Helper()
	data, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
