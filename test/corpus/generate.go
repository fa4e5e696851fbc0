package corpus

import (
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
)

// Most is how many right rules, and how many wrong ones, there are of a resource at most.
const Most = 40

// Case is a right rule about a resource.
type Case struct {
	Name   string // What it shows, and at which field.
	Shape  string // What it shows: many cases have the same.
	Rule   string // What follows the name of the rule, as lines without an indentation.
	Writes string // The field that it writes, with dots, or "".
	others bool   // It needs the resource others, too.
}

// Mistake is a rule that would be right but for one part.
type Mistake struct {
	Wrong    Case
	Right    Case
	Codes    []document.Code // What may be said to be wrong, any of them.
	Suggests string          // What the hint must name, or "".

	at region // In the rule.
}

// Good makes right rules about a resource, as many as [Most].
func Good(r *schema.Resource) []Case { return good(r, Most) }

// Bad makes rules with one mistake each about a resource, as many as [Most].
func Bad(r *schema.Resource) []Mistake { return bad(r, Most) }

func goodShapes() []shape {
	return slices.Concat(readShapes, listShapes, writeShapes, objectShapes)
}

func badShapes() []shape {
	return slices.Concat(misspeltShapes, mistypedShapes, absentShapes, misnamedShapes, misvaluedShapes, unboundShapes)
}

func good(r *schema.Resource, most int) []Case {
	var cases []Case
	newGenerator(r, "good").each(goodShapes(), most, func(name string, s shape, d draft) {
		cases = append(cases, d.as(name, s, right(d.text)))
	})
	return cases
}

func bad(r *schema.Resource, most int) []Mistake {
	var mistakes []Mistake
	newGenerator(r, "bad").each(badShapes(), most, func(name string, s shape, d draft) {
		text, at, _ := wrong(d.text)
		mistakes = append(mistakes, Mistake{
			Wrong:    d.as(name, s, text),
			Right:    d.as(name+", right", s, right(d.text)),
			Codes:    s.codes,
			Suggests: d.suggests,
			at:       at,
		})
	})
	return mistakes
}

// shape is a way to write a rule about a place.
type shape struct {
	name  string
	codes []document.Code // of its mistake
	fits  func(p place) bool
	// write gives no text where it cannot, for that place.
	write func(g *generator, p place) draft
}

// What mistakes may be called.
var (
	unknownField = []document.Code{document.CodeUnknownField}
	missingField = []document.Code{document.CodeMissingField}
	noFields     = []document.Code{document.CodeTypeMismatch, document.CodeUnknownField}
	mismatch     = []document.Code{document.CodeTypeMismatch}
	neverTrue    = []document.Code{document.CodeNeverTrue, document.CodeTypeMismatch}
	noMember     = []document.Code{document.CodeNotInEnum, document.CodeNeverTrue}
	notInEnum    = []document.Code{document.CodeNotInEnum}
	outOfBounds  = []document.Code{document.CodeOutOfBounds}
	wrongFormat  = []document.Code{document.CodeWrongFormat}
	absent       = []document.Code{document.CodeMayBeAbsent}
	subresource  = []document.Code{document.CodeSubresource}
)

// draft is a rule with its mistake marked.
type draft struct {
	text     string
	writes   string
	suggests string
	others   bool
}

func (d draft) as(name string, s shape, text string) Case {
	return Case{Name: name, Shape: s.name, Rule: text, Writes: d.writes, others: d.others}
}

// generator makes rules about a resource.
type generator struct {
	resource *schema.Resource
	places   []place
	random   *rand.Rand
}

// newGenerator seeds by what the resource is called, so that a failure comes again.
func newGenerator(r *schema.Resource, purpose string) *generator {
	hash := fnv.New64a()
	fmt.Fprint(hash, r.GroupVersionResource, purpose)
	g := &generator{resource: r, places: places(r.Type), random: rand.New(rand.NewPCG(hash.Sum64(), 1))}
	g.random.Shuffle(len(g.places), func(i, j int) { g.places[i], g.places[j] = g.places[j], g.places[i] })
	return g
}

// each gives drafts of all shapes in turn, until there are enough of them or of places.
func (g *generator) each(shapes []shape, most int, use func(name string, s shape, d draft)) {
	if most < len(shapes) { // For each resource others come first, or some would never come.
		g.random.Shuffle(len(shapes), func(i, j int) { shapes[i], shapes[j] = shapes[j], shapes[i] })
	}
	next := make([]int, len(shapes)) // The place to try, by shape.
	for n, idle := 0, false; n < most && !idle; {
		idle = true
		for i, s := range shapes {
			d, at := g.draft(s, &next[i])
			if d.text == "" || n == most {
				continue
			}
			use(strings.TrimSpace(s.name+" "+at), s, d)
			n++
			idle = false
		}
	}
}

// draft tries the places from the next one on, not too many of them.
func (g *generator) draft(s shape, next *int) (d draft, at string) {
	const patience = 40
	if s.fits == nil && *next == 0 {
		*next++
		return s.write(g, place{}), ""
	}
	tried := 0
	for s.fits != nil && *next < len(g.places) && tried < patience {
		p := g.places[*next]
		*next++
		if !s.fits(p) {
			continue
		}
		tried++
		if d = s.write(g, p); d.text != "" {
			return d, p.String()
		}
	}
	return draft{}, ""
}

// anyOf chooses one of the places below a map that fit.
func (g *generator) anyOf(root *schema.Type, fits func(place) bool) (place, bool) {
	var fitting []place
	for _, p := range places(root) {
		if fits(p) {
			fitting = append(fitting, p)
		}
	}
	if len(fitting) == 0 {
		return place{}, false
	}
	return fitting[g.random.IntN(len(fitting))], true
}

// misspelt is the last key of a place with a mistake, if its map has no other fields than those of the schema.
func (g *generator) misspelt(p place) (string, bool) {
	if !closed(p.last().parent) {
		return "", false
	}
	return misspell(g.random, p.last().key, p.last().parent.Names())
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
