package crd

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
)

// maxSize is how many bytes of a file are read.
const maxSize = 16 << 20

// Read returns the CustomResourceDefinitions of a file, in YAML or JSON, of one or
// several documents. Objects of other kinds are passed over. What the checks find wrong
// with a definition is located in the file. The error is [document.Errors].
func Read(name string, data []byte, checks ...Check) ([]*Definition, error) {
	if err := checkSize(data); err != nil {
		err.File = name
		return nil, document.Errors{err}
	}
	objects, err := objectsOf(data)
	if err != nil {
		err.File = name
		return nil, document.Errors{err}
	}
	var definitions []*Definition
	var mistakes document.Errors
	faults := make([][]Fault, len(objects))
	for i, o := range objects {
		definition, err := define(o)
		switch {
		case err != nil:
			err.File = name
			mistakes = append(mistakes, err)
		case definition != nil:
			definitions = append(definitions, definition)
			for _, check := range checks {
				faults[i] = append(faults[i], check(definition.Document)...)
			}
		}
	}
	mistakes = append(mistakes, locate(name, data, faults, objects)...)
	if len(mistakes) > 0 {
		return nil, mistakes.Sorted()
	}
	return definitions, nil
}

// checkSize refuses what would take the parser too much memory: it needs far more
// for a short value than the text does, and values end with lines and commas.
func checkSize(data []byte) *document.Error {
	const hint = "split it into several files"
	if len(data) > maxSize {
		return &document.Error{
			Message: fmt.Sprintf("the file has %d bytes, at most %d are read", len(data), maxSize), Hint: hint,
		}
	}
	if n := bytes.Count(data, []byte("\n")) + bytes.Count(data, []byte(",")); n > maxValues {
		return &document.Error{
			Message: fmt.Sprintf("the file may hold %d keys and values, at most %d are read", n, maxValues), Hint: hint,
		}
	}
	return nil
}

// object is one of a file, and the line where it begins.
type object struct {
	value map[string]any
	line  int
}

// objectsOf returns the definitions of a file. JSON has a decoder of its own that
// takes a fifth of the time; what only looks like JSON is left to YAML.
func objectsOf(data []byte) ([]object, *document.Error) {
	if bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")) {
		if objects, ok := objectsOfJSON(data); ok {
			return objects, nil
		}
	}
	return objectsOfYAML(data)
}

func objectsOfJSON(data []byte) (objects []object, ok bool) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	for line, counted := 1, 0; ; {
		var value any
		switch err := decoder.Decode(&value); {
		case errors.Is(err, io.EOF):
			return objects, true
		case err != nil:
			return nil, false
		}
		objects = append(objects, listed(value, line)...)
		end := int(decoder.InputOffset())
		line, counted = line+bytes.Count(data[counted:end], []byte("\n")), end
	}
}

// listed returns the definitions that a document holds: itself, or the elements of
// a list.
func listed(value any, line int) []object {
	o, _ := value.(map[string]any)
	kind, _ := o["kind"].(string)
	if kind == definitionKind {
		return []object{{value: o, line: line}}
	}
	if !isList(kind) {
		return nil
	}
	var objects []object
	items, _ := o["items"].([]any)
	for _, item := range items {
		if o, ok := item.(map[string]any); ok && o["kind"] == definitionKind {
			objects = append(objects, object{value: o, line: line})
		}
	}
	return objects
}

func isList(kind string) bool { return kind == "List" || kind == definitionKind+"List" }

func objectsOfYAML(data []byte) ([]object, *document.Error) {
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	budget := maxValues
	var objects []object
	for {
		var node yaml.Node
		err := decode(decoder, &node)
		if errors.Is(err, io.EOF) {
			return objects, nil
		}
		if err != nil {
			return nil, syntaxError(data, err)
		}
		root := node.Content[0]
		if kind := kindOf(root); kind != definitionKind && !isList(kind) {
			continue
		}
		c := conversion{left: budget}
		value, mistake := c.value(root, 0)
		if mistake != nil {
			return nil, mistake
		}
		budget = c.left
		objects = append(objects, listed(value, root.Line)...)
	}
}

// decode contains the panics of the parser, which knows some states it calls
// impossible.
func decode(decoder *yaml.Decoder, into *yaml.Node) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the YAML parser gave up: %v", r)
		}
	}()
	return decoder.Decode(into)
}

var (
	lineOf = regexp.MustCompile(`^yaml: line (\d+): `)
	// fromZero are the mistakes of which the parser counts the lines from 0.
	fromZero = regexp.MustCompile(`^did not find expected (key|'-' indicator|',' or |node content|<document start>)`)
)

