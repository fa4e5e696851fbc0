package crd

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
)

// Check says what is wrong with a definition, which it gets as it was read and does not
// change. What an API server would say is known to others than this package.
type Check func(definition map[string]any) []Fault

// Fault is what a [Check] has found.
type Fault struct {
	// Path leads to it as an API server writes paths:
	// spec.versions[0].schema.openAPIV3Schema.properties[a]. What is not there is told of
	// what would hold it.
	Path    string
	Message string
	Hint    string // what to write instead, may be empty
	Code    document.Code
}

const templateHint = "it is a template: give --crds - what helm template prints, as in helm template CHART | dyncontroller validate --crds - rules/"

// Read returns the CustomResourceDefinitions of a file, in YAML or JSON, of one or
// several documents. Objects of other kinds are passed over. What the checks find wrong
// with a definition is located in the file. The error is [document.Errors].
func Read(name string, data []byte, checks ...Check) ([]*Definition, error) {
	roots, mistakes := document.ParseManifests(document.File{Name: name, Data: data}, definitionKind, "List", definitionKind+"List")
	for _, mistake := range mistakes {
		if strings.Contains(mistake.Text(), "{{") {
			mistake.Hint = templateHint
		}
	}
	if len(mistakes) > 0 {
		return nil, mistakes
	}
	var definitions []*Definition
	for _, root := range roots {
		for _, object := range append(root.Get("items").Elements(), root) {
			if object.Get("kind").Text() != definitionKind {
				continue
			}
			definition, err := define(object)
			switch {
			case err != nil:
				mistakes = append(mistakes, err)
			case definition != nil:
				definitions = append(definitions, definition)
				for _, check := range checks {
					mistakes = append(mistakes, locate(object, check(definition.Document))...)
				}
			}
		}
	}
	if len(mistakes) > 0 {
		return nil, mistakes.Sorted()
	}
	return definitions, nil
}

// locate points at what faults are about: at a value, at the key of what has fields of its
// own or is not known, or at what would hold what is not there.
func locate(definition *document.Node, faults []Fault) (mistakes document.Errors) {
	for _, fault := range faults {
		if mistakes.Enough() {
			break
		}
		key, value, rest := follow(definition, fault.Path)
		at := value
		if kind := value.Kind(); key != nil && (kind >= document.KindList || fault.Code == document.CodeUnknownField) {
			at = key
		}
		mistake := at.Errorf(fault.Hint, "%s", strings.Join(strings.Fields(fault.Message), " ")).Coded(cmp.Or(fault.Code, document.CodeInvalid))
		if mistake.Path += rest; value == definition {
			mistake.Path = strings.TrimPrefix(mistake.Path, ".")
		}
		mistakes = append(mistakes, mistake)
	}
	return mistakes
}

// follow goes along a path of an API server as far as it leads. The names of fields may
// have dots and brackets of their own, so the longest key that fits is taken.
func follow(n *document.Node, path string) (key, value *document.Node, rest string) {
	for value, rest = n, path; rest != ""; {
		var at, next *document.Node
		after := ""
		for i, element := range value.Elements() {
			if cut, ok := strings.CutPrefix(rest, fmt.Sprintf("[%d]", i)); ok {
				next, after = element, cut
			}
		}
		for _, entry := range value.Entries() {
			name := entry.Key.Text()
			cut, ok := strings.CutPrefix(rest, "["+name+"]")
			if !ok {
				cut, ok = strings.CutPrefix(strings.TrimPrefix(rest, "."), name)
				ok = ok && (cut == "" || cut[0] == '.' || cut[0] == '[')
			}
			if ok && (next == nil || len(cut) < len(after)) {
				at, next, after = entry.Key, entry.Value, cut
			}
		}
		if next == nil {
			break
		}
		key, value, rest = at, next, after
	}
	return key, value, rest
}
