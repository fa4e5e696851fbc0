package engine_test

import (
	"strings"
	"testing"
	"time"

	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// TestDeletionsAreLoggedWithTheirTarget holds that the log names the object that is deleted, whatever the API server answers: it is not
// always the watched one.
func TestDeletionsAreLoggedWithTheirTarget(t *testing.T) {
	const (
		rule = `
  - name: tidy
    watch: widgets
    with: {old: {resource: items, name: old}}
    limits: {maxObjects: 100%}
    when: old != nil
    actions: [{delete: {target: old}}]
`
		line = ` gvr=widgets.v1.example.com namespace=ns name=a rules=[set/tidy] type=delete target="items ns/old" subresource=""`
	)
	tests := map[string]struct {
		reason, rule string
		answer       *write.Result
		want         string
	}{
		"Deleted":   {"What is deleted.", rule, nil, "level=INFO msg=deleted" + line},
		"Refused":   {"What cannot be deleted.", rule, &write.Result{Class: write.Terminal, Err: errRefused}, `level=WARN msg="write failed"` + line + " class=terminal"},
		"Simulated": {"What would be, in a dry run.", rule, &write.Result{Class: write.Simulated}, `level=INFO msg="would delete"` + line},
		"Audited": {
			"What would be, if the rule acted.", strings.Replace(rule, "    when:", "    mode: Audit\n    when:", 1), nil, `level=INFO msg="would delete"` + line + " mode=Audit",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := newCluster()
			c.put(t, small)
			c.put(t, newItem("old", ""))
			c.answer = func(plan.Operation) *write.Result { return tc.answer }
			runWith(t, c, engine.Housekeeping{}, families(t, tc.rule), func(t *testing.T, _ *engine.Engine) {
				pass(time.Millisecond)
				if c.logged(tc.want) != 1 {
					t.Errorf("%s Want %s in:\n%s", tc.reason, tc.want, c.log.String())
				}
			})
		})
	}
}
