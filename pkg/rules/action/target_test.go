package action_test

import "testing"

func TestTargets(t *testing.T) {
	const patched = `, merge: {spec: {a: 1}}}`
	const config = `
---
apiVersion: v1
kind: ConfigMap
metadata: {name: basic-config, namespace: tidb, uid: c-9, resourceVersion: "5"}
`
	tests := map[string]scenario{
		"Object": {
			reason: "The watched object by name.",
			action: `patch: {target: object` + patched,
			want:   `merge tidbclusters tidb/basic u-1@7 {"spec":{"a":1}}`,
		},
		"One": {
			reason: "An object of with.",
			action: `patch: {target: config` + patched,
			others: config,
			want:   `merge configmaps tidb/basic-config c-9@5 {"spec":{"a":1}}`,
		},
		"Nil": {
			reason: "One that is not there.",
			action: `patch: {target: config` + patched,
		},
		"List": {
			reason: "A list of with, in its order.",
			action: `patch: {target: pods` + patched,
			others: twoPods,
			want: `
merge pods tidb/p-0 p0@10 {"spec":{"a":1}}
merge pods tidb/p-1 p1@11 {"spec":{"a":1}}
`,
		},
		"Filtered": {
			reason: "filter hands on its elements.",
			action: `patch: {target: failed` + patched,
			others: twoPods,
			want:   `merge pods tidb/p-0 p0@10 {"spec":{"a":1}}`,
		},
		"Mixed": {
			reason: "Objects of several kinds can be one list; nil in it is skipped.",
			action: `patch: {target: mixed` + patched,
			others: config,
			want: `
merge tidbclusters tidb/basic u-1@7 {"spec":{"a":1}}
merge configmaps tidb/basic-config c-9@5 {"spec":{"a":1}}
`,
		},
		"Copied": {
			reason: "merge makes a map of which nobody knows where it is from.",
			action: `patch: {target: copy` + patched,
			others: config,
			err:    `a.yaml:1:17: patch.target: copy is not an object that was read, but a map; a target comes from with as it is, or through filter, find, sortBy or take; merge and new maps do not keep which object it was`,
		},
		"Element": {
			reason: "The element of forEach is one.",
			action: "forEach: {pod: '${pods}'}\npatch: {target: pod" + patched,
			others: twoPods,
			want: `
merge pods tidb/p-0 p0@10 {"spec":{"a":1}}
merge pods tidb/p-1 p1@11 {"spec":{"a":1}}
`,
		},
		"NewElement": {
			reason: "Unless it was built.",
			action: "forEach: {pod: '${map(pods, {{name: .metadata.name}})}'}\npatch: {target: pod" + patched,
			others: twoPods,
			err:    `a.yaml:2:17: patch.target: pod is not an object that was read, but a map; a target comes from with as it is, or through filter, find, sortBy or take; merge and new maps do not keep which object it was`,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) { tc.run(t) })
	}
}
