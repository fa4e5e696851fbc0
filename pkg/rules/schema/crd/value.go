package crd

import (
	"fmt"
	"strconv"

	"go.yaml.in/yaml/v3"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
)

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
