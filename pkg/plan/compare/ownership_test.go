package compare_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/plan/compare"
)

// TestWithOwnership holds what is told in words, and that what a rule writes itself stays.
func TestWithOwnership(t *testing.T) {
	t.Parallel()
	const ours = `dyncontroller.dev/owner-uid: u1, dyncontroller.dev/rule: r, dyncontroller.dev/set: s`
	tests := map[string]struct{ reason, before, after, want string }{
		"Child": {
			"A new child.", "{}", `{metadata: {name: a, labels: {app: x, ` + ours + `}, ownerReferences: [{kind: Pod, uid: u1}]}}`,
			"metadata:\n  labels:\n    app: x\n  name: a\n  # ownership (labels and ownerReferences)\n",
		},
		"Unowned": {"One without an owner.", "{}", `{metadata: {labels: {` + ours + `}}}`, "metadata:\n  # ownership (labels)\n"},
		"Adopted": {
			"One that was there keeps its labels.", "{metadata: {labels: {app: x}}}", `{metadata: {labels: {app: x, ` + ours + `}}}`,
			"metadata:\n  labels:\n    app: x\n  # ownership (labels)\n",
		},
		"Other owner": {
			"An owner that is not the watched object is told.", "{}", `{metadata: {labels: {` + ours + `}, ownerReferences: [{uid: u2}]}}`,
			"metadata:\n  ownerReferences:\n  - uid: u2\n  # ownership (labels)\n",
		},
		"More owners": {
			"So are several.", "{}", `{metadata: {labels: {` + ours + `}, ownerReferences: [{uid: u1}, {uid: u2}]}}`,
			"metadata:\n  ownerReferences:\n  - uid: u1\n  - uid: u2\n  # ownership (labels)\n",
		},
		"Moved": {
			"A child that another rule takes over shows which.", `{metadata: {labels: {dyncontroller.dev/rule: q}}}`, `{metadata: {labels: {dyncontroller.dev/rule: r}}}`,
			"metadata:\n  labels:\n    dyncontroller.dev/rule: r\n",
		},
		"None": {"What is no child stays.", "{}", `{metadata: {ownerReferences: [{uid: u1}]}}`, "metadata:\n  ownerReferences:\n  - uid: u1\n"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before, _ := parsed(t, test.before).(map[string]any)
			after, _ := parsed(t, test.after).(map[string]any)
			got, err := compare.YAML(compare.WithOwnership(before, after))
			if diff := cmp.Diff(test.want, string(got)); err != nil || diff != "" {
				t.Errorf("%s %v (-want +got):\n%s", test.reason, err, diff)
			}
		})
	}
}
