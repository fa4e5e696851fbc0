package apiserver

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/install"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema/builtin"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema/crd"
)

// scheme knows definitions of all versions. It does not change.
var scheme = sync.OnceValue(func() *runtime.Scheme {
	known := runtime.NewScheme()
	install.Install(known)
	return known
})

// Definition reads a CustomResourceDefinition.
func Definition(document map[string]any) (*apiextensionsv1.CustomResourceDefinition, error) {
	read, err := definitionOf(document)
	if err != nil {
		return nil, err
	}
	out := &apiextensionsv1.CustomResourceDefinition{}
	if err := scheme().Convert(read, out, nil); err != nil {
		return nil, fmt.Errorf("converting a CustomResourceDefinition: %w", err)
	}
	return out, nil
}

// definitionOf reads it as an API server has it in memory.
func definitionOf(document map[string]any) (*apiextensions.CustomResourceDefinition, error) {
	data, err := json.Marshal(document)
	if err != nil {
		return nil, fmt.Errorf("encoding a CustomResourceDefinition: %w", err)
	}
	read, _, err := serializer.NewCodecFactory(scheme()).UniversalDeserializer().Decode(data, nil, nil)
	if err != nil {
		return nil, fmt.Errorf("reading a CustomResourceDefinition: %w", err)
	}
	scheme().Default(read)
	out := &apiextensions.CustomResourceDefinition{}
	if err := scheme().Convert(read, out, nil); err != nil {
		return nil, fmt.Errorf("converting a CustomResourceDefinition: %w", err)
	}
	return out, nil
}

// accept gives a definition the status of one that is served. Webhooks are not asked to
// convert: all versions are taken to have the same fields. The error says why an API server would not serve it at all.
func accept(definition *apiextensionsv1.CustomResourceDefinition) error {
	apiextensionsv1.SetDefaults_CustomResourceDefinition(definition)
	apiextensionsv1.SetDefaults_CustomResourceDefinitionSpec(&definition.Spec)
	if want := definition.Spec.Names.Plural + "." + definition.Spec.Group; definition.Name != want {
		return field.Invalid(field.NewPath("metadata", "name"), definition.Name, "must be "+want)
	}
	if _, err := apihelpers.GetCRDStorageVersion(definition); err != nil {
		return field.Invalid(field.NewPath("spec", "versions"), "", "must have exactly one version marked as storage version")
	}
	if err := serveable(definition.Spec); err != nil {
		return err
	}
	definition.Spec.Conversion = &apiextensionsv1.CustomResourceConversion{Strategy: apiextensionsv1.NoneConverter}
	definition.Status.AcceptedNames = definition.Spec.Names
	definition.Status.Conditions = nil
	for _, condition := range []apiextensionsv1.CustomResourceDefinitionConditionType{
		apiextensionsv1.NamesAccepted, apiextensionsv1.Established,
	} {
		definition.Status.Conditions = append(definition.Status.Conditions, apiextensionsv1.CustomResourceDefinitionCondition{
			// The handler makes no objects until some time after that.
			Type: condition, Status: apiextensionsv1.ConditionTrue, LastTransitionTime: metav1.NewTime(time.Unix(0, 0)),
		})
	}
	return nil
}

// serveable is what a handler finds out about schemas when it is first asked for an object.
func serveable(spec apiextensionsv1.CustomResourceDefinitionSpec) error {
	for i, version := range spec.Versions {
		if version.Schema == nil || version.Schema.OpenAPIV3Schema == nil || spec.PreserveUnknownFields {
			continue
		}
		var internal apiextensions.JSONSchemaProps
		err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(version.Schema.OpenAPIV3Schema, &internal, nil)
		if err == nil {
			var served *structural.Structural
			if served, err = structural.NewStructural(&internal); err == nil {
				err = defaulting.PruneDefaults(served)
			}
		}
		if err != nil {
			return fmt.Errorf("%s: %w", field.NewPath("spec", "versions").Index(i).Child("schema", "openAPIV3Schema"), err)
		}
	}
	return nil
}

var _ crd.Check = Refused

// Refused says why an API server would not take a CustomResourceDefinition that is new to
// it. A field that it does not know is a fault: kubectl refuses it, and whoever creates
// the definition in another way loses it.
// What would take too long to check is not checked, see [mostWork].
func Refused(definition map[string]any) (faults []crd.Fault) {
	defer func() { // The code is made for definitions that an API server has bounded.
		if r := recover(); r != nil {
			faults = []crd.Fault{{Message: fmt.Sprintf("an API server cannot check it: %v", r)}}
		}
	}()
	if faults = misfits(definition); len(faults) > 0 {
		return faults // The others follow from them.
	}
	internal, err := definitionOf(definition)
	if err != nil {
		return []crd.Fault{{Message: err.Error()}}
	}
	if _, work := weigh(definition); work > mostWork {
		return nil
	}
	internal.Generation, internal.Status = 1, apiextensions.CustomResourceDefinitionStatus{} // As an API server sets them before it looks.
	for _, version := range internal.Spec.Versions {
		if version.Storage {
			internal.Status.StoredVersions = []string{version.Name}
			break
		}
	}
	ctx := context.Background() //nolint:forbidigo // Nothing is asked or waited for, and [mostWork] bounds it.
	for _, wrong := range validation.ValidateCustomResourceDefinition(ctx, internal) {
		if !strings.HasPrefix(wrong.Field, "status.") { // That is not the author's.
			faults = append(faults, faultOf(wrong, internal.Spec))
		}
	}
	return faults
}

