package expression

import (
	"errors"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

// newYear is the moment of an evaluation that is not about time.
func newYear() *value.Instant {
	return value.NewInstant(time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC))
}

// env is the names of a test and their values.
type env map[string]any

func (v env) scope() *Scope { return NewScope(slices.Sorted(maps.Keys(v))...) }

// Value makes env a Names; an error as the value is what resolving it gives.
func (v env) Value(slot int) (any, error) {
	result := v[v.scope().names[slot]]
	if err, ok := result.(error); ok {
		return nil, err
	}
	return result, nil
}

func (v env) eval(source string) (any, error) {
	p, err := Compile(source, v.scope())
	if err != nil {
		return nil, err
	}
	return p.Eval(&Evaluation{Names: v, Budget: value.NewBudget(0), Instant: newYear()})
}

func mustEval(t *testing.T, source string, names env) any {
	t.Helper()
	v, err := names.eval(source)
	if err != nil {
		t.Fatalf("eval(%s): %v", source, err)
	}
	return v
}

// place returns the part of source that err is about.
func place(t *testing.T, source string, err error) (*Error, string) {
	t.Helper()
	var located *Error
	if !errors.As(err, &located) {
		t.Fatalf("eval(%.80s): error %v, want an *Error", source, err)
	}
	from, to := located.Offset, located.Offset+located.Length
	if from < 0 || to < from || to > len(source) {
		t.Fatalf("eval(%.80s): error %v at [%d:%d], outside of the source", source, err, from, to)
	}
	return located, source[from:to]
}

// sample is an object as Kubernetes would give it.
func sample() map[string]any {
	return map[string]any{
		"apiVersion": "pingcap.com/v1alpha1",
		"kind":       "TidbCluster",
		"metadata": map[string]any{
			"name":   "basic",
			"labels": map[string]any{"env": "prod", "app.kubernetes.io/name": "tidb"},
		},
		"spec": map[string]any{
			"pd":     map[string]any{"replicas": int64(3), "image": "pingcap/pd:v8.5.0"},
			"tikv":   map[string]any{"replicas": int64(3), "config": "a = 1"},
			"ratio":  0.5,
			"paused": false,
			"empty":  []any{},
			"null":   nil,
			"ports": []any{
				map[string]any{"name": "client", "port": int64(2379)},
				map[string]any{"name": "peer", "port": int64(2380)},
			},
			"template": map[string]any{"metadata": map[string]any{}},
		},
	}
}

// kindNames has a value of each kind.
func kindNames() env {
	return env{
		"absent": nil,
		"yes":    true,
		"no":     false,
		"int":    int64(7),
		"float":  2.5,
		"text":   "abc",
		"list":   []any{int64(1), "b", nil},
		"m":      map[string]any{"a": int64(1)},
	}
}
