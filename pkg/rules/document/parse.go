package document

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// File is the content of a file and its name for messages.
type File struct {
	Name string // as the user gave it, "-" for standard input
	Data []byte
}

// reading is how a file is read.
type reading struct {
	size, nodes, onLine, documents, depth int
	// kinds are those of the objects that are read, nil for all documents. Where there are some, reading is
	// not strict: aliases are followed, and plain scalars are what most programs take them for.
	kinds []string
}

// mostRepeated is how many values aliases may repeat.
const mostRepeated = 100_000

// strict is how rules are read. The limits keep hostile input cheap and are far above what
// anybody writes.
var strict = reading{maxSize, maxNodes, maxOnLine, maxDocuments, maxDepth, nil}

// Parse reads the documents of a file. It returns the root of each document
// that is not empty, and all mistakes, sorted. Values that are mistakes are
// invalid in the result, so that a caller can go on and report its own
// findings about the rest. After a syntax error only the documents before it
// are returned.
func Parse(f File) ([]*Node, Errors) { return strict.parse(f) }

// ParseManifests is [Parse] of the objects of some kinds in a file that may be large and hold
// others, as what is to be installed does.
func ParseManifests(f File, kinds ...string) ([]*Node, Errors) {
	return reading{size: 16 << 20, nodes: 2_000_000, onLine: 2_000_000, documents: 2_000_000, depth: 400, kinds: kinds}.parse(f)
}

func (r reading) parse(f File) ([]*Node, Errors) {
	s, err := newSource(f, r)
	if err != nil {
		return nil, Errors{err.Coded(CodeYAML)}
	}
	b := &builder{reading: r, left: density(s.text) + mostRepeated, source: s}
	loader, _ := yaml.NewLoader(strings.NewReader(s.text), yaml.WithPlugin(r)) // The option cannot fail.
	var roots []*Node
	for number := 1; ; number++ {
		var document yaml.Node
		err := load(loader, &document)
		if errors.Is(err, io.EOF) {
			break
		}
		if number > r.documents {
			b.errors = append(b.errors, tooLarge(f, "the file has more than %d documents", r.documents))
			break
		}
		if err != nil {
			b.errors = append(b.errors, s.syntaxError(err))
			break
		}
		if root := document.Content[0]; r.reads(root) {
			roots = append(roots, b.node(&Node{source: s}, root))
		}
	}
	for _, err := range b.errors {
		err.Code = CodeYAML
	}
	return roots, b.errors.Sorted()
}

// reads reports whether a document is read: it is one of the kinds, or no kinds are asked for
// and it is not empty.
func (r reading) reads(root *yaml.Node) bool {
	for i := 0; i+1 < len(root.Content) && r.kinds != nil; i += 2 {
		if root.Content[i].Value == "kind" && slices.Contains(r.kinds, root.Content[i+1].Value) {
			return true
		}
	}
	return r.kinds == nil && (root.Kind != yaml.ScalarNode || root.Style != 0 || root.Value != "")
}

const deepText = "maps and lists are nested deeper than "

// CheckDepth implements [yaml.LoaderLimitsPlugin].
func (r reading) CheckDepth(depth int, _ *yaml.DepthContext) error {
	if depth > r.depth {
		return fmt.Errorf("%s%d", deepText, r.depth)
	}
	return nil
}

// CheckAlias implements [yaml.LoaderLimitsPlugin], for values that are not made.
func (reading) CheckAlias(int, int) error { return nil }

// load contains the panics of the parser, which knows some states it calls
// impossible.
func load(loader *yaml.Loader, into *yaml.Node) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the YAML parser gave up: %v", r)
		}
	}()
	return loader.Load(into)
}
