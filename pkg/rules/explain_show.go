package rules

import (
	"errors"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/redact"
	"github.com/dyncontroller/dyncontroller/pkg/rules/action"
	"github.com/dyncontroller/dyncontroller/pkg/rules/body"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/names"
	"github.com/dyncontroller/dyncontroller/pkg/rules/trace"
)

// showing decides what of an evaluation people may see. What was read from Secrets is
// found wherever it is, and what is made of it is not shown at all: a part of a secret
// cannot be found.
type showing struct {
	*explanation
	values *redact.Values
}

func (x *explanation) showing() *showing {
	s := &showing{explanation: x, values: redact.New(redact.Plain)}
	s.values.LearnFrom(x.hidden)
	object := x.turn.action.Object
	s.values.Except(object.GVR.Resource, object.GVR.Group)
	s.values.Except(plan.GivenNames(x.turn.action.Current)...)
	if object.IsSecret() {
		s.values.Learn(x.turn.action.Current)
	}
	for _, secret := range x.secrets {
		s.values.Learn(secret)
	}
	for _, wish := range x.turn.action.Wishes {
		if wish.Target.IsSecret() {
			s.values.Learn(wish.Body)
			s.values.Learn(wish.Current)
		}
	}
	return s
}

// tellsSecret reports whether what a name stands for comes from a Secret.
func (x *explanation) tellsSecret(slot int) bool {
	known, asked := x.tells[slot]
	if asked {
		return known
	}
	tells := false
	switch d := x.rule.names.At(slot); {
	case slot == names.Object:
		tells = plan.Object{GVR: x.evaluation.snapshot.GVR}.IsSecret()
	case d == nil: // Of forEach, whose list is watched, or params and rule.
	case d.Related != nil:
		tells = plan.Object{GVR: d.Related.Declaration().GVR}.IsSecret() || x.asksSecret(d)
	default:
		tells = x.useSecret(d.Uses())
	}
	if x.tells == nil {
		x.tells = map[int]bool{}
	}
	x.tells[slot] = tells
	return tells
}

// useSecret is the same for any of some names.
func (x *explanation) useSecret(used []string) bool {
	return slices.ContainsFunc(used, func(name string) bool {
		slot, known := x.rule.names.Scope().Slot(name)
		return known && x.tellsSecret(slot)
	})
}

func (s *showing) text(text string) string { return s.values.Text(text) }

