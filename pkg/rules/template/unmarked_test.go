package template_test

import (
	"strings"
	"testing"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
	"github.com/dyncontroller/dyncontroller/pkg/rules/template"
)

func TestUnmarked(t *testing.T) {
	scope := expression.NewScope("object", "rule", "params", "pods", "config", "web")
	tests := []struct {
		reason string
		text   string
		want   bool
	}{
		{"A field of the object.", `object.spec.replicas`, true},
		{"In brackets.", `object.metadata.labels["a"]`, true},
		{"Optional.", `object.spec?.a?.b`, true},
		{"A parameter.", `params.team`, true},
		{"In brackets, too.", `params["team"]`, true},
		{"With an operator.", `object.spec.replicas + 1`, true},
		{"With a default.", `object.spec.a ?? "b"`, true},
		{"In a function.", `upper(object.metadata.name)`, true},
		{"A related object.", `config.data.a`, true},
		{"The first of a list.", `pods[0].metadata.name`, true},
		{"The rule.", `rule.name`, true},
		{"In a condition.", `object.spec.a == "b" ? 1 : 2`, true},
		{"Behind something else.", `"a" + object.metadata.name`, true},
		{"A text with a template is one.", `${object.spec.a} object.spec.b`, false},
		{"A sentence is none.", `see object.spec of the docs`, false},
		{"Nor one with a dash.", `object.spec.a - the field`, false},
		{"A name alone may be a value.", `web`, false},
		{"So may two.", `web-config`, false},
		{"A host.", `params.example.com/x y`, false},
		{"A host that is a name.", `config.example.com`, false},
		{"A URL.", `https://params.example.com/object.spec`, false},
		{"A path of jq.", `.object.spec.a`, false},
		{"A command.", `jq .spec.a`, false},
		{"A name that the rule does not have.", `self.spec.replicas`, false},
		{"Another name of the rule.", `rule.name.example.com`, false},
		{"A longer name.", `my-object.spec.a`, false},
		{"Not an expression.", `object.spec.`, false},
		{"In quotes it is a text.", `"object.spec.a"`, false},
		{"Nothing.", ``, false},
		{"As in Helm.", `{{ object.spec.a }}`, true},
		{"As in a shell.", `$(object.spec.a)`, true},
		{"Half of the braces.", `{object.spec.a}`, true},
		{"Around a part of the text.", `a {{- params.team -}} b`, true},
		{"A value of Helm that is a parameter.", `{{ .Values.team }}`, true},
		{"The object of Kyverno.", `a-{{request.object.metadata.name}}`, true},
		{"And its namespace.", `{{ request.namespace }}`, true},
		{"What else Helm and Kyverno have is not for us.", `{{ .Release.Name }} {{ request.userInfo }}`, false},
		{"Nor a command of a shell.", `$(kubectl get pods)`, false},
		{"Nor JSON.", `{"object.spec.a": 1}`, false},
		{"Nor a part in single braces.", `a {object.spec.a} b`, false},
		{"What is in them has to be an expression.", `{{ object.spec. }}`, false},
		{"A text that is too long to be an oversight.", `object.spec.a + ` + strings.Repeat(`"x" + `, 50) + `"y"`, false},
	}
	for _, tc := range tests {
		if got := template.Unmarked(tc.text, scope, false); got != tc.want {
			t.Errorf("%s %s: %t, want %t", tc.reason, tc.text, got, tc.want)
		}
	}
	if template.Unmarked(`object.spec.a`, nil, true) {
		t.Error("without a scope nothing is an expression")
	}
}

// TestUnmarkedWrong is about texts that are wrong anyhow, of which less is enough.
func TestUnmarkedWrong(t *testing.T) {
	scope := expression.NewScope("object", "web", "config")
	tests := []struct {
		reason string
		text   string
		want   bool
	}{
		{"A name.", `web`, true},
		{"A function of one.", `len(web)`, true},
		{"Something that has no name.", `3 + 4`, false},
		{"A word.", `three`, false},
		{"A template.", `${web}`, false},
	}
	for _, tc := range tests {
		if got := template.Unmarked(tc.text, scope, true); got != tc.want {
			t.Errorf("%s %s: %t, want %t", tc.reason, tc.text, got, tc.want)
		}
	}
}

func TestMarked(t *testing.T) {
	for text, want := range map[string]string{
		`object.spec.a`:       `"${object.spec.a}"`,
		`{{ object.spec.a }}`: `"${object.spec.a}"`,
		`{{request.object.a}}-{{ request.namespace }}-{{ .Values.b }}`: `"${object.a}-${object.metadata.namespace}-${params.b}"`,
		`$(object.spec.a)-b`:    `"${object.spec.a}-b"`,
		`object.spec.a ?? "b"`:  `'${object.spec.a ?? "b"}'`,
		`object.spec.a ?? 'it'`: `"${object.spec.a ?? 'it'}"`,
	} {
		if got := template.Marked(text); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}
