package simulate

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
)

// places takes a list of paths that is not empty.
func (t *Test) places(into *[]place) document.Decoder {
	return func(n *document.Node) document.Errors {
		elements, errs := filled(n)
		for _, element := range elements {
			errs = append(errs, t.onePlace(into)(element)...)
		}
		return errs
	}
}

func (t *Test) onePlace(into *[]place) document.Decoder {
	return func(n *document.Node) document.Errors {
		var path string
		errs := checked(&path, nonEmpty)(n)
		if path != "" {
			*into = append(*into, place{path: beside(t.File, path), node: n})
		}
		return errs
	}
}

// onePlaceOrMore takes a path, or a list of them.
func (t *Test) onePlaceOrMore(into *[]place) document.Decoder {
	return func(n *document.Node) document.Errors {
		if n.Kind() == document.KindList {
			return t.places(into)(n)
		}
		return t.onePlace(into)(n)
	}
}

// filled refuses a list in which there is nothing to test.
func filled(n *document.Node) ([]*document.Node, document.Errors) {
	if err := n.Expect(document.KindList); err != nil {
		return nil, document.Errors{err}
	}
	elements := n.Elements()
	if n.Kind() == document.KindList && len(elements) == 0 {
		return nil, document.Errors{n.Errorf("add one", "the list is empty")}
	}
	return elements, nil
}

// checked takes a string that passes a check; into is set only then.
func checked(into *string, check func(string) error) document.Decoder {
	return func(n *document.Node) document.Errors {
		var text string
		if errs := document.String(&text)(n); len(errs) > 0 || n.Kind() != document.KindString {
			return errs
		}
		if err := check(text); err != nil {
			return document.Errors{n.Errorf("", "%v", err)}
		}
		*into = text
		return nil
	}
}

func anything(*document.Node) document.Errors { return nil }

func subdomain(text string) error {
	if wrong := validation.IsDNS1123Subdomain(text); len(wrong) > 0 {
		return fmt.Errorf("%q is not a name that Kubernetes takes: %s", text, wrong[0])
	}
	return nil
}

func nonEmpty(text string) error {
	if strings.TrimSpace(text) == "" {
		return fmt.Errorf("want a path, have %q", text)
	}
	return nil
}

// caseName keeps reports to one line for each case.
func caseName(text string) error {
	const longest = 120
	switch {
	case strings.TrimSpace(text) == "":
		return fmt.Errorf("a case needs a name, have %q", text)
	case strings.ContainsFunc(text, func(r rune) bool { return !strconv.IsPrint(r) }) || len(text) > longest:
		return fmt.Errorf("the name of a case is one line of at most %d bytes", longest)
	case slug(text) == "":
		return fmt.Errorf("the name of a case has a letter or a digit, have %q", text)
	default:
		return nil
	}
}

// slug makes a name of a file out of that of a case.
func slug(name string) string {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	return strings.Join(words, "-")
}
