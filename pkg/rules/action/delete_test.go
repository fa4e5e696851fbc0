package action_test

import "testing"

func TestDelete(t *testing.T) {
	tests := map[string]scenario{
		"Object": {
			reason: "The watched object is the default.",
			action: `delete: {}`,
			want:   `delete tidbclusters tidb/basic u-1@7 Background`,
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
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) { tc.run(t) })
	}
}
