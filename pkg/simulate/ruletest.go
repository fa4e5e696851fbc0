package simulate

import (
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema/crd"
	"github.com/dyncontroller/dyncontroller/pkg/rules/spec"
)

// Test is a RuleTest with its rules compiled. It is immutable.
type Test struct {
	File  string // as the caller named it
	Name  string
	Cases []*Case

	rules  []place
	crds   []place
	params []constant
	now    time.Time
	whole  bool // goldens have changed objects as a whole
	set    *rules.Set
	// broken says that something is wrong with the document itself.
	broken bool
	known  *schema.Catalog
	// defined are the custom resources, and guesses what is taken to be defined beside
	// them.
	defined []*crd.Definition
	guesses []guess
}

// Case is one case of a test: objects, and what the rules want of them.
type Case struct {
	Name string
	// Golden is the path of the file that says what the rules want, empty for a case that
	// says itself what it expects.
	Golden string
	// Steps are what happens once the rules have settled, in order.
	Steps []Step

	objects []place
	expect  expectation
	node    *document.Node // its golden if it names one, else its name
}

// goldenFolder holds the goldens that are not named, beside the test.
const goldenFolder = "golden"

// defaultNow is the instant of a test that names none: a result must not depend
// on when it was made.
func defaultNow() time.Time { return time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC) }

// parse reads the RuleTests in a file, those that are broken too. It passes over rule
// sets, so that a file may hold both.
func parse(file document.File) ([]*Test, document.Errors) {
	documents, errs := document.Parse(file)
	spoiled := spoiledBy(errs, documents, file.Data)
	var tests []*Test
	for _, n := range documents {
		switch kind := n.Get("kind"); {
		case n.Kind() == document.KindMap && kind == nil:
			errs = append(errs, n.Errorf("write kind: "+spec.KindRuleTest, "the document has no kind"))
		case kind.Text() == spec.KindRuleTest:
			test := &Test{File: file.Name, now: defaultNow()}
			wrong := test.decode(n)
			test.broken = spoiled[n] || len(wrong) > 0
			errs = append(errs, wrong...)
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
			document.Optional("crds", t.places(&t.crds)),
			document.Optional("params", t.decodeParams),
			document.Optional("wholeObjects", document.Bool(&t.whole)),
		)),
	)
	for _, c := range t.Cases {
		if t.isInput(c) {
			errs = append(errs, c.node.Errorf("give the golden a file of its own",
				"%s is read by the test, so it cannot be a golden", c.Golden))
		}
		errs = append(errs, c.checkClock(t.now)...)
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
		if before := first[c.Golden]; before != nil && c.Golden != "" {
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
		document.Optional("expect", c.expect.decode),
		document.Optional("steps", t.decodeSteps(&c.Steps)),
	)
	if c.Golden == "" && c.Name != "" {
		c.node = n.Get("name")
	}
	expects := c.expect.elements != nil || slices.ContainsFunc(c.Steps, func(s Step) bool { return s.expect.elements != nil })
	if c.Golden == "" && c.Name != "" && !expects {
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
	if c.Golden == "" || c.Golden == filepath.Clean(t.File) {
		return c.Golden != ""
	}
	inputs := slices.Concat(t.rules, t.crds, c.objects)
	for _, step := range c.Steps {
		if step.Apply != nil {
			inputs = append(inputs, step.Apply.files...)
		}
	}
	return slices.ContainsFunc(inputs, func(input place) bool { return input.path == c.Golden })
}
