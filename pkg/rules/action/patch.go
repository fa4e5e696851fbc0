package action

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/body"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
)

// patch changes fields of the watched object.
type patch struct {
	node        *document.Node // of the body, for errors
	kind        plan.Type
	body        *body.Body
	subresource string
	force       bool
}

// patchTypes are the fields of which a patch has exactly one.
var patchTypes = []plan.Type{plan.Merge, plan.JSON, plan.Apply}

func compilePatch(n *document.Node, scope *expression.Scope) (Action, document.Errors) {
	p := &patch{}
	fields := []document.Field{
		{Name: "subresource", Decode: document.String(&p.subresource)},
		{Name: "force", Decode: document.Bool(&p.force)},
		{Name: "target", Unsupported: true},
		{Name: "release", Unsupported: true},
	}
	for _, kind := range patchTypes {
		fields = append(fields, document.Field{Name: string(kind), Decode: func(value *document.Node) document.Errors {
			p.kind, p.node = kind, value
			return p.compileBody(value, scope)
		}})
	}
	errs := n.Decode(fields...)
	if len(errs) == 0 {
		errs = p.checkTypes(n)
	}
	if len(errs) > 0 {
		return nil, errs
	}
	return p, nil
}

func (p *patch) compileBody(n *document.Node, scope *expression.Scope) (errs document.Errors) {
	if p.body, errs = body.Compile(n, scope); len(errs) > 0 {
		return errs
	}
	if wrong := p.wrongShape(n); wrong != nil {
		return document.Errors{wrong}
	}
	if value, constant := p.body.Constant(); constant {
		if err := p.check(value); err != nil {
			return document.Errors{n.Errorf("", "%v", err)}
		}
	}
	return nil
}

// wrongShape finds early what a template's value would show only when it is
// evaluated.
func (p *patch) wrongShape(n *document.Node) *document.Error {
	want := document.KindMap
	if p.kind == plan.JSON {
		want = document.KindList
	}
	if n.Kind() == want || n.Kind() == document.KindString && strings.Contains(n.Text(), "${") {
		return nil
	}
	return n.Errorf("", "the body of %s must be %s, have %s", p.kind, want, n.Kind())
}

func (p *patch) checkTypes(n *document.Node) document.Errors {
	var given []string
	for _, entry := range n.Entries() {
		if slices.Contains(patchTypes, plan.Type(entry.Key.Text())) {
			given = append(given, entry.Key.Text())
		}
	}
	switch {
	case len(given) != 1:
		return document.Errors{n.Errorf("write merge (RFC 7386), json (RFC 6902) or apply (server-side apply)",
			"a patch has one body, have %d", len(given))}
	case p.force && p.kind != plan.Apply:
		return document.Errors{n.Get("force").Errorf("leave it out", "force is of apply only, not of %s", given[0])}
	default:
		return nil
	}
}

// check refuses a body that no API server would take, and fields that rules
// may not write.
func (p *patch) check(value any) error {
	if p.kind == plan.JSON {
		if err := plan.ValidateJSONPatch(value); err != nil {
			return err
		}
	} else if _, ok := value.(map[string]any); !ok {
		return fmt.Errorf("the body of %s must be a map, have %T", p.kind, value)
	}
	if field := plan.ForbiddenField(p.kind, value); field != nil {
		return fmt.Errorf("a rule may not write %s", field)
	}
	return nil
}

// Evaluate implements [Action].
func (p *patch) Evaluate(e *Evaluation) error {
	value, err := p.body.Eval(e.Expressions)
	if err != nil {
		return err
	}
	if value == nil {
		return nil // All of it was omitted.
	}
	if err := p.check(value); err != nil {
		return p.node.Errorf("", "%v", err)
	}
	if fields, ok := value.(map[string]any); ok && p.kind == plan.Apply {
		value = withoutNil(fields)
	}
	e.Wishes = append(e.Wishes, plan.Wish{
		Rule:        e.Rule,
		Target:      e.Object,
		Current:     e.Current,
		Subresource: p.subresource,
		Type:        p.kind,
		Body:        value,
		Force:       p.force,
	})
	return nil
}

// withoutNil drops nil leaves: what is applied is owned, and nothing cannot
// be.
func withoutNil(fields map[string]any) map[string]any {
	out := make(map[string]any, len(fields))
	for key, value := range fields {
		switch value := value.(type) {
		case nil:
		case map[string]any:
			out[key] = withoutNil(value)
		default:
			out[key] = value
		}
	}
	return out
}
