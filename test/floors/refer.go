package floors

import (
	"cmp"
	"go/ast"
	"go/types"
	"maps"
	"slices"
	"strings"
)

// Declaration is a function, method, type, variable or constant that is declared at the top of a file. The fields of a
// struct and the methods of an interface belong to their type.
type Declaration struct {
	Package string // As in [House].
	File    string
	Name    string // Of a method with its type before it: "Engine.Run".
}

func (d Declaration) compare(other Declaration) int {
	return cmp.Or(cmp.Compare(d.Package, other.Package), cmp.Compare(d.File, other.File), cmp.Compare(d.Name, other.Name))
}

// References has the declarations that each declaration of some packages refers to, itself left out.
type References map[Declaration]map[Declaration]bool

// Refer finds the references within packages and between them.
func Refer(packages []Package) References {
	owners := map[types.Object]Declaration{}
	declarations(packages, func(d Declaration, info *types.Info, name *ast.Ident) {
		if defined := info.Defs[name]; defined != nil {
			owners[defined] = d
		}
	})
	references := References{}
	declarations(packages, func(d Declaration, info *types.Info, name *ast.Ident) {
		if references[d] == nil {
			references[d] = map[Declaration]bool{}
		}
		used := info.Uses[name]
		switch generic := used.(type) {
		case *types.Func:
			used = generic.Origin()
		case *types.Var:
			used = generic.Origin()
		}
		if owner, own := owners[used]; own && owner != d {
			references[d][owner] = true
		}
	})
	return references
}

// declarations visits each name that a declaration consists of.
func declarations(packages []Package, visit func(Declaration, *types.Info, *ast.Ident)) {
	for _, p := range packages {
		inspect := func(file, name string, node ast.Node) {
			ast.Inspect(node, func(n ast.Node) bool {
				if identifier, is := n.(*ast.Ident); is {
					visit(Declaration{Package: p.Name, File: file, Name: name}, p.Info, identifier)
				}
				return true
			})
		}
		for file, syntax := range p.Files {
			for _, declared := range syntax.Decls {
				switch d := declared.(type) {
				case *ast.FuncDecl:
					inspect(file, functionName(d), d)
				case *ast.GenDecl:
					for _, spec := range d.Specs {
						switch s := spec.(type) {
						case *ast.TypeSpec:
							inspect(file, s.Name.Name, s)
						case *ast.ValueSpec:
							inspect(file, s.Names[0].Name, s)
						}
					}
				}
			}
		}
	}
}

// functionName has the type of a method before its name.
func functionName(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return f.Name.Name
	}
	receiver := f.Recv.List[0].Type
	for {
		switch t := receiver.(type) {
		case *ast.StarExpr:
			receiver = t.X
		case *ast.IndexExpr: // Of a generic type.
			receiver = t.X
		case *ast.IndexListExpr:
			receiver = t.X
		case *ast.Ident:
			return t.Name + "." + f.Name.Name
		default:
			return f.Name.Name
		}
	}
}

// Circles lists the declarations that can only be read together, the largest set first. A type counts with its methods
// as one; in a circle, each refers to all others, directly or through others. What refers to nothing but itself is none.
func Circles(references References) [][]Declaration {
	whole := func(d Declaration) Declaration {
		name, _, _ := strings.Cut(d.Name, ".")
		return Declaration{Package: d.Package, Name: name}
	}
	members, graph := map[Declaration][]Declaration{}, map[Declaration][]Declaration{}
	for _, d := range slices.SortedFunc(maps.Keys(references), Declaration.compare) {
		members[whole(d)] = append(members[whole(d)], d)
		for to := range references[d] {
			graph[whole(d)] = append(graph[whole(d)], whole(to))
		}
	}
	var circles [][]Declaration
	for _, component := range components(graph, slices.SortedFunc(maps.Keys(members), Declaration.compare)) {
		if len(component) == 1 {
			continue
		}
		var circle []Declaration
		for _, one := range component {
			circle = append(circle, members[one]...)
		}
		slices.SortFunc(circle, Declaration.compare)
		circles = append(circles, circle)
	}
	slices.SortStableFunc(circles, func(a, b []Declaration) int { return cmp.Compare(len(b), len(a)) })
	return circles
}

// components are the strongly connected components of a graph, by Tarjan's algorithm.
func components(graph map[Declaration][]Declaration, nodes []Declaration) (found [][]Declaration) {
	var stack []Declaration
	index, low, stacked := map[Declaration]int{}, map[Declaration]int{}, map[Declaration]bool{}
	var visit func(Declaration)
	visit = func(d Declaration) {
		index[d] = len(index) + 1
		low[d] = index[d]
		stack, stacked[d] = append(stack, d), true
		for _, other := range graph[d] {
			if index[other] == 0 {
				visit(other)
				low[d] = min(low[d], low[other])
			} else if stacked[other] {
				low[d] = min(low[d], index[other])
			}
		}
		if low[d] != index[d] {
			return
		}
		first := slices.Index(stack, d)
		found = append(found, slices.Clone(stack[first:]))
		stack = stack[:first]
		for _, member := range found[len(found)-1] {
			stacked[member] = false
		}
	}
	for _, d := range nodes {
		if index[d] == 0 {
			visit(d)
		}
	}
	return found
}
