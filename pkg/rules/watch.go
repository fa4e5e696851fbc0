package rules

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/relation"
	"github.com/dyncontroller/dyncontroller/pkg/rules/spec"
)

// compileWatch resolves `watch`: a key of `resources`, or several with commas.
func (r *Rule) compileWatch(declared relation.Declarations) document.Errors {
	n := r.source.Watch
	if n.Kind() == document.KindInvalid {
		return nil
	}
	if n.Kind() != document.KindString {
		return document.Errors{n.Errorf(watchHint(n), "watch must be a string, have %s", n.Kind())}
	}
	var errs document.Errors
	seen, kinds := map[*relation.Declaration]bool{}, map[schema.GroupVersionResource]bool{}
	offset := 0
	for part := range strings.SplitSeq(n.Text(), ",") {
		if errs.Enough() {
			break
		}
		name := strings.TrimSpace(part)
		at := offset + strings.Index(part, name)
		offset += len(part) + 1
		if name == "" {
			errs = append(errs, n.ErrorAt(at, 0, "write the name of a resource declared under resources", "the name of a resource is missing here"))
			continue
		}
		watched, wrong := declared.LookupAt(n, at, name)
		switch {
		case wrong != nil:
			errs = append(errs, wrong)
		case watched != nil && !seen[watched]:
			seen[watched] = true
			r.selections = append(r.selections, watched.Selections...)
			if !kinds[watched.GVR] {
				kinds[watched.GVR] = true
				r.watched = append(r.watched, watched.GVR)
			}
		}
	}
	return errs
}

// watchHint writes a list as watch takes it.
func watchHint(n *document.Node) string {
	var names []string
	for _, element := range n.Elements() {
		names = append(names, element.Text())
	}
	if names == nil {
		return "write the name of a resource declared under resources"
	}
	return "write watch: " + strings.Join(names, ", ")
}

func declarations(set *spec.Set) relation.Declarations {
	var out relation.Declarations
	for _, resource := range set.Resources {
		out = append(out, &relation.Declaration{
			Name: resource.Name, GVR: resource.GVR, Selections: selections(set, resource), Namespace: set.Namespace,
		})
	}
	return out
}

// selections spreads a declaration over its namespaces. Selectors are written
// in one way, so that equal ones share an informer.
func selections(set *spec.Set, r spec.Resource) []plan.Selection {
	selection := plan.Selection{GVR: r.GVR, Namespace: set.Namespace}
	if parsed, err := labels.Parse(r.LabelSelector); err == nil {
		selection.LabelSelector = parsed.String()
	}
	if parsed, err := fields.ParseSelector(r.FieldSelector); err == nil {
		selection.FieldSelector = parsed.String()
	}
	if len(r.Namespaces) == 0 || set.Kind == spec.KindRuleSet {
		return []plan.Selection{selection}
	}
	var out []plan.Selection
	for _, namespace := range slices.Compact(slices.Sorted(slices.Values(r.Namespaces))) {
		selection.Namespace = namespace
		out = append(out, selection)
	}
	return out
}
