package rules

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/redact"
	"github.com/dyncontroller/dyncontroller/pkg/rules/action"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/names"
	"github.com/dyncontroller/dyncontroller/pkg/rules/trace"
)

// taint says what a value has to do with Secrets, known from the rule and the kind of the watched object alone.
type taint int

const (
	clean   taint = iota
	secret        // It is a Secret, or a list of them: what names one may be shown, and what is in it may not.
	tainted       // It may be made of what is in one, or be found by it: nothing of it may be shown.
)

// naming are the fields of a Secret that are shown with every object.
var naming = [][]string{{"metadata", "name"}, {"metadata", "namespace"}, {"metadata", "labels"}, {"metadata", "creationTimestamp"}, {"type"}}

// secrets decide what people may see of the evaluation of a rule. The values of Secrets are found wherever they are. What is made of
// one is not shown at all, since a part of a value cannot be found.
type secrets struct {
	rule   *Rule
	of     *ruleEvaluation // nil until the rule is evaluated
	values *redact.Values
	known  map[string]taint
	// The names of objects, and of namespaces, that the rule has from a Secret.
	hiddenNames, hiddenNamespaces map[string]bool
}

func newSecrets(rule *Rule, snapshot *Snapshot, hidden []*redact.Values) *secrets {
	out := &secrets{rule: rule, values: redact.New(redact.Plain), known: map[string]taint{"object": ofKind(snapshot.GVR)}}
	for _, values := range hidden {
		out.values.LearnFrom(values)
	}
	out.values.Except(snapshot.GVR.Resource, snapshot.GVR.Group)
	out.values.Except(plan.GivenNames(snapshot.Object)...)
	if ofKind(snapshot.GVR) == secret {
		out.values.Learn(snapshot.Object)
	}
	return out
}

// learn adds what the rule wants to write to Secrets.
func (s *secrets) learn() {
	for _, wish := range s.of.action.Wishes {
		if wish.Target.IsSecret() {
			s.values.Learn(wish.Body)
			s.values.Learn(wish.Current)
		}
	}
}

func ofKind(gvr schema.GroupVersionResource) taint {
	if (plan.Object{GVR: gvr}).IsSecret() {
		return secret
	}
	return clean
}

// name is the taint of what a name stands for, in a forEach if loop is not nil.
func (s *secrets) name(name string, loop *action.Loop) taint {
	if loop.InLoop(name) {
		if name != loop.Name {
			return clean
		}
		return s.node(loop.List, nil)
	}
	known, done := s.known[name]
	if d := s.rule.names.Lookup(name); !done && d != nil {
		if d.Value != nil {
			known = s.program(d.Value.Program(), nil)
		} else if known = s.asked(d); known < tainted {
			known = ofKind(d.Related.Declaration().GVR)
		}
		s.known[name] = known
	}
	return known
}

// asked is the taint of what an entry of with asks: a Secret as an owner is no more than its name.
func (s *secrets) asked(d *names.Definition) taint {
	for _, entry := range d.Node.Entries() {
		tells := s.node(entry.Value, nil) > clean
		if entry.Key.Text() == "ownedBy" { // A bare name.
			tells = s.name(entry.Value.Text(), nil) == tainted
		}
		if tells {
			return tainted
		}
	}
	return clean
}

// program is the taint of the value of an expression.
func (s *secrets) program(p *expression.Program, loop *action.Loop) (out taint) {
	if name, is := p.Root().(*expression.Name); is {
		return s.name(name.Name, loop)
	}
	shown := map[expression.Node]bool{}
	expression.Visit(p.Root(), func(n expression.Node) {
		switch n := n.(type) {
		case *expression.Path:
			shown[n.Root] = slices.ContainsFunc(naming, func(keys []string) bool {
				return len(n.Steps) >= len(keys) && slices.EqualFunc(n.Steps[:len(keys)], keys, func(step expression.Step, key string) bool {
					return step.Kind == expression.ByKey && step.Key == key
				})
			})
		case *expression.Name:
			if of := s.name(n.Name, loop); of == tainted || of == secret && !shown[n] {
				out = tainted
			}
		}
	})
	return out
}

// node is the taint of what is written in a part of a rule: that of an expression that stands alone, or any of several.
func (s *secrets) node(n *document.Node, loop *action.Loop) (out taint) {
	for _, entry := range n.Entries() {
		out = max(out, s.node(entry.Key, loop), s.node(entry.Value, loop))
	}
	for _, element := range n.Elements() {
		out = max(out, s.node(element, loop))
	}
	if out > clean {
		return tainted
	}
	scope := s.rule.names.Scope()
	if loop != nil {
		scope = scope.Extend(loop.Name, "index")
	}
	template, err := expression.CompileTemplate(n.Text(), scope)
	if err != nil {
		return s.unknown()
	}
	parts, alone := template.Parts()
	for _, part := range parts {
		out = max(out, s.program(part.Program, loop))
	}
	if out > clean && !alone {
		return tainted
	}
	return out
}

