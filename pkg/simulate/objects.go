package simulate

import (
	"maps"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
)

// ParseObjects reads the Kubernetes objects in a file: one for each document,
// or more where it is a list. Integers are int64.
func ParseObjects(file document.File) ([]map[string]any, document.Errors) {
	parsed, errs := parseObjects(file)
	if len(errs) > 0 {
		return nil, errs
	}
	out := make([]map[string]any, len(parsed))
	for i, o := range parsed {
		out[i] = o.content
	}
	return out, nil
}

// object is an object of a file, and where it is written.
type object struct {
	content map[string]any
	node    *document.Node
}

func parseObjects(file document.File) ([]object, document.Errors) {
	documents, errs := document.Parse(file)
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
	elements, errs := filled(items)
	var out []object
	for _, element := range elements {
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
		errs = append(errs, labelsOf(metadata.Get("labels"))...)
	}
	content, _ := n.Any().(map[string]any)
	for key, inherited := range map[string]string{"apiVersion": apiVersion, "kind": kind} {
		if inherited != "" && content != nil && content[key] == nil {
			content[key] = inherited
		}
	}
	return content, errs
}

func labelsOf(n *document.Node) document.Errors {
	if err := n.Expect(document.KindMap, document.KindNull); err != nil {
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

// stored returns the object as a cluster would have it: with a uid, a
// resourceVersion and a creationTimestamp, which depend only on the arguments.
// The object itself is not changed.
func stored(content map[string]any, version int, now time.Time) map[string]any {
	out := maps.Clone(content)
	metadata := maps.Clone(metadataOf(content))
	if metadata == nil {
		metadata = map[string]any{}
	}
	for key, value := range map[string]string{
		"uid":               uuid.NewSHA1(uuid.NameSpaceDNS, []byte(identityOf(content))).String(),
		"resourceVersion":   strconv.Itoa(version),
		"creationTimestamp": now.UTC().Format(time.RFC3339),
	} {
		if have, _ := metadata[key].(string); have == "" {
			metadata[key] = value
		}
	}
	out["metadata"] = metadata
	return out
}

// identityOf is the same for two objects that a cluster cannot both have.
func identityOf(content map[string]any) string {
	kind := kindOf(content)
	metadata := metadataOf(content)
	return strings.Join([]string{kind.Group, kind.Kind, stringAt(metadata, "namespace"), stringAt(metadata, "name")}, "/")
}

// kindOf leaves out what is not there.
func kindOf(content map[string]any) schema.GroupVersionKind {
	return schema.FromAPIVersionAndKind(stringAt(content, "apiVersion"), stringAt(content, "kind"))
}

func metadataOf(content map[string]any) map[string]any {
	metadata, _ := content["metadata"].(map[string]any)
	return metadata
}

func stringAt(m map[string]any, key string) string {
	value, _ := m[key].(string)
	return value
}
