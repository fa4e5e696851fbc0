package floors

import (
	"cmp"
	"go/types"
	"slices"
)

// Size is how many fields or methods a type has.
type Size struct {
	Type string // With its package, as in [House]: "./pkg/engine Options".
	N    int
}

// Sizes lists the structs by their fields and the types by their methods, the largest first. Methods of interfaces and
// of embedded types do not count.
func Sizes(packages []Package) (fields, methods []Size) {
	for _, p := range packages {
		for _, name := range p.Types.Scope().Names() {
			declared, is := p.Types.Scope().Lookup(name).(*types.TypeName)
			if !is || declared.IsAlias() {
				continue
			}
			named := p.Name + " " + name
			if structure, is := declared.Type().Underlying().(*types.Struct); is {
				fields = append(fields, Size{Type: named, N: structure.NumFields()})
			}
			if t, is := declared.Type().(*types.Named); is && !types.IsInterface(t) {
				methods = append(methods, Size{Type: named, N: t.NumMethods()})
			}
		}
	}
	largest := func(a, b Size) int { return cmp.Or(cmp.Compare(b.N, a.N), cmp.Compare(a.Type, b.Type)) }
	slices.SortFunc(fields, largest)
	slices.SortFunc(methods, largest)
	return fields, methods
}
