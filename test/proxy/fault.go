package proxy

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Fault says what is to be done with a request. It is called once for each, one after the other in the order of their
// numbers, so it may keep count without a lock; it must not wait.
type Fault func(Request) Action

// Action is what is done with a request on its way; the zero value lets it pass. An error of Before or Committed ends
// the request there, and is what the client gets to know: see [Answer]; any other error is a connection that breaks.
type Action struct {
	// Before is done before the request leaves for the API server.
	Before Step
	// Committed is done when the API server has answered, and thus stored what it was asked to. The client has been
	// given nothing yet.
	Committed Step
	// Answered is done after the client has been given the whole answer; with HTTP/2, but for the mark of its end. Its
	// error is ignored.
	Answered Step
	// Delay is how much later than it came each part of the answer is passed on. Parts stay in their order, and each is
	// late by the same time: events of a watch arrive as they happened, only later.
	Delay time.Duration
}

// Step is done at a moment of a request's way. The context ends with the request, as when the client gives up.
type Step func(ctx context.Context) error

// errBroken becomes a connection that breaks.
var errBroken = errors.New("the connection breaks")

// Break is a [Step] that breaks the connection. Beware that net/http sends a GET, and nothing else, a second time when
// the connection that it had kept for it breaks; that is another request with another number.
func Break(context.Context) error { return errBroken }

// statusError becomes an answer.
type statusError int

func (e statusError) Error() string { return fmt.Sprintf("answered with %d by the proxy", int(e)) }

// Answer is a [Step] that gives the client an HTTP status without a body of the API server, as a load balancer does with
// 504.
func Answer(code int) Step {
	return func(context.Context) error { return statusError(code) }
}

// Hold is a [Step] that waits until the channel is closed. A request whose client gives up meanwhile ends.
func Hold(released <-chan struct{}) Step {
	return func(ctx context.Context) error {
		select {
		case <-released:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// Do is a [Step] that calls a function and goes on, such as one that kills the program at this moment.
func Do(what func()) Step {
	return func(context.Context) error {
		what()
		return nil
	}
}

// Then does one step after the other, up to the first error. A nil step does nothing.
func (s Step) Then(next Step) Step {
	switch {
	case s == nil:
		return next
	case next == nil:
		return s
	}
	return func(ctx context.Context) error {
		if err := s(ctx); err != nil {
			return err
		}
		return next(ctx)
	}
}

func (s Step) do(ctx context.Context) error {
	if s == nil {
		return nil
	}
	return s(ctx)
}

// On does the action to every request that matches.
func On(matches func(Request) bool, action Action) Fault {
	return func(request Request) Action {
		if !matches(request) {
			return Action{}
		}
		return action
	}
}

// Nth does the action to the nth request that matches, counted from 1, and to no other.
func Nth(n int, matches func(Request) bool, action Action) Fault {
	seen := 0
	return counted(&seen, matches, func() bool { return seen == n }, action)
}

// Every does the action to every nth request that matches.
func Every(n int, matches func(Request) bool, action Action) Fault {
	seen := 0
	return counted(&seen, matches, func() bool { return seen%n == 0 }, action)
}

func counted(seen *int, matches func(Request) bool, now func() bool, action Action) Fault {
	return On(func(request Request) bool {
		if !matches(request) {
			return false
		}
		*seen++
		return now()
	}, action)
}

// All does what each fault says, in their order; the longest delay counts.
func All(faults ...Fault) Fault {
	return func(request Request) Action {
		var out Action
		for _, fault := range faults {
			next := fault(request)
			out.Before = out.Before.Then(next.Before)
			out.Committed = out.Committed.Then(next.Committed)
			out.Answered = out.Answered.Then(next.Answered)
			out.Delay = max(out.Delay, next.Delay)
		}
		return out
	}
}

// code is the status for an error of a step, 0 for a connection that breaks.
func code(err error) int {
	var status statusError
	errors.As(err, &status)
	return int(status)
}
