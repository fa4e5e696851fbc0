package simulate

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/field"
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

// named is the object that a step names.
func named(v field.Values) Object {
	return Object{Name: v["name"].Text(), Namespace: v["namespace"].Text(), written: v["resource"].Text(), node: v["resource"]}
}

// resolve connects what the test says by name with its rules.
func (t *Test) resolve(sets []*spec.Set) ([]rules.Param, document.Errors) {
	params, errs := t.paramsFor(sets)
	known := map[string][]schema.GroupVersionResource{} // by the key that sets give them, which may mean different ones
	for _, set := range sets {
		for _, r := range set.Resources {
			if !slices.Contains(known[r.Name], r.GVR) {
				known[r.Name] = append(known[r.Name], r.GVR)
			}
		}
	}
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
	return params, errs
}

// resolve takes a key of the rules, or else a plural with its group, whose
// version is that of the rules if they have one.
func (o *Object) resolve(known map[string][]schema.GroupVersionResource) document.Errors {
	plural, group, grouped := strings.Cut(o.written, ".")
	parent, below, isBelow := strings.Cut(o.written, "/")
	o.Resource = schema.GroupVersionResource{Group: group, Resource: plural}
	keys := slices.Sorted(maps.Keys(known))
	for _, key := range keys {
		for _, gvr := range known[key] {
			if gvr.GroupResource() == o.Resource.GroupResource() {
				o.Resource = gvr
			}
		}
	}
	var wrong *document.Error
	switch all := known[o.written]; {
	case o.written == "": // Reported where it was read.
	case len(all) == 1:
		o.Resource = all[0]
	case len(all) > 1:
		wrong = o.node.Errorf("write the plural with its group, such as "+inFull(all[0]),
			"the sets use %q for %s and for %s", o.written, inFull(all[0]), inFull(all[1]))
	case isBelow:
		wrong = o.node.Errorf(fmt.Sprintf("write resource: %s and subresource: %s", parent, below), "%q is a subresource", o.written)
	case len(validation.IsDNS1035Label(plural)) > 0, grouped && len(validation.IsDNS1123Subdomain(group)) > 0:
		wrong = o.node.Errorf("write a key of the rules' resources, or a plural such as tidbclusters.pingcap.com",
			"%q is neither a resource of the rules nor a plural with its group", o.written)
	case o.Resource.Version == "":
		if near := document.Suggest(o.written, keys); near != "" {
			wrong = o.node.Errorf(fmt.Sprintf("did you mean %s?", near), "the rules have no resource %q", o.written)
		}
	}
	if wrong != nil {
		return document.Errors{wrong}
	}
	return nil
}

// inFull writes a resource as kubectl takes it.
func inFull(gvr schema.GroupVersionResource) string { return gvr.GroupResource().String() }

// String names the object as the step does.
func (o Object) String() string {
	if o.Namespace != "" {
		return o.written + " " + o.Namespace + "/" + o.Name
	}
	return o.written + " " + o.Name
}
