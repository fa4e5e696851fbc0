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
			err:    `a.yaml:1:15: patch.json: a json patch must be a list of operations, have a map`,
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
		"Fails": {
			reason: "An expression fails at its place.",
			action: `patch: {merge: {spec: {a: "${1 + nil}"}}}`,
			err:    `a.yaml:1:34: patch.merge.spec.a: + wants a number, have nil; ?? gives a default, as in (x ?? 0)`,
		},
		"Each": {
			reason: "A list means each object of it, as it was read.",
			action: `patch: {target: pods, merge: {spec: {a: 1}}}`,
			others: twoPods,
			want: `
merge pods tidb/p-0 p0@10 {"spec":{"a":1}}
merge pods tidb/p-1 p1@11 {"spec":{"a":1}}
`,
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
		"StampMoved": {
			reason:  "It moves with what changes.",
			action:  `patch: {apply: {spec: {replicas: 3, at: "${stamp()}"}}}`,
			watched: replaced(watched, "replicas: 2", "replicas: 2, at: then"),
			want:    `apply tidbclusters tidb/basic u-1@7 release=Orphan {"spec":{"at":"2026-01-02T03:04:05Z","replicas":3}}`,
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

func TestPatchMistakes(t *testing.T) {
	mistakes{
		"Empty": {
			reason: "A patch has a body.",
			action: `patch: {}`,
			want:   `a.yaml:1:8: patch: a patch has one body, have 0; write merge (RFC 7386), json (RFC 6902) or apply (server-side apply)`,
		},
		"NoBody": {
			reason: "Fields of the object belong into a body.",
			action: `patch: {spec: {a: 1}}`,
			want:   `a.yaml:1:9: patch.spec: unknown field "spec"; put it into a body: merge: {spec: ...}`,
		},
		"Type": {
			reason: "The type is no field.",
			action: `patch: {type: json}`,
			want:   `a.yaml:1:9: patch.type: unknown field "type"; the type is the name of the body: json: ...`,
		},
		"TypeMerge": {
			reason: "Nor is another one.",
			action: `patch: {type: strategic}`,
			want:   `a.yaml:1:9: patch.type: unknown field "type"; the type is the name of the body: merge: {spec: ...}`,
		},
		"Strategic": {
			reason: "There is no strategic merge.",
			action: `patch: {strategicMerge: {spec: {a: 1}}}`,
			want:   `a.yaml:1:9: patch.strategicMerge: unknown field "strategicMerge"; write apply, which merges lists by their keys, or merge, which replaces them`,
		},
		"Kustomize": {
			reason: "Operations are called json.",
			action: `patch: {patchesJson6902: []}`,
			want:   `a.yaml:1:9: patch.patchesJson6902: unknown field "patchesJson6902"; write json: [{op: replace, path: /spec/replicas, value: 3}]`,
		},
		"Dots": {
			reason: "A pointer has slashes.",
			action: `patch: {json: [{op: remove, path: spec.a.b}]}`,
			want:   `a.yaml:1:16: patch.json[0]: path must be a JSON pointer such as /spec/replicas; write /spec/a/b`,
		},
		"Two": {
			reason: "One body.",
			action: `patch: {merge: {a: 1}, apply: {a: 1}}`,
			want:   `a.yaml:1:8: patch: a patch has one body, have 2; write merge (RFC 7386), json (RFC 6902) or apply (server-side apply)`,
		},
		"Unknown": {
			reason: "A field is misspelt.",
			action: `patch: {merge: {a: 1}, subresouce: status}`,
			want:   `a.yaml:1:24: patch.subresouce: unknown field "subresouce"; did you mean "subresource"?`,
		},
		"Force": {
			reason: "Only an apply has conflicts.",
			action: `patch: {merge: {a: 1}, force: true}`,
			want:   `a.yaml:1:31: patch.force: force is of apply only, not of merge; leave it out`,
		},
		"Release": {
			reason: "Only an apply owns fields.",
			action: `patch: {json: [{op: remove, path: /a}], release: Remove}`,
			want:   `a.yaml:1:50: patch.release: release is of apply only, which owns fields, not of json; leave it out`,
		},
		"Policy": {
			reason: "A policy is one of two.",
			action: `patch: {apply: {a: 1}, release: Keep}`,
			want:   `a.yaml:1:33: patch.release: "Keep" is not known here; write one of Orphan, Remove`,
		},
		"ForceType": {
			reason: "force is a boolean.",
			action: `patch: {apply: {a: 1}, force: 1}`,
			want:   `a.yaml:1:31: patch.force: want a boolean, have an integer; write true or false`,
		},
		"MergeList": {
			reason: "merge is a map.",
			action: `patch: {merge: [a]}`,
			want:   `a.yaml:1:16: patch.merge: the body of merge must be a map, have a list; write the fields, as in merge: {spec: {replicas: 3}}`,
		},
		"MergeText": {
			reason: "No text.",
			action: `patch: {merge: a}`,
			want:   `a.yaml:1:16: patch.merge: the body of merge must be a map, have a string; write the fields, as in merge: {spec: {replicas: 3}}`,
		},
		"JSONMap": {
			reason: "json is a list.",
			action: `patch: {json: {a: 1}}`,
			want:   `a.yaml:1:15: patch.json: the body of json must be a list, have a map; write operations, as in json: [{op: replace, path: /spec/replicas, value: 3}]`,
		},
		"Step": {
			reason: "Of steps.",
			action: `patch: {json: [{op: add, path: /a}]}`,
			want:   `a.yaml:1:16: patch.json[0]: "add" needs a value`,
		},
		"Forbidden": {
			reason: "Some fields are not for rules.",
			action: `patch: {apply: {metadata: {namespace: x}}}`,
			want:   `a.yaml:1:39: patch.apply.metadata.namespace: a rule may not write metadata.namespace; leave it out, target says which object it is`,
		},
		"Target": {
			reason: "A target is a name.",
			action: `patch: {target: object.spec, merge: {a: 1}}`,
			want:   `a.yaml:1:17: patch.target: there is no object "object.spec" to be a target; put the expression into let, and write its name here`,
		},
		"Expressions": {
			reason: "All mistakes of a body are told.",
			action: `patch: {merge: {a: "${x}", b: ["${1 +}"]}}`,
			want: `
a.yaml:1:23: patch.merge.a: unknown name "x"; a text needs quotes of its own; a key with - or / is written ["..."]
a.yaml:1:38: patch.merge.b[0]: the expression ends too early, after +
`,
		},
	}.run(t)
}
