package document

import (
	"fmt"
	"testing"
)

// many are findings on lines of their own, from a line on.
func many(severity Severity, from, n int) (all Errors) {
	for i := range n {
		all = append(all, &Error{File: "a", Line: from + i, Column: 1, Message: "m", Severity: severity})
	}
	return all
}

// TestSeveritiesApart holds that each severity has a hundred of its own, at its bounds.
func TestSeveritiesApart(t *testing.T) {
	for n := 99; n <= 102; n++ {
		all := append(append(many(Mistake, 1, n), many(Warning, 50, n)...), many(Note, 100, n)...)
		for i := range all {
			all[i].Message = fmt.Sprint(all[i].Severity) // None is the same as another.
		}
		sorted := all.Sorted()
		for _, severity := range []Severity{Mistake, Warning, Note} {
			of := sorted.Of(severity)
			if len(of) != min(n, maxErrors+1) {
				t.Errorf("of %d %ss %d are kept", n, severity, len(of))
			}
			if full := of[len(of)-1].Code == CodeTooMany; full != (n > maxErrors) {
				t.Errorf("of %d %ss the last says that more follow: %t", n, severity, full)
			}
			if got := all.EnoughOf(severity); got != (n > maxErrors) {
				t.Errorf("%d %ss are enough: %t", n, severity, got)
			}
		}
		if all.Of(Warning).Enough() {
			t.Error("warnings are enough")
		}
		if got := all.Enough(); got != (n > maxErrors) {
			t.Errorf("%d of each are enough: %t", n, got)
		}
	}
}

// TestSameTwice holds that of the same, said twice, the graver stays.
func TestSameTwice(t *testing.T) {
	all := append(append(many(Note, 1, 1), many(Warning, 1, 1)...), many(Mistake, 1, 1)...)
	if got := all.Sorted(); len(got) != 1 || got[0].Severity != Mistake {
		t.Errorf("got %v", got)
	}
}

func TestBounded(t *testing.T) {
	for _, tc := range []struct {
		reason string
		all    Errors
		want   int
	}{
		{"Few stay as they are, also the same.", append(many(Warning, 1, 500), many(Warning, 1, 500)...), 1000},
		{"Of very many those are kept that are shown.", many(Warning, 1, 1001), maxErrors + 1},
		{"The same counts once.", append(many(Warning, 1, 50), append(many(Note, 1, 950), many(Mistake, 2000, 1)...)...), 50 + maxErrors + 1 + 1},
	} {
		var got Errors
		for _, err := range tc.all {
			got = append(got, err).Bounded()
		}
		if len(got) != tc.want {
			t.Errorf("%s %d are kept, want %d", tc.reason, len(got), tc.want)
		}
		if len(tc.all.Of(Mistake)) != len(got.Of(Mistake)) {
			t.Errorf("%s A mistake is lost.", tc.reason)
		}
	}
}
