package v1alpha1_test

import (
	"path"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"

	"github.com/dyncontroller/dyncontroller/pkg/api/v1alpha1"
	"github.com/dyncontroller/dyncontroller/pkg/rules/spec"
)

// TestDefinitionsAreValid asks the API server's own validation: the schemas are
// structural, and the expressions in them compile and are cheap enough.
func TestDefinitionsAreValid(t *testing.T) {
	for _, definition := range kinds(t) {
		apiextensionsv1.SetDefaults_CustomResourceDefinition(definition)
		apiextensionsv1.SetDefaults_CustomResourceDefinitionSpec(&definition.Spec)
		var internal apiextensions.CustomResourceDefinition
		if err := apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(definition, &internal, nil); err != nil {
			t.Fatal(err)
		}
		internal.Status.StoredVersions = []string{v1alpha1.Version}
		for _, wrong := range validation.ValidateCustomResourceDefinition(t.Context(), &internal) {
			t.Errorf("%s: %v", definition.Name, wrong)
		}
	}
}

// TestDefinitionsAreNamedByThePackage says that what the program asks for is what the
// definitions serve.
func TestDefinitionsAreNamedByThePackage(t *testing.T) {
	for gvr, definition := range kinds(t) {
		s := definition.Spec
		served := s.Versions[0]
		got := []string{s.Names.Plural, s.Group, served.Name}
		if diff := cmp.Diff([]string{gvr.Resource, gvr.Group, gvr.Version}, got); diff != "" || len(s.Versions) != 1 {
			t.Errorf("%s (-want +got):\n%s", definition.Name, diff)
		}
		if served.Subresources == nil || served.Subresources.Status == nil || !served.Served || !served.Storage {
			t.Errorf("%s is not served with a status", definition.Name)
		}
	}
	if api := v1alpha1.Group + "/" + v1alpha1.Version; api != spec.APIVersion {
		t.Errorf("the API is %s, and the language %s", api, spec.APIVersion)
	}
	all := kinds(t)
	for kind, definition := range map[string]*apiextensionsv1.CustomResourceDefinition{
		spec.KindRuleSet: all[v1alpha1.RuleSets()], spec.KindClusterRuleSet: all[v1alpha1.ClusterRuleSets()],
	} {
		namespaced := definition.Spec.Scope == apiextensionsv1.NamespaceScoped
		if definition.Spec.Names.Kind != kind || namespaced != (kind == spec.KindRuleSet) {
			t.Errorf("%s is of kind %s and scope %s", definition.Name, definition.Spec.Names.Kind, definition.Spec.Scope)
		}
	}
}

// TestColumns holds what kubectl get shows.
func TestColumns(t *testing.T) {
	want := map[string][]string{
		"rulesets":        {"Ready", "Reason", "Rules", "Matched", "Errors", "Age", "Account 1", "Message 1"},
		"clusterrulesets": {"Ready", "Reason", "Rules", "Matched", "Errors", "Age", "Account 1", "Account Namespace 1", "Message 1"},
	}
	for gvr, definition := range kinds(t) {
		var got []string
		for _, column := range definition.Spec.Versions[0].AdditionalPrinterColumns {
			name := column.Name
			if column.Priority > 0 {
				name += " 1"
			}
			got = append(got, name)
		}
		if diff := cmp.Diff(want[gvr.Resource], got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", gvr.Resource, diff)
		}
	}
}

// TestSchemaKeepsAll says that below a set nothing is pruned, for what is dropped without
// a word changes what rules mean, that nothing is added, and that every list says what it
// is for server-side apply.
func TestSchemaKeepsAll(t *testing.T) {
	for gvr, definition := range kinds(t) {
		s := definition.Spec.Versions[0].Schema.OpenAPIV3Schema
		if keeps := s.XPreserveUnknownFields; keeps == nil || !*keeps {
			t.Errorf("%s: unknown fields beside spec are dropped", gvr.Resource)
		}
		below := s.Properties["spec"]
		visited := visit(t, gvr.Resource+".spec", &below, func(place string, s *apiextensionsv1.JSONSchemaProps) {
			keeps := s.XPreserveUnknownFields != nil && *s.XPreserveUnknownFields
			free := s.AdditionalProperties != nil
			if (s.Type == "" || s.Type == "object") && !keeps && !free {
				t.Errorf("%s: unknown fields are dropped", place)
			}
			for name, property := range s.Properties {
				if !property.Nullable && !slices.Contains(s.Required, name) {
					t.Errorf("%s.%s: null is dropped", place, name)
				}
			}
		})
		if visited < 40 {
			t.Errorf("%s: visited only %d places", gvr.Resource, visited)
		}
		status := s.Properties["status"]
		visit(t, gvr.Resource+".status", &status, func(place string, s *apiextensionsv1.JSONSchemaProps) {
			if s.XPreserveUnknownFields != nil {
				t.Errorf("%s: it is ours, and all of it is known", place)
			}
		})
	}
}

// visit looks at a schema and all below it, and counts them.
func visit(t *testing.T, place string, s *apiextensionsv1.JSONSchemaProps, check func(string, *apiextensionsv1.JSONSchemaProps)) int {
	t.Helper()
	check(place, s)
	if s.Default != nil {
		t.Errorf("%s: it has a default", place)
	}
	if s.Description == "" && s.Type != "string" && path.Base(place) != "*" && path.Ext(place) != ".*" {
		t.Errorf("%s: nothing says what it is", place)
	}
	count := 1
	for name, property := range s.Properties {
		if property.Description == "" {
			t.Errorf("%s.%s: nothing says what it is", place, name)
		}
		count += visit(t, place+"."+name, &property, check)
	}
	if s.Items != nil {
		if s.XListType == nil {
			t.Errorf("%s: it does not say what kind of list it is", place)
		}
		count += visit(t, place+".*", s.Items.Schema, check)
	}
	if s.AdditionalProperties != nil {
		count += visit(t, place+".*", s.AdditionalProperties.Schema, check)
	}
	return count
}

// TestListTypes holds which lists are merged, by which key, and which are taken as a whole.
func TestListTypes(t *testing.T) {
	want := map[string]string{
		"spec.resources.*.namespaces": "atomic", "spec.rules": "map name", "spec.rules.*.actions": "atomic",
		"spec.rules.*.onDelete.actions": "atomic", "status.conditions": "map type", "status.inventory": "atomic",
		"spec.rules.*.rollout.waves": "atomic",
		"status.paused":              "map rule", "status.counted": "atomic",
		"status.rollouts": "map rule",
		"status.rules":    "map name", "status.rules.*.missing": "atomic",
	}
	for gvr, definition := range kinds(t) {
		got := map[string]string{}
		for _, field := range []string{"spec", "status"} {
			below := definition.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties[field]
			visit(t, field, &below, func(place string, s *apiextensionsv1.JSONSchemaProps) {
				if s.XListType == nil {
					return
				}
				got[place] = *s.XListType
				for _, key := range s.XListMapKeys {
					got[place] += " " + key
				}
			})
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", gvr.Resource, diff)
		}
	}
}
