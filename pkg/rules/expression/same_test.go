package expression

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/expr-lang/expr"
)

// TestSameAsExpr evaluates a list of expressions here and with expr's own virtual
// machine. Where the contract agrees with expr, so must we: a new version of expr
// that changes its language fails here.
func TestSameAsExpr(t *testing.T) {
	names := env{
		"object": map[string]any{"spec": map[string]any{
			"replicas": int64(3),
			"ports": []any{
				map[string]any{"name": "peer", "port": int64(2380)},
				map[string]any{"name": "client", "port": int64(2379)},
			},
		}},
		"list": []any{int64(3), int64(1), int64(2)}, "name": "basic", "replicas": int64(3), "ratio": 0.5, "missing": nil,
	}
	text, err := os.ReadFile("testdata/same-as-expr.txt")
	if err != nil {
		t.Fatal(err)
	}
	lines := 0
	for source := range strings.Lines(string(text)) {
		source = strings.TrimSpace(source)
		if source == "" || source[0] == '#' {
			continue
		}
		lines++
		t.Run(source, func(t *testing.T) {
			program, err := expr.Compile(source, expr.Env(map[string]any(names)))
			if err != nil {
				t.Fatalf("expr: %v", err)
			}
			theirs, err := expr.Run(program, map[string]any(names))
			if err != nil {
				t.Fatalf("expr: %v", err)
			}
			if want, got := asJSON(t, theirs), asJSON(t, mustEval(t, source, names)); got != want {
				t.Errorf("%s here, %s to expr", got, want)
			}
		})
	}
	if lines < 150 {
		t.Errorf("only %d expressions", lines)
	}
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
