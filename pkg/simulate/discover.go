package simulate

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/spec"
)

// discover lists the files below a directory that hold documents of ours, in
// order. A path that is no directory is returned as it is; named says so.
func discover(files Files, path string) (found []string, named bool, err error) {
	entries, err := files.ReadDir(path)
	if err != nil {
		return []string{path}, true, nil //nolint:nilerr // It is a file; reading it says what is wrong with it.
	}
	for _, entry := range entries {
		below := filepath.Join(path, entry.Name())
		switch {
		case strings.HasPrefix(entry.Name(), "."):
		case entry.IsDir():
			more, _, err := discover(files, below)
			if err != nil {
				return nil, false, err
			}
			found = append(found, more...)
		case isYAML(entry.Name()):
			data, err := files.ReadFile(below)
			if err != nil {
				return nil, false, fmt.Errorf("looking for tests: %w", err)
			}
			if isOurs(data) {
				found = append(found, below)
			}
		}
	}
	return found, false, nil
}

// oursUnparsed finds the first lines of our documents in text that is not
// YAML.
var oursUnparsed = regexp.MustCompile(`(?m)^(apiVersion: *["']?dyncontroller\.dev/|kind: *["']?RuleTest\b)`)

// mayBeOurs finds what none of our documents lacks, however it is written.
var mayBeOurs = regexp.MustCompile(`(?i)dyncontroller|RuleTest|\\[xuU]`)

// isOurs reports whether a file holds a document of our group, whatever its
// kind, or a RuleTest, whatever its group: a test that is misspelt is to be
// found and refused, not passed over.
func isOurs(data []byte) bool {
	if !mayBeOurs.Match(data) {
		return false // Most files are fixtures and goldens.
	}
	documents, errs := document.Parse(document.File{Data: data})
	group, _, _ := strings.Cut(spec.APIVersion, "/")
	return slices.ContainsFunc(documents, func(n *document.Node) bool {
		return strings.HasPrefix(n.Get("apiVersion").Text(), group+"/") || n.Get("kind").Text() == spec.KindRuleTest
	}) || len(errs) > 0 && oursUnparsed.Match(data)
}
