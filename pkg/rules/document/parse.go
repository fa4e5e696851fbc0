package document

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

// File is the content of a file and its name for messages.
type File struct {
	Name string // as the user gave it, "-" for standard input
	Data []byte
	// Unseen says that nobody has the text, such as that of an object of a cluster: a place is told by its path alone, without a line.
	Unseen bool
}

// reading is how a file is read.
type reading struct {
	size, nodes, onLine, documents, depth int
	// aliases stand for what their anchors mark, as the budget allows, where they are not mistakes.
	aliases bool
	budget  *value.Budget
	// manifests are read as kubectl reads them: JSON is JSON, and plain scalars are what sigs.k8s.io/yaml takes them for.
	manifests bool
	// kinds are those of the objects that are read, nil for all documents. Where there are some, tags say nothing.
	kinds []string
}

// mostRepeated is how many keys and values aliases may repeat.
const mostRepeated = 100_000

// strict is how rules are read. The limits keep hostile input cheap and are far above what
// anybody writes.
var strict = reading{size: maxSize, nodes: maxNodes, onLine: maxOnLine, documents: maxDocuments, depth: maxDepth}

// Parse reads the documents of a file. It returns the root of each document
// that is not empty, and all mistakes, sorted. Values that are mistakes are
// invalid in the result, so that a caller can go on and report its own
// findings about the rest. After a syntax error only the documents before it
// are returned.
func Parse(f File) ([]*Node, Errors) { return strict.parse(f) }

// ParseManifests is [Parse] of objects as kubectl and other programs write them, in a file that may be large. If it is told
// kinds, it passes over objects of others, as what is to be installed has them.
func ParseManifests(f File, kinds ...string) ([]*Node, Errors) {
	r := reading{size: 16 << 20, nodes: 2_000_000, onLine: 2_000_000, documents: 2_000_000, depth: 400, aliases: true, manifests: true}
	r.kinds = kinds
	return r.parse(f)
}

// ParseData returns the value that a text holds, nil if it is empty. The text is read as strictly as a file of rules, but aliases stand
// for what their anchors mark. The error is a [value.Fault], or about the budget, which bounds what the parser may take.
func ParseData(text string, budget *value.Budget) (v any, err error) {
	defer value.Catch(&err)
	const least, most = 20, math.MaxInt
	tokens := least + density(text) + strings.Count(text, "&") + strings.Count(text, "*") + strings.Count(text, "!")
	tokens += (strings.Count(text, `"`) + strings.Count(text, "'")) / 2
	value.Must(budget.Spend(tokens*stepsOfNode+len(text)*2, tokens*bytesOfNode+len(text)*10))
	r := reading{size: most, nodes: most, onLine: most, documents: most, depth: 100, aliases: true, budget: budget}
	roots, errs := r.parse(File{Data: []byte(text)})
	switch {
	case len(errs) > 0:
		return nil, value.Faultf("line %d of the YAML: %s", max(errs[0].Line, 1), errs[0].Message).WithHint("%s", errs[0].Hint)
	case len(roots) > 1:
		return nil, value.Faultf("the YAML has several documents").WithHint("cut it with split(text, \"\\n---\\n\")")
	case len(roots) == 0:
		return nil, nil
	default:
		return roots[0].Any(), nil
	}
}

// What a key or a value costs that is read by [ParseData].
const stepsOfNode, bytesOfNode = 60, 300

func (r reading) parse(f File) ([]*Node, Errors) {
	s, err := newSource(f, r)
	if err != nil {
		return nil, Errors{err.Coded(CodeYAML)}
	}
	b := &builder{reading: r, alias: -1, left: density(s.text) + mostRepeated, source: s}
	next := s.documents(r)
	var roots []*Node
	for number := 1; ; number++ {
		var document yaml.Node
		err := next(&document)
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

// documents returns a function that reads the next document.
func (s *source) documents(r reading) func(into *yaml.Node) error {
	var loader *yaml.Loader
	part := 0
	return func(into *yaml.Node) error {
		for {
			if loader == nil {
				s.base = s.position(s.parts[part])
				loader, _ = yaml.NewLoader(strings.NewReader(s.yaml(part)), yaml.WithPlugin(r)) // The option cannot fail.
			}
			err := load(loader, into)
			if !errors.Is(err, io.EOF) || part+1 == len(s.parts) {
				return err
			}
			loader, part = nil, part+1
		}
	}
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
