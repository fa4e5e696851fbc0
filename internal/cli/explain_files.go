package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/internal/source"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema/builtin"
	"github.com/dyncontroller/dyncontroller/pkg/simulate"
)

// ofFiles finds the rule and the object in files, which are a cluster of their own.
func (e *explaining) ofFiles(ctx context.Context, args []string) (*rules.Set, *subject, error) {
	file, err := source.ReadFile(e.object, e.Stdin)
	if err != nil {
		return nil, nil, failure{exitUsage, err}
	}
	objects, mistakes := simulate.ParseObjects(file)
	if len(mistakes) > 0 {
		return nil, nil, failure{exitFinding, mistakes}
	}
	related, err := e.readRelated()
	if err != nil {
		return nil, nil, err
	}
	at, err := chosen(objects, args[1:])
	if err != nil {
		return nil, nil, failure{exitUsage, err}
	}
	object, others := objects[at], slices.Concat(slices.Delete(slices.Clone(objects), at, at+1), related)
	evaluation := simulate.Evaluation{Object: object, Related: others, Now: e.now.Time}
	if evaluation.Definitions, err = e.readCRDs(*e.crds, slices.Concat(e.rules, e.related, []string{e.object})); err != nil {
		return nil, nil, err
	}
	if evaluation.Rules, err = e.load(simulate.Schemas(evaluation.Definitions, append(others, object))); err != nil {
		return nil, nil, err
	}
	out := &subject{}
	if out.rule, err = findRule(evaluation.Rules, args[0]); err != nil {
		return nil, nil, err
	}
	if out.reader, out.object, err = evaluation.Reader(); err != nil {
		return nil, nil, failure{exitUsage, err}
	}
	out.object.GVR = asWatched(out.rule, out.object.GVR)
	out.memory, err = e.controller.remembered(ctx, out.object)
	return evaluation.Rules, out, err
}

// chosen is the object of a file that the user means, which need not be said of one.
func chosen(objects []map[string]any, written []string) (int, error) {
	if len(written) == 0 {
		if len(objects) > 1 {
			return 0, fmt.Errorf("the file has %d objects: say which one with RESOURCE/NAME", len(objects))
		}
		return 0, nil
	}
	resource, name, err := parseObject(written[0])
	if err != nil {
		return 0, err
	}
	at := slices.IndexFunc(objects, func(o map[string]any) bool { return plan.Text(o, "metadata", "name") == name && isOf(o, resource) })
	if at < 0 {
		var has []string
		for _, o := range objects {
			has = append(has, plan.Text(o, "kind")+" "+plan.Text(o, "metadata", "name"))
		}
		return 0, fmt.Errorf("the file has no %s; it has %s", written[0], strings.Join(has[:min(len(has), 10)], ", "))
	}
	return at, nil
}

// isOf reports whether an object may be of a resource. Without a cluster the name of one
// that Kubernetes does not have itself is guessed from the kind.
func isOf(object map[string]any, resource string) bool {
	kind := schema.FromAPIVersionAndKind(plan.Text(object, "apiVersion"), plan.Text(object, "kind"))
	plural, singular := meta.UnsafeGuessKindToResource(kind)
	word, group, _ := strings.Cut(resource, ".")
	if group != "" && group != kind.Group && group != kind.Version+"."+kind.Group {
		return false
	}
	names := []string{plural.Resource, singular.Resource, singular.Resource + "s", singular.Resource + "es"}
	for _, known := range builtin.Source().Resources() {
		if known.Kind == kind.Kind && known.Group == kind.Group {
			names = append(append(names, known.Resource), known.Other...)
		}
	}
	return slices.Contains(names, word)
}

// asWatched is a resource in the version that the rule watches it in, if it does.
func asWatched(rule *rules.Rule, gvr schema.GroupVersionResource) schema.GroupVersionResource {
	for _, watched := range rule.Watched() {
		if watched.GroupResource() == gvr.GroupResource() {
			return watched
		}
	}
	return gvr
}
