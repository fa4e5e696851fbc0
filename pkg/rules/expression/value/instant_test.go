package value_test

import (
	"testing"
	"time"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

func TestInstant(t *testing.T) {
	now := time.Date(2026, time.January, 1, 0, 0, 0, 500, time.UTC)
	in := func(d time.Duration) time.Time { return now.Add(d) }
	tests := map[string]struct {
		reason  string
		changes []time.Time
		want    time.Time
	}{
		"nothing":            {"No answer, no change.", nil, time.Time{}},
		"the earliest":       {"What changes first is what matters.", []time.Time{in(3), in(2), in(4)}, in(2)},
		"the past":           {"What has changed does not change again.", []time.Time{in(-1), in(time.Hour), in(-time.Hour)}, in(time.Hour)},
		"now":                {"The answer was for this very moment already.", []time.Time{now}, time.Time{}},
		"never":              {"Zero is no moment.", []time.Time{{}}, time.Time{}},
		"in an hour, by two": {"A moment is the same in every zone.", []time.Time{in(time.Hour).In(time.FixedZone("", 3600))}, in(time.Hour)},
	}
	for name, tt := range tests {
		at := value.NewInstant(now)
		for _, change := range tt.changes {
			at.ChangesAt(change)
		}
		if got := at.Next(); !got.Equal(tt.want) {
			t.Errorf("%s: Next() = %v, want %v: %s", name, got, tt.want, tt.reason)
		}
		if !at.Now().Equal(now) {
			t.Errorf("%s: Now() = %v, want %v", name, at.Now(), now)
		}
	}
}

// TestInstantIsWallClock makes sure that a moment taken from the running clock is
// compared with times that were read from texts as these are with each other.
func TestInstantIsWallClock(t *testing.T) {
	running := time.Now()
	if at := value.NewInstant(running); at.Now() != running.Round(0) {
		t.Errorf("Now() = %v, which is not only %v", at.Now(), running.Round(0))
	}
}
