package action_test

import "testing"

func TestCheckPatch(t *testing.T) {
	typedCases{
		"Merge":   {"Some fields.", `{patch: {merge: {spec: {replicas: 3}, metadata: {labels: {a: b}}}}}`, ""},
		"Unknown": {"A field that is not there.", `{patch: {merge: {spec: {replcas: 3}}}}`, `unknown-field patch.merge.spec.replcas: unknown field "replcas"; did you mean "replicas"?`},
		"JSON":    {"By a pointer.", `{patch: {json: [{op: add, path: /spec/replcas, value: 3}]}}`, `unknown-field patch.json[0].path: unknown field "replcas"; did you mean "replicas"?`},
		"Apply":   {"Applied.", `{patch: {apply: {spec: {replicas: "${object.spec.class}"}}}}`, `type-mismatch patch.apply.spec.replicas: want an integer, have a string; `},
		"Status":  {"Through the subresource.", `{patch: {subresource: status, merge: {status: {phase: Ready}}}}`, ""},
		"Scale":   {"Through another.", `{patch: {subresource: scale, merge: {spec: {replicas: 3}}}}`, ""},
		"ScaleOther": {
			"Which has only some fields.", `{patch: {subresource: scale, merge: {spec: {class: mesh}}}}`,
			`unknown-field patch.merge.spec.class: unknown field "class"; the only field here is replicas`,
		},
		"NoSubresource": {"One that there is not.", `{patch: {subresource: statuses, merge: {status: {phase: Ready}}}}`, `subresource patch.subresource: gateways have no subresource "statuses"; leave subresource out, or write one that there is: scale, status`},
		"Ignored": {
			"The status is not written with the rest.", `{patch: {merge: {spec: {replicas: 3}, status: {phase: Ready}}}}`,
			`subresource patch.merge.status: the API server ignores status here, which gateways have as a subresource; add subresource: status`,
		},
		"IgnoredJSON": {
			"By a pointer, too.", `{patch: {json: [{op: test, path: /status/phase, value: Ready}, {op: remove, path: /status/phase}]}}`,
			`subresource patch.json[1].path: the API server ignores status here, which gateways have as a subresource; add subresource: status`,
		},
		"IgnoredSpec": {
			"Nor is the rest with the status.", `{patch: {subresource: status, merge: {spec: {replicas: 3}, status: {phase: Ready}}}}`,
			`subresource patch.merge.spec: the API server ignores spec in a patch of status; make it a patch of its own, without subresource`,
		},
		"IgnoredMetadata": {
			"Nor are annotations of a custom resource.", `{patch: {subresource: status, merge: {metadata: {annotations: {a: b}}, status: {phase: Ready}}}}`,
			`subresource patch.merge.metadata: the API server ignores metadata in a patch of the status of a custom resource; make it a patch of its own, without subresource`,
		},
		"StatusOfPod": {"Kinds of Kubernetes decide for themselves.", `{patch: {target: pods, subresource: status, merge: {metadata: {annotations: {a: b}}}}}`, ""},
		"Part":        {"A part of an object is none.", `{forEach: {l: "${object.spec.listeners}"}, patch: {target: l, merge: {a: 1}}}`, `type-mismatch patch.target: l is no object that was read, but a part of one, or a new map; a target comes from with as it is, or through filter, find, sortBy or take`},
		"ForEachMap":  {"A map is no list, though it may be absent.", `{forEach: {l: "${object.spec.limits}"}, patch: {merge: {spec: {replicas: 1}}}}`, `type-mismatch forEach.l: forEach wants a list, have a map; write a list, such as "${pods}" or "${keys(object.metadata.labels)}"`},
		"Computed":    {"What a template gives is compared as far as it is known.", `{patch: {merge: "${ {'spec': {'replicas': 'a'}} }"}}`, `type-mismatch patch.merge: spec.replicas: want an integer, have a string; `},
		"Untyped":     {"Nothing is known of the object.", `{patch: {target: thing, subresource: anything, merge: {status: {x: 1}}}}`, ""},
	}.run(t, gateways)
}

// TestCheckPatchOfUntyped is about a watched object of which nothing is known.
func TestCheckPatchOfUntyped(t *testing.T) {
	typedCases{
		"Any":        {"Any field, any subresource.", `{patch: {subresource: x, merge: {status: {a: 1}, spec: {b: c}}}}`, ""},
		"Expression": {"Expressions are checked.", `{patch: {merge: {a: "${config.data}"}}}`, `may-be-absent patch.merge.a: config may be absent, so config.data cannot be read; write config?.data, which is nil then`},
	}.run(t, widgets)
}

// TestCheckStatusOfTenant is about a resource whose status is a field as any.
func TestCheckStatusOfTenant(t *testing.T) {
	typedCases{
		"Status": {"It is written with the rest.", `{patch: {merge: {spec: {quota: 3}, status: {phase: Ready}}}}`, ""},
		"Subresource": {
			"There is no other way.", `{patch: {subresource: status, merge: {status: {phase: Ready}}}}`,
			`subresource patch.subresource: tenants have no subresource "status"; leave subresource out, or write one that there is: none`,
		},
	}.run(t, tenants)
}

func TestAtomicLists(t *testing.T) {
	const conflict, hint = "what others write into it conflicts, or with force is lost", "write it with merge or json, or be sure that nobody else does"
	typedCases{
		"Set":       {"A set is merged.", `{patch: {apply: {spec: {hosts: [a]}}}}`, ""},
		"Keyed":     {"So is a list with keys.", `{patch: {apply: {spec: {listeners: [{port: 80}]}}}}`, ""},
		"Atomic":    {"Others are not.", `{patch: {apply: {spec: {allowed: [GET]}}}}`, "warning atomic-list patch.apply.spec.allowed: apply owns all of the list allowed: " + conflict + "; " + hint},
		"Template":  {"Nor is one from an expression.", `{patch: {apply: {spec: {allowed: "${['GET']}"}}}}`, "warning atomic-list patch.apply.spec.allowed: apply owns all of the list allowed: " + conflict + "; " + hint},
		"InElement": {"Nor is one in an element.", `{patch: {target: pods, apply: {spec: {containers: [{name: a, args: [b]}]}}}}`, "warning atomic-list patch.apply.spec.containers[0].args: apply owns all of the list args: " + conflict + "; " + hint},
		"Merge":     {"A merge patch replaces every list, and owns nothing.", `{patch: {merge: {spec: {allowed: [GET], hosts: [a]}}}}`, ""},
		"Open":      {"Nothing is known below what is open.", `{patch: {apply: {spec: {options: {list: [1]}}}}}`, ""},
		"Unknown":   {"What is not there is told of once.", `{patch: {apply: {spec: {alowed: [GET]}}}}`, `unknown-field patch.apply.spec.alowed: unknown field "alowed"; did you mean "allowed"?`},
	}.run(t, gateways)
}
