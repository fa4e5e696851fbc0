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
	"github.com/dyncontroller/dyncontroller/pkg/rules/footprint"
	"github.com/dyncontroller/dyncontroller/pkg/rules/template"
	"github.com/dyncontroller/dyncontroller/pkg/rules/trace"
)

// shownOfSecrets are the fields of a Secret that are shown as those of every object, and which keys it has.
var shownOfSecrets = func() *footprint.Tree {
	out := &footprint.Tree{}
	out.Add(footprint.Fields("data"), footprint.Length)
	for _, path := range plan.ShownOfSecrets {
		out.Add(footprint.Fields(path...), footprint.Value)
	}
	return out
}()

// secrets decide what people may see of the evaluation of a rule. The values of Secrets are found wherever they are. What is made of
// one is not shown at all, since a part of a value cannot be found.
type secrets struct {
	rule   *Rule
	of     *ruleEvaluation // nil until the rule is evaluated
	values *redact.Values
	// compared are the fields that conditions compare with hidden fields of Secrets. They are hidden too, since they may be equal.
	compared *footprint.Footprint
	// The names of objects, and of namespaces, that the rule has from a Secret.
	hiddenNames, hiddenNamespaces map[string]bool
}

func newSecrets(rule *Rule, snapshot *Snapshot, hidden []*redact.Values) *secrets {
	out := &secrets{rule: rule, values: redact.New(redact.Plain), compared: &footprint.Footprint{}}
	for _, values := range hidden {
		out.values.LearnFrom(values)
	}
	out.values.Except(snapshot.GVR.Resource, snapshot.GVR.Group)
	out.values.Except(plan.GivenNames(snapshot.Object)...)
	if snapshot.Identity().IsSecret() {
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

// readsSecrets reports whether a hidden field of a Secret is read.
func (f *footing) readsSecrets() bool {
	return slices.ContainsFunc(f.out.All(), func(a *footprint.Access) bool {
		return plan.Object{GVR: a.Resource}.IsSecret() && !shownOfSecrets.Covers(&a.Reads)
	})
}

// derive finds what the actions of a rule make of hidden fields of Secrets. An element of forEach tells of one also where a Secret decides for
// which elements the action is done.
func (r *Rule) derive(out *effects) {
	out.derived, out.derivedFields = map[*expression.Program]bool{}, map[*action.Step]plan.Derived{}
	for i, step := range r.allSteps() {
		ofLoop := func(p *expression.Program) bool { return slices.ContainsFunc(p.Names(), step.Loop().InLoop) }
		reads := func(p *expression.Program) bool {
			f := r.footing()
			shapes := expression.Shapes(f)
			if ofLoop(p) {
				shapes = step.Shapes(f)
			}
			p.Shape(shapes).Read(footprint.Value)
			return f.readsSecrets()
		}
		chosen := step.Loop() != nil && step.When() != nil && reads(step.When().Program())
		for _, body := range out.steps[i].Bodies {
			for _, p := range body.Programs() {
				if chosen && ofLoop(p) || reads(p) {
					out.derived[p] = true
				}
			}
			for _, field := range body.Made(out.derived) {
				keys, _ := field.Path.Keys()
				out.derivedFields[step] = append(out.derivedFields[step], plan.DerivedField{Path: keys, Keys: field.Keys})
			}
		}
	}
}

// mark says of what a step wants what is made of Secrets, if any was read.
func (t *ruleEvaluation) mark(step *action.Step, wishes []plan.Wish, events []plan.Event) {
	of := t.rule.effects()
	if len(of.derived) == 0 {
		return
	}
	secret := t.secret()
	for i := range wishes {
		if secret {
			wishes[i].Derived = of.derivedFields[step]
		}
	}
	for i := range events {
		if !secret {
			events[i].Derived = nil
		}
	}
}

// reads reports whether a part of the rule reads a hidden field of a Secret, or a field that a condition compared with one.
func (s *secrets) reads(part func(*footing)) bool {
	f := s.rule.footing()
	part(f)
	return f.readsSecrets() || slices.ContainsFunc(f.out.All(), func(a *footprint.Access) bool {
		compared := s.compared.Lookup(a.Resource)
		return compared != nil && slices.ContainsFunc(a.Reads.List(), func(f footprint.Field) bool { return compared.Reads.Touches(f.Path) })
	})
}

// compare collects the fields that conditions compare with hidden fields of Secrets.
func (x *explanation) compare() {
	if !x.of.secret() {
		return
	}
	of := map[*expression.Program]*action.Step{}
	for _, step := range x.of.steps {
		if when := step.When(); when != nil {
			of[when.Program()] = step
		}
	}
	f := x.rule.footing()
	var collect func(c expression.Clause, whole *expression.Program, in *action.Step)
	collect = func(c expression.Clause, whole *expression.Program, in *action.Step) {
		for _, part := range c.Clauses {
			collect(part, whole, in)
		}
		if len(c.Clauses) > 0 || !x.tells(c.Source, in) {
			return
		}
		if part, err := expression.Compile(c.Source, x.scope(in)); err == nil {
			whole = part
		}
		whole.Shape(in.Shapes(f)).Read(footprint.Value)
	}
	for p, c := range x.clauses {
		collect(c, p, of[p])
	}
	x.compared = f.out
}

// finds reports whether a Secret may decide which objects an expression gives, in an action or, where that is nil, elsewhere in the rule.
func (s *secrets) finds(source string, in *action.Step) bool {
	return s.shows(source, in, func(footprint.Shape) {})
}

// tells reports whether the value of an expression may tell of a Secret.
func (s *secrets) tells(source string, in *action.Step) bool {
	return s.shows(source, in, func(of footprint.Shape) { of.Read(footprint.Value) })
}

// names reports whether the name of an object that an expression gives may tell of a Secret.
func (s *secrets) names(source string, in *action.Step) bool {
	return s.shows(source, in, func(of footprint.Shape) {
		of.Key("kind").Read(footprint.Value)
		of.Key("metadata").Key("name").Read(footprint.Value)
		of.Key("metadata").Key("namespace").Read(footprint.Value)
	})
}

func (s *secrets) shows(source string, in *action.Step, read func(footprint.Shape)) bool {
	program, err := expression.Compile(source, s.scope(in))
	if err != nil { // It has a variable or an element, which mean nothing outside of their expression.
		return s.of.secret()
	}
	return s.reads(func(f *footing) { read(program.Shape(in.Shapes(f))) })
}

// template reports whether the value of what is written in an action may tell of a Secret.
func (s *secrets) template(n *document.Node, in *action.Step) bool {
	written, errs := template.Compile(n, s.scope(in))
	return len(errs) > 0 || s.reads(func(f *footing) { written.Shape(in.Shapes(f)).Read(footprint.Value) })
}

func (s *secrets) scope(in *action.Step) *expression.Scope {
	scope := s.rule.names.Actions()
	if loop := in.Loop(); loop != nil {
		scope = scope.Extend(loop.Name, "index")
	}
	return scope
}

// writes reports whether what an action writes may tell of a Secret: by what is written in it, by what it is about, or by when it is done.
func (s *secrets) writes(step *action.Step) bool {
	return s.reads(func(f *footing) { step.Effects(f.traces()) })
}

// hideNames finds the objects whose names the rule has from a Secret: those that it names by
// one, found by one, or has made like that before.
func (x *explanation) hideNames() {
	x.hiddenNames, x.hiddenNamespaces = map[string]bool{}, map[string]bool{}
	hide := func(o plan.Object) {
		x.hiddenNames[o.Name], x.hiddenNamespaces[o.Namespace] = true, true
	}
	for i, recorded := range x.steps {
		if !x.calls(x.of.steps[i]) {
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
		if applied := step.Applies(); applied != nil && applied.Prune && x.calls(step) {
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

// holds reports whether a Secret may decide how long the condition of the rule must hold.
func (s *secrets) holds() bool {
	hold := s.rule.hold
	return hold != nil && hold.computed != nil && s.tells(hold.computed.Program().Source(), nil)
}

// calls reports whether a Secret may decide which objects an action is about. To be a Secret is not to be found by one.
func (s *secrets) calls(step *action.Step) bool {
	about := step.Node().Get(step.Kind())
	if manifest := about.Get("manifest"); manifest != nil {
		return s.namedIn(manifest, step, "metadata")
	}
	target := about.Get("target")
	return target != nil && (s.finds(target.Text(), step) || s.chooses(step))
}

// chooses reports whether a Secret may decide for which elements of forEach an action is done.
func (s *secrets) chooses(step *action.Step) bool {
	return step.Loop() != nil && step.When() != nil && s.tells(step.When().Program().Source(), step)
}

// namedIn reports whether a Secret may decide some fields of a manifest.
func (s *secrets) namedIn(n *document.Node, step *action.Step, keys ...string) bool {
	if n.Kind() != document.KindMap {
		return s.template(n, step)
	}
	return slices.ContainsFunc(n.Entries(), func(e document.Entry) bool {
		key := e.Key.Text()
		return strings.Contains(key, "${") && (s.template(e.Key, step) || s.template(e.Value, step)) ||
			slices.Contains(keys, key) && s.namedIn(e.Value, step, "name", "generateName", "namespace")
	})
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
	case hidden:
		return trace.Value{Summary: trace.Masked}
	case v == nil:
		return trace.Value{Absent: true}
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
// a part of it, unless it is a fixed text.
func (s *secrets) error(err error) string {
	switch {
	case err == nil:
		return ""
	case s.of.secret():
		return shownReason(err)
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

// shownReason is why a rule that has seen a Secret failed, as far as it is a fixed text.
func shownReason(err error) string {
	if placed, is := errors.AsType[*document.Error](err); is && placed.Fixed() {
		return placed.Message
	}
	return errSecret.Error()
}

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

// hideReasons keeps of the reasons of rules that have seen a Secret only their places and fixed texts. The field that two rules
// write may be named by a Secret that either has seen.
func hideReasons(decisions []plan.Decision, secret map[plan.Rule]bool) {
	for i := range decisions {
		d := &decisions[i]
		switch {
		case d.Outcome == plan.Withheld && (secret[d.Rule] || secret[*d.Winner]):
			d.Reason = fmt.Sprintf("rule %s, which comes first, decides otherwise; what they differ in may tell a value of a Secret", d.Winner)
		case !secret[d.Rule]:
		case d.Err != nil:
			err := errSecret
			if placed, ok := errors.AsType[*document.Error](d.Err); ok {
				err = placed.Redacted(shownReason(placed))
			}
			d.Err, d.Reason = err, err.Error()
		}
	}
}
