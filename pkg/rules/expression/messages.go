package expression

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/function"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

// boolean evaluates v strictly: nil, 0 and "" are errors and not false.
func (v *code) boolean(e *Evaluation, user string) (bool, error) {
	result, err := v.eval(e)
	if err != nil {
		return false, err
	}
	b, ok := result.(bool)
	if !ok {
		return false, v.wants(user, value.Bool, result)
	}
	return b, nil
}

// wants is the error that user, an operator or a parameter, got something else
// from v than it takes. For nil it names what is absent and how to give a
// default.
func (v *code) wants(user string, kinds value.Kind, got any) *Error {
	kind := value.KindOf(got)
	switch {
	case kind == value.Stamped:
		return v.at.errorf("%s", value.ErrStamp.Message)
	case kind == value.Nil && kinds&^(value.String|value.Nil) == value.Time:
		// No default is harmless: one in the past makes everything old.
		name := cmp.Or(v.text, "x")
		return v.at.errorf("%s is absent, and %s wants %s", cmp.Or(v.text, "this"), user, kinds).hint("ask first whether it is there: %s != nil && ...", name)
	case kind == value.Nil && v.text == "":
		return v.at.errorf("%s wants %s, have nil", user, kinds).hint("?? gives a default, as in (x ?? %s)", example(kinds))
	case kind == value.Nil:
		return v.at.errorf("%s is absent, and %s wants %s", v.text, user, kinds).
			hint("?? gives a default: (%s ?? %s)", v.text, example(kinds))
	case v.text == "" || kind == value.Omission:
		return v.at.errorf("%s wants %s, have %s", user, kinds, kind).hint("%s", conversion("...", kinds, kind))
	default:
		return v.at.errorf("%s wants %s, and %s is %s", user, kinds, v.text, kind).hint("%s", conversion(v.text, kinds, kind))
	}
}

// conversion is a hint how to make what is wanted of what is there, or "".
func conversion(text string, wanted, kind value.Kind) string {
	switch {
	case wanted == value.String && kind&(value.Number|value.Bool|value.Computed) != 0:
		return "write string(" + text + ")"
	case wanted&value.Number != 0 && kind == value.String:
		return "write int(" + text + ")"
	case wanted == value.Int && kind == value.Float:
		return "write int(" + text + ") or round(" + text + ")"
	default:
		return ""
	}
}

// example is a default that a hint can show.
func example(kinds value.Kind) string {
	switch {
	case kinds&value.String != 0 && kinds&value.Computed == 0, kinds.Has(value.Bool | value.String):
		return `""`
	case kinds&(value.Number|value.Quantity) != 0:
		return "0"
	case kinds&value.Duration != 0:
		return `"0s"`
	case kinds&value.Semver != 0:
		return `"0.0.0"`
	case kinds&value.Bool != 0:
		return "false"
	case kinds&value.List != 0:
		return "[]"
	default:
		return "{}"
	}
}

// unknown is the error that a name means nothing.
func (c *compiler) unknown(at span, name string) *Error {
	if _, found := function.Lookup(name); found {
		err := at.errorf("%s is a function", name)
		if len(c.predicates) > 0 {
			return err.hint("write %s(...), or .%s for that field of the element", name, name)
		}
		return err.hint("write %s(...)", name)
	}
	if function.Reserved(name) {
		fault := function.Refused(name)
		return at.errorf("%s", fault.Message).hint("%s", fault.Hint)
	}
	err := at.errorf("unknown name %q", value.Excerpt(name))
	if hint := c.scope.hints[name]; hint != "" {
		return err.hint("%s", hint)
	}
	if c.source.withinKey(at) {
		return err.hint(`a key with - or / in it is written as in object.metadata.labels["a.b/c-d"]`)
	}
	hint := habit(name)
	if len(c.predicates) > 0 && strings.HasPrefix(hint, "write object") {
		hint = "" // More likely the field of the element is meant.
	}
	if hint != "" {
		return err.hint("%s", hint)
	}
	if len(c.predicates) > 0 {
		return err.hint("write .%s for that field of the element%s", name, c.orClosest(name))
	}
	if other := closest(name, c.visibleNames()); other != "" {
		return err.hint("did you mean %q?", other)
	}
	if other := closest(name, functionNames()); other != "" {
		return err.hint("did you mean the function %s(...)?", other)
	}
	return err.hint("a text needs quotes of its own; a key with - or / is written [\"...\"]")
}

// orClosest adds a name to a hint.
func (c *compiler) orClosest(name string) string {
	if other := closest(name, c.visibleNames()); other != "" {
		return ", or did you mean " + strconv.Quote(other) + "?"
	}
	return ""
}

// habit is what to write instead of a name that means something elsewhere, or "".
func habit(name string) string {
	switch name {
	case "null", "None", "undefined", "NULL", "Nil":
		return "write nil"
	case "True", "TRUE", "yes", "on":
		return "write true"
	case "False", "FALSE", "no", "off":
		return "write false"
	case "self", "this":
		return "write object"
	case "index":
		return "only an action with forEach has an index, and a predicate #index"
	case "apiVersion", "kind", "metadata", "spec", "status":
		return "write object." + name
	case "name", "namespace", "labels", "annotations":
		return "write object.metadata." + name
	default:
		return ""
	}
}

// closest returns the candidate that a misspelt name most likely means, or "".
func closest(name string, candidates []string) string {
	const longest = 40 // Nobody names things longer, and the distance is quadratic.
	if len(name) > longest {
		return ""
	}
	best, least := "", 1+max(1, len(name)/3)
	work := 50_000 // Pairs of letters: a hostile set has thousands of names.
	for _, candidate := range candidates {
		if longer := len(candidate) - len(name); longer >= least || -longer >= least {
			continue // Each letter too many is a mistake.
		}
		if work -= len(name) * len(candidate); work < 0 {
			break
		}
		if distance := editDistance(strings.ToLower(name), strings.ToLower(candidate)); distance < least {
			best, least = candidate, distance
		}
	}
	return best
}

// editDistance counts insertions, deletions and replacements of bytes.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

func functionNames() []string {
	var names []string
	for _, f := range function.All() {
		names = append(names, f.Name)
	}
	return names
}

// visibleNames lists what an identifier could mean, inner names first.
func (c *compiler) visibleNames() []string {
	var names []string
	for _, l := range slices.Backward(c.locals) {
		names = append(names, l.name)
	}
	return append(names, c.scope.Names()...)
}

// visible is whether a name means something already.
func (c *compiler) visible(name string) bool {
	_, found := c.scope.Slot(name)
	return found || slices.ContainsFunc(c.locals, func(l local) bool { return l.name == name })
}
