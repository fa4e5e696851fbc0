package rules

import (
	"slices"

	"github.com/dyncontroller/dyncontroller/pkg/rules/action"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/doubt"
)

// elsewhere leaves out the doubts about what is wrong anyhow.
func elsewhere(doubts, found document.Errors) document.Errors {
	type place struct {
		file         string
		line, column int
	}
	wrong := map[place]bool{}
	for _, mistake := range found.Of(document.Mistake) {
		wrong[place{mistake.File, mistake.Line, mistake.Column}] = true
	}
	return slices.DeleteFunc(doubts, func(d *document.Error) bool { return wrong[place{d.File, d.Line, d.Column}] })
}

// doubted are rules as far as they can be suspicious.
func doubted(all []*Rule) []*doubt.Rule {
	out := make([]*doubt.Rule, len(all))
	for i, rule := range all {
		out[i] = rule.doubted()
	}
	return out
}

func (r *Rule) doubted() *doubt.Rule {
	f := r.footing()
	return &doubt.Rule{
		ID: r.ID, Set: r.set, Source: r.source, Names: r.names,
		When: r.when, Steps: r.steps, Selections: r.selections,
		Constants: map[string]any{"params": r.params, "rule": r.about},
		Traces:    action.Traces{Footprint: f.out, Shapes: f, Watched: r.watchedResources()},
	}
}
