package rules

import (
	"errors"
	"slices"
	"strings"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/redact"
	"github.com/dyncontroller/dyncontroller/pkg/rules/action"
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
