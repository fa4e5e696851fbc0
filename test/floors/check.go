package floors

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Graph maps each package to the packages that it imports, tests left out.
type Graph map[string][]string

// CheckFloors names the imports that do not go downward, the packages that are on no floor, and the entries of the
// floors that name no package.
func CheckFloors(graph Graph, floors [][]string) []string {
	var found []string
	depth := map[string]int{}
	for i, floor := range floors {
		for _, name := range floor {
			depth[name] = i
			if _, exists := graph[name]; !exists {
				found = append(found, fmt.Sprintf("%s is on a floor, but there is no such package: take it off", name))
			}
		}
	}
	for _, name := range graph.own() {
		from, listed := depth[name]
		if !listed {
			found = append(found, fmt.Sprintf("%s is on no floor: add it to House, above all that it imports", name))
			continue
		}
		for _, imported := range graph[name] {
			if to, listed := depth[imported]; listed && to <= from {
				found = append(found, fmt.Sprintf("%s imports %s: imports go downward only", name, imported))
			}
		}
	}
	return found
}

// CheckBans names the imports that are banned, of a deep ban the shortest way to each package's first one.
func CheckBans(graph Graph, bans []Ban) []string {
	var found []string
	for _, ban := range bans {
		for _, name := range graph.own() {
			if !matches(ban.Who, name) || matches(ban.Except, name) {
				continue
			}
			for _, imported := range graph[name] {
				if matches(ban.What, imported) {
					found = append(found, fmt.Sprintf("%s imports %s: %s", name, imported, ban.Why))
				}
			}
			if !ban.Deep {
				continue
			}
			if way := graph.way(name, ban.What); len(way) > 2 {
				found = append(found, fmt.Sprintf("%s: %s", strings.Join(way, " imports "), ban.Why))
			}
		}
	}
	return found
}

// own lists the packages of this module in order.
func (g Graph) own() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(g)), func(name string) bool { return !matches([]string{"./..."}, name) })
}

// way is the shortest chain of imports from a package to one that a pattern matches, nil if there is none.
func (g Graph) way(from string, patterns []string) []string {
	ways := [][]string{{from}}
	seen := map[string]bool{from: true}
	for len(ways) > 0 {
		way := ways[0]
		ways = ways[1:]
		for _, imported := range g[way[len(way)-1]] {
			if seen[imported] {
				continue
			}
			seen[imported] = true
			next := append(slices.Clone(way), imported)
			if matches(patterns, imported) {
				return next
			}
			ways = append(ways, next)
		}
	}
	return nil
}

// matches knows the patterns of the go command: "a/..." is a and all below it.
func matches(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		folder, tree := strings.CutSuffix(pattern, "/...")
		return name == folder || tree && strings.HasPrefix(name, folder+"/")
	})
}
