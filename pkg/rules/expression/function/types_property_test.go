package function_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/function"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/test/oracle"
)

// drawnCall is a call with arguments and what is known of them.
type drawnCall struct {
	of        function.TypeCall
	arguments []any
	each      *expressionOf
}

func (d drawer) call(f *function.Function) drawnCall {
	var c drawnCall
	for i := range f.Params {
		p := &f.Params[i]
		if p.Optional && d.chance(50) {
			break
		}
		if p.Predicate {
			c.each = d.predicate(p.Kinds)
			c.of.Predicate, c.of.Narrowed = c.each.of, c.each.narrowed
			continue
		}
		for more := true; more; more = p.Variadic && d.chance(50) {
			v := d.argument(p.Kinds)
			if texts := textsOf[p.Name]; texts != nil {
				v = d.of(texts...)
			}
			c.arguments = append(c.arguments, v)
			c.of.Arguments = append(c.of.Arguments, d.typeOf(v))
		}
	}
	return c
}

func (d drawer) predicate(kinds value.Kind) *expressionOf {
	options := results
	if kinds == value.Bool {
		options = conditions
	}
	return &options[d.below(len(options))]
}

// run calls the function as expressions do; it has no result where that fails.
func (c drawnCall) run(f *function.Function) (result any, ok bool) {
	b := value.NewBudget(1 << 16)
	call := function.Call{Instant: value.NewInstant(newYear), Budget: b, Descending: []bool{false}}
	for _, v := range c.arguments {
		if f.Param(len(call.Args)).Predicate {
			call.Args = append(call.Args, nil)
		}
		p := f.Param(len(call.Args))
		if value.KindOf(v)&p.Kinds == 0 {
			return nil, false
		}
		if p.Parse != nil {
			var err error
			if v, err = p.Parse(b, v); err != nil {
				return nil, false
			}
		}
		call.Args = append(call.Args, v)
	}
	if c.each != nil {
		call.Predicate = func(_ int, element, accumulator any) any {
			v, ok := c.each.value(element, accumulator)
			if !ok || value.KindOf(v)&f.Params[1].Kinds == 0 {
				value.Must(value.Faultf("the predicate has no value"))
			}
			return v
		}
	}
	result, err := f.Call(call)
	return result, err == nil
}

// checkType draws a call and compares its result with its type. It reports whether
// there was a result.
func checkType(t *rapid.T, f *function.Function) bool {
	c := drawer{t}.call(f)
	for i, v := range c.arguments {
		if !oracle.Admits(c.of.Arguments[i], v) {
			t.Fatalf("%v is not %v", v, c.of.Arguments[i])
		}
	}
	of := f.Type(&c.of)
	result, ok := c.run(f)
	if !ok {
		return false
	}
	each := ""
	if c.each != nil {
		each = c.each.name
	}
	if value.KindOf(result)&f.Result == 0 {
		t.Errorf("%s(%v) = %v, and its row says %v", f.Name, c.arguments, result, f.Result)
	}
	if !oracle.Admits(of, result) {
		t.Errorf("%s(%v) with %s = %v, and its type says %s", f.Name, c.arguments, each, result, written(of))
	}
	return true
}

// TestTypesAreTrue is the promise of the types: whatever a function gives for
// arguments of some types, the type of its result admits.
func TestTypesAreTrue(t *testing.T) {
	for _, f := range callable() {
		t.Run(f.Name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) { checkType(t, &f) })
		})
	}
}

// callable are the functions but desc, which nothing calls.
func callable() []function.Function {
	return slices.DeleteFunc(function.All(), func(f function.Function) bool { return f.Name == "desc" })
}

// TestGeneratedCallsWork makes sure that the promise is not kept by calls that all
// fail, or by types that say nothing.
func TestGeneratedCallsWork(t *testing.T) {
	const all = 100
	functions := slices.DeleteFunc(callable(), func(f function.Function) bool { return len(f.Params) == 0 })
	for _, f := range functions {
		calls := rapid.Custom(func(t *rapid.T) drawnCall { return drawer{t}.call(&f) })
		worked, certain := 0, 0
		for seed := range all {
			c := calls.Example(seed)
			if _, ok := c.run(&f); ok {
				worked++
			}
			if f.Type(&c.of).Known() {
				certain++
			}
		}
		if worked == 0 {
			t.Errorf("%s: none of %d calls has a result", f.Name, all)
		}
		if certain < all/10 && f.Name != "fromJSON" && f.Name != "fromYAML" {
			t.Errorf("%s: of %d calls, %d have a type that is known", f.Name, all, certain)
		}
	}
}
