package spec

import (
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
)

// Parse reads the rule sets in files. It finds all errors of all files; of a
// file that is not YAML, the first. Documents of kind RuleTest are passed over,
// so that a folder may hold both. What it returns besides errors is as complete
// as it could be made, so that compiling it can find more of them.
//
// A RuleSet that names no namespace gets the default one.
func Parse(files []document.File, defaultNamespace string) ([]*Set, document.Errors) {
	var sets []*Set
	var errs document.Errors
	for _, file := range files {
		documents, fileErrs := document.Parse(file)
		errs = append(errs, fileErrs...)
		for _, n := range documents {
			if errs.Enough() {
				return sets, errs
			}
			switch kind := n.Get("kind"); {
			case n.Kind() != document.KindMap:
				errs = append(errs, n.Errorf("start with apiVersion, kind, metadata and spec",
					"a document must be a map, have %s", n.Kind()))
			case kind.Text() == KindRuleSet || kind.Text() == KindClusterRuleSet:
				set, setErrs := parseSet(n, defaultNamespace)
				set.File, set.faulty = file.Name, len(fileErrs)+len(setErrs) > 0
				sets = append(sets, set)
				errs = append(errs, setErrs...)
			case kind.Text() != KindRuleTest:
				errs = append(errs, unknownKind(n, kind))
			}
		}
	}
	return sets, append(errs, repeatedSets(sets)...)
}

func unknownKind(n, kind *document.Node) *document.Error {
	if kind == nil {
		return n.Errorf("write kind: "+KindRuleSet+" or kind: "+KindClusterRuleSet, "the document has no kind")
	}
	hint := "rules are of kind " + KindRuleSet + " or " + KindClusterRuleSet
	if near := document.Suggest(kind.Text(), []string{KindRuleSet, KindClusterRuleSet, KindRuleTest}); near != "" {
		hint = `did you mean "` + near + `"?`
	}
	return kind.Errorf(hint, "unknown kind %q", kind.Text())
}

// repeatedSets refuses a second set of the same name, since it would be
// unclear which one holds.
func repeatedSets(sets []*Set) document.Errors {
	type identity struct{ kind, namespace, name string }
	first := map[identity]*Set{}
	var errs document.Errors
	for _, set := range sets {
		id := identity{set.Kind, set.Namespace, set.Name}
		before := first[id]
		if before == nil {
			first[id] = set
			continue
		}
		if set.Name == "" {
			continue // Reported where the name is missing.
		}
		errs = append(errs, set.node.Get("metadata").Errorf("rename one of them", "%s %q is in %s, line %d, already",
			set.Kind, set.Name, before.File, before.node.Position().Line))
	}
	return errs
}
