package expression

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"strings"
	"testing"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

var update = flag.Bool("update", false, "write what is said of the mistakes of testdata")

// TestErrors holds what is said of each mistake of testdata/errors.txt, expressions and templates, and what it points at.
func TestErrors(t *testing.T) {
	const file = "testdata/errors.txt"
	object := sample()
	object["metadata"].(map[string]any)["creationTimestamp"] = "2026-01-01T00:00:00Z"
	names := kindNames()
	maps.Copy(names, env{"object": object, "params": nil, "pods": nil, "replicas": int64(3), "xs": []any{int64(3), int64(1)}, "i": int64(0)})
	scope := names.scope().WithHints(map[string]string{"least": "write params.least"})
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	for line := range strings.Lines(string(content)) {
		source, _, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		e := &Evaluation{Names: names, Budget: value.NewBudget(0), Instant: newYear()}
		var program interface {
			Eval(e *Evaluation) (any, error)
		}
		var err error
		if strings.Contains(source, "${") {
			program, err = CompileTemplate(source, scope)
		} else {
			program, err = Compile(source, scope)
		}
		if err == nil {
			_, err = program.Eval(e)
		}
		located, is := errors.AsType[*Error](err)
		if !is {
			t.Errorf("%s: %v is not located", source, err)
			continue
		}
		said := fmt.Sprintf("%s\t%s: %s\n", source, source[located.Offset:located.Offset+located.Length], located)
		if got.WriteString(said); said != line && !*update {
			t.Errorf("got  %swant %s", said, line)
		}
	}
	if *update {
		if err := os.WriteFile(file, got.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