// error is what something failed with. Of a rule that has seen a Secret, that may repeat
// a part of it.
func (s *showing) error(err error) string {
	switch {
	case err == nil:
		return ""
	case s.turn.secret():
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

// value shows what is no secret, with what it may have copied from one masked.
func (s *showing) value(v any) trace.Value {
	if v == nil {
		return trace.AbsentValue()
	}
	if value.KindOf(v)&value.Any != 0 {
		v = s.values.Tree(v)
	}
	text, err := value.JSON(v, expression.NewBudget(expression.Size(v)))
	if err != nil {
		return trace.Value{Summary: "a value that is not shown: " + err.Error()}
	}
	if shown := s.text(text); shown != text {
		return trace.Value{Summary: shown}
	}
	return trace.ValueOf(v, text)
}

// within shows a value unless it may tell of a Secret.
func (s *showing) within(v any, secret bool) trace.Value {
	if secret && v != nil {
		return trace.MaskedValue()
	}
	return s.value(v)
}

// read shows what a path had.
func (s *showing) read(r expression.Read) trace.Read {
	return trace.Read{Path: s.text(r.Path), Value: s.within(r.Value, s.hides(r.Path))}
}

// hides reports whether a path leads to what may tell of a Secret. What names a Secret is
// shown with every object, unless it was found by what comes from one.
func (s *showing) hides(path string) bool {
	end := strings.IndexAny(path, ".?[(")
	if end < 0 {
		end = len(path)
	}
	slot, known := s.rule.names.Scope().Slot(path[:end])
	if !known {
		return s.turn.secret() // A variable, an element, a call: nobody knows of what.
	}
	if !s.tellsSecret(slot) {
		return false
	}
	rest := strings.TrimPrefix(strings.TrimPrefix(path[end:], "?"), ".")
	d := s.rule.names.At(slot)
	isObject := slot == names.Object || d != nil && d.Related != nil && !s.asksSecret(d)
	for _, open := range []string{"metadata.name", "metadata.namespace", "metadata.labels", "metadata.creationTimestamp", "type"} {
		if below, is := strings.CutPrefix(rest, open); isObject && is && (below == "" || strings.ContainsAny(below[:1], ".?[")) {
			return false
		}
	}
	return true
}

// mostFound is how many related objects are named.
const mostFound = 20

// condition tells what decided whether the rule matches.
func (x *explanation) condition(s *showing, decision plan.Decision) trace.Condition {
	out := trace.Condition{Names: x.lets(s), Lookups: x.lookups(s)}
	x.opened = map[string]bool{}
	out.When = s.condition(x.rule.when)
	if x.rule.onDelete != nil {
		out.Done = s.condition(x.rule.onDelete.done)
	}
	if x.rule.hold != nil && !decision.HeldSince.IsZero() {
		out.For = x.held(decision.HeldSince)
	}
	return out
}

func (x *explanation) held(since time.Time) *trace.Hold {
	out := &trace.Hold{Since: since}
	now := x.turn.snapshot.Now
	long, err := x.rule.hold.duration(&x.turn.expressions)
	if err != nil {
		return out
	}
	if x.rule.hold.computed == nil || !x.turn.secret() {
		out.Duration = long.String()
	}
	if at := since.Add(long); now.Before(at) {
		out.Until = &at
	}
	remembered, is := x.turn.snapshot.State.HeldSince[x.rule.ID]
	out.Guessed = !is || !remembered.Equal(since)
	return out
}

// condition shows one that was asked, or nil.
func (s *showing) condition(condition *body.Expression) *trace.Clause {
	if condition == nil {
		return nil
	}
	whole, asked := s.asked[condition]
	if !asked {
		return nil
	}
	out := s.clause(condition, whole)
	return &out
}

// clause shows a condition. A name of let that is a condition is opened, once in each
// condition of the rule.
func (s *showing) clause(in *body.Expression, c expression.Clause) trace.Clause {
	out := trace.Clause{
		Operator: c.Operator, Source: s.text(oneLine(c.Source)), Verdict: c.Verdict, Error: s.error(c.Err),
		At: placeOf(in.Node().ErrorAt(c.Offset, len(c.Source), "", "")),
	}
	if !c.ChangesAt.IsZero() {
		out.ChangesAt = &c.ChangesAt
	}
	for _, part := range c.Clauses {
		out.Clauses = append(out.Clauses, s.clause(in, part))
	}
	for _, read := range c.Reads {
		out.Reads = append(out.Reads, s.read(read))
	}
	d := s.rule.named(c)
	if d == nil || c.Verdict == trace.NotAsked || s.opened[d.Name] {
		return out
	}
	s.opened[d.Name] = true
	// What has been asked already gives the same answer again; when that changes is known.
	instant := s.turn.expressions.Instant
	s.turn.expressions.Instant = expression.NewInstant(instant.Now())
	whole, _ := d.Value.Program().Explain(&s.turn.expressions)
	s.turn.expressions.Instant = instant
	out.Operator, out.Reads, out.Error = trace.Let, nil, ""
	out.Clauses = []trace.Clause{s.clause(d.Value, whole)}
	return out
}

// defined calls visit for the names that the rule and its set define, in order, with what
// they were, if they were used.
func (x *explanation) defined(visit func(d *names.Definition, found *memo)) {
	for slot := range x.rule.names.Slots() {
		d := x.rule.names.At(slot)
		if d == nil {
			continue
		}
		var found *memo
		if memos := x.turn.names.memos; memos != nil && memos[slot].done {
			found = &memos[slot]
		}
		visit(d, found)
	}
}

func (x *explanation) lets(s *showing) (out []trace.Name) {
	x.defined(func(d *names.Definition, found *memo) {
		if d.Value == nil || found == nil {
			return
		}
		told := trace.Name{
			Name: d.Name, Source: s.text(oneLine(d.Value.Program().Source())), At: placeOfNode(d.Node), Error: s.error(found.err),
		}
		if found.err == nil {
			told.Value = s.within(found.value, x.useSecret([]string{d.Name}))
		}
		out = append(out, told)
	})
	return out
}

func (x *explanation) lookups(s *showing) (out []trace.Lookup) {
	x.defined(func(d *names.Definition, found *memo) {
		if d.Related == nil {
			return
		}
		told := trace.Lookup{
			Name: d.Name, At: placeOfNode(d.Node), Asked: found != nil,
			Resource: plan.ResourceName(d.Related.Declaration().GVR),
		}
		if found != nil {
			told.Error = s.error(found.err)
			x.looked(s, d, &told)
		}
		out = append(out, told)
	})
	return out
}

// looked tells what was asked, and the answer.
func (x *explanation) looked(s *showing, d *names.Definition, told *trace.Lookup) {
	q, err := d.Related.Query(&x.turn.expressions, &x.turn.reader)
	if err != nil || q == nil {
		return
	}
	secret := x.asksSecret(d)
	told.By = s.question(*q)
	if secret {
		told.By = string(q.By) + " " + trace.Masked
	}
	found, err := x.turn.reader.Read(*q, nil)
	if err != nil {
		return
	}
	told.Count = len(found)
	if secret {
		return // The names are what was asked for.
	}
	for _, object := range found[:min(len(found), mostFound)] {
		told.Found = append(told.Found, s.related(object))
	}
	for _, name := range q.Names {
		if !slices.ContainsFunc(found, func(o map[string]any) bool { return plan.Text(o, "metadata", "name") == name }) {
			told.Missing = append(told.Missing, s.text(name))
		}
	}
	told.Missing = told.Missing[:min(len(told.Missing), mostFound)]
}

func nameOfObject(object map[string]any) string {
	name := plan.Text(object, "metadata", "name")
	if namespace := plan.Text(object, "metadata", "namespace"); namespace != "" {
		return namespace + "/" + name
	}
	return name
}

// longestQuestion is how much of a question is told, in bytes.
const longestQuestion = 300

// question words what is asked about other objects. It is masked before it is cut.
func (s *showing) question(q plan.Read) string {
	var out string
	switch q.By {
	case plan.ByName:
		out = "name " + strings.Join(q.Names, ", ")
	case plan.ByLabels:
		out = "labels " + q.Labels
	case plan.ByFields:
		var fields []string
		for _, f := range q.Fields {
			fields = append(fields, f.Path.String()+"="+shown(f.Value))
		}
		out = "fields " + strings.Join(fields, ", ")
	case plan.ByOwner:
		out = "owner " + strings.Join(texts(q.Owners), ", ")
	default:
		out = "all"
	}
	if out = s.text(out); len(out) > longestQuestion {
		out = strings.ToValidUTF8(out[:longestQuestion], "") + "..."
	}
	if q.Namespace != "" {
		out += " in " + s.text(q.Namespace)
	}
	return out
}

func texts[T ~string](all []T) []string {
	out := make([]string, len(all))
	for i, one := range all {
		out[i] = string(one)
	}
	return out
}

// unname finds the objects whose names the rule has from a Secret: those that it names by
// one, found by one, or has made like that before.
func (x *explanation) unname() {
	x.unnamed = map[plan.Object]bool{}
	for _, step := range x.steps {
		if !x.namesBySecret(step.step, step.node) {
			continue
		}
		x.unnameAll(step.rest)
		for _, turn := range step.turns {
			x.unnameAll(turn.wishes)
			for _, event := range turn.events {
				x.unnamed[identity(event.Regarding)] = true
			}
		}
	}
	made, nodes := map[schema.GroupVersionResource]bool{}, x.rule.actions()
	for i, step := range x.rule.allSteps() {
		if applied := step.Applies(); applied != nil && applied.Prune && x.namesBySecret(step, nodes[i]) {
			made[applied.Of.GVR] = true
		}
	}
	x.unnameAll(slices.DeleteFunc(x.unasked(), func(w plan.Wish) bool { return !made[w.Target.GVR] }))
	delete(x.unnamed, identity(x.turn.action.Object)) // It is asked about by its name.
}

func (x *explanation) unnameAll(wishes []plan.Wish) {
	for _, wish := range wishes {
		x.unnamed[identity(wish.Target)] = true
	}
}

// identity is what an object is called, whatever else is known of it.
func identity(o plan.Object) plan.Object {
	return plan.Object{GVR: o.GVR, Namespace: o.Namespace, Name: o.Name}
}

// object names one.
func (s *showing) object(o plan.Object) string {
	if s.unnamed[identity(o)] {
		return o.GVR.Resource + " " + s.anonymous(o)
	}
	return s.text(o.String())
}

// related names an object that was read, without its kind.
func (s *showing) related(object map[string]any) string {
	if o, _, read := s.turn.reader.Origin(object); read && s.unnamed[identity(o)] {
		return s.anonymous(o)
	}
	return s.text(nameOfObject(object))
}

// anonymous is where an object is. The namespace of the watched object is known anyway.
func (s *showing) anonymous(o plan.Object) string {
	switch o.Namespace {
	case "":
		return trace.Masked
	case s.turn.action.Object.Namespace:
		return o.Namespace + "/" + trace.Masked
	default:
		return trace.Masked + "/" + trace.Masked
	}
}

// namesBySecret reports whether a Secret may decide what the objects of an action are called.
func (x *explanation) namesBySecret(step *action.Step, node *document.Node) bool {
	about, loop := node.Get(step.Kind()), step.Loop()
	if manifest := about.Get("manifest"); manifest != nil {
		return slices.ContainsFunc(naming(manifest, "metadata"), func(n *document.Node) bool { return x.writesSecret(n, loop) })
	}
	target := about.Get("target")
	return target != nil && x.foundBySecret(target.Text(), loop)
}

// foundBySecret reports whether a Secret may decide which objects a name stands for. To be
// a Secret is not to be found by one.
func (x *explanation) foundBySecret(name string, loop *action.Loop) bool {
	if loop.InLoop(name) {
		if len(loop.Names) == 1 && alone(loop.List.Text()) == loop.Names[0] {
			return x.foundBySecret(loop.Names[0], nil)
		}
		return x.useSecret(loop.Names)
	}
	d := x.rule.names.Lookup(name)
	return d != nil && x.asksSecret(d)
}

// asksSecret reports whether a definition uses what may come from a Secret. The name of a
// watched Secret does not.
func (x *explanation) asksSecret(d *names.Definition) bool {
	used := d.Uses()
	if d.Related != nil && namesOnly(d.Node) {
		used = slices.DeleteFunc(slices.Clone(used), func(name string) bool { return name == "object" })
	}
	return x.useSecret(used)
}

// ownNames are what names the watched object, which is shown anyway.
var ownNames = strings.NewReplacer("${object.metadata.name}", "", "${object.metadata.namespace}", "")

// namesOnly reports whether all that a node has of the watched object is what it is called,
// or the object itself as an owner.
func namesOnly(n *document.Node) bool {
	for _, entry := range n.Entries() {
		if !namesOnly(entry.Key) || !namesOnly(entry.Value) {
			return false
		}
	}
	if !slices.ContainsFunc(n.Elements(), func(element *document.Node) bool { return !namesOnly(element) }) {
		text := ownNames.Replace(n.Text())
		return text == "object" || !strings.Contains(text, "object")
	}
	return false
}

// alone is what a template has in it that stands alone.
func alone(template string) string {
	return strings.TrimSpace(strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(template), "${"), "}"))
}

