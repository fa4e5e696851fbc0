package apiserver

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema/crd"
)

var _ crd.Check = Refused

// Refused says why an API server would not take a CustomResourceDefinition that is new to
// it. A field that it does not know is a fault: kubectl refuses it, and whoever creates
// the definition in another way loses it. A definition of v1beta1 is not looked at: no
// API server takes that any more, and those that did took more than is taken now.
// What would take too long to check is not checked, see [mostWork].
func Refused(definition map[string]any) (faults []crd.Fault) {
	defer func() { // The code is made for definitions that an API server has bounded.
		if r := recover(); r != nil {
			faults = []crd.Fault{{Message: oneFault(r)}}
		}
	}()
	if definition["apiVersion"] != apiextensionsv1.SchemeGroupVersion.String() {
		return nil
	}
	if faults = misfits(definition); len(faults) > 0 {
		return faults // The others follow from them.
	}
	internal, err := definitionOf(definition)
	if err != nil {
		return []crd.Fault{{Message: err.Error()}}
	}
	if work(definition) > mostWork {
		return nil
	}
	asCreated(internal)
	ctx := context.Background() //nolint:forbidigo // Nothing is asked or waited for, and [work] bounds it.
	for _, wrong := range validation.ValidateCustomResourceDefinition(ctx, internal) {
		if !strings.HasPrefix(wrong.Field, "status.") { // That is not the author's.
			faults = append(faults, faultOf(wrong, internal.Spec))
		}
	}
	return faults
}

func oneFault(panicked any) string { return fmt.Sprintf("an API server cannot check it: %v", panicked) }

// asCreated gives a definition the status that an API server gives it before it looks.
func asCreated(definition *apiextensions.CustomResourceDefinition) {
	definition.Status = apiextensions.CustomResourceDefinitionStatus{}
	definition.Generation = 1
	for _, version := range definition.Spec.Versions {
		if version.Storage {
			definition.Status.StoredVersions = []string{version.Name}
			return
		}
	}
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
	fault := crd.Fault{Path: asWritten(wrong.Field), Message: lowerFirst(message), Code: codes[wrong.Type]}
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

func lowerFirst(text string) string {
	if text == "" {
		return text
	}
	return strings.ToLower(text[:1]) + text[1:]
}
