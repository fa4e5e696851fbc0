package rules

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/spec"
)

// Param is a constant that replaces one of a set, as the text that a user gave.
type Param struct {
	Set, Name string
	Value     string
}

// ParseParam reads SET.NAME=VALUE. The name of a set may have dots, that of a
// parameter has none.
func ParseParam(text string) (Param, error) {
	key, value, given := strings.Cut(text, "=")
	dot := strings.LastIndex(key, ".")
	if !given || dot <= 0 || dot == len(key)-1 {
		return Param{}, fmt.Errorf("%q is not of the form SET.NAME=VALUE, such as tidb-guardrails.minStores=5", text)
	}
	return Param{Set: key[:dot], Name: key[dot+1:], Value: value}, nil
}

// String returns the parameter as ParseParam takes it, without its value.
func (p Param) String() string { return p.Set + "." + p.Name }

// params returns the constants of a set, with what replaces them.
func params(set *spec.Set, given []Param) (map[string]any, document.Errors) {
	out := map[string]any{}
	var errs document.Errors
	for _, written := range set.Params {
		value := written.Value.Any()
		for _, p := range given {
			if p.Set != set.Name || p.Name != written.Name {
				continue
			}
			replaced, err := replacement(p, written.Value)
			if err != nil {
				errs = append(errs, err)
			}
			value = replaced
		}
		out[written.Name] = value
	}
	return out, errs
}

// replacement reads the text as what the set has there: a text stays what it
// is, anything else is read as YAML and must be of the same kind.
func replacement(p Param, written *document.Node) (any, *document.Error) {
	if written.Kind() == document.KindString {
		return p.Value, nil
	}
	wrong := func(have string) *document.Error {
		return &document.Error{
			File: "--param " + p.String(), Message: fmt.Sprintf("want %s, as the set has it, have %s", written.Kind(), have),
		}
	}
	documents, errs := document.Parse(document.File{Name: "--param " + p.String(), Data: []byte(p.Value)})
	switch {
	case len(errs) > 0:
		return nil, errs[0]
	case len(documents) == 0:
		return nil, wrong("nothing")
	case len(documents) > 1:
		return nil, wrong("several documents")
	case !replaces(documents[0].Kind(), written.Kind()):
		return nil, wrong(documents[0].Kind().String())
	default:
		return documents[0].Any(), nil
	}
}

func replaces(kind, written document.Kind) bool {
	return kind == written || kind == document.KindInt && written == document.KindFloat || written == document.KindNull
}

// unknownParams reports what replaces nothing, which is a slip of the user's.
func unknownParams(sets []*spec.Set, given []Param) document.Errors {
	known := map[string]bool{}
	for _, set := range sets {
		for _, param := range set.Params {
			known[set.Name+"."+param.Name] = true
		}
	}
	var errs document.Errors
	for _, p := range given {
		if known[p.String()] {
			continue
		}
		all := slices.Sorted(maps.Keys(known))
		hint := "the sets have no params"
		if len(all) > 0 {
			hint = "there are " + strings.Join(all, ", ")
		}
		if near := document.Suggest(p.String(), all); near != "" {
			hint = fmt.Sprintf("did you mean %s?", near)
		}
		errs = append(errs, &document.Error{File: "--param " + p.String(), Message: "no set has this parameter", Hint: hint})
	}
	return errs
}
