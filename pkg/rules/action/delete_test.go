package action_test

import "testing"

func TestDelete(t *testing.T) {
	tests := map[string]scenario{
		"Object": {
			reason: "The watched object is the default.",
			action: `delete: {}`,
			want:   `delete tidbclusters tidb/basic u-1@7 Background`,
		},
		"Targets": {
			reason: "A list means each.",
			action: `delete: {target: pods, propagationPolicy: Foreground}`,
			others: twoPods,
			want: `
delete pods tidb/p-0 p0@10 Foreground
delete pods tidb/p-1 p1@11 Foreground
`,
		},
		"None": {
			reason: "Nil is nothing, and nothing about it is evaluated.",
			action: `delete: {target: none, gracePeriodSeconds: "${1 + nil}"}`,
		},
		"Grace": {
			reason: "A grace period may be a constant,",
			action: `delete: {gracePeriodSeconds: 0}`,
			want:   `delete tidbclusters tidb/basic u-1@7 Background 0s`,
		},
		"GraceTemplate": {
			reason: "or come from a template,",
			action: `delete: {gracePeriodSeconds: "${object.spec.replicas * 5}", propagationPolicy: Orphan}`,
			want:   `delete tidbclusters tidb/basic u-1@7 Orphan 10s`,
		},
		"GraceNil": {
			reason: "which may leave it to the object.",
			action: `delete: {gracePeriodSeconds: "${object.spec.grace}"}`,
			want:   `delete tidbclusters tidb/basic u-1@7 Background`,
		},
		"GraceNegative": {
			reason: "A period is not negative.",
			action: `delete: {gracePeriodSeconds: "${0 - 1}"}`,
			err:    `a.yaml:1:30: delete.gracePeriodSeconds: gracePeriodSeconds must not be negative, have -1; write 0 to delete at once`,
		},
		"GraceType": {
			reason: "It is a number,",
			action: `delete: {gracePeriodSeconds: "${names}"}`,
			err:    `a.yaml:1:30: delete.gracePeriodSeconds: gracePeriodSeconds must be an integer, have a list; write 30, or one ${ } that gives an integer`,
		},
		"GraceFails": {
			reason: "An expression fails at its place.",
			action: `delete: {gracePeriodSeconds: "${1 + nil}"}`,
			err:    `a.yaml:1:37: delete.gracePeriodSeconds: + wants a number, have nil; ?? gives a default, as in (x ?? 0)`,
		},
		"ForEach": {
			reason: "The element of a repeated action is an object, too.",
			action: "forEach: {pod: '${failed}'}\ndelete: {target: pod}",
			others: twoPods,
			want:   `delete pods tidb/p-0 p0@10 Background`,
		},
		"NotAnObject": {
			reason: "What was not read cannot be deleted.",
			action: `delete: {target: three}`,
			err:    `a.yaml:1:18: delete.target: three is not an object that was read, but an integer; a target comes from with as it is, or through filter, find, sortBy or take; merge and new maps do not keep which object it was`,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) { tc.run(t) })
	}
}
