package simulate

import (
	"errors"
	"io/fs"

	udiff "github.com/aymanbagabas/go-udiff"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/simulate/golden"
)

// header says what a golden is to whoever comes across it.
const header = "# written by: dyncontroller test --update\n"

// compare judges what happened by the golden of the case, or makes it the
// golden, unless it is shared. A golden that says the same in other words is left as it is.
func (c *Case) compare(story Story, result *Result, options Options, shared document.Errors) document.Errors {
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
	lines, suspects, errs := differences(document.File{Name: c.Golden, Data: data}, story)
	switch {
	case !missing && len(errs)+len(lines) == 0:
		result.Status = Pass
	case options.Update:
		return c.update(text, result, options.Files, shared)
	case len(errs) > 0:
		return errs
	default:
		result.Status, result.Differences, result.suspects = Fail, lines, suspects
		result.Diff = udiff.Unified(c.Golden, "the rules now", string(data), text)
	}
	return nil
}

// differences says in which lines a golden differs from what happened, and by whom.
func differences(file document.File, story Story) ([]string, []suspect, document.Errors) {
	want, errs := golden.Parse(file)
	if len(errs) > 0 {
		return nil, nil, errs
	}
	have, err := golden.Tree(story)
	if err != nil {
		return nil, nil, document.Errors{{File: file.Name, Message: err.Error()}}
	}
	lines := golden.Diff(want, have)
	if len(lines) == 0 {
		return nil, nil, nil
	}
	return lines, suspectsOf(want, have, story), nil
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
