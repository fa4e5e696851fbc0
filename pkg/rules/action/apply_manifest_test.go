package action_test

import "testing"

// TestApplyUnknown holds that what a template decides is not judged before.
func TestApplyUnknown(t *testing.T) {
	f := newFixture(t)
	for _, text := range []string{
		`apply: {resource: configmaps, manifest: "${copy}"}`,
		`apply: {resource: configmaps, manifest: {metadata: "${copy.metadata}"}}`,
		`apply: {resource: configmaps, manifest: {metadata: {"${'name'}": x}}}`,
		`apply: {resource: configmaps, manifest: {"${'metadata'}": {name: x}}}`,
		`apply: {resource: configmaps, manifest: {apiVersion: "${'v2'}", metadata: {name: "${'/'}", namespace: "${'_'}", labels: "${labels}"}}}`,
	} {
		if _, errs := f.compile(t, text); len(errs) > 0 {
			t.Errorf("%s\n%s", text, errs.Render())
		}
	}
}
