package simulate

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
)

// UnwatchedError says that an object is of no concern to any rule, so that
// evaluating it would show nothing.
type UnwatchedError struct {
	message string
	hint    string
	// Read says that a rule reads objects of its resource.
	Read bool
}

// Error implements error.
func (e *UnwatchedError) Error() string { return e.message + "; " + e.hint }

// watched finds the resource of an object that a selection holds, and says else why none
// does.
func watched(set *rules.Set, content map[string]any) (schema.GroupVersionResource, error) {
	resource, err := resourceOf(kindOf(content), set.Selections())
	if err != nil {
		return resource, err
	}
	var others []plan.Selection
	for _, s := range set.Selections() {
		if s.GVR != resource {
			continue
		}
		if s.Admits(content) {
			return resource, nil
		}
		others = append(others, s)
	}
	return resource, unselected(content, others)
}

func unselected(content map[string]any, selections []plan.Selection) *UnwatchedError {
	metadata := metadataOf(content)
	namespace := stringAt(metadata, "namespace")
	where := inNamespace(namespace)
	var all []string
	for _, s := range selections {
		if s.Namespace != "" && namespace == "" {
			where = ", which has no namespace"
		}
		all = append(all, describe(s))
	}
	return &UnwatchedError{
		message: fmt.Sprintf("no rule selects the %s %q%s", stringAt(content, "kind"), stringAt(metadata, "name"), where),
		hint:    "the rules watch " + strings.Join(all, "; "),
	}
}

// resourceOf finds the resource of a kind among those that are watched. Without
// discovery the plural is a guess, in which only known resources are accepted.
func resourceOf(kind schema.GroupVersionKind, selections []plan.Selection) (schema.GroupVersionResource, error) {
	var known []string // Of the same group and version.
	for _, s := range selections {
		if s.GVR.GroupVersion() == kind.GroupVersion() {
			known = append(known, s.GVR.Resource)
		}
	}
	for _, plural := range plurals(kind) {
		if slices.Contains(known, plural) {
			return kind.GroupVersion().WithResource(plural), nil
		}
	}
	return schema.GroupVersionResource{}, &UnwatchedError{
		message: fmt.Sprintf("no rule watches the kind %s of %s", kind.Kind, kind.GroupVersion()),
		hint:    unwatchedHint(kind, known, selections),
	}
}

// plurals lists the resources that a kind may be served as, the likeliest
// first.
func plurals(kind schema.GroupVersionKind) []string {
	plural, singular := meta.UnsafeGuessKindToResource(kind)
	out := []string{plural.Resource, singular.Resource + "s", singular.Resource + "es"}
	if strings.HasSuffix(singular.Resource, "s") {
		out = append(out, singular.Resource)
	}
	return out
}

func unwatchedHint(kind schema.GroupVersionKind, known []string, selections []plan.Selection) string {
	plural, singular := meta.UnsafeGuessKindToResource(kind)
	if slices.Contains(known, singular.Resource) {
		return fmt.Sprintf("resources are plural: in the rules, write resource: %s instead of %s", plural.Resource, singular.Resource)
	}
	if near := document.Suggest(plural.Resource, known); near != "" {
		return fmt.Sprintf("the rules watch %s, and this would be one of %s: is either misspelt?", near, plural.Resource)
	}
	var all []string
	for _, s := range selections {
		if name := s.GVR.Resource + " of " + s.GVR.GroupVersion().String(); !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	if len(all) == 0 {
		return "there are no rules"
	}
	return "the rules watch " + strings.Join(all, ", ")
}

// describe says what a selection holds.
func describe(s plan.Selection) string {
	out := s.GVR.Resource + inNamespace(s.Namespace)
	var conditions []string
	if s.LabelSelector != "" {
		conditions = append(conditions, "labels "+s.LabelSelector)
	}
	if s.FieldSelector != "" {
		conditions = append(conditions, "fields "+s.FieldSelector)
	}
	if len(conditions) > 0 {
		out += " with " + strings.Join(conditions, " and ")
	}
	return out
}

func inNamespace(namespace string) string {
	if namespace == "" {
		return ""
	}
	return fmt.Sprintf(" in namespace %q", namespace)
}
