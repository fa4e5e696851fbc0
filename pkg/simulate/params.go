package simulate

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/spec"
)

// constant is what a test says of a parameter of its rules: NAME, or SET.NAME as
// `run --param` has it. The name of a parameter has no dot, so the two cannot be
// taken for each other.
type constant struct {
	key, value *document.Node
}

func (t *Test) decodeParams(n *document.Node) document.Errors {
	return document.Each(func(entry document.Entry) document.Errors {
		t.params = append(t.params, constant{key: entry.Key, value: entry.Value})
		return nil
	})(n)
}

// paramsFor returns what the constants of the test replace in the sets. Each of
// them must replace something, of the same kind.
func (t *Test) paramsFor(sets []*spec.Set) ([]rules.Param, document.Errors) {
	var out []rules.Param
	var errs document.Errors
	before := map[string]*document.Node{}
	for _, c := range t.params {
		found, err := c.replaces(sets)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if first := before[found.String()]; first != nil {
			errs = append(errs, c.key.Errorf("remove one of them", "the parameter %s has a value on line %d already",
				found.String(), first.Position().Line))
		}
		before[found.String()] = c.key
		out = append(out, found)
	}
	return out, errs
}

// replaces finds the one parameter that is meant.
func (c constant) replaces(sets []*spec.Set) (rules.Param, *document.Error) {
	meant := map[string][]spec.Definition{} // By set: a RuleSet and a ClusterRuleSet may share a name.
	set, name, qualified := cutLast(c.key.Text())
	for _, s := range sets {
		for _, p := range s.Params {
			if p.Name == name && (!qualified || s.Name == set) {
				meant[s.Name] = append(meant[s.Name], p)
			}
		}
	}
	switch names := slices.Sorted(maps.Keys(meant)); len(names) {
	case 0:
		return rules.Param{}, c.unknown(sets)
	case 1:
		return c.in(names[0], name, meant[names[0]])
	default:
		return rules.Param{}, c.key.Errorf("write "+names[0]+"."+name, "the sets %s have a parameter %s", strings.Join(names, " and "), name)
	}
}

func cutLast(key string) (set, name string, qualified bool) {
	if dot := strings.LastIndex(key, "."); dot >= 0 {
		return key[:dot], key[dot+1:], true
	}
	return "", key, false
}

// in returns the value for the parameter of a set, as text.
func (c constant) in(set, name string, written []spec.Definition) (rules.Param, *document.Error) {
	for _, p := range written {
		if have, want := c.value.Kind(), p.Value.Kind(); !fits(have, want) && have != document.KindInvalid {
			return rules.Param{}, c.value.Errorf("", "want %s, as the set has it, have %s", want, have)
		}
	}
	out := rules.Param{Set: set, Name: name, Value: c.value.Text()}
	if c.value.Kind() != document.KindString {
		data, err := json.Marshal(c.value.Any())
		if err != nil {
			return out, c.value.Errorf("", "the value cannot be written as JSON: %v", err)
		}
		out.Value = string(data)
	}
	return out, nil
}

// fits reports whether a value may replace one of the set.
func fits(have, want document.Kind) bool {
	return have == want || have == document.KindInt && want == document.KindFloat || want == document.KindNull
}

func (c constant) unknown(sets []*spec.Set) *document.Error {
	var names, all []string
	isSet := false
	for _, s := range sets {
		isSet = isSet || s.Name == c.key.Text()
		for _, p := range s.Params {
			names = append(names, p.Name)
			all = append(all, s.Name+"."+p.Name)
		}
	}
	slices.Sort(all)
	hint := "the sets have no params"
	near := document.Suggest(c.key.Text(), append(names, all...))
	switch {
	case isSet && c.value.Kind() == document.KindMap && len(c.value.Entries()) > 0:
		hint = fmt.Sprintf("write %s.%s: ...", c.key.Text(), c.value.Entries()[0].Key.Text())
	case near != "":
		hint = fmt.Sprintf("did you mean %s?", near)
	case len(all) > 0:
		hint = "there are " + strings.Join(slices.Compact(all), ", ")
	}
	return c.key.Errorf(hint, "no set has the parameter %s", c.key.Text())
}
