package simulate

import (
	"slices"
	"strings"
	"time"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
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
	objects, errs := readObjects(a.files, files)
	var out []map[string]any
	for _, o := range objects {
		out = append(out, o.content)
	}
	return out, errs
}

// Delete deletes an object, as kubectl does.
type Delete struct{ Object }

// latest is the last instant that Kubernetes can write: years have four digits.
func latest() time.Time { return time.Date(9999, time.December, 31, 0, 0, 0, 0, time.UTC) }

func (t *Test) decodeSteps(into *[]Step) document.Decoder {
	return func(n *document.Node) document.Errors {
		elements, errs := filled(n)
		for _, element := range elements {
			step, wrong := t.decodeStep(element)
			if errs = append(errs, wrong...); errs.Enough() {
				break
			}
			*into = append(*into, step)
		}
		return errs
	}
}

func (t *Test) decodeStep(n *document.Node) (Step, document.Errors) {
	step := Step{Node: n}
	errs := n.Decode(
		document.Optional("name", checked(&step.Name, caseName)),
		document.Optional("advance", step.decodeAdvance),
		document.Optional("apply", func(n *document.Node) document.Errors {
			step.Apply = &Apply{}
			return t.onePlaceOrMore(&step.Apply.files)(n)
		}),
		document.Optional("patch", step.decodePatch),
		document.Optional("delete", step.decodeDelete),
		document.Optional("expect", step.expect.decode),
	)
	return step, append(errs, exactlyOne(n, errs, "a step", "advance", "apply", "patch", "delete")...)
}

// exactlyOne refuses a map that has none of the keys, or several. Where another
// mistake was found in it, a missing key may be that one.
func exactlyOne(n *document.Node, found document.Errors, what string, keys ...string) document.Errors {
	if n.Kind() != document.KindMap {
		return nil
	}
	var have []string
	for _, entry := range n.Entries() {
		if slices.Contains(keys, entry.Key.Text()) {
			have = append(have, entry.Key.Text())
		}
	}
	all := strings.Join(keys[:len(keys)-1], ", ") + " or " + keys[len(keys)-1]
	switch {
	case len(have) == 0 && len(found) == 0:
		return document.Errors{n.Errorf("write one of "+all, "%s has %s, and this has none of them", what, all)}
	case len(have) > 1:
		return document.Errors{n.Key(have[1]).Errorf("make each of them one of its own, in order",
			"%s has one of %s, and this has %s", what, all, strings.Join(have, " and "))}
	default:
		return nil
	}
}

func (s *Step) decodeAdvance(n *document.Node) document.Errors {
	if n.Kind() == document.KindInvalid {
		return nil
	}
	advance, err := spec.Duration(n)
	if err != nil {
		return document.Errors{err}
	}
	if advance <= 0 {
		return document.Errors{n.Errorf("write a duration such as 1h", "time moves on only, have %q", n.Text())}
	}
	s.Advance = advance
	return nil
}

func (s *Step) decodeDelete(n *document.Node) document.Errors {
	s.Delete = &Delete{}
	return n.Decode(s.Delete.fields()...)
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
