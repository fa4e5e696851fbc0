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
		request     plan.Type // default: of a merge patch
		absent      bool      // the request can only make the object
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
		"SecretFields": {
			reason: "Which field it is and what is wrong with it are told, without the values and what else the API server says of them.",
			target: "secrets",
			cause: apierrors.NewInvalid(kind, "s", field.ErrorList{
				field.Invalid(field.NewPath("type"), "hunter2", "field is immutable"), field.Invalid(path, "hunter2", "hunter2: field is immutable is no end of it"),
				field.TooLong(path, "", 5), field.Required(path, "hunter2"),
			}),
			want: "writing secrets ns/s: refused as Invalid (422): type: invalid value: field is immutable; data[password]: invalid value; data[password]: too long; data[password]: required value",
		},
		"SecretPatch": {
			reason: "A patch that cannot be decoded is repeated as a whole.",
			target: "secrets",
			cause:  apierrors.NewInvalid(kind, "s", field.ErrorList{field.Invalid(field.NewPath("patch"), "hunter2", `unknown field "hunter2"`)}),
			want:   "writing secrets ns/s: refused as Invalid (422): invalid value",
		},
		"Create": {
			reason:  "What was tried is said.",
			request: plan.Create, absent: true,
			cause: apierrors.NewAlreadyExists(resource, "s"),
			want:  `creating configmaps ns/s: configmaps "s" already exists`,
		},
		"CreateInvalid": {
			reason:  "A new object has values too.",
			request: plan.Create, absent: true,
			cause: apierrors.NewInvalid(kind, "s", field.ErrorList{field.Invalid(path, "hunter2", "too short")}),
			want:  "creating configmaps ns/s: refused: data[password]: invalid value: too short",
		},
		"CreateSecret": {
			reason:  "Of a new Secret nothing is repeated either.",
			target:  "secrets",
			request: plan.Create, absent: true,
			cause: apierrors.NewBadRequest(`illegal base64 data in "hunter2"`),
			want:  "creating secrets ns/s: refused as BadRequest (400)",
		},
		"ApplyNew": {
			reason:  "An apply to what is not there makes it.",
			request: plan.Apply, absent: true,
			cause: apierrors.NewConflict(resource, "s", errors.New("it is there")),
			want:  `creating configmaps ns/s: Operation cannot be fulfilled on configmaps "s": it is there`,
		},
		"Delete": {
			reason:  "So it is of a deletion.",
			request: plan.Delete,
			cause:   apierrors.NewForbidden(resource, "s", errors.New("no")),
			want:    `deleting configmaps ns/s: configmaps "s" is forbidden: no`,
		},
		"Network": {
			reason: "What is not an answer is repeated as it is.",
			cause:  errors.New("connection refused"),
			want:   "writing configmaps ns/s: connection refused",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			target := plan.Object{GVR: schema.GroupVersionResource{Version: "v1", Resource: cmp.Or(tc.target, "configmaps")}, Namespace: "ns", Name: "s", UID: "u"}
			if tc.absent {
				target.UID = ""
			}
			err := &Error{Request: Request{plan.Operation{Target: target, Subresource: tc.subresource, Type: cmp.Or(tc.request, plan.Merge)}}, cause: tc.cause}
			if got := err.Error(); got != tc.want {
				t.Errorf("%s\n got %s\nwant %s", tc.reason, got, tc.want)
			}
			if !errors.Is(err, tc.cause) {
				t.Error("the cause is hidden")
			}
		})
	}
}
