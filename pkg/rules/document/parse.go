package document

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"
)

// File is the content of a file and its name for messages.
type File struct {
	Name string // as the user gave it, "-" for standard input
	Data []byte
}

// Parse reads the documents of a file. It returns the root of each document
// that is not empty, and all mistakes, sorted. Values that are mistakes are
// invalid in the result, so that a caller can go on and report its own
// findings about the rest. After a syntax error only the documents before it
// are returned.
func Parse(f File) ([]*Node, Errors) {
	s, err := newSource(f)
	if err != nil {
		return nil, Errors{err.Coded(CodeYAML)}
	}
	b := &builder{source: s, cursor: s.start()}
	var roots []*Node
	text := &lineReader{text: s.text}
	decoder := yaml.NewDecoder(text)
	for number := 1; ; number++ {
		var document yaml.Node
		err := decode(decoder, &document)
		if errors.Is(err, io.EOF) {
			break
		}
		if number > maxDocuments {
			b.errors = append(b.errors, tooLarge(f, "the file has more than %d documents", maxDocuments))
			break
		}
		if err != nil {
			b.errors = append(b.errors, s.syntaxError(err, text.read))
			break
		}
		if root := document.Content[0]; !isEmpty(root) {
			roots = append(roots, b.node(&Node{source: s}, root, 1))
		}
	}
	for _, err := range b.errors {
		err.Code = CodeYAML
	}
	return roots, b.errors.Sorted()
}

// lineReader hands out one line at a time, so that it shows how far the parser
// had to read before it found a mistake.
type lineReader struct {
	text string
	read int
}

func (r *lineReader) Read(into []byte) (int, error) {
	if r.read == len(r.text) {
		return 0, io.EOF
	}
	line, _, _ := strings.Cut(r.text[r.read:], "\n")
	n := copy(into, r.text[r.read:min(r.read+len(line)+1, len(r.text))])
	r.read += n
	return n, nil
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

// isEmpty tells whether a document holds nothing but comments.
func isEmpty(root *yaml.Node) bool {
	return root.Kind == yaml.ScalarNode && root.Style == 0 && root.Value == ""
}
