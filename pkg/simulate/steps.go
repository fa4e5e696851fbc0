package simulate

import (
	"slices"
	"strings"
	"time"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/field"
	"github.com/dyncontroller/dyncontroller/pkg/rules/spec"
)

// Step is one thing that happens to the cluster of a case from outside, after
// the rules have settled. It is immutable. Exactly one of Advance, Apply, Patch
// and Delete is set.
type Step struct {
	// Name is what it is called in goldens and reports, empty for what it does.
	Name string
	// Advance is how far the clock moves on, always more than nothing.
	Advance time.Duration
	Apply   *Apply
	Patch   *Patch
	Delete  *Delete
	// Node is where the step is written, for errors about it.
	Node *document.Node

	expect expectation
}

// Apply brings the objects of files into the cluster, by server-side apply: one that is not
// there is created, and of one that is, what an earlier step applied and this one does not
// have goes.
type Apply struct{ files []place }

// Objects reads the objects. What cannot be read is told where the file is named.
func (a *Apply) Objects(files Files) ([]map[string]any, document.Errors) {
	found, errs := readObjects(a.files, files)
	return contents(found), errs
}

// Delete deletes an object, as kubectl does.
type Delete struct{ Object }

// latest is the last instant that Kubernetes can write: years have four digits.
func latest() time.Time { return time.Date(9999, time.December, 31, 0, 0, 0, 0, time.UTC) }

func (t *Test) decodeStep(n *document.Node) (Step, document.Errors) {
	v, errs := spec.StepFields.Read(n)
	step := Step{Node: n, Name: v["name"].Text()}
	if advance := v["advance"]; advance != nil {
		var wrong *document.Error
		switch step.Advance, wrong = spec.Duration(advance); {
		case wrong != nil:
			errs = append(errs, wrong)
		case step.Advance <= 0:
			errs = append(errs, advance.Errorf("write a duration such as 1h", "time moves on only, have %q", advance.Text()))
		}
	}
	if files := v["apply"]; files != nil {
		step.Apply = &Apply{t.places(files)}
		errs = append(errs, spec.PathErrors(files)...)
	}
	var wrong, more document.Errors
	if patch := v["patch"]; patch != nil {
		step.Patch, wrong = decodePatch(patch)
	}
	if deletion := v["delete"]; deletion != nil {
		var given field.Values
		given, more = spec.StepDeleteFields.Read(deletion)
		step.Delete = &Delete{named(given)}
	}
	return step, slices.Concat(errs, wrong, more, step.expect.decode(v["expect"]))
}

// checkClock refuses steps that lead out of the years that can be written.
func (c *Case) checkClock(now time.Time) document.Errors {
	for _, step := range c.Steps {
		if now = now.Add(step.Advance); now.After(latest()) {
			return document.Errors{step.Node.Errorf("advance less", "the clock would be behind the year 9999")}
		}
	}
	return nil
}

// String is the name of the step, or says what it does, in a line.
func (s Step) String() string {
	switch {
	case s.Name != "":
		return s.Name
	case s.Apply != nil:
		names := make([]string, len(s.Apply.files))
		for i, file := range s.Apply.files {
			names[i] = file.node.Text()
		}
		return "apply " + strings.Join(names, ", ")
	case s.Patch != nil:
		what := s.Patch.String()
		if s.Patch.Subresource != "" {
			what += " (" + s.Patch.Subresource + ")"
		}
		return "patch " + what
	case s.Delete != nil:
		return "delete " + s.Delete.String()
	default:
		return "advance " + s.Node.Get("advance").Text()
	}
}
