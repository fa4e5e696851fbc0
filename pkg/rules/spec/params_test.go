package spec_test

import (
	"strings"
	"testing"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/spec"
)

// TestParamWithDot holds that a parameter which no --param could replace is refused,
// since the override would be taken and do nothing.
func TestParamWithDot(t *testing.T) {
	const text = `apiVersion: dyncontroller.dev/v1alpha1
kind: ClusterRuleSet
metadata: {name: set}
spec:
  params: {a.b: 1}
  resources: {pods: {version: v1, resource: pods}}
  rules: [{name: r, watch: pods, actions: [{delete: {}}]}]
`
	_, errs := spec.Parse([]document.File{{Name: "f", Data: []byte(text)}}, "")
	if len(errs) != 1 || !strings.Contains(errs[0].Error(), "f:5:12") {
		t.Errorf("got %v", errs)
	}
}
