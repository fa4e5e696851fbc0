package check_test

import (
	"runtime"
	"strings"
	"testing"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/check"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/function"
	"github.com/dyncontroller/dyncontroller/test/hostile"
)

// FuzzCheck checks any source and any condition as that of a rule: it never panics, and what it says is about the source.
func FuzzCheck(f *testing.F) {
	for _, row := range function.All() {
		f.Add("true", row.Example.Expression)
	}
	f.Add("hasTikv && object.spec.nodes[0].image != nil", `let x = tikv; x.replicas > 1 || reduce(pods, #acc + .a, 0) == "1"`)
	f.Add(`(object.spec.tikv?.replicas ?? 0) > 0`, `map(filter(pods, .spec.nodeName in ["a"]), {let p = #; p.spec.nodeName[0:1] + object.spec.tikv.version})`)
	f.Add("ready?.status == true", `condition(object, "Ready").status != nil ? -object["spec"].pd[-1] : {a: 1, (anything): nil}.b?.c`)
	w := newWorld(f, cluster, lets...)
	f.Fuzz(func(t *testing.T, when, source string) {
		condition, err := expression.Compile(when, w.scope)
		if err != nil {
			return
		}
		p, err := expression.Compile(source, w.scope)
		if err != nil {
			return
		}
		facts, errs := check.Condition(condition, w, nil)
		checkPlaces(t, when, errs)
		of, errs := check.Program(p, w, facts)
		checkPlaces(t, source, errs)
		if of.String() == "" {
			t.Error("the type has no name")
		}
	})
}

func checkPlaces(t *testing.T, source string, errs []*expression.Error) {
	t.Helper()
	if len(errs) > 100 {
		t.Errorf("%d mistakes", len(errs))
	}
	for _, err := range errs {
		if err.Offset < 0 || err.Length < 0 || err.Offset+err.Length > len(source) {
			t.Errorf("%v is at %d, %d bytes long", err, err.Offset, err.Length)
		}
		if err.Code == "" || err.Message == "" {
			t.Errorf("%+v has no code or no message", err)
		}
	}
}

// TestBounded checks what wants to exhaust whoever checks it.
func TestBounded(t *testing.T) {
	const bound = 16 << 20
	lets := []string{"l0", "object.spec.tikv != nil"}
	for i := range 60 {
		before := lets[2*i]
		lets = append(lets, "l"+string(rune('a'+i%26))+strings.Repeat("x", i/26), before+" && "+before+" || "+before)
	}
	sources := map[string]string{
		"many clauses":      strings.Repeat("object.spec.tikv != nil && ", 190) + "true",
		"many alternatives": strings.Repeat("object.spec.tikv?.replicas == 1 || ", 150) + "true",
		"many mistakes":     strings.Repeat("object.spec.foo == 1 || ", 190) + "true",
		"lets of lets":      lets[len(lets)-2],
		"variables of variables": "let a = object.spec.tikv != nil; let b = a && a; let c = b && b; let d = c && c; let e = d && d; let f = e && e; " +
			"let g = f && f; let h = g && g; let i = h && h; let j = i && i; let k = j && j; let l = k && k; l && l && l",
		"reduce of reduce":  "reduce(1..9, reduce(1..9, reduce(1..9, reduce(1..9, {{a: #acc, b: #}}, {}), {}), {}), {})",
		"calls of calls":    strings.Repeat("string(", 90) + "1" + strings.Repeat(")", 90),
		"maps of maps":      "reduce(1..9, {{a: #acc, b: #acc, c: [#acc, #]}}, {a: 1})",
		"ternaries":         strings.Repeat("hasTikv ? 1 : ", 90) + "2",
		"a long path":       "anything" + strings.Repeat(".a", 300) + " == anything" + strings.Repeat("?.a", 300),
		"constants":         "1 in [" + strings.Repeat("1, ", 1500) + "2]",
		"the same call":     strings.Repeat(`condition(object, "Ready") != nil && `, 150) + `condition(object, "Ready").status == "True"`,
		"nested predicates": "any(pods, any(.spec.containers, any(.ports, any(pods, .spec.nodeName == nil))))",
	}
	names := newWorld(t, cluster, append([]string{"hasTikv", "object.spec.tikv != nil"}, lets...)...)
	for name, source := range sources {
		t.Run(name, func(t *testing.T) {
			p := names.compiled(t, source)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			facts, _ := check.Condition(p, names, nil)
			_, errs := check.Program(p, names, facts)
			runtime.ReadMemStats(&after)
			checkPlaces(t, source, errs)
			if used := after.TotalAlloc - before.TotalAlloc; used > bound {
				t.Errorf("allocated %d KiB", used>>10)
			}
		})
	}
}

// TestHostile checks all expressions of the corpus that compile.
func TestHostile(t *testing.T) {
	cases, err := hostile.Cases()
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, pod)
	for _, c := range cases {
		text, err := c.Text()
		if err != nil {
			t.Fatal(err)
		}
		if p, err := expression.Compile(text, w.scope); err == nil && c.Kind != hostile.Document {
			_, errs := check.Program(p, w, nil)
			checkPlaces(t, text, errs)
		}
	}
}
