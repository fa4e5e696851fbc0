package simulate

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/spec"
)

// Test is a RuleTest with its rules compiled. It is immutable.
type Test struct {
	File  string // as the caller named it
	Name  string
	Cases []*Case

	rules []place
	now   time.Time
	set   *rules.Set
}

// Case is one case of a test: objects, and what the rules want of them.
type Case struct {
	Name string
	// Golden is the path of the file that says what the rules want.
	Golden string

	objects []place
	node    *document.Node // its golden if it names one, else its name
}

// goldenFolder holds the goldens that are not named, beside the test.
const goldenFolder = "golden"

// defaultNow is the instant of a test that names none: a result must not depend
// on when it was made.
func defaultNow() time.Time { return time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC) }

// parse reads the RuleTests in a file. It passes over rule sets, so that a file
// may hold both.
func parse(file document.File) ([]*Test, document.Errors) {
	documents, errs := document.Parse(file)
	var tests []*Test
	for _, n := range documents {
		switch kind := n.Get("kind"); {
		case n.Kind() == document.KindMap && kind == nil:
			errs = append(errs, n.Errorf("write kind: "+spec.KindRuleTest, "the document has no kind"))
		case kind.Text() == spec.KindRuleTest:
			test := &Test{File: file.Name, now: defaultNow()}
			errs = append(errs, test.decode(n)...)
			tests = append(tests, test)
		case kind.Text() != spec.KindRuleSet && kind.Text() != spec.KindClusterRuleSet:
			errs = append(errs, wrongKind(n)...)
		}
	}
	return tests, errs
}

func wrongKind(n *document.Node) document.Errors {
	if err := n.Expect(document.KindMap); err != nil {
		return document.Errors{err}
	}
	var kind string
	return document.OneOf(&kind, spec.KindRuleTest, spec.KindRuleSet, spec.KindClusterRuleSet)(n.Get("kind"))
}

func (t *Test) decode(n *document.Node) document.Errors {
	var version, kind string
	errs := n.Decode(
		document.Required("apiVersion", document.OneOf(&version, spec.APIVersion)),
		document.Required("kind", document.String(&kind)),
		document.Required("metadata", document.Fields(
			document.Required("name", checked(&t.Name, subdomain)),
			document.Optional("labels", anything),
			document.Optional("annotations", anything),
		)),
		document.Required("spec", document.Fields(
			document.Required("rules", t.places(&t.rules)),
			document.Optional("now", t.decodeNow),
			document.Required("cases", t.decodeCases),
			document.Unsupported("crds"),
			document.Unsupported("params"),
		)),
	)
	for _, c := range t.Cases {
		if t.isInput(c) {
			errs = append(errs, c.node.Errorf("give the golden a file of its own",
				"%s is read by the test, so it cannot be a golden", c.Golden))
		}
	}
	return errs
}

func (t *Test) decodeNow(n *document.Node) document.Errors {
	var text string
	return checked(&text, func(text string) (err error) {
		if t.now, err = time.Parse(time.RFC3339, text); err != nil {
			return fmt.Errorf(`want a time such as "2026-01-01T00:00:00Z", have %q`, text)
		}
		return nil
	})(n)
}

func (t *Test) decodeCases(n *document.Node) document.Errors {
	elements, errs := filled(n)
	first := map[string]*Case{}
	for _, element := range elements {
		c := &Case{}
		errs = append(errs, t.decodeCase(c, element)...)
		if c.node == nil {
			continue // Without a name nothing more can be said about it.
		}
		if before := first[c.Golden]; before != nil {
			errs = append(errs, c.node.Errorf("rename one of them, or give one another golden",
				"the cases %q and %q have the same golden, %s", before.Name, c.Name, c.Golden))
		}
		first[c.Golden] = c
		t.Cases = append(t.Cases, c)
	}
	return errs
}

func (t *Test) decodeCase(c *Case, n *document.Node) document.Errors {
	errs := n.Decode(
		document.Required("name", checked(&c.Name, caseName)),
		document.Required("objects", t.places(&c.objects)),
		document.Optional("golden", t.decodeGolden(c)),
		document.Unsupported("steps"),
	)
	if c.Golden == "" && c.Name != "" {
		c.node = n.Get("name")
		c.Golden = beside(t.File, filepath.Join(goldenFolder, slug(c.Name)+".yaml"))
	}
	return errs
}

func (t *Test) decodeGolden(c *Case) document.Decoder {
	return func(n *document.Node) document.Errors {
		var path string
		errs := checked(&path, nonEmpty)(n)
		if path != "" {
			c.Golden, c.node = beside(t.File, path), n
		}
		return errs
	}
}

// isInput protects what a test is made of from being overwritten by what comes
// out of it.
func (t *Test) isInput(c *Case) bool {
	if c.Golden == filepath.Clean(t.File) {
		return true
	}
	return slices.ContainsFunc(slices.Concat(t.rules, c.objects), func(input place) bool { return input.path == c.Golden })
}

// places takes a list of paths that is not empty.
func (t *Test) places(into *[]place) document.Decoder {
	return func(n *document.Node) document.Errors {
		elements, errs := filled(n)
		for _, element := range elements {
			var path string
			errs = append(errs, checked(&path, nonEmpty)(element)...)
			if path != "" {
				*into = append(*into, place{path: beside(t.File, path), node: element})
			}
		}
		return errs
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
