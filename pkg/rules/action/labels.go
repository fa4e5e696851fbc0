package action

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

// checkTexts refuses labels and annotations that no API server takes, whatever the
// resource.
func (m manifest) checkTexts() *document.Error {
	for _, field := range []string{"labels", "annotations"} {
		all, _ := m.lookup("metadata", field)
		texts, _ := all.(map[string]any)
		for _, key := range slices.Sorted(maps.Keys(texts)) {
			if wrong := m.checkText(field, key, texts[key]); wrong != nil {
				return wrong
			}
		}
	}
	return nil
}

func (m manifest) checkText(field, key string, v any) *document.Error {
	one := strings.TrimSuffix(field, "s")
	if key != templatedKey && len(validation.IsQualifiedName(key)) > 0 {
		return m.at("metadata", field, key).Errorf("use letters, digits, -, _ and ., with a prefix such as example.com/ if need be",
			"%q cannot be the key of %s", value.Excerpt(key), article(one))
	}
	switch v := v.(type) {
	case nil, unknown, value.Stamp:
		return nil
	case string:
		if field == "labels" && len(validation.IsValidLabelValue(v)) > 0 {
			return m.at("metadata", field, key).Errorf("use at most 63 letters, digits, -, _ and ., or make it an annotation",
				"%q cannot be the value of a label", value.Excerpt(v))
		}
		return nil
	default:
		return m.at("metadata", field, key).Errorf(`put it in quotes, or write "${string(...)}"`,
			"the value of %s must be a string, have %s", article(one), expression.TypeName(v))
	}
}

func article(word string) string {
	if strings.HasPrefix(word, "a") {
		return "an " + word
	}
	return "a " + word
}
