package action

import (
	"maps"
	"slices"
	"strings"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/body"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/relation"
)

// create makes a new object that will appear in a list of with.
type create struct {
	child
	in *relation.Relation
}

func compileCreate(n *document.Node, env Env) (Action, document.Errors) {
	c := &create{child: child{owned: true, generated: true}}
	errs := n.Decode(
		document.Required("in", c.decodeIn(env.Related)),
		document.Required("manifest", c.decodeManifest(env.Scope)),
		document.Optional("owned", document.Bool(&c.owned)),
	)
	errs = append(errs, c.checkDraft()...)
	if len(errs) > 0 {
		return nil, errs
	}
	return c, nil
}

func (c *create) decodeIn(related map[string]*relation.Relation) document.Decoder {
	return func(n *document.Node) document.Errors {
		var name string
		if errs := document.String(&name)(n); len(errs) > 0 || n.Kind() == document.KindInvalid {
			return errs
		}
		in := related[name]
		switch {
		case in == nil:
			return document.Errors{notRelated(n, name, related)}
		case !in.IsList() || in.ByName():
			return document.Errors{n.Errorf("name a list that is selected otherwise, or use apply for an object of a certain name",
				"%s is looked up by name, so a new object cannot be counted by it", name)}
		}
		c.in, c.from, c.declaration = in, n, in.Declaration()
		return nil
	}
}

func notRelated(n *document.Node, name string, related map[string]*relation.Relation) *document.Error {
	hint := "write the name of the list of with that the new object will appear in"
	if strings.Contains(name, "${") {
		hint = "write the name without ${ }"
	} else if near := document.Suggest(name, slices.Sorted(maps.Keys(related))); near != "" {
		hint = `did you mean "` + near + `"?`
	}
	return n.Errorf(hint, "there is no %q in with", shortened(name))
}

// Evaluate implements [Action].
func (c *create) Evaluate(e *Evaluation) error {
	want, err := c.want(e)
	if err != nil || want == nil {
		return err
	}
	question, err := c.in.Query(e.Expressions, e.Related)
	if err != nil {
		return err
	}
	if question == nil {
		return &Refusal{Err: c.from.Errorf("guard the action with a when",
			"%s selects nothing now, so the new object would not appear in it", c.in.Name())}
	}
	if !question.Selects(want.fields) {
		return &Refusal{Err: c.from.Errorf("give it the namespace, labels, fields or owner that the list asks for",
			"the new object would not appear in %s, and would be created again and again", c.in.Name())}
	}
	if _, err := e.read(c.from, *question); err != nil {
		return err
	}
	e.Wishes = append(e.Wishes, plan.Wish{
		Rule:   e.Rule,
		Target: want.object,
		Type:   plan.Create,
		Body:   body.Stamped(want.fields, nil, e.now(), body.Replacing),
	})
	return nil
}

// Effects implements [Action].
func (c *create) Effects(t Traces) Effects {
	c.in.Footprint(t.Footprint, t.Shapes)
	c.trace(t)
	out := Effects{Requests: c.requests(t, "create"), Leaves: []plan.Leftover{{GVR: c.declaration.GVR, Kind: plan.LeftCreated}}}
	out.Requests[0].Nameless = true
	return out
}
