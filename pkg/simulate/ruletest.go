package simulate

import (
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

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
	why    bool // goldens have the reasons for which rules did not match
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
	spoiled := map[*document.Node]bool{} // What is read of them may not be what is meant.
	for _, err := range errs {
		for _, n := range slices.Backward(documents) {
			if n.Position().Line <= err.Line {
				spoiled[n] = true
				break
			}
		}
	}
	var tests []*Test
	for _, n := range documents {
		switch kind := n.Get("kind").Text(); kind {
		case spec.KindRuleSet, spec.KindClusterRuleSet:
		case spec.KindRuleTest:
			test := &Test{File: file.Name, now: defaultNow()}
			wrong := test.decode(n)
			test.broken = spoiled[n] || len(wrong) > 0
			errs = append(errs, wrong...)
			tests = append(tests, test)
		default:
			if wrong := spec.UnknownKind(n); wrong != nil {
				errs = append(errs, wrong)
			}
		}
	}
	return tests, errs
}

func (t *Test) decode(n *document.Node) document.Errors {
	root, errs := spec.TestDocument.Read(n)
	metadata, wrong := spec.TestMetadata.Read(root["metadata"])
	v, more := spec.TestFields.Read(root["spec"])
	errs = slices.Concat(errs, wrong, more)
	t.Name, t.whole, t.why = metadata["name"].Text(), v.Bool("wholeObjects", false), v.Bool("reasons", false)
	t.rules, t.crds = t.places(v["rules"]), t.places(v["crds"])
	if now := v["now"]; now != nil {
		t.now, _ = time.Parse(time.RFC3339, now.Text()) // It has been checked.
	}
	for _, entry := range v["params"].Entries() {
		t.params = append(t.params, constant{key: entry.Key, value: entry.Value})
	}
	errs = append(errs, t.decodeCases(v["cases"])...)
	for _, c := range t.Cases {
		if t.isInput(c) {
			errs = append(errs, c.node.Errorf("give the golden a file of its own",
				"%s is read by the test, so it cannot be a golden", c.Golden))
		}
		errs = append(errs, c.checkClock(t.now)...)
	}
	return errs
}

// places are paths that a test names, one or a list of them.
func (t *Test) places(n *document.Node) (out []place) {
	elements := n.Elements()
	if n.Kind() == document.KindString {
		elements = []*document.Node{n}
	}
	for _, element := range elements {
		if path := element.Text(); strings.TrimSpace(path) != "" {
			out = append(out, place{path: beside(t.File, path), node: element})
		}
	}
	return out
}

func (t *Test) decodeCases(n *document.Node) (errs document.Errors) {
	first := map[string]*Case{}
	for _, element := range n.Elements() {
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
	v, errs := spec.CaseFields.Read(n)
	c.Name, c.objects = v["name"].Text(), t.places(v["objects"])
	errs = append(errs, c.expect.decode(v["expect"])...)
	expects := c.expect.elements != nil
	for _, element := range v["steps"].Elements() {
		step, wrong := t.decodeStep(element)
		if errs = append(errs, wrong...); errs.Enough() {
			break
		}
		c.Steps = append(c.Steps, step)
		expects = expects || step.expect.elements != nil
	}
	switch golden := v["golden"]; {
	case golden != nil:
		c.Golden, c.node = beside(t.File, golden.Text()), golden
	case c.Name != "":
		c.node = v["name"]
		if !expects {
			c.Golden = beside(t.File, filepath.Join(goldenFolder, slug(c.Name)+".yaml"))
		}
	}
	return errs
}

// slug makes a name of a file out of that of a case.
func slug(name string) string {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	return strings.Join(words, "-")
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
