package rules

import (
	"slices"
	"strings"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/doubt"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
)

// elsewhere leaves out the doubts about what is wrong anyhow, there or within it.
func elsewhere(doubts, found document.Errors) document.Errors {
	mistakes := found.Of(document.Mistake)
	return slices.DeleteFunc(doubts, func(d *document.Error) bool {
		return slices.ContainsFunc(mistakes, func(m *document.Error) bool {
			within, is := strings.CutPrefix(m.Path, d.Path)
			return m.File == d.File && (m.Line == d.Line && m.Column == d.Column || is && d.Path != "" && strings.HasPrefix(within, "["))
		})
	})
}

// doubted are rules as far as they can be suspicious.
func doubted(all []*Rule, schemas *schema.Catalog) []*doubt.Rule {
	out := make([]*doubt.Rule, len(all))
	for i, rule := range all {
		out[i] = rule.doubted(schemas)
	}
	return out
}

func (r *Rule) doubted(schemas *schema.Catalog) *doubt.Rule {
	return &doubt.Rule{
		ID: r.ID, Set: r.set, Source: r.source, Names: r.names,
		When: r.when, Steps: r.steps, Selections: r.selections,
		Schemas:   schemas,
		Constants: map[string]any{"params": r.params, "rule": r.about},
		Watched:   r.watched, Footprint: r.Footprint(), Effects: r.effects().steps[:len(r.steps)],
	}
}
