package rules

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/fields"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
	"github.com/dyncontroller/dyncontroller/pkg/rules/spec"
)

// checkResources returns what is wrong with the declarations of a set, and notes of
// which nothing is known.
func checkResources(set *spec.Set, schemas *schema.Catalog) (errs document.Errors) {
	if schemas == nil || set.Faulty() {
		return nil
	}
	all := set.Node().Get("spec").Get("resources")
	for _, declared := range set.Resources {
		n := all.Get(declared.Name)
		if errs.Enough() {
			break
		}
		found := schemas.Resource(declared.GVR)
		if found == nil {
			errs = append(errs, unknownResource(declared, schemas, n))
			continue
		}
		errs = append(errs, checkResource(set, declared, found, n)...)
		if !found.Type.Known() {
			errs = append(errs, untyped(declared, n))
		}
	}
	return errs
}

// untyped is the note of a resource of which there is no schema.
func untyped(declared spec.Resource, n *document.Node) *document.Error {
	return n.Errorf("give its CRD with --crds, or a cluster with --context",
		"no schema is known of %s, so its fields are not checked", plan.ResourceName(declared.GVR)).Coded(document.CodeUntyped).Note()
}

func unknownResource(declared spec.Resource, schemas *schema.Catalog, n *document.Node) *document.Error {
	gvr := declared.GVR
	near, suggested := schemas.Closest(gvr)
	at := n.Get("resource")
	hint := "see kubectl api-resources for what there is"
	if suggested {
		hint = "did you mean " + plan.ResourceName(near) + "?"
		switch {
		case near.Group != gvr.Group && n.Get("group") != nil:
			at = n.Get("group")
		case near.Group == gvr.Group && near.Version != gvr.Version:
			at = n.Get("version")
		}
	}
	missing := at.Errorf(hint, "there is no resource %s", plan.ResourceName(gvr)).Coded(document.CodeUnknownResource)
	switch {
	case schemas.Missing(gvr):
		return missing
	case suggested:
		return missing.Warn()
	default:
		return untyped(declared, n)
	}
}

func checkResource(set *spec.Set, declared spec.Resource, found *schema.Resource, n *document.Node) (errs document.Errors) {
	resource := n.Get("resource")
	var lacks []string
	for _, verb := range []string{"list", "watch"} {
		if found.Verbs != nil && !slices.Contains(found.Verbs, verb) {
			lacks = append(lacks, verb+"ed")
		}
	}
	if len(lacks) > 0 {
		errs = append(errs, resource.Errorf("rules see only what can be listed and watched",
			"%s cannot be %s", declared.GVR.Resource, strings.Join(lacks, " or ")).Coded(document.CodeNotWatchable))
	}
	switch namespaces := n.Get("namespaces"); {
	case found.Namespaced:
	case set.Kind == spec.KindRuleSet:
		errs = append(errs, resource.Errorf("make it a ClusterRuleSet",
			"%s are cluster-scoped, and a RuleSet acts in its own namespace only", declared.GVR.Resource).Coded(document.CodeWrongScope))
	case namespaces != nil:
		errs = append(errs, namespaces.Errorf("leave namespaces out",
			"%s are cluster-scoped and have no namespace", declared.GVR.Resource).Coded(document.CodeWrongScope))
	}
	return append(errs, checkFieldSelector(declared, found, n.Get("fieldSelector"))...)
}

// checkFieldSelector finds fields that the objects do not have. Which of those that
// they have can be selected, only the API server knows.
func checkFieldSelector(declared spec.Resource, found *schema.Resource, n *document.Node) (errs document.Errors) {
	selector, err := fields.ParseSelector(declared.FieldSelector)
	if err != nil || n == nil {
		return nil //nolint:nilerr // The parser of the set has reported it.
	}
	for _, requirement := range selector.Requirements() {
		for _, v := range found.Type.ValidatePath(strings.Split(requirement.Field, ".")...) {
			errs = append(errs, n.ErrorAt(max(strings.Index(n.Text(), requirement.Field), 0), len(requirement.Field), v.Hint, "%s", v.Message).Coded(v.Code))
		}
	}
	return errs
}