// faultOf leaves out values that are no more than what stands at the place already.
func faultOf(wrong *field.Error, spec apiextensions.CustomResourceDefinitionSpec) crd.Fault {
	message := wrong.ErrorBody()
	switch wrong.BadValue.(type) {
	case nil, string, bool, int, int32, int64, float64:
	default:
		if message = wrong.Type.String(); wrong.Detail != "" {
			message += ": " + wrong.Detail
		}
	}
	codes := map[field.ErrorType]document.Code{
		field.ErrorTypeRequired:     document.CodeMissingField,
		field.ErrorTypeNotSupported: document.CodeNotInEnum,
		field.ErrorTypeTypeInvalid:  document.CodeTypeMismatch,
	}
	fault := crd.Fault{Path: asWritten(wrong.Field), Message: strings.ToLower(message[:1]) + message[1:], Code: codes[wrong.Type]}
	if wrong.Field == "metadata.name" {
		fault.Hint = "write " + spec.Names.Plural + "." + spec.Group
	}
	return fault
}

// asWritten undoes what reading does to a definition: what all versions have in common is
// kept as if it were said once for all of them.
func asWritten(path string) string {
	for shared, written := range map[string]string{
		"spec.validation":               "spec.versions[0].schema",
		"spec.subresources":             "spec.versions[0].subresources",
		"spec.additionalPrinterColumns": "spec.versions[0].additionalPrinterColumns",
		"spec.selectableFields":         "spec.versions[0].selectableFields",
		"spec.version":                  "spec.versions[0].name",
	} {
		if rest, ok := strings.CutPrefix(path, shared); ok && (rest == "" || rest[0] == '.' || rest[0] == '[') {
			return written + rest
		}
	}
	return path
}

// misfits finds the fields of a definition that its type does not have, and values of
// another kind than theirs. A strict decoder would not look into the schemas of the
// elements of lists and maps, and does not say in which of a list a mistake is.
func misfits(definition map[string]any) []crd.Fault {
	resource := apiextensionsv1.SchemeGroupVersion.WithResource("customresourcedefinitions")
	at := builtin.Source().Resource(resource).Type.Scoped(false)
	written := maps.Clone(definition)
	delete(written, "status") // Nobody takes over what an author says there.
	faults := misfit(at, written, "")
	for _, key := range []string{"spec", "versions", "", "schema", "openAPIV3Schema"} {
		if key == "" {
			at = at.Items()
			continue
		}
		below, _ := at.Field(key)
		at = below.Type
	}
	spec, _ := definition["spec"].(map[string]any)
	versions, _ := spec["versions"].([]any)
	for i, version := range versions {
		version, _ := version.(map[string]any)
		schema, _ := version["schema"].(map[string]any)
		faults = append(faults, misfitsBelow(at, schema["openAPIV3Schema"], fmt.Sprintf("spec.versions[%d].schema.openAPIV3Schema", i))...)
	}
	return faults
}

// misfit compares a value with a type.
func misfit(t *schema.Type, v any, path string) (faults []crd.Fault) {
	for _, wrong := range t.Validate(v, schema.Merged) {
		if wrong.Code != document.CodeUnknownField && wrong.Code != document.CodeTypeMismatch {
			continue // The API server's own code says more of them.
		}
		at := []byte(path)
		for _, step := range wrong.Path {
			if i, is := step.(int); is {
				at = fmt.Appendf(at, "[%d]", i)
			} else {
				at = fmt.Appendf(at, ".%s", step)
			}
		}
		faults = append(faults, crd.Fault{Path: strings.TrimPrefix(string(at), "."), Code: wrong.Code, Message: wrong.Message, Hint: wrong.Hint})
	}
	return faults
}

// misfitsBelow looks at the schemas in a schema that may also be something else, of which
// the type of definitions says nothing.
func misfitsBelow(t *schema.Type, v any, path string) (faults []crd.Fault) {
	fields, _ := v.(map[string]any)
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		below, at := fields[key], path+"."+key
		switch key {
		case "properties", "patternProperties", "definitions", "dependencies":
			named, _ := below.(map[string]any)
			for _, name := range slices.Sorted(maps.Keys(named)) {
				faults = append(faults, misfitsBelow(t, named[name], at+"["+name+"]")...)
			}
		case "allOf", "anyOf", "oneOf", "items", "additionalItems", "additionalProperties", "not":
			list, isList := below.([]any)
			if !isList {
				list = []any{below}
			}
			for i, below := range list {
				at := at
				if isList {
					at += fmt.Sprintf("[%d]", i)
				}
				if _, isMap := below.(map[string]any); isMap && (key == "items" || strings.HasPrefix(key, "additional")) {
					faults = append(faults, misfit(t, below, at)...)
				}
				faults = append(faults, misfitsBelow(t, below, at)...)
			}
		}
	}
	return faults
}

const (
	// mostWork bounds what checking a definition may cost, to a second or two: an API server
	// looks at all that is below a default or a validation rule for each of them, so that
	// what is nested costs far more than it is long. Of real definitions, those with the most
	// stay below a tenth of it.
	mostWork = 2_000_000
	// workOfRule is how many values could be looked at while a validation rule is compiled.
	workOfRule = 500
)

// weigh returns how many values there are, and how many are looked at.
func weigh(v any) (size, looked int) {
	size = 1
	add := func(below any) {
		s, l := weigh(below)
		size, looked = size+s, looked+l
	}
	switch v := v.(type) {
	case map[string]any:
		for _, below := range v {
			add(below)
		}
		if v["default"] != nil {
			looked += size
		}
		if rules, _ := v["x-kubernetes-validations"].([]any); len(rules) > 0 {
			looked += size + len(rules)*workOfRule
		}
	case []any:
		for _, below := range v {
			add(below)
		}
	}
	return size, looked
}