// unknown is the taint of what cannot be told to be of a name.
func (s *secrets) unknown() taint {
	if s.of.secret() {
		return tainted
	}
	return clean
}

// hides reports whether a part of a condition, or a path that it read, may tell of a Secret.
func (s *secrets) hides(source string) bool {
	p, err := expression.Compile(source, s.rule.names.Scope())
	if err != nil { // Of a variable or an element.
		return s.unknown() > clean
	}
	return s.program(p, nil) > clean
}

// hideNames finds the objects whose names the rule has from a Secret: those that it names by
// one, found by one, or has made like that before.
func (x *explanation) hideNames() {
	x.hiddenNames, x.hiddenNamespaces = map[string]bool{}, map[string]bool{}
	hide := func(o plan.Object) {
		x.hiddenNames[o.Name], x.hiddenNamespaces[o.Namespace] = true, true
	}
	for i, recorded := range x.steps {
		if !x.names(x.of.steps[i]) {
			continue
		}
		for _, turn := range recorded.turns {
			for _, wish := range turn.wishes {
				hide(wish.Target)
			}
			for _, event := range turn.events {
				hide(event.Regarding)
			}
		}
	}
	made := map[schema.GroupVersionResource]bool{}
	for _, step := range x.rule.allSteps() {
		if applied := step.Applies(); applied != nil && applied.Prune && x.names(step) {
			made[applied.Of.GVR] = true
		}
	}
	for _, wish := range x.unasked() {
		if made[wish.Target.GVR] {
			hide(wish.Target)
		}
	}
	delete(x.hiddenNamespaces, x.of.action.Object.Namespace) // It is asked about by its name.
	delete(x.hiddenNames, "")
	delete(x.hiddenNamespaces, "")
}

// names reports whether a Secret may decide what the objects of an action are called. To be a Secret is not to be found by one.
func (s *secrets) names(step *action.Step) bool {
	about, loop := step.Node().Get(step.Kind()), step.Loop()
	if manifest := about.Get("manifest"); manifest != nil {
		return s.namedBy(manifest, loop, "metadata")
	}
	return s.aims(step)
}

// aims reports whether a Secret may decide which objects an action is about: what is read of them tells of it then.
func (s *secrets) aims(step *action.Step) bool {
	target := step.Node().Get(step.Kind()).Get("target")
	return target != nil && s.name(strings.TrimSpace(target.Text()), step.Loop()) == tainted
}

// holds reports whether a Secret may decide how long the condition of the rule must hold.
func (s *secrets) holds() bool {
	hold := s.rule.hold
	return hold != nil && hold.computed != nil && s.program(hold.computed.Program(), nil) > clean
}

// tells reports whether what an action writes may tell of a Secret: by what is written in it, by what it is about, or by when it is done.
func (s *secrets) tells(step *action.Step) bool {
	when := step.When()
	return s.node(step.Node(), step.Loop()) > clean || s.aims(step) || when != nil && s.program(when.Program(), step.Loop()) > clean
}

// namedBy reports whether a Secret may decide some fields of a manifest.
func (s *secrets) namedBy(n *document.Node, loop *action.Loop, keys ...string) bool {
	if n.Kind() != document.KindMap {
		return s.node(n, loop) > clean
	}
	return slices.ContainsFunc(n.Entries(), func(e document.Entry) bool {
		switch key := e.Key.Text(); {
		case strings.Contains(key, "${"):
			return s.node(e.Key, loop) > clean || s.node(e.Value, loop) > clean
		default:
			return slices.Contains(keys, key) && s.namedBy(e.Value, loop, "name", "generateName", "namespace")
		}
	})
}

// written is how many steps of a path are written in an action as they are, one below the other: as keys, or in the pointer of a JSON patch.
func written(n *document.Node, path plan.Path) (steps int) {
	if pointer, is := plan.ParsePointer(n.Get("path").Text()); is && len(pointer) > 0 && len(pointer) <= len(path) && slices.Equal(pointer, path[:len(pointer)]) {
		steps = len(pointer) + keys(n.Get("value"), path[len(pointer):])
	}
	for _, e := range n.Entries() {
		steps = max(steps, written(e.Value, path))
	}
	for _, element := range n.Elements() {
		steps = max(steps, written(element, path))
	}
	return max(steps, keys(n, path))
}

