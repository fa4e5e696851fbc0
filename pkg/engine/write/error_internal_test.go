package write

import (
	"cmp"
	"errors"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

func TestErrorRepeatsNoValues(t *testing.T) {
	kind := schema.GroupKind{Kind: "ConfigMap"}
	path := field.NewPath("data").Key("password")
	resource := schema.GroupResource{Resource: "configmaps"}
	tests := map[string]struct {
		reason      string
		target      string // default: configmaps
		subresource string
		cause       error
		want        string
	}{
		"String": {
			reason: "A quoted value is cut, whatever is in it.",
			cause:  apierrors.NewInvalid(kind, "s", field.ErrorList{field.Invalid(path, `hunter2": "x`, "must be short: really")}),
			want:   "writing configmaps ns/s: refused: data[password]: invalid value: must be short: really",
		},
		"Map": {
			reason: "So is an object.",
			cause:  apierrors.NewInvalid(kind, "s", field.ErrorList{field.Invalid(path, map[string]any{"p": "hunter2"}, "must be a string")}),
			want:   "writing configmaps ns/s: refused: data[password]: invalid value: must be a string",
		},
		"WholeObject": {
			reason: "Strict decoding repeats the whole object; its path says nothing.",
			cause:  apierrors.NewInvalid(kind, "s", field.ErrorList{field.Invalid(field.NewPath("patch"), `{"data":"hunter2"}`, `unknown field "x"`)}),
			want:   `writing configmaps ns/s: refused: invalid value: unknown field "x"`,
		},
		"Several": {
			reason: "All causes are told.",
			cause:  apierrors.NewInvalid(kind, "s", field.ErrorList{field.Invalid(path, 5, "too large"), field.Required(path, "give one")}),
			want:   "writing configmaps ns/s: refused: data[password]: invalid value: too large; data[password]: Required value: give one",
		},
		"NoSubresource": {
			reason:      "A custom resource without the subresource answers as if the object were missing.",
			subresource: "status",
			cause:       apierrors.NewNotFound(resource, "s"),
			want:        `writing status of configmaps ns/s: configmaps "s" not found (or it has no subresource "status")`,
		},
		"Unsupported": {
			reason: "Other messages repeat values too.",
			cause:  apierrors.NewInvalid(kind, "s", field.ErrorList{field.NotSupported(path, "hunter2", []string{"a"})}),
			want:   `writing configmaps ns/s: refused: data[password]: unsupported value: supported values: "a"`,
		},
		"Secret": {
			reason: "Of a Secret nothing is repeated.",
			target: "secrets",
			cause:  apierrors.NewInternalError(errors.New("hunter2")),
			want:   "writing secrets ns/s: refused as InternalError (500)",
		},
		"Network": {
			reason: "What is not an answer is repeated as it is.",
			cause:  errors.New("connection refused"),
			want:   "writing configmaps ns/s: connection refused",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			target := plan.Object{GVR: schema.GroupVersionResource{Version: "v1", Resource: cmp.Or(tc.target, "configmaps")}, Namespace: "ns", Name: "s"}
			err := &Error{Request: Request{Target: target, Subresource: tc.subresource}, cause: tc.cause}
			if got := err.Error(); got != tc.want {
				t.Errorf("%s\n got %s\nwant %s", tc.reason, got, tc.want)
			}
			if !errors.Is(err, tc.cause) {
				t.Error("the cause is hidden")
			}
		})
	}
}
