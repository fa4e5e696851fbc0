package action_test

import "testing"

func TestPatch(t *testing.T) {
	tests := map[string]scenario{
		"Merge": {
			reason: "The watched object is the default; a null deletes.",
			action: `patch: {merge: {spec: {replicas: "${object.spec.replicas + 1}", paused: null}}}`,
			want:   `merge tidbclusters tidb/basic u-1@7 {"spec":{"paused":null,"replicas":3}}`,
		},
		"JSON": {
			reason: "Steps are sent as they are written.",
			action: `patch: {json: [{op: remove, path: /metadata/labels/env}, {op: add, path: /spec/a, value: null}]}`,
			want:   `json tidbclusters tidb/basic u-1@7 [{"op":"remove","path":"/metadata/labels/env"},{"op":"add","path":"/spec/a","value":null}]`,
		},
		"Apply": {
			reason: "What is applied has no nil leaves, and is orphaned when it is given up.",
			action: `patch: {apply: {spec: {a: null, b: {c: "${nil}"}, l: [{d: null}]}}}`,
			want:   `apply tidbclusters tidb/basic u-1@7 release=Orphan {"spec":{"b":{},"l":[{}]}}`,
		},
		"Forced": {
			reason: "Others lose their fields only if it says so; values may go with the ownership.",
			action: `patch: {apply: {spec: {a: 1}}, force: true, release: Remove}`,
			want:   `apply tidbclusters tidb/basic u-1@7 force release=Remove {"spec":{"a":1}}`,
		},
		"Subresource": {
			reason: "A subresource is a request of its own.",
			action: `patch: {merge: {status: {a: 1}}, subresource: status}`,
			want:   `merge tidbclusters tidb/basic u-1@7/status {"status":{"a":1}}`,
		},
		"Omitted": {
			reason: "A body that is omitted wants nothing.",
			action: `patch: {merge: "${omit()}"}`,
		},
		"Nil": {
			reason: "So does one that is nil.",
			action: `patch: {json: "${object.spec.none}"}`,
		},
		"NotAMap": {
			reason: "A body is a map,",
			action: `patch: {merge: "${three}"}`,
			err:    `a.yaml:1:16: patch.merge: the body of merge must be a map, have an integer`,
		},
		"NotAList": {
			reason: "or a list of steps,",
			action: `patch: {json: "${labels}"}`,
			err:    `a.yaml:1:15: patch.json: a json patch must be a list of operations`,
		},
		"BadStep": {
			reason: "each of which is one.",
			action: `patch: {json: "${[{'op': 'put'}]}"}`,
			err:    `a.yaml:1:15: patch.json: operation 0 of the json patch: op must be add, remove, replace, move, copy or test, have "put"`,
		},
		"Forbidden": {
			reason: "What says which object it is cannot be written.",
			action: `patch: {merge: "${ {'metadata': {'name': 'x'}} }"}`,
			err:    `a.yaml:1:16: patch.merge: a rule may not write metadata.name; leave it out, target says which object it is`,
		},
		"ForbiddenStep": {
			reason: "By no step.",
			action: `patch: {json: "${[{'op': 'remove', 'path': '/metadata/uid'}]}"}`,
			err:    `a.yaml:1:15: patch.json: a rule may not write metadata.uid; leave it out, the API server gives it`,
		},
		"StampNew": {
			reason: "A stamp where nothing is there yet is a change.",
			action: `patch: {merge: {metadata: {annotations: {at: "${stamp()}"}}}}`,
			want:   `merge tidbclusters tidb/basic u-1@7 {"metadata":{"annotations":{"at":"2026-01-02T03:04:05Z"}}}`,
		},
		"StampKept": {
			reason:  "One that is there stays while nothing beside it changes.",
			action:  `patch: {merge: {spec: {replicas: 2, at: "${stamp()}"}}}`,
			watched: replaced(watched, "replicas: 2", "replicas: 2, at: then"),
			want:    `merge tidbclusters tidb/basic u-1@7 {"spec":{"at":"then","replicas":2}}`,
		},
		"StampEach": {
			reason: "Each target keeps its own.",
			action: `patch: {target: pods, merge: {status: {at: "${stamp()}"}}}`,
			others: replaced(twoPods, "phase: Failed", "at: then"),
			want: `
merge pods tidb/p-0 p0@10 {"status":{"at":"then"}}
merge pods tidb/p-1 p1@11 {"status":{"at":"2026-01-02T03:04:05Z"}}
`,
		},
		"StampStep": {
			reason:  "The value of a step is stamped against what its path leads to.",
			action:  `patch: {json: [{op: add, path: /spec/at, value: "${stamp()}"}, {op: add, path: /spec/new, value: "${stamp()}"}]}`,
			watched: replaced(watched, "replicas: 2", "at: then"),
			want:    `json tidbclusters tidb/basic u-1@7 [{"op":"add","path":"/spec/at","value":"then"},{"op":"add","path":"/spec/new","value":"2026-01-02T03:04:05Z"}]`,
		},
		"StampApplied": {
			reason:  "In applied lists the elements of others are no change.",
			action:  `patch: {apply: {status: {conditions: [{type: B, status: "True", at: "${stamp()}"}]}}, subresource: status}`,
			watched: watched + `status: {conditions: [{type: A}, {type: B, status: "True", at: then}]}`,
			want:    `apply tidbclusters tidb/basic u-1@7/status release=Orphan {"status":{"conditions":[{"at":"then","status":"True","type":"B"}]}}`,
		},
		"StampMerged": {
			reason:  "Where lists are replaced they are.",
			action:  `patch: {merge: {status: {at: "${stamp()}", conditions: [{type: B}]}}}`,
			watched: watched + `status: {at: then, conditions: [{type: A}, {type: B}]}`,
			want:    `merge tidbclusters tidb/basic u-1@7 {"status":{"at":"2026-01-02T03:04:05Z","conditions":[{"type":"B"}]}}`,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) { tc.run(t) })
	}
}
