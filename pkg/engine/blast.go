package engine

import (
	"errors"
	"maps"
	"slices"

	"github.com/dyncontroller/dyncontroller/pkg/engine/limit"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// Why a rule with limits does not write, besides a [limit.PausedError]. Both pass.
var (
	// ErrBusy says that other writes are under way, which may be the last that it may do.
	ErrBusy = errors.New("it waits for writes under way that may count for its limit")
	// ErrUncounted says that the share which is its limit cannot be told.
	ErrUncounted = errors.New("it waits until all objects are listed that it watches, its limit is a share of them")
)

// unlearntError keeps a rule from writing that may be paused. It is an [ErrUnrecorded].
type unlearntError struct{}

// Error implements error.
func (unlearntError) Error() string {
	return "it waits until the inventory is read, which says whether the rule is paused"
}

// Is reports that it passes with the same.
func (unlearntError) Is(target error) bool { return target == ErrUnrecorded }

// concern is what a write of a rule has to do with its limits.
type concern uint8

const (
	frees  concern = iota // takes off what the rule has put on
	holds                 // puts the finalizer of the rule on
	counts                // counts
)

// concernOf tells them apart. Nothing keeps a rule from cleaning up, and what a paused
// rule would hold nobody would let go.
func concernOf(operation plan.Operation, rule plan.Rule) concern {
	if operation.Type != plan.Merge && operation.Type != plan.JSON {
		return counts
	}
	out := frees
	for _, change := range operation.Changes {
		if change.Rule != rule {
			continue
		}
		switch {
		case slices.Equal(change.Path, plan.Path{"metadata", "annotations", plan.AdoptedAnnotation}) && change.After == nil:
			return frees // The whole of it gives up what was adopted.
		case !slices.Equal(change.Path, plan.Path{"metadata", "finalizers"}):
			out = counts
		default:
			out = max(out, finalizes(change))
		}
	}
	return out
}

// finalizes tells the finalizer of the rule from those of others.
func finalizes(change plan.Change) concern {
	before, _ := change.Before.([]any)
	after, _ := change.After.([]any)
	own := any(change.Rule.Finalizer())
	others := func(list []any) []any {
		return slices.DeleteFunc(slices.Clone(list), func(name any) bool { return name == own })
	}
	switch {
	case !slices.Equal(others(before), others(after)):
		return counts
	case slices.Contains(after, own) && !slices.Contains(before, own):
		return holds
	default:
		return frees
	}
}

// beyondLimits keeps rules from writing for more objects than they may. It is the last
// obstacle: what it grants is sent, and accounted for.
func (a *attempt) beyondLimits(operation plan.Operation) *obstacle {
	limits := a.engine.limited
	var counted []plan.Rule
	for _, rule := range operation.Rules {
		if a.now.limits[rule] == nil {
			continue
		}
		switch concernOf(operation, rule) {
		case counts:
			counted = append(counted, rule)
		case holds:
			if answer := limits.May(rule); answer != limit.Granted {
				return a.held(rule, answer)
			}
		case frees:
		}
	}
	if len(counted) == 0 {
		return nil
	}
	refused := a.reserve(counted)
	if refused == nil {
		return nil
	}
	worst := counted[0]
	for rule, answer := range refused {
		if answer > refused[worst] {
			worst = rule
		}
	}
	return a.held(worst, refused[worst])
}

// reserve asks twice where somebody else may have made room before it was known that
// this waits for it.
func (a *attempt) reserve(counted []plan.Rule) map[plan.Rule]limit.Answer {
	limits := a.engine.limited
	refused := limits.Reserve(counted, a.record.uid)
	if slices.Contains(slices.Collect(maps.Values(refused)), limit.Busy) {
		limits.await(a.key)
		refused = limits.Reserve(counted, a.record.uid)
	}
	if refused != nil {
		limits.paused()
		if limits.Unsaved() {
			limits.save()
		}
		return refused
	}
	if a.claimed == nil {
		a.claimed = map[plan.Rule]int{}
	}
	for _, rule := range counted {
		a.claimed[rule]++
	}
	return nil
}

// held is why a rule does not write.
func (a *attempt) held(rule plan.Rule, answer limit.Answer) *obstacle {
	switch answer {
	case limit.Busy:
		return &obstacle{err: ErrBusy}
	case limit.Uncounted:
		return &obstacle{err: ErrUncounted, retry: true}
	case limit.Unknown:
		a.engine.limited.await(a.key)
		return &obstacle{err: unlearntError{}, retry: true}
	default:
		pause, _ := a.engine.limited.Paused(rule)
		return &obstacle{err: &limit.PausedError{Pause: pause}}
	}
}

// account notes what became of an operation that was sent.
func (a *attempt) account(operation plan.Operation, effective bool) {
	var counted []plan.Rule
	for _, rule := range operation.Rules {
		if a.claimed[rule] > 0 && concernOf(operation, rule) == counts {
			a.claimed[rule]--
			counted = append(counted, rule)
		}
	}
	if len(counted) > 0 {
		a.engine.limited.Settle(counted, a.record.uid, effective)
		a.engine.limited.settled()
	}
}

// settleAccounts is for operations of which nobody knows what became of them, as after a
// panic: they count.
func (a *attempt) settleAccounts() {
	for rule, n := range a.claimed {
		for range n {
			a.engine.limited.Settle([]plan.Rule{rule}, a.record.uid, true)
		}
	}
	if len(a.claimed) > 0 {
		a.engine.limited.settled()
	}
}
