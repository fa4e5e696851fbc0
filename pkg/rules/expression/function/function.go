package function

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/footprint/shape"
	"github.com/dyncontroller/dyncontroller/pkg/rules/typing"
)

// Function is a function that expressions may call.
type Function struct {
	Name   string
	Params []Param
	// Result is the kinds of values it gives.
	Result value.Kind
	// Doc is one or two sentences for the reference.
	Doc     string
	Example Example

	// call ends with an error by [value.Must]. It is nil for desc, which only sortBy understands.
	call func(c Call) any
	// flow is set where the function does not read all of its arguments by value, or
	// gives parts of them; see flow.go.
	flow func(c *Flow) shape.Shape
	// types is set where the kinds of the result are not all that is known of it; see
	// types.go.
	types func(c *TypeCall) typing.Type
}

// Param is a parameter.
type Param struct {
	Name string
	// Kinds is what it takes. Nil is among them only where the function has a
	// meaning for an absent value, as every list function has.
	Kinds value.Kind
	// Optional parameters may be left out, from the last backwards.
	Optional bool
	// Variadic lets the last parameter be repeated.
	Variadic bool
	// Predicate marks an expression that is evaluated for each element.
	Predicate bool

	// Parse reads the form that the function wants out of what an argument says, where
	// that is set. It depends on nothing else, so that a constant is read once.
	Parse func(b *value.Budget, v any) (any, error)
}

// Example is an expression and its value as JSON.
type Example struct {
	Expression string
	Want       string
}

// table is never changed; [All] copies it.
var table = func() []Function {
	all := make([]Function, len(entries))
	for i, r := range entries {
		f := Function{Doc: r.doc, Example: Example{r.example, r.want}, call: r.call, flow: r.flow, types: r.types}
		name, rest, _ := strings.Cut(r.signature, "(")
		params, result, _ := strings.Cut(rest, ") ")
		f.Name, f.Result = name, typed(result).Kinds
		for text := range strings.SplitSeq(params, ", ") {
			if text != "" {
				f.Params = append(f.Params, param(text))
			}
		}
		all[i] = f
	}
	return all
}()

// param reads a parameter of a signature.
func param(text string) Param {
	inner := strings.Trim(text, "[]")
	name, kinds, isPredicate := strings.Cut(inner, " => ")
	if !isPredicate {
		name, kinds, _ = strings.Cut(inner, " ")
	}
	kinds, variadic := strings.CutSuffix(kinds, "...")
	p := typed(kinds)
	p.Name, p.Optional, p.Variadic, p.Predicate = name, inner != text, variadic, isPredicate
	return p
}

// typed is a parameter of the types between the | of a text.
func typed(text string) Param {
	var p Param
	for one := range strings.SplitSeq(text, "|") {
		name, nilable := strings.CutSuffix(one, "?")
		t := paramTypes[name]
		p.Kinds, p.Parse = p.Kinds|t.Kinds, t.Parse
		if nilable {
			p.Kinds |= value.Nil
		}
	}
	return p
}

// All returns the functions in the order of the reference. The parameters are shared, and not
// to be changed.
func All() []Function { return slices.Clone(table) }

// Lookup returns the function of a name. It is shared, and not to be changed.
func Lookup(name string) (*Function, bool) {
	f, found := index()[name]
	return f, found
}

var index = sync.OnceValue(func() map[string]*Function {
	byName := make(map[string]*Function, len(table))
	for i := range table {
		byName[table[i].Name] = &table[i]
	}
	return byName
})

// Signature returns the call as the reference shows it, as "split(text, separator, [limit])".
func (f *Function) Signature() string {
	var names []string
	for _, p := range f.Params {
		switch {
		case p.Variadic:
			names = append(names, p.Name+"...")
		case p.Optional:
			names = append(names, "["+p.Name+"]")
		default:
			names = append(names, p.Name)
		}
	}
	return f.Name + "(" + strings.Join(names, ", ") + ")"
}

// Iterates reports whether f takes a predicate, its second parameter, for the elements of its first argument.
func (f *Function) Iterates() bool { return len(f.Params) > 1 && f.Params[1].Predicate }

// CheckCount returns a fault unless f takes n arguments.
func (f *Function) CheckCount(n int) error {
	least, most := 0, len(f.Params)
	for _, p := range f.Params {
		if !p.Optional {
			least++
		}
		if p.Variadic {
			most = math.MaxInt
		}
	}
	if n >= least && n <= most {
		return nil
	}
	return value.Faultf("%s takes %s, have %d", f.Name, counted(least, most), n).
		WithHint("write %s", f.Signature())
}

func counted(least, most int) string {
	noun := "arguments"
	if least == 1 {
		noun = "argument"
	}
	switch most {
	case least:
		return fmt.Sprintf("%d %s", least, noun)
	case math.MaxInt:
		return fmt.Sprintf("at least %d %s", least, noun)
	default:
		return fmt.Sprintf("%d to %d arguments", least, most)
	}
}

// Param returns the parameter that argument i belongs to.
func (f *Function) Param(i int) *Param {
	return &f.Params[min(i, len(f.Params)-1)]
}

