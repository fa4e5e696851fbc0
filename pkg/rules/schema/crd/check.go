package crd

import (
	"cmp"
	"strings"
	"unicode"

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

// mostMessage is how many runes of a message are shown. That of an API server may repeat
// the value that it is about.
const mostMessage = 400

// locate says where the faults are. It parses the file again, since few files have any,
// and to keep the places of all values would take more memory than the values.
func locate(name string, data []byte, faults [][]Fault, objects []object) document.Errors {
	var roots []*element
	var mistakes document.Errors
	for i, o := range objects {
		for _, fault := range faults[i] {
			if mistakes.Enough() {
				return mistakes
			}
			if roots == nil {
				roots = elementsOf(data)
			}
			mistake := o.mistake("%s", oneLine(fault.Message))
			if len(roots) == len(objects) { // As it is, unless JSON is written as YAML cannot be.
				mistake = roots[i].mistake(fault)
			}
			mistake.File, mistake.Hint = name, oneLine(fault.Hint)
			mistake.Code = cmp.Or(fault.Code, document.CodeInvalid)
			mistakes = append(mistakes, mistake)
		}
	}
	return mistakes
}

// oneLine keeps a message that repeats a value to a line of a bearable length.
func oneLine(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, text)
	runes := []rune(strings.Join(strings.Fields(text), " "))
	if len(runes) > mostMessage {
		return string(runes[:mostMessage]) + "..."
	}
	return string(runes)
}
