package proxy

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func creates(r Request) bool { return r.Verb == "create" }

// TestFaultsChoose holds which of twelve requests, of which each third is no create, a fault is about.
func TestFaultsChoose(t *testing.T) {
	t.Parallel()
	action := Action{Before: Break}
	tests := map[string]struct {
		reason string
		fault  Fault
		want   []int
	}{
		"On":     {"Each that matches.", On(creates, action), []int{1, 2, 4, 5, 7, 8, 10, 11}},
		"Nth":    {"The third create is the fourth request.", Nth(3, creates, action), []int{4}},
		"Every":  {"Only what matches is counted.", Every(3, creates, action), []int{4, 8}},
		"Number": {"A run is repeated with a fault at exactly one request.", On(func(r Request) bool { return r.Number == 9 }, action), []int{9}},
		"All":    {"Each fault counts for itself.", All(Nth(1, creates, action), Every(4, creates, action)), []int{1, 5, 11}},
		"None":   {"No fault at all.", All(), nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []int
			for number := 1; number <= 12; number++ {
				request := Request{Number: number, Verb: "create"}
				if number%3 == 0 {
					request.Verb = "get"
				}
				if tc.fault(request).Before != nil {
					got = append(got, number)
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\n-want +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestAllJoinsActions(t *testing.T) {
	t.Parallel()
	var done []string
	note := func(what string) Step { return Do(func() { done = append(done, what) }) }
	joined := All(
		On(creates, Action{Before: note("before 1"), Delay: time.Second}),
		On(creates, Action{Before: note("before 2"), Committed: Answer(504), Delay: time.Minute}),
		On(creates, Action{Committed: note("never"), Answered: note("answered")}),
	)(Request{Verb: "create"})

	if joined.Delay != time.Minute {
		t.Errorf("the delay is %s, want the longest", joined.Delay)
	}
	var codes []int
	for _, step := range []Step{joined.Before, joined.Committed, joined.Answered} {
		codes = append(codes, code(step(t.Context())))
	}
	if want := []int{0, 504, 0}; !slices.Equal(codes, want) {
		t.Errorf("the steps end with %v, want %v", codes, want)
	}
	if diff := cmp.Diff([]string{"before 1", "before 2", "answered"}, done); diff != "" {
		t.Errorf("steps that were done (-want +got):\n%s", diff)
	}
}

func TestHold(t *testing.T) {
	t.Parallel()
	released := make(chan struct{})
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Hold(released)(canceled); !errors.Is(err, context.Canceled) {
		t.Errorf("the client gave up: %v", err)
	}
	close(released)
	if err := Hold(released)(t.Context()); err != nil {
		t.Errorf("it was released: %v", err)
	}
}
