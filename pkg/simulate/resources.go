package simulate

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/spec"
)

// Object names the object that a step is about.
type Object struct {
	// Resource has no version where the rules do not name the resource.
	Resource schema.GroupVersionResource
	// Namespace is empty for one that the step leaves open, or has none.
	Namespace string
	Name      string

	written string // of Resource
	node    *document.Node
}

func (o *Object) fields() []document.Field {
	return []document.Field{
		document.Required("resource", func(n *document.Node) document.Errors {
			o.node = n
			return checked(&o.written, nonBlank)(n)
		}),
		document.Required("name", checked(&o.Name, objectName)),
		document.Optional("namespace", checked(&o.Namespace, namespaceName)),
	}
}

func nonBlank(text string) error {
	if strings.TrimSpace(text) == "" {
		return fmt.Errorf("want a resource, such as pods, have %q", text)
	}
	return nil
}

// objectName allows what some kinds do, such as the colons of roles.
func objectName(text string) error {
	if wrong := content.IsPathSegmentName(text); len(wrong) > 0 || text == "" {
		return fmt.Errorf("%q is not the name of an object", text)
	}
	return nil
}

func namespaceName(text string) error {
	if wrong := validation.IsDNS1123Label(text); len(wrong) > 0 {
		return fmt.Errorf("%q is not the name of a namespace: %s", text, wrong[0])
	}
	return nil
}

func subresource(text string) error {
	if wrong := validation.IsDNS1123Label(text); len(wrong) > 0 {
		return fmt.Errorf("want a subresource, such as status, have %q", text)
	}
	return nil
}

// declared are the resources that the rules of a test name, by the key that they
// have there. Sets may use one key for different resources.
type declared map[string][]schema.GroupVersionResource

func declaredBy(sets []*spec.Set) declared {
	out := declared{}
	for _, set := range sets {
		for _, r := range set.Resources {
			if !slices.Contains(out[r.Name], r.GVR) {
				out[r.Name] = append(out[r.Name], r.GVR)
			}
		}
	}
	return out
}

// resolve connects what the test says by name with its rules.
func (t *Test) resolve(sets []*spec.Set) ([]rules.Param, document.Errors) {
	params, errs := t.paramsFor(sets)
	return params, append(errs, t.resolveSteps(sets)...)
}

// resolveSteps finds the resources that the steps name.
func (t *Test) resolveSteps(sets []*spec.Set) document.Errors {
	known := declaredBy(sets)
	var errs document.Errors
	for _, c := range t.Cases {
		errs = append(errs, c.expect.resolve(sets)...)
		for _, step := range c.Steps {
			errs = append(errs, step.expect.resolve(sets)...)
			switch {
			case step.Patch != nil:
				errs = append(errs, step.Patch.resolve(known)...)
			case step.Delete != nil:
				errs = append(errs, step.Delete.resolve(known)...)
			}
		}
	}
	return errs
}

// resolve takes a key of the rules, or else a plural with its group, whose
// version is that of the rules if they have one.
func (o *Object) resolve(known declared) document.Errors {
	switch all := known[o.written]; {
	case o.written == "":
		return nil // Reported where it was read.
	case len(all) == 1:
		o.Resource = all[0]
		return nil
	case len(all) > 1:
		return document.Errors{o.node.Errorf("write the plural with its group, such as "+inFull(all[0]),
			"the sets use %q for %s and for %s", o.written, inFull(all[0]), inFull(all[1]))}
	}
	if wrong := misnamed(o.written); wrong != "" {
		return document.Errors{o.node.Errorf(wrong, "%q is neither a resource of the rules nor a plural with its group", o.written)}
	}
	plural, group, _ := strings.Cut(o.written, ".")
	o.Resource = schema.GroupVersionResource{Group: group, Resource: plural}
	for _, key := range slices.Sorted(maps.Keys(known)) {
		for _, gvr := range known[key] {
			if gvr.GroupResource() == o.Resource.GroupResource() {
				o.Resource = gvr
				return nil
			}
		}
	}
	if near := document.Suggest(o.written, slices.Collect(maps.Keys(known))); near != "" {
		return document.Errors{o.node.Errorf(fmt.Sprintf("did you mean %s?", near), "the rules have no resource %q", o.written)}
	}
	return nil
}

// inFull writes a resource as kubectl takes it.
func inFull(gvr schema.GroupVersionResource) string { return gvr.GroupResource().String() }

// misnamed is the hint for what is no plural with its group, or "".
func misnamed(text string) string {
	parent, below, isBelow := strings.Cut(text, "/")
	plural, group, _ := strings.Cut(text, ".")
	switch {
	case isBelow:
		return fmt.Sprintf("write resource: %s and subresource: %s", parent, below)
	case strings.ToLower(text) != text:
		return "write the plural resource, such as " + strings.TrimSuffix(strings.ToLower(text), "s") + "s"
	case len(validation.IsDNS1035Label(plural)) > 0, group != "" && len(validation.IsDNS1123Subdomain(group)) > 0, strings.HasSuffix(text, "."):
		return "write a key of the rules' resources, or a plural such as tidbclusters.pingcap.com"
	default:
		return ""
	}
}

// String names the object as the step does.
func (o Object) String() string {
	if o.Namespace != "" {
		return o.written + " " + o.Namespace + "/" + o.Name
	}
	return o.written + " " + o.Name
}
