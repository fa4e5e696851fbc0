package action_test

import "testing"

func TestCheckPatch(t *testing.T) {
	typedCases{
		"Merge":  {"Some fields.", `{patch: {merge: {spec: {replicas: 3}, metadata: {labels: {a: b}}}}}`, ""},
		"Status": {"Through the subresource.", `{patch: {subresource: status, merge: {status: {phase: Ready}}}}`, ""},
		"Scale":  {"Through another.", `{patch: {subresource: scale, merge: {spec: {replicas: 3}}}}`, ""},
		"ScaleOther": {
			"Which has only some fields.", `{patch: {subresource: scale, merge: {spec: {class: mesh}}}}`,
			`unknown-field patch.merge.spec.class: unknown field "class"; the only field here is replicas`,
		},
		"StatusOfPod": {"Kinds of Kubernetes decide for themselves.", `{patch: {target: pods, subresource: status, merge: {metadata: {annotations: {a: b}}}}}`, ""},
		"Part":        {"A part of an object is none.", `{forEach: {l: "${object.spec.listeners}"}, patch: {target: l, merge: {a: 1}}}`, `type-mismatch patch.target: l is no object that was read, but a part of one, or a new map; a target comes from with as it is, or through filter, find, sortBy or take`},
		"ForEachMap":  {"A map is no list, though it may be absent.", `{forEach: {l: "${object.spec.limits}"}, patch: {merge: {spec: {replicas: 1}}}}`, `type-mismatch forEach.l: forEach wants a list, have a map; write a list, such as "${pods}" or "${keys(object.metadata.labels)}"`},
		"Untyped":     {"Nothing is known of the object.", `{patch: {target: thing, subresource: scale, merge: {status: {x: 1}}}}`, ""},
	}.run(t, gateways)
}

// TestCheckPatchOfUntyped is about a watched object of which nothing is known.
func TestCheckPatchOfUntyped(t *testing.T) {
	typedCases{
		"Any":        {"Any field, through any subresource that rules may write.", `{patch: {subresource: status, merge: {status: {a: 1}, spec: {b: c}}}}`, ""},
		"Expression": {"Expressions are checked.", `{patch: {merge: {a: "${config.data}"}}}`, `may-be-absent patch.merge.a: config may be absent, so config.data cannot be read; write config?.data, which is nil then`},
	}.run(t, widgets)
}

// TestCheckStatusOfTenant is about a resource whose status is a field as any.
func TestCheckStatusOfTenant(t *testing.T) {
	typedCases{
		"Status": {"It is written with the rest.", `{patch: {merge: {spec: {quota: 3}, status: {phase: Ready}}}}`, ""},
	}.run(t, tenants)
}

func TestAtomicLists(t *testing.T) {
	typedCases{
		"Set":   {"A set is merged.", `{patch: {apply: {spec: {hosts: [a]}}}}`, ""},
		"Keyed": {"So is a list with keys.", `{patch: {apply: {spec: {listeners: [{port: 80}]}}}}`, ""},
		"Merge": {"A merge patch replaces every list, and owns nothing.", `{patch: {merge: {spec: {allowed: [GET], hosts: [a]}}}}`, ""},
		"Open":  {"Nothing is known below what is open.", `{patch: {apply: {spec: {options: {list: [1]}}}}}`, ""},
	}.run(t, gateways)
}
