package simulate

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
	"github.com/dyncontroller/dyncontroller/pkg/simulate/apiserver"
)

// ParseObjects reads the Kubernetes objects in a file: one for each document,
// or more where it is a list. Integers are int64.
func ParseObjects(file document.File) ([]map[string]any, document.Errors) {
	parsed, errs := parseObjects(file)
	if len(errs) > 0 {
		return nil, errs
	}
	return contents(parsed), nil
}

// object is an object of a file, and where it is written.
type object struct {
	content map[string]any
	node    *document.Node
}

func parseObjects(file document.File) ([]object, document.Errors) {
	documents, errs := document.ParseManifests(file)
	if len(documents) == 0 && len(errs) == 0 {
		return nil, document.Errors{{
			File: file.Name, Message: "the file holds no object", Hint: "write one, with apiVersion, kind and metadata",
		}}
	}
	var out []object
	for _, n := range documents {
		found, wrong := expand(n)
		out = append(out, found...)
		errs = append(errs, wrong...)
	}
	return out, errs.Sorted()
}

// expand takes lists apart, both those of kind List and those of one kind,
// whose elements need not say again what they are.
func expand(n *document.Node) ([]object, document.Errors) {
	kind, isList := strings.CutSuffix(n.Get("kind").Text(), "List")
	items := n.Get("items")
	if !isList || items == nil {
		content, errs := objectOf(n, "", "")
		return []object{{content: content, node: n}}, errs
	}
	apiVersion := n.Get("apiVersion").Text()
	if kind == "" {
		apiVersion = ""
	}
	var errs document.Errors
	if wrong := items.Expect(document.KindList | document.KindNull); wrong != nil {
		errs = append(errs, wrong)
	}
	var out []object
	for _, element := range items.Elements() {
		content, wrong := objectOf(element, apiVersion, kind)
		out = append(out, object{content: content, node: element})
		errs = append(errs, wrong...)
	}
	return out, errs
}

// objectOf checks what every object has, and what decides who watches it.
func objectOf(n *document.Node, apiVersion, kind string) (map[string]any, document.Errors) {
	if err := n.Expect(document.KindMap); err != nil {
		return nil, document.Errors{err}
	}
	errs := text(n, "apiVersion", apiVersion == "")
	errs = append(errs, text(n, "kind", kind == "")...)
	metadata := n.Get("metadata")
	if metadata == nil {
		errs = append(errs, n.Errorf("write metadata: {name: ...}", "the object has no metadata"))
	} else if err := metadata.Expect(document.KindMap); err != nil {
		errs = append(errs, err)
	}
	if metadata.Kind() == document.KindMap {
		errs = append(errs, text(metadata, "name", true)...)
		for _, name := range []string{"namespace", "uid", "resourceVersion", "creationTimestamp", "deletionTimestamp"} {
			errs = append(errs, text(metadata, name, false)...)
		}
		errs = append(errs, texts(metadata.Get("labels"))...)
		errs = append(errs, texts(metadata.Get("annotations"))...)
	}
	content, _ := n.Any().(map[string]any)
	for key, inherited := range map[string]string{"apiVersion": apiVersion, "kind": kind} {
		if inherited != "" && content != nil && content[key] == nil {
			content[key] = inherited
		}
	}
	return content, errs
}

// texts checks a map of texts.
func texts(n *document.Node) document.Errors {
	if err := n.Expect(document.KindMap | document.KindNull); err != nil {
		return document.Errors{err}
	}
	var errs document.Errors
	for _, entry := range n.Entries() {
		errs = append(errs, text(n, entry.Key.Text(), false)...)
	}
	return errs
}

// text checks a field that is text.
func text(n *document.Node, name string, required bool) document.Errors {
	value := n.Get(name)
	switch {
	case value == nil && required, required && value.Kind() == document.KindString && value.Text() == "":
		return document.Errors{n.Errorf("write "+name+": ...", "the object has no %s", name)}
	case value == nil || value.Kind() == document.KindNull && !required:
		return nil
	}
	if err := value.Expect(document.KindString); err != nil {
		return document.Errors{err}
	}
	return nil
}

// identityOf is the same for two objects that a cluster cannot both have.
func identityOf(content map[string]any) string {
	kind := kindOf(content)
	return strings.Join([]string{kind.Group, kind.Kind, plan.Text(content, "metadata", "namespace"), plan.Text(content, "metadata", "name")}, "/")
}

// kindOf leaves out what is not there.
func kindOf(content map[string]any) apischema.GroupVersionKind {
	return apischema.FromAPIVersionAndKind(plan.Text(content, "apiVersion"), plan.Text(content, "kind"))
}

