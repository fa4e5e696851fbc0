package simulate

import (
	"context"
	"errors"
	"fmt"

	"github.com/dyncontroller/dyncontroller/pkg/plan/compare"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/simulate/golden"
	"github.com/dyncontroller/dyncontroller/pkg/simulate/queue"
	"github.com/dyncontroller/dyncontroller/pkg/simulate/scenario"
)

// judge runs a case and compares what happens with its golden.
func (r *run) judge(ctx context.Context, p pending) {
	result := &r.report.Results[p.result]
	end, errs := r.tell(ctx, p, result)
	if len(errs) == 0 {
		result.EvaluationsFailed, result.WritesRefused = end.story.failed()
		errs = p.of.compare(end.story, result, r.Options, r.owners.shared(owner{p.test, p.of}))
		if len(errs) == 0 {
			errs = p.of.expected(end, result)
		}
		r.explain(ctx, p, end, result)
	}
	if len(errs) > 0 {
		result.Status, result.Errors = Error, errs.Sorted()
	}
}

// tell runs a case in both orders. It is an error if they differ, or if no rule looked
// at anything.
func (r *run) tell(ctx context.Context, p pending, result *Result) (ending, document.Errors) {
	play, errs := r.prepare(p)
	if len(errs) > 0 {
		return ending{}, errs
	}
	covered := r.Coverage.Case(p.test.set)
	play.looked = covered.Evaluated
	end, err := play.run(ctx, queue.FIFO)
	if err != nil {
		return ending{}, p.of.failed(err, result)
	}
	if !end.story.decides() {
		return ending{}, unconcerned(play.objects, p.test.set, p.of)
	}
	if !end.ordered {
		return end, nil // In the other order the same would happen.
	}
	play.looked = nil
	other, err := play.run(ctx, queue.Reversed)
	if err != nil {
		return ending{}, p.of.failed(fmt.Errorf("with the queue reversed: %w", err), result)
	}
	return end, p.of.sameStates(end.states, other.states, result)
}

// prepare reads the objects of a case, and finds a server for them.
func (r *run) prepare(p pending) (play, document.Errors) {
	objects, errs := readObjects(p.of.objects, r.Files)
	if len(errs) > 0 {
		return play{}, errs
	}
	definitions, err := p.test.definitions()
	if err != nil {
		return play{}, document.Errors{p.of.node.Errorf("", "%v", err)}
	}
	server, err := r.servers.of(definitions)
	if err != nil {
		return play{}, document.Errors{p.of.node.Errorf("", "%v", err)}
	}
	entrance := entrance{server, p.test.known, p.test.set}
	return play{test: p.test, of: p.of, files: r.Files, entrance: entrance, objects: objects}, entrance.admit(objects)
}

// failed locates what kept a case from its end: at the step in question, or else at the
// case.
func (c *Case) failed(err error, result *Result) document.Errors {
	if restless, is := errors.AsType[*scenario.RestlessError](err); is {
		result.Cycle = restless.Path
	}
	if located, is := errors.AsType[document.Errors](err); is {
		return located
	}
	at := c.node
	if failed, is := errors.AsType[*stepError](err); is {
		at = failed.step.Node
	}
	return document.Errors{at.Errorf("", "%v", err)}
}

// unconcerned says of each object why no rule looked at it.
func unconcerned(objects []object, set *rules.Set, c *Case) document.Errors {
	var errs document.Errors
	for _, o := range objects {
		if _, err := watched(set, o.content); err != nil {
			errs = append(errs, o.located(err))
		}
	}
	if len(errs) == 0 {
		errs = append(errs, c.node.Errorf("add an object that a rule watches", "no rule looked at anything, so the case proves nothing"))
	}
	return errs
}

// sameStates refuses rules that come to something else when objects are looked at in
// another order, at the first step after which that shows.
func (c *Case) sameStates(ends, others []scenario.State, result *Result) document.Errors {
	for i, end := range ends {
		one, errOne := golden.Tree(end)
		two, errTwo := golden.Tree(others[i])
		if err := errors.Join(errOne, errTwo); err != nil {
			return document.Errors{c.node.Errorf("", "%v", err)}
		}
		if result.Order = compare.Compare(one, two, "in order", "reversed"); len(result.Order) == 0 {
			continue
		}
		at := c.node
		if i > 0 {
			at = c.Steps[i-1].Node
		}
		return document.Errors{at.Errorf("", "the end depends on the order in which objects are looked at")}
	}
	return nil
}

// located points at what an object says it is.
func (o object) located(err error) *document.Error {
	n := o.node
	if kind := n.Get("kind"); kind != nil {
		n = kind
	}
	if unwatched, ok := errors.AsType[*UnwatchedError](err); ok {
		return n.Errorf(unwatched.hint, "%s", unwatched.message)
	}
	return n.Errorf("", "%v", err)
}
