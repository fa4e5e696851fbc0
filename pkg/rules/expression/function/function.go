package function

import (
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/footprint"
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
	flow func(c *Flow) footprint.Shape
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

// define makes a function of its signature, in which each parameter has a type, of which "?" adds nil and "..." says that it may be
// repeated; => is before the type of what is evaluated for each element, and brackets are around what may be left out.
func define(
	signature string, call func(c Call) any, flow func(c *Flow) footprint.Shape, types func(c *TypeCall) typing.Type, doc, example, want string,
) Function {
	name, rest, _ := strings.Cut(signature, "(")
	params, result, _ := strings.Cut(rest, ") ")
	f := Function{
		Name: name, Result: typed(result).Kinds, Doc: doc, Example: Example{example, want}, call: call, flow: flow, types: types,
	}
	for text := range strings.SplitSeq(params, ", ") {
		if text != "" {
			f.Params = append(f.Params, param(text))
		}
	}
	return f
}

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
	return value.Faultf("%s is called with %s", f.Name, document.Count(n, "argument")).WithHint("write %s", f.Signature())
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
	// the parameter takes, and ends with an error by [value.Must]; it is nil where it
	// was left out. Only reduce gives an accumulator.
	Predicate func(i int, element, accumulator any) any
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

// Instead returns what to write instead of what other languages call things, names, functions, methods and operators, or "".
func Instead(word string) string {
	for _, row := range habits {
		if slices.Contains(strings.Fields(row.words), word) {
			return strings.ReplaceAll(row.hint, "%s", word)
		}
	}
	return ""
}

var habits = []struct{ words, hint string }{
	{"now Now time_now currentTime", "the same objects must always give the same answer: write after(t), before(t) or olderThan(t, d), " +
		"which look again in time; stamp() writes the time"},
	{"date timezone", "times are RFC 3339 strings: write timestamp(text)"},
	{"bitand bitor bitxor bitnand bitnot bitshl bitshr bitushr", "rules have no bit operations"},
	{"has includes", "write x != nil for a field, x in list, or text contains part"},
	{"size length", "write len(x)"},
	{"isEmpty is_empty empty", "write len(x) == 0"},
	{"exists some", "write any(list, condition)"},
	{"exists_one", "write one(list, condition)"},
	{"Hours Minutes Seconds getHours getMinutes getSeconds", `write duration(x) / "1h" for a number of hours`},
	{"isURL getHost getPort", "write url(text), which is a map"},
	{"toUpper upperAscii to_upper", "write upper(text)"},
	{"toLower lowerAscii to_lower", "write lower(text)"},
	{"parseInt parse_int toInt to_int to_number atoi", "write int(x)"},
	{"parseFloat to_float double", "write float(x)"},
	{"format printf sprintf", `write "a " + string(x), or a template: "a ${x}"`},
	{"regex_match regexMatch regex match re_match like", `write text matches "^a+$"`},
	{"lookup", "other objects are read by with, as in with: {config: {resource: configmaps, name: ...}}"},
	{"isGreaterThan isLessThan compareTo", "write a > b, with quantity(...), semver(...) or timestamp(...) around one"},
	{"is eq equals", "write =="},
	{"hasprefix", "write x startsWith y"},
	{"hassuffix", "write x endsWith y"},
	{"contains startsWith endsWith matches", "write x %s y"},
	{"null None undefined NULL Nil", "write nil"},
	{"True TRUE yes on", "write true"},
	{"False FALSE no off", "write false"},
	{"self this $", "write object"},
	{"$env", "write the names themselves, as in object.metadata.name"},
	{"oldObject request operation", "rules see objects as they are stored, and no requests: write object for what is there now"},
	{"index idx", "only an action with forEach has an index, and a predicate #index"},
	{"apiVersion kind metadata spec status", "write object.%s"},
	{"name namespace labels annotations", "write object.metadata.%s"},
}
