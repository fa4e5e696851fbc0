package apiserver

import (
	"fmt"
	"time"

	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// established is when the definitions have been there since: the handler waits for a
// while after that before it makes objects of theirs.
func established() metav1.Time { return metav1.NewTime(time.Unix(0, 0)) }

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
			Type: condition, Status: apiextensionsv1.ConditionTrue, LastTransitionTime: established(),
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
		at := field.NewPath("spec", "versions").Index(i).Child("schema", "openAPIV3Schema")
		var internal apiextensions.JSONSchemaProps
		err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(version.Schema.OpenAPIV3Schema, &internal, nil)
		if err != nil {
			return fmt.Errorf("%s: %w", at, err)
		}
		structural, err := schema.NewStructural(&internal)
		if err != nil {
			return fmt.Errorf("%s: %w", at, err)
		}
		if err := defaulting.PruneDefaults(structural.DeepCopy()); err != nil {
			return fmt.Errorf("%s: %w", at, err)
		}
	}
	return nil
}
