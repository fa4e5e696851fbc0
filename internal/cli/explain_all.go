//go:build !operator

package cli

import (
	"cmp"
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/trace"
)

// watchedBy lists the resources that rules watch.
func watchedBy(all ...*rules.Rule) (out []schema.GroupVersionResource) {
	for _, rule := range all {
		out = append(out, rule.Watched()...)
	}
	return out
}

// withAll is the scene with all rules that watch the resource of the object, in any version.
func (s scene) withAll() scene {
	if s.at == nil {
		return s
	}
	s.rules = slices.DeleteFunc(s.set.Rules(), func(rule *rules.Rule) bool {
		return !slices.ContainsFunc(rule.Watched(), func(watched schema.GroupVersionResource) bool {
			return watched.GroupResource() == s.at.object.GVR.GroupResource()
		})
	})
	return s
}

// as is the subject of another rule: the object in the version that this watches, if it is served. Both know what either has read.
func (s *subject) as(rule *rules.Rule) *subject {
	if s.answers == nil { // They are the same for each rule.
		s.answers, s.objects = map[string][]map[string]any{}, map[schema.GroupVersionResource]map[string]any{}
	}
	out := *s
	out.rule = rule
	versions := slices.DeleteFunc(rule.Watched(), func(watched schema.GroupVersionResource) bool {
		return watched.GroupResource() != s.object.GVR.GroupResource() || s.served != nil && !s.serves(watched)
	})
	if len(versions) > 0 && !slices.Contains(versions, s.object.GVR) {
		out.object.GVR = versions[0]
	}
	return &out
}

// explainAll tells in short what each rule decides about the object.
func (e *explaining) explainAll(ctx context.Context, found scene) error {
	var err error
	if len(found.rules) == 0 && found.cluster != nil { // No rule looks for it.
		if _, err = found.at.get(ctx); err != nil {
			return err
		}
	}
	if found.at.memory, err = e.controller.remembered(ctx, found.at.object); err != nil {
		return err
	}
	all, traces := []explained{}, []trace.Trace{}
	for _, rule := range found.rules {
		one, err := e.explainRule(ctx, found, rule)
		if err != nil {
			return err
		}
		all, traces = append(all, one), append(traces, one.trace)
	}
	var sets []trace.Set
	unknown := false // There may be rules about the object that nobody here has read.
	for _, doubt := range found.doubts {
		sets = append(sets, doubt.Set)
		unknown = unknown || doubt.Refused != "" && doubt.Unknown && doubt.Explained == 0
	}
	if e.output.Text == formatJSON {
		err = writeJSON(e.Stdout, traces)
	} else {
		err = e.show(trace.List(trace.ObjectOf(found.at.object), sets, traces),
			lineColor{green, []string{"  matched"}}, lineColor{red, []string{"  failed", "  withheld", "  refused", "  in the way"}})
	}
	if err = cmp.Or(err, endOf(all...)); err == nil && unknown {
		return errFinding
	}
	return err
}
