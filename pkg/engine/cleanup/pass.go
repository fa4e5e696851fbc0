package cleanup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// attempts bounds the requests for one leftover on one object in a pass.
const attempts = 5

// How long to wait where the API server is overloaded.
const (
	shortestWait = time.Second
	longestWait  = 30 * time.Second
)

// pass is once through the objects of a group. It keeps nothing of them: they may
// be very many.
type pass struct {
	Options
	group *group
	// cleaned counts what was found and is not there any more.
	cleaned int
	// open are the leftovers that were found, so that they are not done yet.
	open     map[plan.Leftover]bool
	failures failures
	// stopped is why nothing more is to be sent.
	stopped error
}

// done are the leftovers that were on no object.
func (p *pass) done() []plan.Leftover {
	return slices.DeleteFunc(slices.Clone(p.group.leftovers), func(l plan.Leftover) bool { return p.open[l] })
}

// visit cleans up one object.
func (p *pass) visit(ctx context.Context, object map[string]any) error {
	for _, l := range p.group.leftovers {
		if object = p.clean(ctx, l, object); p.stopped != nil || object == nil {
			break
		}
	}
	return p.stopped
}

// clean takes the leftover from the object, and returns the object as it is then,
// nil where it is gone or on its way. Nothing of a dry run is stored: the object is then
// as it was, and the leftover is not looked for again.
func (p *pass) clean(ctx context.Context, l plan.Leftover, object map[string]any) map[string]any {
	answer := next{object: object, simulated: true} // Nothing has happened.
	for sent := 0; ; sent++ {
		operation := p.group.served(l).CleanUp(answer.object)
		switch {
		case operation == nil && answer.simulated:
			return object
		case operation == nil:
			p.cleaned++
			return answer.object
		case sent == attempts:
			p.open[l] = true
			cause := cmp.Or(answer.cause, errors.New("it is accepted, and nothing changes"))
			p.failures.add(l, fmt.Errorf("giving up on %s after %d requests: %w", operation.Target, attempts, cause))
			return answer.object
		}
		answer = p.send(ctx, l, *operation, answer.object)
		switch answer.verdict {
		case again:
		case gone:
			return nil
		case refused:
			p.failures.add(l, answer.cause)
			return answer.object
		case unknown:
			return object
		case stop:
			p.stopped = answer.cause
			return nil
		}
	}
}

func (p *pass) send(ctx context.Context, l plan.Leftover, operation plan.Operation, object map[string]any) next {
	if err := ctx.Err(); err != nil {
		return next{verdict: stop, cause: err}
	}
	if err := p.Confirm(ctx, l.Rule); err != nil {
		return next{verdict: stop, cause: fmt.Errorf("cleaning up %s: %w", l, err)}
	}
	result := p.Writer.Write(ctx, operation)
	p.Observe(Report{Leftover: l, Operation: operation, Result: result})
	answer := p.judge(ctx, operation, result, object)
	if answer.object == nil {
		answer.object = object
	}
	if !answer.simulated {
		p.open[l] = true
		if answer.verdict == gone {
			p.cleaned++
		}
	}
	return answer
}

// verdict is what an answer means for the object.
type verdict int

const (
	again   verdict = iota // look at it as it is now
	gone                   // or on its way
	refused                // as it will be in this pass
	unknown                // a dry run cannot tell how it would be
	stop                   // nor would anything else arrive
)

// next is where to go on after a request.
type next struct {
	verdict verdict
	object  map[string]any // as it is, as far as that is known
	cause   error          // why the request did not do it
	// simulated says that the object is as it would be after a dry run.
	simulated bool
}

func (p *pass) judge(ctx context.Context, operation plan.Operation, result write.Result, before map[string]any) next {
	cause := result.Err
	if result.Class.Failed() && cause == nil {
		cause = fmt.Errorf("writing %s: %s", operation.Target, result.Class)
	}
	switch result.Class {
	case write.Written, write.Unchanged:
		switch {
		case operation.Type == plan.Delete:
			return next{verdict: gone}
		case operation.Subresource == "" && result.Object != nil:
			return next{object: result.Object}
		}
		return p.look(ctx, operation.Target, nil)
	case write.Stale, write.Ambiguous:
		return p.look(ctx, operation.Target, cause)
	case write.Overloaded:
		p.wait(ctx, result.RetryAfter)
		return p.look(ctx, operation.Target, cause)
	case write.Unreachable:
		return next{verdict: stop, cause: cause}
	case write.Simulated, write.Repeated:
		return foreseen(operation, result.Object, before)
	default:
		return next{verdict: refused, cause: cause}
	}
}

// foreseen is where to go on after a request of a dry run. Some subresources answer with
// an object of another kind.
func foreseen(operation plan.Operation, after, before map[string]any) next {
	switch {
	case operation.Type == plan.Delete, after != nil && held(before) && plan.BeingDeleted(after) && !held(after):
		return next{verdict: gone, simulated: true}
	case after == nil, after["kind"] != before["kind"]:
		return next{verdict: unknown, simulated: true}
	default:
		return next{object: after, simulated: true}
	}
}

func held(object map[string]any) bool {
	finalizers, _ := plan.Lookup(object, plan.Path{"metadata", "finalizers"})
	list, _ := finalizers.([]any)
	return len(list) > 0
}

// look reads the object again after a request.
func (p *pass) look(ctx context.Context, target plan.Object, cause error) next {
	object, err := p.Reader.Get(ctx, target)
	switch {
	case err != nil:
		return next{verdict: refused, cause: errors.Join(cause, fmt.Errorf("reading %s again: %w", target, err))}
	case object == nil:
		return next{verdict: gone}
	default:
		return next{object: object, cause: cause}
	}
}

func (p *pass) wait(ctx context.Context, asked time.Duration) {
	select {
	case <-p.Clock.After(min(max(asked, shortestWait), longestWait)):
	case <-ctx.Done():
	}
}

// failures are why something is not cleaned up. Of very many only some are kept.
type failures struct {
	first []error
	count int
}

const mostShown = 10

func (f *failures) add(l plan.Leftover, err error) {
	if f.count++; len(f.first) < mostShown {
		f.first = append(f.first, fmt.Errorf("cleaning up %s: %w", l, err))
	}
}

func (f *failures) join() error {
	if more := f.count - len(f.first); more > 0 {
		return errors.Join(errors.Join(f.first...), fmt.Errorf("and %d more", more))
	}
	return errors.Join(f.first...)
}
