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
)

// hostile are expressions that must be refused or stopped. None is stopped by a
// limit on time: the budget bounds time and memory the same way on any machine.
var hostile = map[string]string{
	// Those the design names, which break expr's own machine.
	"doubling text":    `reduce(1..30, #acc + #acc, "aaaaaaaaaa")`,
	"nested all":       nested("all(1..300, ", 4),
	"half a million (": strings.Repeat("(", 500_000),
	// Ranges.
	"a long range":        "1..9223372036854775807",
	"the longest range":   "(-9223372036854775807 - 1)..9223372036854775807",
	"a range of millions": "len(1..10000000)",
	"many ranges":         "any(1..100000, any(1..1000, false))",
	// Texts.
	"repeat":                      `repeat("a", 9223372036854775807)`,
	"repeat of repeat":            `repeat(repeat("a", 100000), 100000)`,
	"many repeats":                `map(1..1000, repeat("abc", 10000))`,
	"replace that grows":          `replace(repeat("a", 10000), "a", repeat("b", 10000))`,
	"replace of nothing":          `replace(big, "", repeat("b", 1000))`,
	"join with a long separator":  `join(map(1..10000, "a"), repeat("-", 10000))`,
	"split into letters":          `split(big + big + big, "")`,
	"many splits":                 `map(1..1000, split(big, "a"))`,
	"many cases":                  `any(1..100000, upper(big) == "")`,
	"many trims":                  `any(1..100000, trim(big, "ba") == "x")`,
	"many searches":               `any(1..100000, indexOf(big, "b") > 0)`,
	"many contains":               `any(1..100000, big contains "b")`,
	"many lengths":                "any(1..100000, len(big) == 0)",
	"many slices":                 `any(1..100000, big[1:-1] == "")`,
	"many equal texts":            `any(1..1000000, big == big + "")`,
	"many encodings":              `any(1..100000, toBase64(big) == "")`,
	"many decodings":              `let b = toBase64(big); any(1..100000, fromBase64(b) == "")`,
	"a slow pattern":              `any(1..100000, big matches "(a+a+)+$b")`,
	"a large pattern, many times": `any(1..100000, big[:2000] matches "[ab]{450}c")`,
	"an exploding pattern":        `"a" matches "` + strings.Repeat("(x{1000})", 28) + `"`,
	"a nested pattern":            `"a" matches "` + strings.Repeat("(", 120) + "a" + strings.Repeat("){2}", 30) + `"`,
	// Shared structure that explodes when it is walked.
	"a shared list compared":    "let a = reduce(1..64, [#acc, #acc]); let b = reduce(1..64, [#acc, #acc]); a == b",
	"a shared list in a list":   "let a = reduce(1..64, [#acc, #acc]); reduce(1..64, [#acc, #acc]) in [a]",
	"a shared list as JSON":     "toJSON(reduce(1..64, [#acc, #acc]))",
	"a shared list flattened":   "flatten(reduce(1..64, [#acc, #acc]))",
	"a shared list in uniq":     "uniq([reduce(1..64, [#acc, #acc])])",
	"a shared map as JSON":      "toJSON(reduce(1..64, {{a: #acc, b: #acc}}))",
	"a shared map merged":       "reduce(1..64, merge({a: #acc, b: #acc}, {a: #acc, b: #acc}), {c: 1})",
	"a shared list, as a value": "reduce(1..64, [#acc, #acc])",
	"a shared map, as a value":  "reduce(1..64, {{a: #acc, b: #acc}})",
	"many lets":                 doubling(24),
	// Deep values.
	"a deep list as a value": "reduce(1..1000, [#acc])",
	"a deep list compared":   "let a = reduce(1..1000, [#acc]); let b = reduce(1..1000, [#acc]); a == b",
	"a deep list as JSON":    "toJSON(reduce(1..1000, [#acc]))",
	"a deep list flattened":  "flatten(reduce(1..1000, [#acc]))",
	"a deep map merged":      "let a = reduce(1..1000, {{a: #acc}}, {}); merge(a, a)",
	"deep JSON":              `fromJSON(repeat("[", 1000) + repeat("]", 1000))`,
	"endless JSON":           `fromJSON(repeat("[", 100000))`,
	"much JSON":              `fromJSON("[" + repeat("{},", 100000) + "1]")`,
	"long JSON":              `fromJSON("[" + repeat("1,", 1000000) + "1]")`,
	"many keys of JSON":      `fromJSON("{" + join(map(1..30000, "\"" + string(#) + "\":1"), ",") + "}")`,
	// Lists and maps.
	"sort":                 "sort(1..100000)",
	"many sorts":           "any(1..100000, sort(pods | map(.n)) == [])",
	"sortBy of many keys":  "sortBy(1..30000, [desc(#), #, #, #, #, #])",
	"groupBy":              "groupBy(1..30000, string(#))",
	"many maps":            "map(1..30000, {{a: #}})",
	"concat":               "reduce(1..100000, concat(#acc, [1]), [])",
	"reverse":              "any(1..100000, reverse(pods) == [])",
	"uniq":                 "any(1..100000, uniq(pods) == [])",
	"keys":                 `any(1..100000, keys(groupBy(pods, .name)) == [])`,
	"merge":                "reduce(pods, merge(#acc, {(#.name): #}), {})",
	"min":                  "any(1..100000, min(pods | map(.n)) < 0)",
	"median":               "any(1..100000, median(1..1000) < 0)",
	"in":                   `any(1..100000, "x" in pods)`,
	"equal lists":          "any(1..1000000, pods == pods)",
	"quadratic":            "map(pods, filter(pods, .n != 1))",
	"cubic":                nested("all(pods, ", 3),
	"a list of the object": "map(pods, toJSON(pods))",
	"fromPairs":            "any(1..100000, fromPairs(map(pods, [.name, .n])) == {})",
	// Deep and large sources.
	"negations":            strings.Repeat("!", 16_000) + "true",
	"minuses":              strings.Repeat("-", 16_000) + "1",
	"ternaries":            strings.Repeat("true ? ", 2000),
	"powers":               strings.Repeat("2**", 5000) + "1",
	"open lets":            strings.Repeat("let a=", 2600),
	"terms":                strings.Repeat("1+", 8000) + "1",
	"chained comparisons":  strings.Repeat("1 < (", 40) + "1" + strings.Repeat(") < 1", 40),
	"a long path":          "big" + strings.Repeat(".a", 8000),
	"a long name":          strings.Repeat("a", 16_000),
	"many names":           strings.Repeat("a ", 8000),
	"many quotes":          strings.Repeat(`"`, 16_000),
	"many semicolons":      strings.Repeat("1;", 8000),
	"a literal of strings": "[" + strings.Repeat(`"a",`, 4000) + "1]",
}

