package check

import (
	"slices"
	"strings"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/syntax"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
	"github.com/dyncontroller/dyncontroller/pkg/rules/typing"
)

// walk goes along a path.
type walk struct {
	*checker
	known known
	path  *expression.Path
	// on is what the walk has come to, and above what that is a field of.
	on, above typing.Type
	// at is where it has come to, as long as it has a place.
	at place
	// ended says that the path can end before its last access, and is nil then.
	ended bool
	// wrong says that a mistake was reported.
	wrong bool
}

// path checks a chain of accesses.
func (c *checker) path(n *expression.Path, k known) result {
	w := &walk{checker: c, known: k, path: n}
	w.on = w.start()
	w.at = c.rootPlace(n.Root)
	w.at.path = slices.Clip(w.at.path)
	for i := range n.Steps {
		if !c.spend(1) {
			return gives(typing.Unknown(), k)
		}
		w.step(i)
	}
	t := w.on
	switch {
	case w.wrong:
		t = typing.Unknown()
		w.known = w.assumed()
	case w.ended:
		t = t.Nilable()
	}
	r := gives(t, w.known)
	if !w.wrong {
		r.zero = w.unstored()
	}
	return r
}

// assumed is what has to be there for the path not to fail. What was said to be absent
// is not said to be once more.
func (w *walk) assumed() known {
	before := len(w.path.Steps) - 1
	if last := &w.path.Steps[before]; last.Kind == expression.BySlice || last.Optional {
		return w.known
	}
	if before == 0 {
		return w.known.with(w.place(w.path.Root))
	}
	return w.known.with(w.place(&expression.Path{Root: w.path.Root, Steps: w.path.Steps[:before]}))
}

// start is what the path begins with. A name is not asked what it stands for.
func (w *walk) start() typing.Type {
	if n, is := w.path.Root.(*expression.Name); is {
		return w.named(n, w.known)
	}
	r := w.node(w.path.Root, w.known)
	w.known = r.after()
	return r.of
}

func (w *walk) step(i int) {
	s := &w.path.Steps[i]
	var index result
	switch s.Kind {
	case expression.BySlice:
		w.slice(i)
		return
	case expression.ByValue:
		index = w.node(s.Index, w.known)
		w.known = index.after()
	case expression.ByKey:
	}
	if !w.goOn(i, s.Optional) {
		return
	}
	above := w.on
	if s.Kind == expression.ByKey {
		w.field(i)
	} else {
		w.element(i, s.Index, index)
	}
	w.above = above
	w.arrive(s)
}

// arrive applies what is known of the place that the walk has come to.
func (w *walk) arrive(access *expression.Step) {
	key, constant := stepOf(access)
	if w.at.is = w.at.is && constant; !w.at.is {
		return
	}
	w.at.path = append(w.at.path, key)
	if w.on.CanBeNil() && w.known.Has(w.at.root, w.at.path...) {
		w.on = w.on.NonNil()
	}
}

// goOn reports whether access i is worth following, and what is absent before it.
func (w *walk) goOn(i int, optional bool) bool {
	switch {
	case w.wrong || !w.on.Known():
		w.on = typing.Unknown()
		return false
	case !w.on.CanBeNil():
		return true
	case !optional && !w.misread(i):
		w.absent(i)
		return false
	}
	w.ended = true
	w.on = w.on.NonNil()
	return !w.on.None()
}

// misread reports whether access i would be wrong of what is there, too.
func (w *walk) misread(i int) bool {
	kinds := w.on.Kinds() &^ value.Nil
	s := &w.path.Steps[i]
	if kinds == 0 || s.Kind != expression.ByKey {
		return kinds != 0 && kinds&(value.List|value.Map) == 0
	}
	_, found := w.read(s)
	return kinds&value.Map == 0 || found == typing.Lacking
}

// fail reports a mistake, after which nothing is known.
func (w *walk) fail(code document.Code, err *expression.Error) {
	w.report(code, err)
	w.on, w.wrong = typing.Unknown(), true
}

// read is what the map that the walk has come to has under a key, as a path reads it.
func (w *walk) read(s *expression.Step) (typing.Type, typing.FieldResult) {
	switch s.Owner {
	case 1:
		return w.on.FieldOf(w.on, s.Key)
	case 2:
		return w.on.FieldOf(w.above, s.Key)
	default:
		return w.on.Field(s.Key)
	}
}

// field reads a key that is known.
func (w *walk) field(i int) {
	s := &w.path.Steps[i]
	key, asks := s.Key, s.Optional
	if w.on.Kinds()&value.Map == 0 {
		w.fail(document.CodeTypeMismatch, w.path.NoField(i, w.on.Kinds()))
		return
	}
	field, found := w.read(s)
	switch {
	case found != typing.Lacking:
		w.on = field
	case asks && w.on.Schema() == nil, w.noNamespace(key) && (asks || w.asksNil):
		w.on = typing.Of(value.Nil) // An expression has built it, or reads objects of both scopes, and asks.
	case w.noNamespace(key):
		before := w.path.Before(i)
		w.fail(document.CodeWrongScope, s.At.Errorf("%s has no namespace, for its object is cluster-scoped", before).WithHint("did you mean %s.name?", before))
	default:
		w.fail(document.CodeUnknownField, w.unknownField(i, key))
	}
}