// writesSecret reports whether templates use what may come from a Secret.
func (x *explanation) writesSecret(n *document.Node, loop *action.Loop) bool {
	if n.Kind() == document.KindString && !strings.Contains(ownNames.Replace(n.Text()), "${") {
		return false
	}
	scope := x.rule.names.Scope()
	if loop != nil {
		scope = scope.Extend(loop.Name, "index")
	}
	written, errs := body.Compile(n, scope)
	if len(errs) > 0 {
		return x.turn.secret()
	}
	return slices.ContainsFunc(written.Names(), func(name string) bool {
		if loop.InLoop(name) {
			return name == loop.Name && x.useSecret(loop.Names)
		}
		return x.useSecret([]string{name})
	})
}

// naming are the parts of a manifest that decide what its object is called: of a map, some
// keys and all that templates make.
func naming(n *document.Node, keys ...string) (out []*document.Node) {
	if n.Kind() != document.KindMap {
		return []*document.Node{n}
	}
	for _, entry := range n.Entries() {
		switch key := entry.Key.Text(); {
		case strings.Contains(key, "${"):
			out = append(out, entry.Key, entry.Value)
		case !slices.Contains(keys, key):
		case key == "metadata":
			out = append(out, naming(entry.Value, "name", "generateName", "namespace")...)
		default:
			out = append(out, entry.Value)
		}
	}
	return out
}
