package expression

import (
	"errors"
	"fmt"
	"runtime"
	"sort"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/function"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/test/hostile"
)

// nested repeats a call in its own predicate.
func nested(call string, n int) string {
	return strings.Repeat(call, n) + "true" + strings.Repeat(")", n)
}

// TestHostile evaluates the expressions and templates of the corpus that compile as an action would, up to the value that
// is ready to be written. The memory that each ever allocates, freed or not, stays below the bound for what it may hold at
// once. Package hostile measures the whole, in a process of its own for each.
func TestHostile(t *testing.T) {
	const bound = 16 << 20
	cases, err := hostile.Cases()
	if err != nil {
		t.Fatal(err)
	}
	object := hostile.Object()
	for _, c := range cases {
		if c.Kind == hostile.Document {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			text, err := c.Text()
			if err != nil {
				t.Fatal(err)
			}
			eval, err := compiledCase(c.Kind, text)
			if err != nil {
				return
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			err = writeOut(eval, object)
			runtime.ReadMemStats(&after)
			if err == nil {
				t.Fatal("no error")
			}
			if used := after.TotalAlloc - before.TotalAlloc; used > bound {
				t.Errorf("allocated %d KiB", used>>10)
			}
		})
	}
}

func compiledCase(kind hostile.Kind, text string) (func(*Evaluation) (any, error), error) {
	scope := NewScope("object")
	if kind == hostile.Template {
		template, err := CompileTemplate(text, scope)
		if err != nil {
			return nil, err
		}
		return template.Eval, nil
	}
	p, err := Compile(text, scope)
	if err != nil {
		return nil, err
	}
	return p.Eval, nil
}

func writeOut(eval func(*Evaluation) (any, error), object map[string]any) error {
	e := &Evaluation{Names: slots{object}, Budget: value.NewBudget(value.Size(object)), Instant: newYear()}
	v, err := eval(e)
	if err != nil {
		return err
	}
	_, err = value.Strip(v, e.Budget)
	return err
}

// slots are the values of names by their slots, which cost nothing to find.
type slots []any

// Value implements [Names].
func (s slots) Value(slot int) (any, error) { return s[slot], nil }

// TestEndpoints is a legitimate heavy rule: the endpoints of a service with 1,000
// pods and two ports each, from one expression.
func TestEndpoints(t *testing.T) {
	pods := make([]any, 1000)
	for i := range pods {
		pods[i] = map[string]any{
			"metadata": map[string]any{"name": fmt.Sprintf("basic-tikv-%d", i), "namespace": "tidb", "uid": fmt.Sprint(i)},
			"spec":     map[string]any{"nodeName": fmt.Sprintf("node-%d", i%100)},
			"status": map[string]any{
				"podIP":      fmt.Sprintf("10.0.%d.%d", i/250, i%250),
				"conditions": []any{map[string]any{"type": "Ready", "status": "True"}},
			},
		}
	}
	const source = `
		let ready = sortBy(filter(pods, condition(#, "Ready")?.status == "True"), [.spec.nodeName, .metadata.name]);
		flatten(map(ready, {
			let pod = #;
			map([{name: "client", port: 20160}, {name: "status", port: 20180}], {{
				address: pod.status.podIP + ":" + string(.port),
				port: .name,
				target: {kind: "Pod", name: pod.metadata.name, namespace: pod.metadata.namespace, uid: pod.metadata.uid},
				node: pod.spec.nodeName,
			}})
		}))`
	names := env{"pods": pods}
	e := &Evaluation{Names: names, Budget: value.NewLazyBudget(func() int { return value.Size(pods) })}
	v, err := compiled(t, source, names.scope()).Eval(e)
	if err == nil {
		v, err = value.Strip(v, e.Budget)
	}
	if err != nil {
		t.Fatal(err)
	}
	list, _ := v.([]any)
	if len(list) != 2000 {
		t.Fatalf("%d endpoints, want 2000", len(list))
	}
	first, _ := list[0].(map[string]any)
	if got := first["address"]; got != "10.0.0.0:20160" {
		t.Errorf("the first address is %v", got)
	}
}