// Call is a call of a function.
type Call struct {
	// Instant is the moment that functions of time ask for.
	Instant *value.Instant
	Budget  *value.Budget
	// Args have the kinds of the parameters, and are parsed where those parse. In the place of a predicate is nil.
	Args []any
	// Predicate evaluates the predicate for an element to a value of the kinds that
	// the parameter takes; it is nil where it was left out. Only reduce gives an
	// accumulator.
	Predicate func(i int, element, accumulator any) (any, error)
	// Descending says for each key of sortBy whether desc() was around it.
	Descending []bool
	// SeveralKeys says that the predicate of sortBy gives a list with a key for
	// each entry of Descending, rather than the only key.
	SeveralKeys bool

	name string
}

// Call calls the function, which does not keep the arguments.
func (f *Function) Call(c Call) (result any, err error) {
	defer value.Catch(&err)
	c.name = f.Name
	return f.call(c), nil
}

// instant is the moment of the evaluation.
func (c Call) instant() *value.Instant {
	if c.Instant == nil {
		fail("%s needs the time, and there is none here", c.name)
	}
	return c.Instant
}

// list is the first argument of a function of lists.
func (c Call) list() []any { return as[[]any](c.Args[0]) }

// arg returns an argument whose kind the caller has checked; it is zero where it was left
// out, or is nil.
func arg[T any](c Call, i int) T {
	if i >= len(c.Args) {
		return as[T](nil)
	}
	return as[T](c.Args[i])
}

// as returns v where it is a T, or else its zero.
func as[T any](v any) T {
	t, _ := v.(T)
	return t
}

// fail ends a call with a fault.
func fail(format string, args ...any) { value.Must(value.Faultf(format, args...)) }

// parser makes the Parse of a parameter of what reads its values, and what that costs.
func parser[T any](cost func(b *value.Budget) error, parse func(v any) (T, error)) func(b *value.Budget, v any) (any, error) {
	return func(b *value.Budget, v any) (parsed any, err error) {
		defer value.Catch(&err)
		value.Must(cost(b))
		return value.Got(parse(v)), nil
	}
}

func spends(steps, bytes int) func(b *value.Budget) error {
	return func(b *value.Budget) error { return b.Spend(steps, bytes) }
}

// Reserved reports whether name is a function here, in expr or in what the
// language will have, and so cannot name a value.
func Reserved(name string) bool {
	_, found := Lookup(name)
	return found || missing(name) != nil
}

// Refused returns why a name that users may expect is not a function, or nil if
// the name means nothing.
func Refused(name string) *value.Fault {
	if fault := missing(name); fault != nil {
		return fault
	}
	for _, h := range habits {
		if slices.Contains(h.names, name) {
			return value.Faultf("there is no function %q", name).WithHint("%s", h.hint)
		}
	}
	return nil
}

// missing knows the names that are reserved although they are not in the table.
func missing(name string) *value.Fault {
	switch name {
	case "now":
		return value.Faultf("there is no now(), because the same objects must always give the same answer").WithHint(nowHint)
	case "date", "timezone":
		return value.Faultf("there is no function %q, because times are RFC 3339 strings", name).
			WithHint("write timestamp(text)")
	case "bitand", "bitor", "bitxor", "bitnand", "bitnot", "bitshl", "bitshr", "bitushr":
		return value.Faultf("there is no function %q, because rules have no bit operations", name)
	default:
		return nil
	}
}

const nowHint = "write after(t), before(t) or olderThan(t, d), which look again in time; stamp() writes the time"

// habits are what to write instead of what other languages call things.
var habits = []struct {
	names []string
	hint  string
}{
	{[]string{"Now", "time_now", "currentTime"}, nowHint},
	{[]string{"has"}, "compare with nil, as in object.spec.x != nil"},
	{[]string{"size", "length"}, "write len(x)"},
	{[]string{"isEmpty", "is_empty", "empty"}, "write len(x) == 0"},
	{[]string{"exists", "some"}, "write any(list, condition)"},
	{[]string{"exists_one"}, "write one(list, condition)"},
	{[]string{"Hours", "Minutes", "Seconds", "getHours", "getMinutes", "getSeconds"}, `write duration(x) / "1h" for a number of hours`},
	{[]string{"isURL", "getHost", "getPort"}, "write url(text), which is a map"},
	{[]string{"toUpper", "upperAscii", "to_upper"}, "write upper(text)"},
	{[]string{"toLower", "lowerAscii", "to_lower"}, "write lower(text)"},
	{[]string{"parseInt", "parse_int", "toInt", "to_int", "to_number", "atoi"}, "write int(x)"},
	{[]string{"parseFloat", "to_float", "double"}, "write float(x)"},
	{[]string{"format", "printf", "sprintf"}, `write "a " + string(x), or a template: "a ${x}"`},
	{[]string{"regex_match", "regexMatch", "regex", "match", "re_match"}, `write text matches "^a+$"`},
	{[]string{"lookup"}, "other objects are read by with, as in with: {config: {resource: configmaps, name: ...}}"},
	{[]string{"isGreaterThan", "isLessThan", "compareTo"}, "write a > b, with quantity(...), semver(...) or timestamp(...) around one"},
}
