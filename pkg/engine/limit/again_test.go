package limit_test

import (
	"testing"
	"time"
)

// TestUnderWayWhileItExpires holds that an object counts while a write for it is under way, also where the one before stops to
// count meanwhile.
func TestUnderWayWhileItExpires(t *testing.T) {
	tests := map[string]struct {
		reason    string
		again     time.Duration // from the first write until others are sent
		writes    int           // that are under way then
		effective []bool        // of those that are answered, in order
		want      answer        // for another object after that
	}{
		"UnderWay":    {reason: "The write may be effective.", again: 9 * time.Minute, writes: 1, want: busy},
		"Effective":   {reason: "It was.", again: 9 * time.Minute, writes: 1, effective: []bool{true}, want: paused},
		"Ineffective": {reason: "It was not.", again: 9 * time.Minute, writes: 1, effective: []bool{false}, want: granted},
		"OneOfTwo":    {reason: "The other one may be.", again: 9 * time.Minute, writes: 2, effective: []bool{false}, want: busy},
		"Expired":     {reason: "Nothing counted when they were sent.", again: 11 * time.Minute, writes: 2, effective: []bool{false}, want: busy},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(limited(one, 1))
			w.write(t, one, "a")
			w.clock.Step(tc.again)
			for range tc.writes {
				if got := w.reserve("a", one); got != granted {
					t.Fatalf("it may not write again: %d", got)
				}
			}
			w.clock.Step(2 * time.Minute)
			if got := w.reserve("b", one); got != busy {
				t.Fatalf("the answer for another object is %d while a write is under way", got)
			}
			for _, effective := range tc.effective {
				w.settle("a", effective, one)
			}
			if got := w.reserve("b", one); got != tc.want {
				t.Errorf("%s The answer for another object is %d, want %d", tc.reason, got, tc.want)
			}
		})
	}
}
