package quarantine_test

import (
	"testing"

	"github.com/dyncontroller/dyncontroller/pkg/engine/quarantine"
)

// TestGrounds holds that what an attempt was decided by is known again, and told from all
// else.
func TestGrounds(t *testing.T) {
	a, b, later := quarantine.Object{UID: "a", Version: "1"}, quarantine.Object{UID: "b", Version: "1"}, quarantine.Object{UID: "a", Version: "2"}
	tests := map[string]struct {
		reason  string
		objects []quarantine.Object
		rules   string
		same    bool
	}{
		"Same":     {"It is the same.", []quarantine.Object{a, b}, "rules", true},
		"Order":    {"It is found in another order.", []quarantine.Object{b, a}, "rules", true},
		"Version":  {"One has changed.", []quarantine.Object{later, b}, "rules", false},
		"Exchange": {"Two have exchanged their versions.", []quarantine.Object{later, {UID: "b", Version: "2"}}, "rules", false},
		"Gone":     {"One is gone.", []quarantine.Object{a}, "rules", false},
		"Came":     {"One has come.", []quarantine.Object{a, b, {UID: "c", Version: "1"}}, "rules", false},
		"Twice":    {"One was read again.", []quarantine.Object{a, a, b}, "rules", false},
		"Thrice":   {"It was read once more.", []quarantine.Object{a, a, a, b}, "rules", false},
		"Border":   {"Nor does a uid end where it likes.", []quarantine.Object{{UID: "a1"}, b}, "rules", false},
		"Turned":   {"A uid is no version.", []quarantine.Object{{UID: "1", Version: "a"}, b}, "rules", false},
		"Rules":    {"Others are in effect.", []quarantine.Object{a, b}, "other rules", false},
		"None":     {"Nothing was looked at.", nil, "", false},
	}
	w := newWorld()
	known := w.Grounds([]quarantine.Object{a, b}, "rules")
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := w.Grounds(tc.objects, tc.rules) == known; got != tc.same {
				t.Errorf("%s the same: %v", tc.reason, got)
			}
		})
	}
	if w.Grounds(nil, "") != (quarantine.Grounds[string]{}) {
		t.Error("the zero value is not that of nothing")
	}
}