// element reads an element or key that an expression gives. Nothing is known of it
// unless it is an integer that is written there.
func (w *walk) element(i int, property expression.Node, index result) {
	kinds := w.on.Kinds()
	failed := false
	switch {
	case kinds&(value.List|value.Map) == 0:
		w.fail(document.CodeTypeMismatch, w.path.NoElements(i, kinds))
		return
	case kinds == value.List:
		failed = w.wants(property, index, "the index of a list", value.Int)
	case kinds == value.Map:
		failed = w.wants(property, index, "the key of a map", value.String)
	}
	n, literal := expression.LiteralOf(property)
	if position, is := n.(int64); is && literal && kinds == value.List {
		w.on = w.on.At(position)
	} else {
		w.on = typing.Unknown()
	}
	w.wrong = w.wrong || failed
}

// slice takes a part of a list or a text. What is absent is an empty list.
func (w *walk) slice(i int) {
	s := &w.path.Steps[i]
	for _, bound := range s.Bounds {
		if bound == nil {
			continue
		}
		r := w.node(bound, w.known)
		w.known = r.after()
		w.wants(bound, r, "a bound of a slice", value.Int)
	}
	w.above, w.at.is = typing.Unknown(), false
	if !w.on.Known() || w.wrong || s.Optional && !w.goOn(i, true) {
		return
	}
	if kinds := w.on.Kinds(); kinds&(value.Nil|value.List|value.String) == 0 {
		w.fail(document.CodeTypeMismatch, w.path.NoSlice(i, kinds))
		return
	}
	w.on = w.on.Slice()
}

// unknownField is the error that a map never has a field.
func (w *walk) unknownField(i int, key string) *expression.Error {
	parent := w.path.Before(i)
	err := w.path.Steps[i].At.Errorf("%s has no field %q", parent, value.Excerpt(key))
	if w.unheard() {
		return err // A hint takes work.
	}
	meant := deeper(parent, w.on, key)
	if meant == "" && i > 0 && w.above.Known() {
		above := w.path.Before(i - 1)
		_, found := w.above.Field(key)
		if meant = deeper(above, w.above, key); found == typing.Found {
			meant = above + syntax.KeyText(key)
		}
	}
	if meant != "" {
		return err.WithHint("did you mean %s?", meant)
	}
	return err.WithHint("%s", fieldHint(parent, key, w.on.Names()))
}

// noNamespace reports the namespace of an object of the cluster as a whole.
func (w *walk) noNamespace(key string) bool {
	return key == "namespace" && w.on.Schema() == schema.ClusterMetadata()
}

// fieldHint names the field that was most likely meant, or all if these are few.
func fieldHint(parent, key string, names []string) string {
	const few = 8
	if other := document.Suggest(key, names); other != "" {
		return "did you mean " + parent + syntax.KeyText(other) + "?"
	}
	if len(names) == 0 || len(names) > few {
		return ""
	}
	return "it has " + strings.Join(names, ", ")
}

// deeper finds the field of a map below which there is a field called key.
func deeper(parent string, t typing.Type, key string) string {
	const most = 100
	names := t.Schema().Names()
	for _, name := range names[:min(len(names), most)] {
		if below := t.Schema().Map.Fields[name].Type; below != nil && below.Map != nil {
			if _, declared := below.Map.Fields[key]; declared {
				return parent + syntax.KeyText(name) + syntax.KeyText(key)
			}
		}
	}
	return ""
}

func (w *walk) absent(i int) {
	is := "may be"
	if w.on.Kinds() == value.Nil {
		is = "is"
	}
	parent, access := w.path.Before(i), w.path.Steps[i].Text()
	err := w.path.Steps[i].At.Errorf("%s %s absent, so %s%s cannot be read", parent, is, parent, access)
	w.fail(document.CodeMayBeAbsent, err.WithHint("write %s%s, which is nil then", parent, w.optional(i)))
}

// optional writes the accesses from one on with a "?." before each that reads what may be absent, up to the last of these.
func (w *walk) optional(first int) (out string) {
	text, on := "", w.on
	for i := first; i < len(w.path.Steps); i++ {
		s := &w.path.Steps[i]
		switch {
		case i == first || on.Known() && on.CanBeNil() && s.Kind != expression.BySlice:
			text += syntax.Optional(strings.TrimPrefix(s.Text(), "?"))
			out = text
		default:
			text += s.Text()
		}
		position, isIndex := constantIndex(s)
		switch on = on.NonNil(); {
		case s.Kind == expression.ByKey && on.Kinds() == value.Map:
			on, _ = on.Field(s.Key)
		case isIndex && on.Kinds() == value.List:
			on = on.At(position)
		default:
			return out
		}
	}
	return out
}

// constantIndex is the integer that an access is written with.
func constantIndex(s *expression.Step) (int64, bool) {
	if s.Kind != expression.ByValue {
		return 0, false
	}
	v, _ := expression.LiteralOf(s.Index)
	n, is := v.(int64)
	return n, is
}
