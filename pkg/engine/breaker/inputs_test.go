package breaker

import (
	"testing"

	"github.com/dyncontroller/dyncontroller/pkg/engine/guard"
)

// TestInputs holds that what an attempt was decided by is known again, and told from all
// else.
func TestInputs(t *testing.T) {
	a, b, later := guard.Input{UID: "a", Version: "1"}, guard.Input{UID: "b", Version: "1"}, guard.Input{UID: "a", Version: "2"}
	tests := map[string]struct {
		reason  string
		objects []guard.Input
		rules   int
		same    bool
	}{
		"Same":     {"It is the same.", []guard.Input{a, b}, 1, true},
		"Order":    {"It is found in another order.", []guard.Input{b, a}, 1, true},
		"Version":  {"One has changed.", []guard.Input{later, b}, 1, false},
		"Exchange": {"Two have exchanged their versions.", []guard.Input{later, {UID: "b", Version: "2"}}, 1, false},
		"Gone":     {"One is gone.", []guard.Input{a}, 1, false},
		"Came":     {"One has come.", []guard.Input{a, b, {UID: "c", Version: "1"}}, 1, false},
		"Twice":    {"One was read again.", []guard.Input{a, a, b}, 1, false},
		"Thrice":   {"It was read once more.", []guard.Input{a, a, a, b}, 1, false},
		"Border":   {"Nor does a uid end where it likes.", []guard.Input{{UID: "a1"}, b}, 1, false},
		"Turned":   {"A uid is no version.", []guard.Input{{UID: "1", Version: "a"}, b}, 1, false},
		"Rules":    {"Others are in effect.", []guard.Input{a, b}, 2, false},
		"None":     {"Nothing was looked at.", nil, 0, false},
	}
	w := newWorld()
	saw := func(objects []guard.Input, rules int) inputs {
		return (&attempt{Attempt: &guard.Attempt{Generation: rules, Evaluation: guard.Evaluation{Read: func() []guard.Input { return objects }}}, breaker: w.Breaker}).saw(nil)
	}
	known := saw([]guard.Input{a, b}, 1)
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := saw(tc.objects, tc.rules) == known; got != tc.same {
				t.Errorf("%s the same: %v", tc.reason, got)
			}
		})
	}
}