// TestBudgetIsShared makes sure that many programs of one evaluation together
// have what one has.
func TestBudgetIsShared(t *testing.T) {
	p := compiled(t, "len(1..1000)", NewScope())
	e := &Evaluation{Budget: value.NewBudget(0)}
	for range 10_000 {
		if _, err := p.Eval(e); err != nil {
			if !errors.Is(err, value.ErrBudget) {
				t.Errorf("%v does not wrap value.ErrBudget", err)
			}
			return
		}
	}
	t.Error("10,000 programs stayed within one budget")
}

// TestBudgetScales makes sure that what is too much for a small input is fine
// for a large one.
func TestBudgetScales(t *testing.T) {
	p := compiled(t, "len(1..1000000)", NewScope())
	if _, err := p.Eval(&Evaluation{Budget: value.NewBudget(0)}); !errors.Is(err, value.ErrBudget) {
		t.Errorf("with nothing read: %v, want one that wraps value.ErrBudget", err)
	}
	if v, err := p.Eval(&Evaluation{Budget: value.NewBudget(20 << 20)}); err != nil || v != int64(1_000_000) {
		t.Errorf("with 20 MiB read: %v, %v", v, err)
	}
}

// TestExhausted evaluates with next to nothing left to spend: whatever runs out
// says so, and nothing gives another value than with a full budget.
func TestExhausted(t *testing.T) {
	names := kindNames()
	sources := []string{
		"int + float", "text + text", "[int, [text]]", "{a: int, (text): text}", "1..300", "list == [1, \"b\", nil]", "m == {a: 1}",
		"int in list", `text contains "b"`, `text matches "b+"`, "text[1:]", "list[1:]", "map(list, #index)", "let x = [int]; x",
		`trim("--a--", "-")`, "string(float)", "keys(groupBy([text], #))", "sortBy([3, 1, 2], [#, desc(#)])", "any(list, [#] == [nil])",
		`condition({status: {conditions: [m, m]}}, text)`, "median([3, 1, 2, int])", `{"a": [toJSON([{b: m, c: [list, float]}]), omit()]}`,
	}
	for _, f := range function.All() {
		sources = append(sources, f.Example.Expression)
	}
	steps, bytes := capacity((*value.Budget).Steps), capacity((*value.Budget).Bytes)
	for _, source := range sources {
		p := compiled(t, source, names.scope())
		want, err := p.Eval(&Evaluation{Names: names, Instant: newYear()})
		if err == nil {
			want, err = value.Strip(want, nil)
		}
		if err != nil {
			t.Fatalf("%s: %v", source, err)
		}
		ran := func(b *value.Budget) bool {
			e := &Evaluation{Names: names, Budget: b, Instant: newYear()}
			got, err := p.Eval(e)
			if err == nil {
				got, err = value.Strip(got, b)
			}
			if err != nil && !errors.Is(err, value.ErrBudget) || err == nil && !cmp.Equal(want, got) {
				t.Errorf("%s = %v, %v, want %v or an error about the budget", source, got, err, want)
			}
			return err == nil
		}
		if !runsEventually(ran, (*value.Budget).Steps, steps, 1) || !runsEventually(ran, (*value.Budget).Bytes, bytes, 8) {
			t.Errorf("%s never runs", source)
		}
	}
}

// runsEventually leaves more and more to spend until a run succeeds.
func runsEventually(run func(*value.Budget) bool, spend func(*value.Budget, int) error, capacity, step int) bool {
	const most = 10_000
	for left := 0; left < most*step; left += step {
		b := value.NewBudget(0)
		if err := spend(b, capacity-left); err != nil {
			return false
		}
		if run(b) {
			return true
		}
	}
	return false
}

// capacity finds out how much of something an empty input allows.
func capacity(spend func(*value.Budget, int) error) int {
	return sort.Search(1<<30, func(n int) bool { return spend(value.NewBudget(0), n+1) != nil })
}
