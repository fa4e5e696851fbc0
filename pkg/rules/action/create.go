package action

import (
	"maps"
	"slices"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/field"
	"github.com/dyncontroller/dyncontroller/pkg/rules/footprint"
	"github.com/dyncontroller/dyncontroller/pkg/rules/lookup"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
	"github.com/dyncontroller/dyncontroller/pkg/rules/template"
)

// create makes a new object that will appear in a list of with.
type create struct {
	child
	in *lookup.Lookup
}

var createFields = field.Object("create",
	field.Required("in", field.NotBlank, "The list of with in which the object will appear; not one that is looked up by name."),
	field.Required("manifest", object,
		"The object, with name or generateName, or one template that gives it. What is nil in it counts as absent."),
	ownedField,
)

func compileCreate(v field.Values, env Env) (Action, document.Errors) {
	c := &create{child: child{from: v["in"], owned: v.Bool("owned", true), generated: true}}
	var errs document.Errors
	if c.from != nil {
		errs = c.compileIn(env.Related)
	}
	return c, append(errs, c.compileManifest(v["manifest"], env.Scope)...)
}

func (c *create) compileIn(related map[string]*lookup.Lookup) document.Errors {
	name := c.from.Text()
	c.in = related[name]
	switch {
	case c.in == nil:
		hint := "write the name of the list of with that the new object will appear in, without ${ }"
		if near := document.Suggest(name, slices.Collect(maps.Keys(related))); near != "" {
			hint = `did you mean "` + near + `"?`
		}
		return document.Errors{c.from.Errorf(hint, "there is no %q in with", value.Excerpt(name))}
	case !c.in.IsList() || c.in.ByName():
		return document.Errors{c.from.Errorf("name a list that is selected otherwise, or use apply for an object of a certain name",
			"%s is looked up by name, so a new object cannot be counted by it", name)}
	}
	c.declaration = c.in.Declaration()
	return nil
}

// Check implements [Action].
func (c *create) Check(with Checking) document.Errors {
	return c.checkTyped(with, schema.Whole, c.in.Name(), c.in.Selections())
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
		Body:   template.Stamped(want.fields, nil, e.now(), schema.Merged),
	})
	return nil
}

// Effects implements [Action].
func (c *create) Effects(t Traces) Effects {
	c.in.Footprint(t.Footprint, t.Shapes)
	c.trace(t)
	out := Effects{Requests: c.requests(t, footprint.Verb{Name: "create"}), Leaves: []plan.Leftover{{GVR: c.declaration.GVR, Kind: plan.LeftCreated}}, Bodies: []*template.Body{c.body}}
	out.Requests[0].Nameless = true
	return out
}