// syntaxError says where YAML cannot be read. The parser sometimes finds that on the
// line after, and so the line of a template is looked for.
func syntaxError(data []byte, err error) *document.Error {
	message := err.Error()
	line := 1
	if found := lineOf.FindStringSubmatch(message); found != nil {
		message = message[len(found[0]):]
		line, _ = strconv.Atoi(found[1])
		if fromZero.MatchString(message) {
			line++
		}
	}
	mistake := &document.Error{
		Line:    max(line, 1),
		Column:  1,
		Length:  1,
		Message: "this is no YAML: " + strings.TrimPrefix(message, "yaml: "),
	}
	lines := bytes.Split(data, []byte("\n"))
	for _, near := range []int{line, line + 1, line - 1} {
		if near < 1 || near > len(lines) {
			continue
		}
		if at := bytes.Index(lines[near-1], []byte("{{")); at >= 0 {
			mistake.Line, mistake.Column = near, at+1
			mistake.Hint = "it is a template: give --crds - what helm template prints, as in helm template CHART | dyncontroller validate --crds - rules/"
			break
		}
	}
	return mistake
}

const (
	// maxDepth is how many maps and lists within each other are read. A schema takes
	// up to three for each field.
	maxDepth = 400
	// maxValues is how many keys and values of a file are read, those that aliases
	// repeat included.
	maxValues = 1_000_000
)

// conversion makes plain values of YAML. It knows aliases, and no merging of maps.
type conversion struct {
	left     int // of maxValues
	defaults int // how many of the keys above are "default"
}

// kindOf returns the kind of the object that a node is.
func kindOf(node *yaml.Node) string {
	if node.Kind != yaml.MappingNode {
		return ""
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		if node.Content[i].Value == "kind" {
			return node.Content[i+1].Value
		}
	}
	return ""
}

func (c *conversion) value(node *yaml.Node, depth int) (any, *document.Error) {
	if c.left--; c.left < 0 {
		return nil, mistakeAt(node, "the file holds more than %d keys and values", maxValues)
	}
	if depth > maxDepth {
		return nil, mistakeAt(node, "maps and lists are nested deeper than %d", maxDepth)
	}
	switch node.Kind {
	case yaml.MappingNode:
		return c.mapping(node, depth)
	case yaml.SequenceNode:
		list := make([]any, len(node.Content))
		for i, element := range node.Content {
			v, err := c.value(element, depth+1)
			if err != nil {
				return nil, err
			}
			list[i] = v
		}
		return list, nil
	case yaml.AliasNode:
		return c.value(node.Alias, depth+1)
	default:
		return scalar(node)
	}
}

func (c *conversion) mapping(node *yaml.Node, depth int) (any, *document.Error) {
	m := make(map[string]any, len(node.Content)/2)
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, content := node.Content[i], node.Content[i+1]
		if key.Kind != yaml.ScalarNode {
			err := mistakeAt(key, "a key has to be a text")
			err.Hint = "render the file first if it is a template, as helm template does"
			return nil, err
		}
		if key.Tag == "!!merge" {
			err := mistakeAt(key, `merging with "<<" is not supported`)
			err.Hint = "write the fields out"
			return nil, err
		}
		if _, twice := m[key.Value]; twice {
			return nil, mistakeAt(key, "%q is here twice", key.Value)
		}
		if c.isProse(key, content) {
			continue
		}
		v, err := c.below(key, content, depth)
		if err != nil {
			return nil, err
		}
		m[key.Value] = v
	}
	return m, nil
}

func (c *conversion) below(key, content *yaml.Node, depth int) (any, *document.Error) {
	if key.Value == "default" {
		c.defaults++
		defer func() { c.defaults-- }()
	}
	return c.value(content, depth+1)
}

// isProse reports whether a field is a description, which is most of many files and
// says nothing to us. A map of that name describes a field, and in a default it is
// part of the value.
func (c *conversion) isProse(key, content *yaml.Node) bool {
	return key.Value == "description" && content.Kind == yaml.ScalarNode && c.defaults == 0
}

func scalar(node *yaml.Node) (any, *document.Error) {
	switch node.Tag {
	case "!!str", "!!timestamp", "!!binary":
		return node.Value, nil
	case "!!null":
		return nil, nil
	case "!!bool":
		return node.Value[0] == 't' || node.Value[0] == 'T', nil
	case "!!int":
		if i, err := strconv.ParseInt(node.Value, 10, 64); err == nil {
			return i, nil
		}
	}
	var v any
	if err := node.Decode(&v); err != nil {
		return nil, mistakeAt(node, "%q cannot be read", node.Value)
	}
	return v, nil
}

func mistakeAt(node *yaml.Node, format string, args ...any) *document.Error {
	return &document.Error{Line: node.Line, Column: node.Column, Length: 1, Message: fmt.Sprintf(format, args...)}
}
