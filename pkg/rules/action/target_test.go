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
		"EmptyList": {
			reason: "An empty list.",
			action: `patch: {target: pods` + patched,
		},
		"Filtered": {
			reason: "filter hands on its elements.",
			action: `patch: {target: failed` + patched,
			others: twoPods,
			want:   `merge pods tidb/p-0 p0@10 {"spec":{"a":1}}`,
		},
		"Found": {
			reason: "So does find.",
			action: `patch: {target: first` + patched,
			others: twoPods,
			want:   `merge pods tidb/p-0 p0@10 {"spec":{"a":1}}`,
		},
		"NotFound": {
			reason: "Which may find nothing.",
			action: `patch: {target: first` + patched,
		},
		"Sorted": {
			reason: "So do sortBy and take.",
			action: `patch: {target: sorted` + patched,
			others: twoPods,
			want:   `merge pods tidb/p-1 p1@11 {"spec":{"a":1}}`,
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
		"Scalar": {
			reason: "A number is no object.",
			action: `patch: {target: three` + patched,
			err:    `a.yaml:1:17: patch.target: three is not an object that was read, but an integer; a target comes from with as it is, or through filter, find, sortBy or take; merge and new maps do not keep which object it was`,
		},
		"Texts": {
			reason: "Nor is a name.",
			action: `patch: {target: names` + patched,
			err:    `a.yaml:1:17: patch.target: names is not an object that was read, but a string; a target comes from with as it is, or through filter, find, sortBy or take; merge and new maps do not keep which object it was`,
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

func TestTargetMistakes(t *testing.T) {
	mistakes{
		"Near": {
			reason: "A name is misspelt.",
			action: `delete: {target: podz}`,
			want:   `a.yaml:1:18: delete.target: there is no object "podz" to be a target; did you mean "pods"?`,
		},
		"Far": {
			reason: "A name is unknown.",
			action: `delete: {target: zebra}`,
			want:   `a.yaml:1:18: delete.target: there is no object "zebra" to be a target; write object, or a name of with, forEach or let`,
		},
		"Template": {
			reason: "A target is no template.",
			action: `delete: {target: "${pods}"}`,
			want:   `a.yaml:1:18: delete.target: target is a bare name, not a template; write target: pods; give a longer expression a name with let`,
		},
		"Expression": {
			reason: "Nor an expression.",
			action: `delete: {target: "filter(pods, true)"}`,
			want:   `a.yaml:1:18: delete.target: there is no object "filter(pods, true)" to be a target; put the expression into let, and write its name here`,
		},
		"Params": {
			reason: "params are no objects.",
			action: `delete: {target: params}`,
			want:   `a.yaml:1:18: delete.target: there is no object "params" to be a target; write object, or a name of with, forEach or let`,
		},
		"Rule": {
			reason: "Nor is the rule.",
			action: `delete: {target: rule}`,
			want:   `a.yaml:1:18: delete.target: there is no object "rule" to be a target; write object, or a name of with, forEach or let`,
		},
		"Index": {
			reason: "Nor a position.",
			action: "forEach: {pod: '${pods}'}\ndelete: {target: index}",
			want:   `a.yaml:2:18: delete.target: there is no object "index" to be a target; write object, or a name of with, forEach or let`,
		},
		"Type": {
			reason: "A name is a string.",
			action: `delete: {target: [pods]}`,
			want:   `a.yaml:1:18: delete.target: want a string, have a list; write text`,
		},
		"Null": {
			reason: "It is not null.",
			action: `delete: {target: null}`,
			want:   `a.yaml:1:18: delete.target: want a string, have no value; give it a value or remove it`,
		},
	}.run(t)
}
