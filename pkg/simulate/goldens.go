package simulate

import (
	"errors"
	"io/fs"

	"github.com/dyncontroller/dyncontroller/pkg/plan/compare"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/simulate/golden"
)

// header says what a golden is to whoever comes across it.
const header = "# written by: dyncontroller test --update\n"

// compare judges what happened by the golden of the case, or makes it the
// golden, unless it is shared. A golden that says the same in other words is left as it is.
func (c *Case) compare(story Story, result *Result, options Options, shared document.Errors) document.Errors {
	if c.Golden == "" {
		result.Status = Pass // Until what it expects says otherwise.
		return nil
	}
	encoded, err := story.YAML()
	if err != nil {
		return document.Errors{c.node.Errorf("", "%v", err)}
	}
	text := header + string(encoded)
	data, err := options.Files.ReadFile(c.Golden)
	missing := errors.Is(err, fs.ErrNotExist)
	switch {
	case err != nil && !missing:
		return document.Errors{c.node.Errorf("", "cannot read the golden %q: %v", c.Golden, cause(err))}
	case missing && !options.Update:
		return document.Errors{c.node.Errorf("run with --update to write it, then read what it says", "there is no golden %q", c.Golden)}
	}
	if string(data) == text { // As it mostly is.
		result.Status = Pass
		return nil
	}
	found, errs := differences(document.File{Name: c.Golden, Data: data}, story)
	switch {
	case !missing && len(errs)+len(found.lines) == 0:
		result.Status = Pass
	case options.Update:
		return c.update(text, result, options.Files, shared)
	case len(errs) > 0:
		return errs
	default:
		result.Status, result.Differences, result.brief, result.suspects = Fail, found.lines, found.brief, found.suspects
		result.Diff = compare.Unified(c.Golden, "the rules now", string(data), text)
	}
	return nil
}

// difference is how a golden differs from what happened: in which lines, in brief, and by whom.
type difference struct {
	lines, brief []string
	suspects     []suspect
}

func differences(file document.File, story Story) (out difference, errs document.Errors) {
	want, errs := golden.Parse(file)
	if len(errs) > 0 {
		return out, errs
	}
	have, err := golden.Tree(story)
	if err != nil {
		return out, document.Errors{{File: file.Name, Message: err.Error()}}
	}
	if out.lines = compare.Diff(want, have); len(out.lines) > 0 {
		out.suspects, out.brief = suspectsOf(want, have, story)
	}
	return out, nil
}

func (c *Case) update(text string, result *Result, files Files, shared document.Errors) document.Errors {
	if len(shared) > 0 {
		return shared
	}
	if err := files.WriteFile(c.Golden, []byte(text)); err != nil {
		return document.Errors{c.node.Errorf("", "cannot write the golden %q: %v", c.Golden, cause(err))}
	}
	result.Status, result.Updated = Pass, true
	return nil
}
