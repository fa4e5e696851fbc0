package write_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// TestRemovedVersion holds that an apply gets through though entries of managedFields name a version that the CRD has no more: they
// get the version of the apply. A dry run, in which they do not, and an object without such an entry end with the refusal.
func TestRemovedVersion(t *testing.T) {
	stored := func(version, entries string) string {
		return widget(`"uid":"u","resourceVersion":"` + version + `","managedFields":[` + entries + `]`)
	}
	const (
		invalid = `{"kind":"Status","apiVersion":"v1","status":"Failure","code":500,"message":"request to convert CR to an invalid group/version: example.com/v1beta1"}`
		apply   = "PATCH " + one + "?fieldManager=ours&fieldValidation=Strict&force=false"
		old     = `{"apiVersion":"example.com/v1beta1","manager":"ours","operation":"Apply"},{"apiVersion":"example.com/v1beta1","manager":"theirs","operation":"Update"}`
		moved   = `{"apiVersion":"example.com/v1","manager":"ours","operation":"Apply"},{"apiVersion":"example.com/v1","manager":"theirs","operation":"Update"}`
		move    = `[{"op":"replace","path":"/metadata/resourceVersion","value":"7"},{"op":"replace","path":"/metadata/uid","value":"u"},` +
			`{"op":"replace","path":"/metadata/managedFields","value":[` + moved + `]}]`
	)
	refused := []exchange{{request: apply, code: 500, answer: invalid}, {request: "GET " + one, answer: stored("7", old)}}
	operation := plan.Operation{Type: plan.Apply, Target: target, Manager: "ours", Body: map[string]any{"spec": map[string]any{"b": int64(1)}}}
	tests := map[string]struct {
		reason string
		script []exchange
		want   write.Class
		echo   *write.Echo
	}{
		"Moved": {
			"All entries are moved, since each of them would refuse the apply.",
			append(refused[:2:2], exchange{request: "GET " + one, answer: stored("7", old)},
				exchange{request: "PATCH " + one + how, body: move, answer: stored("8", moved)}, exchange{request: apply, answer: stored("9", moved)}),
			write.Written, &write.Echo{Object: at("9")},
		},
		"Nobody": {
			"What is not named cannot be moved.",
			append(refused[:1:1], exchange{request: "GET " + one, answer: stored("7", moved)}, exchange{request: "GET " + one, answer: stored("7", moved)}), write.Terminal, nil,
		},
		"Changed": {
			"Somebody has written the object since.",
			append(refused[:1:1], exchange{request: "GET " + one, answer: stored("8", old)}, exchange{request: "GET " + one, answer: stored("8", old)}),
			write.Stale, &write.Echo{Object: at("8")},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			result := serve(t, write.NewClient, tc.script...).Write(t.Context(), operation)
			if result.Class != tc.want {
				t.Errorf("%s got %q, want %q: %v", tc.reason, result.Class, tc.want, result.Err)
			}
			if diff := cmp.Diff(tc.echo, result.Echo); diff != "" {
				t.Errorf("%s echo (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
