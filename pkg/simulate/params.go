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

// paramsFor returns what the constants of the test replace in the sets. Each of
// them must replace something, of the same kind.
func (t *Test) paramsFor(sets []*spec.Set) (out []rules.Param, errs document.Errors) {
	written := map[string][]*document.Node{} // by SET.NAME: a RuleSet and a ClusterRuleSet may share a name
	qualified := map[string][]string{}       // by NAME
	for _, set := range sets {
		for _, p := range set.Params {
			name := set.Name + "." + p.Name
			if written[name] == nil {
				qualified[p.Name] = append(qualified[p.Name], name)
			}
			written[name] = append(written[name], p.Value)
		}
	}
	all := slices.Sorted(maps.Keys(written))
	first := map[string]*document.Node{}
	for _, c := range t.params {
		name := c.key.Text()
		if meant := qualified[name]; len(meant) == 1 {
			name = meant[0]
		} else if len(meant) > 1 {
			errs = append(errs, c.key.Errorf("write one of "+strings.Join(meant, ", "), "several sets have a parameter %s", name))
			continue
		}
		value, wrong := c.text(written[name])
		switch before := first[name]; {
		case written[name] == nil:
			hint := "the sets have no params"
			if near := document.Suggest(name, slices.Concat(slices.Collect(maps.Keys(qualified)), all)); near != "" {
				hint = fmt.Sprintf("did you mean %s?", near)
			} else if len(all) > 0 {
				hint = "there are " + strings.Join(all, ", ")
			}
			errs = append(errs, c.key.Errorf(hint, "no set has the parameter %s", name))
		case wrong != nil:
			errs = append(errs, wrong)
		case before != nil:
			errs = append(errs, c.key.Errorf("remove one of them", "the parameter %s has a value %s already", name, before.Place(c.key)))
		default:
			first[name] = c.key
			dot := strings.LastIndex(name, ".")
			out = append(out, rules.Param{Set: name[:dot], Name: name[dot+1:], Value: value})
		}
	}
	return out, errs
}

// text is the value as text, for parameters that sets have written.
func (c constant) text(written []*document.Node) (string, *document.Error) {
	have := c.value.Kind()
	for _, p := range written {
		want := p.Kind()
		if have != want && (have != document.KindInt || want != document.KindFloat) && want != document.KindNull && have != document.KindInvalid {
			return "", c.value.Errorf("", "want %s, as the set has it, have %s", want, have)
		}
	}
	if have == document.KindString {
		return c.value.Text(), nil
	}
	data, err := json.Marshal(c.value.Any())
	if err != nil {
		return "", c.value.Errorf("", "the value cannot be written as JSON: %v", err)
	}
	return string(data), nil
}
