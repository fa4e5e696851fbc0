package floors

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// layered is the package whose files are in layers. Packages are held apart by [CheckFloors].
const layered = "./pkg/engine"

// Layers reads the order of the files of pkg/engine in the module at dir: layers.txt beside this file.
func Layers(dir string) ([]string, error) {
	text, err := os.ReadFile(filepath.Join(dir, "test", "floors", "layers.txt"))
	if err != nil {
		return nil, fmt.Errorf("reading the order of files: %w", err)
	}
	return parseLayers(string(text)), nil
}

// parseLayers takes a file in each line; # begins a comment.
func parseLayers(text string) []string {
	var layers []string
	for line := range strings.Lines(text) {
		name, _, _ := strings.Cut(line, "#")
		if name = strings.TrimSpace(name); name != "" {
			layers = append(layers, name)
		}
	}
	return layers
}

// Reference says that a file refers to a declaration, once or more often.
type Reference struct {
	File string
	To   Declaration
}

// Against lists the references from a file of pkg/engine to a file above it, by pairs of files, and what is wrong with
// the list of layers.
func Against(references References, layers []string) (against []Reference, wrong []string) {
	depth, there := map[string]int{}, map[string]bool{}
	for i, file := range layers {
		if _, twice := depth[file]; twice {
			wrong = append(wrong, file+" is listed twice in layers.txt: take one off")
		}
		depth[file] = i
	}
	found := map[Reference]bool{}
	for from, all := range references {
		if from.Package != layered {
			continue
		}
		there[from.File] = true
		for to := range all {
			if to.Package == layered && depth[to.File] < depth[from.File] {
				found[Reference{File: from.File, To: to}] = true
			}
		}
	}
	for _, file := range slices.Sorted(maps.Keys(there)) {
		if _, listed := depth[file]; !listed {
			wrong = append(wrong, file+" is not in layers.txt: add it above the files that it refers to")
		}
	}
	for _, file := range slices.Sorted(maps.Keys(depth)) {
		if !there[file] {
			wrong = append(wrong, file+" is in layers.txt, but declares nothing in "+layered+": take it off")
		}
	}
	return slices.SortedFunc(maps.Keys(found), func(a, b Reference) int {
		return cmp.Or(cmp.Compare(depth[a.File], depth[b.File]), cmp.Compare(depth[a.To.File], depth[b.To.File]), a.To.compare(b.To))
	}), wrong
}

// Describe prints references, a line for each pair of files.
func Describe(references []Reference) string {
	var out strings.Builder
	for i, r := range references {
		if i == 0 || r.File != references[i-1].File || r.To.File != references[i-1].To.File {
			fmt.Fprintf(&out, "\n%s refers to %s above it:", r.File, r.To.File)
		}
		out.WriteString(" " + r.To.Name)
	}
	return out.String()
}
