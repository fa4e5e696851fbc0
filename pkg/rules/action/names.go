package action

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
)

// checkNames refuses a name, and keys of data, that the API server takes for none of the
// resource. Some kinds take more than others.
func (m manifest) checkNames(resource *schema.Resource) *document.Error {
	name, _, _ := m.text("metadata", "name")
	if reasons := validation.IsDNS1123Subdomain(name); name != "" && len(reasons) > 0 && namesAreDomains(resource) {
		return m.at("metadata", "name").Errorf("use lower case letters, digits, - and ., with a letter or digit at both ends",
			"%q cannot be the name of %s", value.Excerpt(name), article(resource.Kind)).Coded(document.CodeWrongFormat)
	}
	if resource.Group != "" || resource.Resource != "configmaps" && resource.Resource != "secrets" {
		return nil
	}
	for _, field := range []string{"data", "stringData", "binaryData"} {
		all, _ := m.lookup(field)
		entries, _ := all.(map[string]any)
		for _, key := range slices.Sorted(maps.Keys(entries)) {
			if reasons := validation.IsConfigMapKey(key); key != templatedKey && len(reasons) > 0 {
				return m.at(field).Key(key).Errorf("use letters, digits, -, _ and .",
					"%q cannot be a key of %s", value.Excerpt(key), article(resource.Kind)).Coded(document.CodeWrongFormat)
			}
		}
	}
	return nil
}

// namesAreDomains reports whether objects of a resource surely have such names. Those of
// roles, for example, need not.
func namesAreDomains(resource *schema.Resource) bool {
	switch resource.Group {
	case "", "apps", "batch":
		return true
	default:
		return schema.Custom(resource.Group)
	}
}
