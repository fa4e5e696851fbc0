package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// fieldsPolicy is a template of the chart: a ValidatingAdmissionPolicy that refuses a set with fields that its CRD does not have. The CRD
// itself keeps such fields for the controller to report, since the API server would else drop a misspelled `when`, and its own validation
// rules do not see them (KEP-2876).
const fieldsPolicy = `{{- /* Written by make generate, from deploy/crds. */ -}}
{{- if .Values.fieldsPolicy.enabled }}
{{- $name := include "dyncontroller.name" . }}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata:
  name: {{ $name }}-fields
spec:
  failurePolicy: Ignore # The controller reports what this does not find.
  matchConstraints:
    resourceRules:
    - {apiGroups: [dyncontroller.dev], apiVersions: [v1alpha1], operations: [CREATE, UPDATE], resources: [rulesets, clusterrulesets]}
  matchConditions:
  - name: changed # The finalizers and labels of a set from before this policy can still be written.
    expression: oldObject == null || object.spec != oldObject.spec
  variables:%s
  - name: unknown
    expression: >-
      %s
  validations:
  - expression: variables.unknown == ''
    messageExpression: "'unknown fields: ' + variables.unknown + '; dyncontroller validate tells what may be meant'"
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata:
  name: {{ $name }}-fields
spec:
  policyName: {{ $name }}-fields
  validationActions: [Deny]
{{- end }}
`

// schema is what is used of a structural schema.
type schema struct {
	Properties           map[string]*schema `json:"properties"`
	Items                *schema            `json:"items"`
	AdditionalProperties *schema            `json:"additionalProperties"`
}

// policy is the template with the fields of a RuleSet. Those of a ClusterRuleSet are the same.
func policy() (string, error) {
	data, err := os.ReadFile(filepath.Join(deploy, "crds", "rulesets.yaml"))
	if err != nil {
		return "", fmt.Errorf("reading the CRD: %w", err)
	}
	var crd struct {
		Spec struct {
			Versions []struct {
				Schema map[string]*schema `json:"schema"`
			} `json:"versions"`
		} `json:"spec"`
	}
	if err := yaml.Unmarshal(data, &crd); err != nil {
		return "", fmt.Errorf("reading the CRD: %w", err)
	}
	known := fieldNames{}
	expression := known.unknown(crd.Spec.Versions[0].Schema["openAPIV3Schema"].Properties["spec"], "object.spec", "spec", "'spec", 3)
	var variables strings.Builder
	for _, name := range slices.Sorted(maps.Keys(known)) {
		fmt.Fprintf(&variables, "\n  - name: %s\n    expression: \"['%s']\"", name, strings.Join(known[name], "', '"))
	}
	return fmt.Sprintf(fieldsPolicy, variables.String(), expression), nil
}

// fieldNames are the names of the fields of each kind of map, by the name of the variable that has them.
type fieldNames map[string][]string

// unknown is a CEL expression for the paths of the fields that a value has, and its schema does not, separated by commas. Path is a literal
// that is still open.
func (known fieldNames) unknown(s *schema, value, kind, path string, depth int) string {
	indent := "\n" + strings.Repeat("  ", depth+1)
	const joined = ".filter(t, t != '').join(', ')"
	element := fmt.Sprintf("v%d", depth-3)
	switch {
	case s == nil:
		return ""
	case len(s.Properties) > 0:
		known[kind] = slices.Sorted(maps.Keys(s.Properties))
		parts := []string{fmt.Sprintf("%s.filter(k, !(k in variables.%s)).map(k, %s.' + k).join(', ')", value, kind, path)}
		for _, name := range known[kind] {
			below := fmt.Sprintf("%s.%s", value, name)
			if part := known.unknown(s.Properties[name], below, name, path+"."+name, depth+1); part != "" {
				parts = append(parts, fmt.Sprintf("%s.?%s.orValue(null) == null ? '' : %s", value, name, part))
			}
		}
		if len(parts) == 1 {
			return parts[0]
		}
		return "[" + strings.Join(parts, ","+indent) + "]" + joined
	case s.Items != nil:
		path += "[]"
		if s.Items.Properties["name"] != nil {
			path = strings.TrimSuffix(path, "]") + "' + " + element + ".name + ']"
		}
		part := known.unknown(s.Items, element, kind, path, depth)
		if part != "" {
			return fmt.Sprintf("%s.map(%s, %s)%s", value, element, part, joined)
		}
	case s.AdditionalProperties != nil:
		part := known.unknown(s.AdditionalProperties, value+"["+element+"]", kind, path+".' + "+element+" + '", depth)
		if part != "" {
			return fmt.Sprintf("%s.map(%s, %s)%s", value, element, part, joined)
		}
	}
	return ""
}