// keys is how many steps of a path are keys of a map, of the map there, and so on. An element of a list is any.
func keys(n *document.Node, path plan.Path) (steps int) {
	if len(path) == 0 {
		return 0
	}
	for _, e := range n.Entries() {
		if e.Key.Text() == path[0] {
			return 1 + keys(e.Value, path[1:])
		}
	}
	for _, element := range n.Elements() {
		steps = max(steps, 1+keys(element, path[1:]))
	}
	return steps
}

// object names one.
func (s *secrets) object(o plan.Object) string {
	if about := s.of.action.Object; o.GVR == about.GVR && o.Namespace == about.Namespace && o.Name == about.Name {
		return s.text(o.String())
	}
	o.Namespace, o.Name = called(s.hiddenNamespaces, o.Namespace), called(s.hiddenNames, o.Name)
	return s.text(o.String())
}

// related names an object that was read, without its kind.
func (s *secrets) related(object map[string]any) string {
	namespace, name := plan.Text(object, "metadata", "namespace"), plan.Text(object, "metadata", "name")
	return s.text(strings.TrimPrefix(called(s.hiddenNamespaces, namespace)+"/"+called(s.hiddenNames, name), "/"))
}

// called is the name of an object or of a namespace.
func called(hidden map[string]bool, name string) string {
	if hidden[name] {
		return trace.Masked
	}
	return name
}

func (s *secrets) text(text string) string { return s.values.Text(text) }

// value shows a value unless it is hidden, with what it may have copied from a Secret masked.
func (s *secrets) value(v any, hidden bool) trace.Value {
	switch {
	case v == nil:
		return trace.Value{Absent: true}
	case hidden:
		return trace.Value{Summary: trace.Masked}
	case value.KindOf(v)&value.Any != 0:
		v = s.values.Tree(v)
	}
	text, err := value.JSON(v, value.NewBudget(value.Size(v)))
	if err != nil {
		return trace.Value{Summary: "a value that is not shown: " + err.Error()}
	}
	if shown := s.text(text); shown != text {
		return trace.Value{Summary: shown}
	}
	return trace.ValueOf(v, text)
}

// longestValue is how much of a value a reason shows, in bytes of JSON.
const longestValue = 60

// shown is a value in the text of a reason.
func shown(v any) string {
	if v == nil {
		return "absent"
	}
	text, err := value.JSON(v, value.NewBudget(0))
	if err != nil || len(text) > longestValue {
		return "..."
	}
	return text
}

// error is what something failed with. Of a rule that has seen a Secret, that may repeat
// a part of it.
func (s *secrets) error(err error) string {
	switch {
	case err == nil:
		return ""
	case s.of.secret():
		return errSecret.Error()
	}
	if refusal, is := errors.AsType[*action.Refusal](err); is {
		err = refusal.Err
	}
	if placed, is := err.(*document.Error); is { //nolint:errorlint // One that is wrapped has words around it.
		return s.text(strings.TrimSuffix(placed.Message+"; "+placed.Hint, "; "))
	}
	return s.text(err.Error())
}

// errSecret stands for a reason that may repeat a value.
var errSecret = errors.New("the rule has seen a Secret, and the reason may tell a value of it")

// secret reports whether values that the rule has seen must not be shown.
func (t *ruleEvaluation) secret() bool {
	return t.action.Object.IsSecret() || slices.ContainsFunc(t.reader.Seen(), plan.Read.IsSecret)
}

// hidden is an Event that the engine writes for a rule that has seen a Secret.
func hidden(event *plan.Event) *plan.Event {
	if event == nil {
		return nil
	}
	out := *event
	out.Message = errSecret.Error()
	return &out
}

// hideReasons keeps of the reasons of rules that have seen a Secret only their places. The field that two rules
// write may be named by a Secret that either has seen.
func hideReasons(decisions []plan.Decision, secret map[plan.Rule]bool) {
	for i := range decisions {
		d := &decisions[i]
		switch {
		case d.Outcome == plan.Withheld && (secret[d.Rule] || secret[d.Winner]):
			d.Reason = fmt.Sprintf("rule %s, which comes first, decides otherwise; what they differ in may tell a value of a Secret", d.Winner)
		case !secret[d.Rule]:
		case d.Err != nil:
			err := errSecret
			if placed, ok := errors.AsType[*document.Error](d.Err); ok {
				err = placed.Redacted(errSecret.Error())
			}
			d.Err, d.Reason = err, err.Error()
		}
	}
}
