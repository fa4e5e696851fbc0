package relation

import (
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

// Declaration is an entry of a set's `resources`. It is read only.
type Declaration struct {
	Name       string
	GVR        schema.GroupVersionResource
	Selections []plan.Selection // what the rules may see of the resource
	Namespace  string           // that of a RuleSet, empty for a ClusterRuleSet

	parsed  sync.Once
	filters []plan.Filter // by the selections
}

// Admits reports whether the rules may see an object of the resource.
func (d *Declaration) Admits(object map[string]any) bool {
	d.parsed.Do(func() {
		for _, selection := range d.Selections {
			d.filters = append(d.filters, selection.Filter())
		}
	})
	return slices.ContainsFunc(d.filters, func(admits plan.Filter) bool { return admits(object) })
}

// Declarations are those of one set, in the order written.
type Declarations []*Declaration

// Lookup returns the declaration that a field names. Of an invalid node, which
// has been reported, there is neither a declaration nor an error, nor is there where
// nothing is declared.
func (d Declarations) Lookup(n *document.Node) (*Declaration, *document.Error) {
	if n.Kind() == document.KindInvalid {
		return nil, nil
	}
	if wrong := n.Expect(document.KindString); wrong != nil {
		return nil, wrong
	}
	return d.LookupAt(n, 0, n.Text())
}

// LookupAt is Lookup for a name that is a part of the text of n.
func (d Declarations) LookupAt(n *document.Node, offset int, name string) (*Declaration, *document.Error) {
	if len(d) == 0 {
		return nil, nil // A set has resources, so what is wrong with them has been reported.
	}
	declared := make([]string, len(d))
	for i, declaration := range d {
		if declaration.Name == name {
			return declaration, nil
		}
		declared[i] = declaration.Name
	}
	hint := "declare it under resources"
	if near := document.Suggest(name, declared); near != "" {
		hint = `did you mean "` + near + `"?`
	} else if strings.Contains(name, "${") {
		hint = "write the name itself: what is read and written is known before anything is evaluated"
	}
	return nil, n.ErrorAt(offset, len(name), hint, "no resource %q is declared", value.Excerpt(name))
}
