package limit

import (
	"testing"
	"time"
)

// TestBaseIsTheMost holds it against the plain way to say it, and that it stays small.
func TestBaseIsTheMost(t *testing.T) {
	const per = 10 * time.Minute
	start := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	var b base
	if b.most() != 0 {
		t.Error("the zero value has counted something")
	}
	var all []counted
	objects, now := 500, start
	for i := range 5000 {
		now = now.Add(time.Duration(i%7) * time.Second)
		objects += (i*i)%13 - 6
		all = append(all, counted{objects, now})
		b = b.add(objects, now, per)
		want := 0
		for _, c := range all {
			if now.Sub(c.at) < per+late {
				want = max(want, c.objects)
			}
		}
		if got := b.most(); got != want {
			t.Fatalf("after %d counts the most is %d, want %d", i+1, got, want)
		}
		for j := 1; j < len(b); j++ {
			if b[j].objects >= b[j-1].objects {
				t.Fatalf("it keeps what can never be the most: %v", b)
			}
		}
	}
}

// TestBaseIsBounded holds that many counts of the same take no more room than one.
func TestBaseIsBounded(t *testing.T) {
	var b base
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	for range 100_000 {
		b = b.add(3, now, time.Hour)
		now = now.Add(time.Millisecond)
	}
	if n := cap(b); n > 64 {
		t.Errorf("it has room for %d", n)
	}
}
