package breaker

import (
	"testing"

	"github.com/dyncontroller/dyncontroller/pkg/engine/guard"
)

// TestInputs holds that what an attempt was decided by is known again, and told from all
// else.
func TestInputs(t *testing.T) {
	a, b, later := guard.Input{UID: "a", Version: "1"}, guard.Input{UID: "b", Version: "1"}, guard.Input{UID: "a", Version: "2"}
	other := &guard.Rules{}
	tests := map[string]struct {
		reason  string
		objects []guard.Input
		rules   *guard.Rules
		same    bool
	}{
		"Same":     {"It is the same.", []guard.Input{a, b}, inEffect, true},
		"Order":    {"It is found in another order.", []guard.Input{b, a}, inEffect, true},
		"Version":  {"One has changed.", []guard.Input{later, b}, inEffect, false},
		"Exchange": {"Two have exchanged their versions.", []guard.Input{later, {UID: "b", Version: "2"}}, inEffect, false},
		"Gone":     {"One is gone.", []guard.Input{a}, inEffect, false},
		"Came":     {"One has come.", []guard.Input{a, b, {UID: "c", Version: "1"}}, inEffect, false},
		"Twice":    {"One was read again.", []guard.Input{a, a, b}, inEffect, false},
		"Thrice":   {"It was read once more.", []guard.Input{a, a, a, b}, inEffect, false},
		"Border":   {"Nor does a uid end where it likes.", []guard.Input{{UID: "a1"}, b}, inEffect, false},
		"Turned":   {"A uid is no version.", []guard.Input{{UID: "1", Version: "a"}, b}, inEffect, false},
		"Rules":    {"Others are in effect.", []guard.Input{a, b}, other, false},
		"None":     {"Nothing was looked at.", nil, nil, false},
	}
	w := newWorld()
	saw := func(objects []guard.Input, rules *guard.Rules) inputs {
		return (&attempt{Attempt: &guard.Attempt{Rules: rules, Evaluation: guard.Evaluation{Read: func() []guard.Input { return objects }}}, breaker: w.Breaker}).saw(nil)
	}
	known := saw([]guard.Input{a, b}, inEffect)
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := saw(tc.objects, tc.rules) == known; got != tc.same {
				t.Errorf("%s the same: %v", tc.reason, got)
			}
		})
	}
}
