package source

import (
	"bytes"
	"fmt"
	"slices"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/spec"
)

// outline is what is found in contents before rules are made of them.
type outline struct {
	of digest
	// files are those that could be read, each once, and unusable what could not or
	// holds no rules.
	files    []document.File
	unusable []error
	// named are the resources that the rules name, each once, as far as the files can
	// be read.
	named []apischema.GroupVersionResource
	// tests counts those beside the rules.
	tests int
}

// outlined returns the outline of contents. The last one is kept: mostly nothing has
// changed when files are read again.
func (f *Files) outlined(contents []content) *outline {
	of := digestOf(contents)
	if f.last == nil || f.last.of != of {
		f.last = &outline{of: of}
		for _, c := range contents {
			f.last.add(c, f.options.DefaultNamespace)
		}
	}
	return f.last
}

func (o *outline) add(c content, defaultNamespace string) {
	o.unusable = append(o.unusable, c.errs...)
	holds := false
	for _, file := range c.files {
		sets, mistakes := spec.Parse([]document.File{file}, defaultNamespace)
		holds = holds || len(sets)+len(mistakes) > 0 // A mistake may be one in a rule set.
		// A directory and a file in it may both be named.
		if slices.ContainsFunc(o.files, func(have document.File) bool { return have.Name == file.Name }) {
			continue
		}
		o.files = append(o.files, file)
		for _, gvr := range resourcesOf(sets) {
			if !slices.Contains(o.named, gvr) {
				o.named = append(o.named, gvr)
			}
		}
		o.tests += testsIn(file)
	}
	if len(c.errs) == 0 && !holds {
		o.unusable = append(o.unusable, fmt.Errorf("%s holds no RuleSet and no ClusterRuleSet", c))
	}
}

// testsIn counts the tests of rules in a file.
func testsIn(file document.File) int {
	if !bytes.Contains(file.Data, []byte(spec.KindRuleTest)) {
		return 0
	}
	tests := 0
	documents, _ := document.Parse(file)
	for _, n := range documents {
		if n.Get("kind").Text() == spec.KindRuleTest {
			tests++
		}
	}
	return tests
}