// nested repeats a call in its own predicate.
func nested(call string, n int) string {
	return strings.Repeat(call, n) + "true" + strings.Repeat(")", n)
}

func doubling(n int) string {
	source := "let a0 = [1, 1]; "
	for i := range n {
		source += fmt.Sprintf("let a%d = [a%d, a%d]; ", i+1, i, i)
	}
	return source + fmt.Sprintf("toJSON(a%d)", n)
}

// load is the input of the hostile expressions.
func load() env {
	pods := make([]any, 1000)
	for i := range pods {
		pods[i] = map[string]any{"name": fmt.Sprintf("pod-%d", i), "n": int64(i)}
	}
	return env{"big": strings.Repeat("a", 100_000), "pods": pods}
}

// TestHostile evaluates each expression as an action would, up to the value that
// is ready to be written. The memory that it ever allocates, freed or not, stays
// below the bound for what it may hold at once.
func TestHostile(t *testing.T) {
	const bound = 16 << 20
	names := load()
	size := Size(names["big"]) + Size(names["pods"])
	for name, source := range hostile {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			err := writeOut(source, names, size)
			runtime.ReadMemStats(&after)
			if err == nil {
				t.Fatalf("%.80s: no error", source)
			}
			if used := after.TotalAlloc - before.TotalAlloc; used > bound {
				t.Errorf("%.80s: allocated %d KiB", source, used>>10)
			}
		})
	}
}

func writeOut(source string, names env, size int) error {
	p, err := Compile(source, names.scope())
	if err != nil {
		return err
	}
	e := &Evaluation{Names: names, Budget: NewBudget(size)}
	v, err := p.Eval(e)
	if err != nil {
		return err
	}
	_, err = Strip(v, e.Budget)
	return err
}

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
	e := &Evaluation{Names: names, Budget: NewLazyBudget(func() int { return Size(pods) })}
	v, err := compiled(t, source, names.scope()).Eval(e)
	if err == nil {
		v, err = Strip(v, e.Budget)
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
	e := &Evaluation{Budget: NewBudget(0)}
	for range 10_000 {
		if _, err := p.Eval(e); err != nil {
			if !errors.Is(err, ErrBudget) {
				t.Errorf("%v does not wrap ErrBudget", err)
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
	if _, err := p.Eval(&Evaluation{Budget: NewBudget(0)}); !errors.Is(err, ErrBudget) {
		t.Errorf("with nothing read: %v, want one that wraps ErrBudget", err)
	}
	if v, err := p.Eval(&Evaluation{Budget: NewBudget(20 << 20)}); err != nil || v != int64(1_000_000) {
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
	steps, bytes := capacity((*Budget).Steps), capacity((*Budget).Bytes)
	for _, source := range sources {
		p := compiled(t, source, names.scope())
		want, err := p.Eval(&Evaluation{Names: names})
		if err == nil {
			want, err = Strip(want, nil)
		}
		if err != nil {
			t.Fatalf("%s: %v", source, err)
		}
		ran := func(b *Budget) bool {
			e := &Evaluation{Names: names, Budget: b}
			got, err := p.Eval(e)
			if err == nil {
				got, err = Strip(got, b)
			}
			if err != nil && !errors.Is(err, ErrBudget) || err == nil && !cmp.Equal(want, got) {
				t.Errorf("%s = %v, %v, want %v or an error about the budget", source, got, err, want)
			}
			return err == nil
		}
		if !runsEventually(ran, (*Budget).Steps, steps, 1) || !runsEventually(ran, (*Budget).Bytes, bytes, 8) {
			t.Errorf("%s never runs", source)
		}
	}
}

// runsEventually leaves more and more to spend until a run succeeds.
func runsEventually(run func(*Budget) bool, spend func(*Budget, int) error, capacity, step int) bool {
	const most = 10_000
	for left := 0; left < most*step; left += step {
		b := NewBudget(0)
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
func capacity(spend func(*Budget, int) error) int {
	return sort.Search(1<<30, func(n int) bool { return spend(NewBudget(0), n+1) != nil })
}
