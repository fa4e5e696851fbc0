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

// Function is a row of the table.
type Function struct {
	Name   string
	Params []Param
	// Result is the kinds of values it gives.
	Result value.Kind
	// Doc is one or two sentences for the reference.
	Doc     string
	Example Example

	// Exactly one is set, except for desc, which only sortBy understands.
	call    func(b *value.Budget, args []any) (any, error)
	timed   func(at *value.Instant, b *value.Budget, args []any) (any, error)
	iterate func(it *Iteration) (any, error)

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

	// parse reads the form that the function wants out of what an argument says. It
	// depends on nothing else, so that a constant is read once.
	parse func(b *value.Budget, v any) (any, error)
}

// Parses reports whether arguments pass through Parse on their way to the
// function. A constant may, and should, when the call is compiled.
func (p *Param) Parses() bool { return p.parse != nil }

// Parse reads an argument of one of the parameter's kinds.
func (p *Param) Parse(b *value.Budget, v any) (any, error) { return p.parse(b, v) }

// Example is an expression and its value as JSON.
type Example struct {
	Expression string
	Want       string
}

// All returns the table in the order of the reference.
func All() []Function {
	rows := slices.Clone(table)
	for i := range rows {
		rows[i].Params = slices.Clone(rows[i].Params)
	}
	return rows
}

// Lookup returns the row of a name. It is shared, and not to be changed.
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

// Iterates reports whether f evaluates a predicate for the elements of its first
// argument.
func (f *Function) Iterates() bool { return f.iterate != nil }

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

// Call calls a function that does not iterate, at a moment that only functions of
// time ask for. The arguments must have the kinds of its parameters, and be parsed
// where those parse; f does not keep the slice.
func (f *Function) Call(at *value.Instant, b *value.Budget, args []any) (any, error) {
	switch {
	case f.timed == nil:
		return f.call(b, args)
	case at == nil:
		return nil, value.Faultf("%s needs the time, and there is none here", f.Name)
	default:
		return f.timed(at, b, args)
	}
}

// Iterate calls a function that iterates.
func (f *Function) Iterate(it *Iteration) (any, error) {
	return f.iterate(it)
}

// textArg returns an argument whose kind the caller has checked.
func textArg(args []any, i int) string {
	text, _ := args[i].(string)
	return text
}

// intArg is textArg for an integer.
func intArg(args []any, i int) int64 {
	n, _ := args[i].(int64)
	return n
}

// Iteration is a call with a predicate: f(list, predicate, rest...).
type Iteration struct {
	// Function is the name, for messages.
	Function string
	Budget   *value.Budget
	List     []any
	// Predicate evaluates the predicate for an element to a value of the kinds that
	// the parameter takes; it is nil where it was left out. Only reduce gives an
	// accumulator.
	Predicate func(i int, element, accumulator any) (any, error)
	// Descending says for each key of sortBy whether desc() was around it.
	Descending []bool
	// SeveralKeys says that the predicate of sortBy gives a list with a key for
	// each entry of Descending, rather than the only key.
	SeveralKeys bool
	// Rest is the arguments after the predicate.
	Rest []any
}

// test evaluates the predicate as a condition.
func (it *Iteration) test(i int) (bool, error) {
	result, err := it.Predicate(i, it.List[i], nil)
	ok, _ := result.(bool)
	return ok, err
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
	return habit(name)
}

// missing knows the names that are reserved although they are not in the table.
func missing(name string) *value.Fault {
	switch name {
	case "now":
		return value.Faultf("there is no now(), because the same objects must always give the same answer").
			WithHint("write after(t), before(t) or olderThan(t, d), which look again in time; stamp() writes the time")
	case "date", "timezone":
		return value.Faultf("there is no function %q, because times are RFC 3339 strings", name).
			WithHint("write timestamp(text)")
	case "bitand", "bitor", "bitxor", "bitnand", "bitnot", "bitshl", "bitshr", "bitushr":
		return value.Faultf("there is no function %q, because rules have no bit operations", name)
	default:
		return nil
	}
}

// habit knows what other languages call things.
func habit(name string) *value.Fault {
	if name == "Now" || name == "time_now" || name == "currentTime" {
		return missing("now")
	}
	if hint := habits[name]; hint != "" {
		return value.Faultf("there is no function %q", name).WithHint("%s", hint)
	}
	return nil
}

// habits are what to write instead.
var habits = habitsOf(map[string][]string{
	"compare with nil, as in object.spec.x != nil": {"has"},
	"write len(x)":                                    {"size", "length"},
	"write len(x) == 0":                               {"isEmpty", "is_empty", "empty"},
	"write any(list, condition)":                      {"exists", "some"},
	"write one(list, condition)":                      {"exists_one"},
	`write duration(x) / "1h" for a number of hours`:  {"Hours", "Minutes", "Seconds", "getHours", "getMinutes", "getSeconds"},
	"write url(text), which is a map":                 {"isURL", "getHost", "getPort"},
	"write upper(text)":                               {"toUpper", "upperAscii", "to_upper"},
	"write lower(text)":                               {"toLower", "lowerAscii", "to_lower"},
	"write int(x)":                                    {"parseInt", "parse_int", "toInt", "to_int", "to_number", "atoi"},
	"write float(x)":                                  {"parseFloat", "to_float", "double"},
	`write "a " + string(x), or a template: "a ${x}"`: {"format", "printf", "sprintf"},
	`write text matches "^a+$"`:                       {"regex_match", "regexMatch", "regex", "match", "re_match"},
	"other objects are read by with, as in with: {config: {resource: configmaps, name: ...}}": {"lookup"},
	"write a > b, with quantity(...), semver(...) or timestamp(...) around one":               {"isGreaterThan", "isLessThan", "compareTo"},
})

func habitsOf(hints map[string][]string) map[string]string {
	out := map[string]string{}
	for hint, names := range hints {
		for _, name := range names {
			out[name] = hint
		}
	}
	return out
}
