package floors_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/test/floors"
)

// TestBansCanFail breaks each rule of the house in a graph of two or three packages: a rule with a misspelt path would
// hold for ever.
func TestBansCanFail(t *testing.T) {
	const (
		pure     = "the core is pure, what it needs comes in as a value"
		cluster  = "the core knows no cluster and no configuration, not even through others"
		edges    = "files, programs and flags belong to internal/ and cmd/"
		viper    = "only internal/config imports viper, and makes a Config of it"
		expr     = "only pkg/rules/expression imports expr"
		server   = "only the schemas and the simulated clusters need the API server's code"
		loop     = "the loop is our own"
		testOnly = "only tests import it"
	)
	tests := map[string]struct {
		graph floors.Graph
		want  []string
	}{
		"core and client-go": {
			graph: floors.Graph{"./pkg/plan": {"k8s.io/client-go/dynamic"}},
			want:  []string{"./pkg/plan imports k8s.io/client-go/dynamic: " + cluster},
		},
		"core and client-go through another module": {
			graph: floors.Graph{"./pkg/rules/action": {"example.org/x"}, "example.org/x": {"k8s.io/client-go/rest"}},
			want:  []string{"./pkg/rules/action imports example.org/x imports k8s.io/client-go/rest: " + cluster},
		},
		"core and viper through another module": {
			graph: floors.Graph{"./pkg/rules": {"example.org/x"}, "example.org/x": {"github.com/spf13/viper"}},
			want:  []string{"./pkg/rules imports example.org/x imports github.com/spf13/viper: " + cluster},
		},
		"core and network": {
			graph: floors.Graph{"./pkg/rules/schema": {"net/http", "net"}},
			want:  []string{"./pkg/rules/schema imports net/http: " + pure, "./pkg/rules/schema imports net: " + pure},
		},
		"core and addresses": {graph: floors.Graph{"./pkg/rules/expression/function": {"net/netip", "net/url"}}},
		"core and files": {
			graph: floors.Graph{"./pkg/plan": {"os"}},
			want:  []string{"./pkg/plan imports os: " + pure, "./pkg/plan imports os: " + edges},
		},
		"core and loggers": {
			graph: floors.Graph{"./pkg/rules/document": {"log/slog", "log", "k8s.io/klog/v2"}},
			want: []string{
				"./pkg/rules/document imports log/slog: " + pure,
				"./pkg/rules/document imports log: " + pure,
				"./pkg/rules/document imports k8s.io/klog/v2: " + pure,
			},
		},
		"core and metrics": {
			graph: floors.Graph{"./pkg/rules": {"github.com/prometheus/client_golang/prometheus"}},
			want:  []string{"./pkg/rules imports github.com/prometheus/client_golang/prometheus: " + pure},
		},
		"core and chance": {
			graph: floors.Graph{"./pkg/rules": {"math/rand/v2", "crypto/rand"}},
			want:  []string{"./pkg/rules imports math/rand/v2: " + pure, "./pkg/rules imports crypto/rand: " + pure},
		},
		"engine and files": {
			graph: floors.Graph{"./pkg/engine": {"os", "log/slog", "k8s.io/client-go/dynamic"}},
			want:  []string{"./pkg/engine imports os: " + edges},
		},
		"engine and flags": {
			graph: floors.Graph{"./pkg/engine/write": {"github.com/spf13/pflag"}},
			want:  []string{"./pkg/engine/write imports github.com/spf13/pflag: " + edges},
		},
		"viper": {
			graph: floors.Graph{"./internal/config": {"github.com/spf13/viper"}, "./internal/cli": {"github.com/spf13/viper"}},
			want:  []string{"./internal/cli imports github.com/spf13/viper: " + viper},
		},
		"expr": {
			graph: floors.Graph{
				"./pkg/rules/expression":       {"github.com/expr-lang/expr"},
				"./pkg/rules/expression/value": {"github.com/expr-lang/expr/ast"},
				"./pkg/rules/action":           {"github.com/expr-lang/expr/vm"},
			},
			want: []string{"./pkg/rules/action imports github.com/expr-lang/expr/vm: " + expr},
		},
		"API server": {
			graph: floors.Graph{
				"./pkg/simulate":     {"k8s.io/apiserver/pkg/cel"},
				"./pkg/rules/schema": {"k8s.io/apiserver/pkg/cel"},
				"./pkg/rules":        {"k8s.io/apiserver/pkg/cel"},
				"./test/e2e":         {"k8s.io/apiserver/pkg/cel"},
			},
			want: []string{
				"./pkg/rules imports k8s.io/apiserver/pkg/cel: " + server,
				"./test/e2e imports k8s.io/apiserver/pkg/cel: " + server,
			},
		},
		"controller-runtime, and through another module": {
			graph: floors.Graph{
				"./cmd/dyncontroller": {"./internal/cli"},
				"./internal/cli":      {"example.org/x"},
				"./test/e2e":          {"sigs.k8s.io/controller-runtime"},
				"example.org/x":       {"sigs.k8s.io/controller-runtime/pkg/client"},
			},
			want: []string{
				"./cmd/dyncontroller imports ./internal/cli imports example.org/x imports sigs.k8s.io/controller-runtime/pkg/client: " + loop,
				"./internal/cli imports example.org/x imports sigs.k8s.io/controller-runtime/pkg/client: " + loop,
				"./test/e2e imports sigs.k8s.io/controller-runtime: " + loop,
			},
		},
		"tests in the product": {
			graph: floors.Graph{"./pkg/simulate": {"testing/fstest"}, "./test/controlplane": {"testing"}},
			want:  []string{"./pkg/simulate imports testing/fstest: " + testOnly},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, floors.CheckBans(test.graph, floors.Bans())); diff != "" {
				t.Errorf("the rules of the house (-want +got)\n%s", diff)
			}
		})
	}
}

// TestHouseOrder pins the order of the floors that the design names.
func TestHouseOrder(t *testing.T) {
	order := []string{
		"./test/e2e", "./test/controlplane", "./cmd/dyncontroller", "./internal/cli", "./internal/source", "./pkg/simulate", "./pkg/engine",
		"./pkg/engine/write", "./pkg/rules", "./pkg/rules/action", "./pkg/rules/template", "./pkg/rules/expression", "./pkg/plan",
	}
	var got []string
	seen := map[string]int{}
	for _, floor := range floors.House() {
		for _, name := range floor {
			if seen[name]++; slices.Contains(order, name) {
				got = append(got, name)
			}
		}
	}
	if diff := cmp.Diff(order, got); diff != "" {
		t.Errorf("the order of the floors (-want +got)\n%s", diff)
	}
	for name, times := range seen {
		if times > 1 {
			t.Errorf("%s is on %d floors", name, times)
		}
	}
}
