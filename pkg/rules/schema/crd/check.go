package crd

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

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

// element is a value of a file, and how it was come to.
type element struct {
	key, node *yaml.Node // the key is nil at the root and in lists
	path      string
	before    int // lines of the file before its document, where those are parsed one by one
}

// elementsOf returns the definitions of a file in their order, those that [objectsOf]
// returns.
func elementsOf(data []byte) []*element {
	if bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")) {
		if all, ok := elementsOfJSON(data); ok {
			return all
		}
	}
	return elementsOfYAML(data, 0)
}

// elementsOfJSON parses what follows each other one by one, which YAML would not take.
func elementsOfJSON(data []byte) (all []*element, ok bool) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	for end := 0; ; {
		var raw json.RawMessage
		if err := decoder.Decode(&raw); err != nil {
			return all, len(bytes.TrimSpace(data[end:])) == 0
		}
		end = int(decoder.InputOffset())
		before := bytes.Count(data[:end-len(raw)], []byte("\n"))
		all = append(all, elementsOfYAML(raw, before)...)
	}
}

func elementsOfYAML(data []byte, before int) []*element {
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	var all []*element
	for {
		var node yaml.Node
		if err := decode(decoder, &node); err != nil {
			return all
		}
		root := &element{node: node.Content[0], before: before}
		switch kind := kindOf(root.node); {
		case kind == definitionKind:
			all = append(all, root)
		case isList(kind):
			all = append(all, root.listed()...)
		}
	}
}

// listed returns the definitions that a list holds.
func (e *element) listed() []*element {
	var all []*element
	items := e.child("items")
	if items == nil {
		return nil
	}
	for _, item := range items.node.Content {
		if item = content(item); kindOf(item) == definitionKind {
			all = append(all, &element{node: item, before: e.before})
		}
	}
	return all
}

// content follows an alias, which never leads to another one.
func content(node *yaml.Node) *yaml.Node {
	if node.Kind == yaml.AliasNode {
		return node.Alias
	}
	return node
}

func (e *element) child(name string) *element {
	if e.node.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(e.node.Content); i += 2 {
		if key := e.node.Content[i]; key.Value == name {
			return &element{key: key, node: content(e.node.Content[i+1]), path: joined(e.path, name), before: e.before}
		}
	}
	return nil
}

// joined writes paths as package document does.
func joined(path, name string) string {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"
	switch {
	case name == "" || strings.Trim(name, letters) != "":
		return fmt.Sprintf("%s[%q]", path, name)
	case path == "":
		return name
	default:
		return path + "." + name
	}
}

// follow goes along a path of an API server as far as it leads. The names of fields may
// have dots and brackets of their own, so the longest key that fits is taken.
func (e *element) follow(path string) (last *element, rest string) {
	for path != "" {
		next, after := e.next(path)
		if next == nil {
			return e, path
		}
		e, path = next, after
	}
	return e, ""
}

func (e *element) next(path string) (*element, string) {
	if e.node.Kind == yaml.SequenceNode {
		return e.at(path)
	}
	if e.node.Kind != yaml.MappingNode {
		return nil, ""
	}
	longest, after := "", ""
	found := false
	for i := 0; i < len(e.node.Content); i += 2 {
		key := e.node.Content[i].Value
		if rest, ok := cutKey(path, key); ok && (!found || len(key) > len(longest)) {
			longest, after, found = key, rest, true
		}
	}
	if !found {
		return nil, ""
	}
	return e.child(longest), after
}

// cutKey takes a key from the front of a path, written as [key] or as .key, or as key
// where the path begins.
func cutKey(path, key string) (rest string, ok bool) {
	if rest, ok = strings.CutPrefix(path, "["+key+"]"); ok {
		return rest, true
	}
	rest, ok = strings.CutPrefix(strings.TrimPrefix(path, "."), key)
	return rest, ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

func (e *element) at(path string) (*element, string) {
	number, rest, ok := strings.Cut(strings.TrimPrefix(path, "["), "]")
	i, err := strconv.Atoi(number)
	if !ok || err != nil || i < 0 || i >= len(e.node.Content) {
		return nil, ""
	}
	path = fmt.Sprintf("%s[%d]", e.path, i)
	return &element{node: content(e.node.Content[i]), path: path, before: e.before}, rest
}

// mistake points at what a fault is about: at a value, at the key of what has fields of
// its own or is not known, or at what would hold what is not there.
func (e *element) mistake(fault Fault) *document.Error {
	e, rest := e.follow(fault.Path)
	at := e.node
	if e.key != nil && (at.Kind != yaml.ScalarNode || fault.Code == document.CodeUnknownField) {
		at = e.key
	}
	length := 1
	if at.Kind == yaml.ScalarNode && at.Style == 0 && !strings.Contains(at.Value, "\n") {
		length = max(utf8.RuneCountInString(at.Value), 1)
	}
	path := e.path + rest
	if e.path == "" {
		path = strings.TrimPrefix(rest, ".")
	}
	return &document.Error{
		Line: e.before + at.Line, Column: at.Column, Length: length,
		Path: oneLine(path), Message: oneLine(fault.Message),
	}
}