// readObjects reads the objects of files, which a cluster must be able to have
// all at once.
func readObjects(places []place, files Files) ([]object, document.Errors) {
	var out []object
	var errs document.Errors
	first := map[string]*document.Node{}
	for _, named := range places {
		file, wrong := named.read(files)
		if wrong != nil {
			errs = append(errs, wrong)
			continue
		}
		objects, wrongs := parseObjects(file)
		errs = append(errs, wrongs...)
		for _, o := range objects {
			id := identityOf(o.content)
			if before := first[id]; before != nil && len(wrongs) == 0 {
				errs = append(errs, o.node.Errorf("give one of them another name", "the object is %s already", before.Place(o.node)))
			}
			first[id] = o.node
		}
		out = append(out, objects...)
	}
	return out, errs
}

// admit refuses objects that no cluster could have stored: of unknown kinds, in the wrong
// scope, or with what their schema does not allow. An object without a namespace that
// needs one gets the default one, as kubectl has it.
func (p play) admit(objects []object) document.Errors {
	var errs document.Errors
	for _, o := range objects {
		resource, known := p.server.OfKind(kindOf(o.content))
		if !known {
			err := p.server.Limit(kindOf(o.content))
			if err == nil {
				_, err = resourceOf(kindOf(o.content), slices.Concat(p.test.set.Selections(), p.test.set.Related()))
			}
			errs = append(errs, o.located(err))
			continue
		}
		if err := o.settle(resource); err != nil {
			errs = append(errs, o.node.Get("metadata").Get("namespace").Errorf("remove it", "%v", err))
			continue
		}
		if schema := p.test.known.Resource(resource.GVR); schema != nil && schema.Type != nil {
			errs = append(errs, o.violations(schema)...)
		}
	}
	return errs
}

// settle puts the object where its resource says that it is.
func (o object) settle(resource apiserver.Resource) error {
	namespace := plan.Text(o.content, "metadata", "namespace")
	if !resource.Namespaced && namespace != "" {
		return fmt.Errorf("%s are in no namespace, have %q", resource.GVR.Resource, namespace)
	}
	if resource.Namespaced && namespace == "" {
		metadata, _ := o.content["metadata"].(map[string]any)
		metadata = maps.Clone(metadata)
		metadata["namespace"] = defaultNamespace
		o.content["metadata"] = metadata
	}
	return nil
}

// violations are what the schema finds wrong with the object as a whole.
func (o object) violations(resource *schema.Resource) document.Errors {
	var errs document.Errors
	for _, v := range resource.Type.Scoped(resource.Namespaced).Validate(o.content, schema.Whole) {
		at := document.At(o.node, v.Path...)
		if v.Code == document.CodeUnknownField {
			at = document.KeyAt(o.node, v.Path...)
		}
		errs = append(errs, at.Errorf(v.Hint, "%s", v.Message).Coded(v.Code))
	}
	return errs
}

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
func watched(set *rules.Set, content map[string]any) (apischema.GroupVersionResource, error) {
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
	where, namespace := "", plan.Text(content, "metadata", "namespace")
	if namespace != "" {
		where = fmt.Sprintf(" in namespace %q", namespace)
	}
	var all []string
	for _, s := range selections {
		if s.Namespace != "" && namespace == "" {
			where = ", which has no namespace"
		}
		all = append(all, s.String())
	}
	return &UnwatchedError{
		message: fmt.Sprintf("no rule selects the %s %q%s", plan.Text(content, "kind"), plan.Text(content, "metadata", "name"), where),
		hint:    "the rules watch " + strings.Join(all, "; "),
	}
}

// resourceOf finds the resource of a kind among those that are watched. Without
// discovery the plural is a guess, in which only known resources are accepted.
func resourceOf(kind apischema.GroupVersionKind, selections []plan.Selection) (apischema.GroupVersionResource, error) {
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
	return apischema.GroupVersionResource{}, &UnwatchedError{
		message: fmt.Sprintf("no rule watches the kind %s of %s", kind.Kind, kind.GroupVersion()),
		hint:    unwatchedHint(kind, known, selections),
	}
}

// plurals lists the resources that a kind may be served as, the likeliest
// first.
func plurals(kind apischema.GroupVersionKind) []string {
	plural, singular := meta.UnsafeGuessKindToResource(kind)
	out := []string{plural.Resource, singular.Resource + "s", singular.Resource + "es"}
	if strings.HasSuffix(singular.Resource, "s") {
		out = append(out, singular.Resource)
	}
	return out
}

func unwatchedHint(kind apischema.GroupVersionKind, known []string, selections []plan.Selection) string {
	plural, _ := meta.UnsafeGuessKindToResource(kind)
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
